//! What came of each pin, for people or for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::{
    api::{Failure, Passed, Published, Tested},
    file::PinTest,
};

/// How a report is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Json,
}

/// The report of a run.
#[derive(Debug)]
pub(super) struct Report {
    flow: String,
    pins: Vec<PinReport>,
    draft_version: Option<i64>,
    published: Option<Published>,
}

#[derive(Debug, Serialize)]
struct PinReport {
    node: String,
    pin: String,
    passed: bool,
    #[serde(skip)]
    sql: String,
    #[serde(flatten)]
    tested: Tested,
}

/// The last line for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    flow: &'a str,
    passed: bool,
    pins: usize,
    failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft_version: Option<i64>,
    #[serde(flatten)]
    published: Option<&'a Published>,
}

impl Report {
    pub(super) fn new(flow: &str) -> Self {
        Self { flow: flow.to_owned(), pins: Vec::new(), draft_version: None, published: None }
    }

    pub(super) fn add(&mut self, test: &PinTest, tested: Tested) {
        let (node, pin, sql) = (test.node.clone(), test.pin.clone(), test.sql.clone());
        let passed = matches!(tested, Tested::Passed(_));
        self.pins.push(PinReport { node, pin, passed, sql, tested });
    }

    /// The draft was saved as this version.
    pub(super) fn saved(&mut self, version: i64) {
        self.draft_version = Some(version);
    }

    pub(super) fn published(&mut self, published: Published) {
        self.published = Some(published);
    }

    /// Whether every pin passed.
    pub(super) fn passed(&self) -> bool {
        self.failed() == 0
    }

    /// Whether no pin was tested.
    pub(super) fn is_empty(&self) -> bool {
        self.pins.is_empty()
    }

    fn failed(&self) -> usize {
        self.pins.iter().filter(|pin| !pin.passed).count()
    }

    pub(super) fn tell(&self, voice: Voice, out: &mut impl Write) -> io::Result<()> {
        match voice {
            Voice::Text => self.tell_people(out),
            Voice::Json => self.tell_programs(out),
        }
    }

    fn tell_programs(&self, out: &mut impl Write) -> io::Result<()> {
        for pin in &self.pins {
            writeln!(out, "{}", serde_json::to_string(pin)?)?;
        }
        let summary = Summary {
            flow: &self.flow,
            passed: self.passed(),
            pins: self.pins.len(),
            failed: self.failed(),
            draft_version: self.draft_version,
            published: self.published.as_ref(),
        };
        writeln!(out, "{}", serde_json::to_string(&summary)?)
    }

    fn tell_people(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "flow {}", self.flow)?;
        let width = self.pins.iter().map(|pin| pin.name().len()).max().unwrap_or_default();
        for pin in &self.pins {
            pin.tell_people(width, out)?;
        }
        let all = self.pins.len();
        writeln!(out, "{} of {all} pins passed", all - self.failed())?;
        if let Some(version) = self.draft_version {
            writeln!(out, "saved as version {version} of the draft")?;
        }
        if let Some(Published { live_version, changes }) = &self.published {
            writeln!(out, "published as version {live_version} of Live; pins changed: {changes}")?;
        }
        Ok(())
    }
}

impl PinReport {
    fn name(&self) -> String {
        format!("{} {}", self.node, self.pin)
    }

    fn tell_people(&self, width: usize, out: &mut impl Write) -> io::Result<()> {
        let name = self.name();
        match &self.tested {
            Tested::Passed(answer) => writeln!(out, "  passed  {name:width$}  {}", result(answer)),
            Tested::Failed(failure) => {
                writeln!(out, "  FAILED  {name:width$}  {}", self.reason(failure))?;
                advice(failure).iter().try_for_each(|line| writeln!(out, "          {line}"))
            }
        }
    }

    /// Such as `42703: column "colour" does not exist (line 1, column 51 of its sql)`.
    fn reason(&self, Failure { code, error, position, .. }: &Failure) -> String {
        match position {
            Some(position) => {
                let (line, column) = place(&self.sql, *position);
                format!("{code}: {error} (line {line}, column {column} of its sql)")
            }
            None => format!("{code}: {error}"),
        }
    }
}

/// Such as `3 rows, 12 ms: region text, revenue numeric`.
fn result(Passed { row_count, tested_columns, elapsed_ms, .. }: &Passed) -> String {
    let columns = tested_columns.iter().map(|column| format!("{} {}", column.name, column.ty));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let rows = if *row_count == 1 { "row" } else { "rows" };
    format!("{row_count} {rows}, {elapsed_ms} ms: {columns}")
}

/// What helps on: the server's hint, the problems after the first, which the error says, the types that would fit.
fn advice(failure: &Failure) -> Vec<String> {
    let mut lines: Vec<String> = failure.hint.iter().cloned().collect();
    lines.extend(
        failure.problems.iter().skip(1).map(|problem| format!("{}: {}", problem.path, problem.message)),
    );
    lines.extend(failure.suggested_types.iter().map(|(name, ty)| match ty {
        Some(ty) => format!("`{name}` may be of type {ty}"),
        None => format!("for `{name}` the server suggests no type: pick one"),
    }));
    if failure.code == "invalid_values" {
        lines.push("the values of a test are written as `samples` beside the pin's `params`".to_owned());
    }
    lines
}

/// Line and column, from 1, of a character, counted from 1.
fn place(text: &str, position: usize) -> (usize, usize) {
    let before = || text.chars().take(position.saturating_sub(1));
    let line = before().filter(|character| *character == '\n').count() + 1;
    let column =
        before().collect::<Vec<_>>().rsplit(|character| *character == '\n').next().map_or(0, <[_]>::len) + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn report() -> Report {
        let mut report = Report::new("sales");
        let column = json!({"name": "id", "type": "bigint"});
        let passed = json!({"rowCount": 1, "testedColumns": [column], "elapsedMs": 12, "stamp": {"hmac": "0"}, "rows": [[1]]});
        let refused = json!({"code": "42703", "error": "no colour", "position": 13, "hint": "look", "outcome": "expected"});
        let problem = |path: &str| json!({"path": path, "message": "is wrong"});
        let untyped = json!({"code": "invalid_pin", "error": "the pin", "problems": [problem("pin.a"), problem("pin.b")],
            "suggestedTypes": {"m": "date", "x": null}});
        for (pin, tested) in [
            ("pq_one", Tested::Passed(serde_json::from_value(passed).unwrap())),
            ("pq_other", Tested::Failed(serde_json::from_value(refused).unwrap())),
            ("pq_x", Tested::Failed(serde_json::from_value(untyped).unwrap())),
        ] {
            report.add(&PinTest::new("db", pin, "SELECT\n  é, colour"), tested);
        }
        report
    }

    fn told(report: &Report, voice: Voice) -> String {
        let mut out = Vec::new();
        report.tell(voice, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn people_get_a_line_for_each_pin_and_what_helps_below_it() {
        let mut report = report();
        report.saved(4);
        report.published(Published { live_version: 2, changes: 1 });
        let expected = "flow sales
  passed  db pq_one    1 row, 12 ms: id bigint
  FAILED  db pq_other  42703: no colour (line 2, column 6 of its sql)
          look
  FAILED  db pq_x      invalid_pin: the pin
          pin.b: is wrong
          `m` may be of type date
          for `x` the server suggests no type: pick one
1 of 3 pins passed
saved as version 4 of the draft
published as version 2 of Live; pins changed: 1
";
        assert_eq!(told(&report, Voice::Text), expected);
    }

    #[test]
    fn programs_get_a_line_for_each_pin_and_one_for_all_without_rows_and_stamps() {
        let told = told(&report(), Voice::Json);
        let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let first = json!({"node": "db", "pin": "pq_one", "passed": true, "rowCount": 1,
            "testedColumns": [{"name": "id", "type": "bigint"}], "elapsedMs": 12});
        assert_eq!((lines.len(), &lines[0]), (4, &first));
        assert_eq!((&lines[1]["passed"], &lines[1]["position"]), (&json!(false), &json!(13)));
        assert_eq!(lines[3], json!({"flow": "sales", "passed": false, "pins": 3, "failed": 2}));
    }

    #[test]
    fn a_flow_without_pins_passes() {
        assert!(Report::new("sales").passed());
    }
}
