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
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    flow: String,
    passed: bool,
    pins: Vec<PinReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft_version: Option<i64>,
    #[serde(flatten)]
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

impl Report {
    pub(super) fn new(flow: &str) -> Self {
        Self { flow: flow.to_owned(), passed: true, pins: Vec::new(), draft_version: None, published: None }
    }

    pub(super) fn add(&mut self, test: &PinTest, tested: Tested) {
        let (node, pin, sql) = (test.node.clone(), test.pin.clone(), test.sql.clone());
        let passed = matches!(tested, Tested::Passed(_));
        self.passed &= passed;
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
        self.passed
    }

    pub(super) fn tell(&self, voice: Voice, out: &mut impl Write) -> io::Result<()> {
        match voice {
            Voice::Text => self.tell_people(out),
            Voice::Json => writeln!(out, "{}", serde_json::to_string(self)?),
        }
    }

    fn tell_people(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "flow {}", self.flow)?;
        let width = self.pins.iter().map(|pin| pin.name().len()).max().unwrap_or_default();
        for pin in &self.pins {
            pin.tell_people(width, out)?;
        }
        let passed = self.pins.iter().filter(|pin| pin.passed).count();
        writeln!(out, "{passed} of {} pins passed", self.pins.len())?;
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

/// Such as `3 rows: region text, revenue numeric`.
fn result(answer: &Passed) -> String {
    let columns = answer.tested_columns.iter().map(|column| format!("{} {}", column.name, column.ty));
    let columns = columns.collect::<Vec<_>>().join(", ");
    match answer.row_count {
        1 => format!("1 row: {columns}"),
        rows => format!("{rows} rows: {columns}"),
    }
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
        let passed = json!({"rowCount": 1, "testedColumns": [column], "stamp": {"hmac": "0"}, "rows": [[1]]});
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
  passed  db pq_one    1 row: id bigint
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
    fn programs_get_one_line_without_rows_and_stamps() {
        let line = told(&report(), Voice::Json);
        let json: Value = serde_json::from_str(&line).unwrap();
        let first = json!({"node": "db", "pin": "pq_one", "passed": true, "rowCount": 1,
            "testedColumns": [{"name": "id", "type": "bigint"}]});
        assert_eq!((&json["passed"], &json["pins"][0], line.lines().count()), (&json!(false), &first, 1));
        assert_eq!(json["pins"][1]["position"], 13);
    }

    #[test]
    fn a_flow_without_pins_passes() {
        assert!(Report::new("sales").passed());
    }
}
