//! A saved pin made ready to run: every `:name` a bound, cast parameter, and nothing else changed.

use serde_json::{Map, Value as Json};

use crate::arguments::{self, BadArguments, BadCall};
use crate::canonical::Canonical;
use crate::name::ParamName;
use crate::param::{Param, Presence};
use crate::pin::Pin;
use crate::problem::Problem;
use crate::scan::{Mark, Scan};
use crate::value::{ParamType, Value};
use crate::{fields, hash, schema, statement};

/// A pin's statement as it is both checked and run: one text, made from the saved pin alone.
// INVARIANT: only `Pin::compile` makes one, so that no caller can hand in compiled SQL.
#[derive(Debug, Clone)]
pub struct Compiled {
    sql: String,
    limit: u64,
    hash: String,
    rows: Vec<Row>,
    /// Which row `$1`, `$2` and so on are: the order of first appearance.
    order: Vec<usize>,
    seams: Vec<Seam>,
}

/// A row of the parameter table whose type is picked.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) param: Param,
    pub(crate) ty: ParamType,
}

/// A replaced parameter; all in characters from 0.
#[derive(Debug, Clone, Copy)]
struct Seam {
    saved_start: usize,
    saved_end: usize,
    compiled_start: usize,
    compiled_end: usize,
}

/// A text for asking the server which types it would infer: parameters that have no type yet stand bare.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The statement.
    pub sql: String,
    /// The names of `$1`, `$2` and so on, and of each the type already picked.
    pub params: Vec<(String, Option<ParamType>)>,
}

impl Pin {
    /// Compiles the statement, or says everything that is wrong with it.
    pub fn compile(&self) -> Result<Compiled, Vec<Problem>> {
        let scan = Scan::read(self.sql()).map_err(|problem| vec![problem])?;
        let (limit, mut problems) = check(self, &scan);
        problems.extend(untyped(self));
        let names = names(&scan);
        let (Some(limit), Some(rows), Some(order), true) =
            (limit, rows(self), order(self, &names), problems.is_empty())
        else {
            return Err(problems);
        };
        let cast = |mark: &Mark<'_>| placeholder(self, &names, mark);
        let sql = scan.replace(cast);
        let hash = hash::sha256(&canonical_bytes(self, &order, &sql));
        Ok(Compiled { sql, limit, hash, rows, order, seams: seams(self.sql(), &scan, cast) })
    }

    /// The JSON schema of the tool's arguments; none while a parameter lacks its type.
    pub fn input_schema(&self) -> Option<Json> {
        rows(self).map(|rows| schema::input(&rows))
    }

    /// The statement for asking the server about types that nobody has picked; those of `assumed` stand as if they were
    /// picked. All other rules hold.
    pub fn probe(&self, assumed: &[(String, ParamType)]) -> Result<Probe, Vec<Problem>> {
        let scan = Scan::read(self.sql()).map_err(|problem| vec![problem])?;
        let (_, problems) = check(self, &scan);
        if !problems.is_empty() {
            return Err(problems);
        }
        let names = names(&scan);
        let picked = |name: &str| {
            let assumed = assumed.iter().find(|(assumed, _)| assumed == name).map(|(_, ty)| *ty);
            type_of(self, name).or(assumed)
        };
        let params = names.iter().map(|name| ((*name).to_owned(), type_of(self, name))).collect();
        Ok(Probe { sql: scan.replace(|mark| numbered(&names, mark, picked(mark.name))), params })
    }
}

impl Compiled {
    /// The statement: what the guard judges and what runs.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The literal of the top-level LIMIT.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a result of this many rows may have been cut by the statement's own LIMIT. It does not prove that more
    /// rows exist.
    pub fn possibly_truncated(&self, rows: u64) -> bool {
        rows >= self.limit
    }

    /// SHA-256 of the compiled statement and the parameter table: 64 hexadecimal digits.
    pub fn statement_hash(&self) -> &str {
        &self.hash
    }

    /// The values of `$1`, `$2` and so on as canonical text, `None` for NULL; or everything that is wrong with the
    /// arguments. Parameters that are claims are given like the others: this is for whoever tests the pin.
    pub fn bind(&self, arguments: &Map<String, Json>) -> Result<Vec<Option<String>>, BadArguments> {
        let values = arguments::read(&self.rows, arguments)?;
        let value = |row: &usize| values.get(*row)?.as_ref().map(|value| value.text().to_owned());
        Ok(self.order.iter().map(value).collect())
    }

    /// The same for an agent's call: what is a claim comes from `claims`, those of the caller's access token, if it shows one.
    pub fn bind_call(
        &self,
        arguments: &Map<String, Json>,
        claims: Option<&Map<String, Json>>,
    ) -> Result<Vec<Option<String>>, BadCall> {
        let arguments = arguments::with_claims(&self.rows, arguments, claims)?;
        Ok(self.bind(&arguments)?)
    }

    /// Where a character of the compiled statement (from 1, as PostgreSQL counts) stands in the saved one. All of a
    /// replaced parameter is its colon.
    pub fn saved_position(&self, compiled: usize) -> usize {
        let at = compiled.saturating_sub(1);
        let seam = self.seams.iter().rev().find(|seam| seam.compiled_start <= at);
        1 + match seam {
            None => at,
            Some(seam) if at < seam.compiled_end => seam.saved_start,
            Some(seam) => at - seam.compiled_end + seam.saved_end,
        }
    }
}

/// The statement hash of a pin without a look at its statement's rules; none where a parameter lacks its row. Enough to
/// verify a stamp, which only a pin that kept every rule can have.
pub(crate) fn statement_hash(pin: &Pin) -> Option<String> {
    let scan = Scan::read(pin.sql()).ok()?;
    let names = names(&scan);
    let order = order(pin, &names)?;
    let sql = scan.replace(|mark| placeholder(pin, &names, mark));
    Some(hash::sha256(&canonical_bytes(pin, &order, &sql)))
}

/// What the statement hash is made over: the compiled text and each parameter's row, in the order of `$n`.
fn canonical_bytes(pin: &Pin, order: &[usize], sql: &str) -> Vec<u8> {
    let mut bytes = Canonical::new("pinguard statement 1");
    bytes.text(sql);
    bytes.count(order.len());
    for param in order.iter().filter_map(|row| pin.params().get(*row)) {
        bytes.text(param.name().as_str());
        bytes.text(param.ty().map_or("", ParamType::name));
        match param.presence() {
            Presence::Required => bytes.texts(["required"].into_iter()),
            Presence::Nullable => bytes.texts(["nullable"].into_iter()),
            Presence::Default(value) => bytes.texts(["default", value.text()].into_iter()),
            Presence::Claim(claim) => bytes.texts(["claim", claim].into_iter()),
        }
        bytes.option(param.description());
        bytes.texts(param.allowed().iter().map(Value::text));
        bytes.option(param.min().map(Value::text));
        bytes.option(param.max().map(Value::text));
    }
    bytes.into_bytes()
}

fn placeholder(pin: &Pin, names: &[&str], mark: &Mark<'_>) -> String {
    numbered(names, mark, type_of(pin, mark.name))
}

/// `($n::pg_catalog.type)`, or `($n)` before a type is picked. In parentheses, so that what stands around it cannot
/// reach into it, and with the schema, so that no search path can mean another type.
fn numbered(names: &[&str], mark: &Mark<'_>, ty: Option<ParamType>) -> String {
    let number = names.iter().position(|name| *name == mark.name).map_or(0, |index| index + 1);
    match ty {
        Some(ty) => format!("(${number}::pg_catalog.{})", ty.name()),
        None => format!("(${number})"),
    }
}

/// The type in a parameter's row.
fn type_of(pin: &Pin, name: &str) -> Option<ParamType> {
    pin.params().iter().find(|param| param.name().as_str() == name)?.ty()
}

/// The parameters in the order of first appearance.
fn names<'a>(scan: &Scan<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for mark in scan.marks() {
        if !names.contains(&mark.name) {
            names.push(mark.name);
        }
    }
    names
}

/// The parameter table; none while a type is missing.
fn rows(pin: &Pin) -> Option<Vec<Row>> {
    pin.params().iter().map(|param| Some(Row { ty: param.ty()?, param: param.clone() })).collect()
}

/// The row of each `$n`; none where a name has no row, or a row no name.
fn order(pin: &Pin, names: &[&str]) -> Option<Vec<usize>> {
    let row_of = |name: &&str| pin.params().iter().position(|param| param.name().as_str() == *name);
    let order: Vec<usize> = names.iter().map(row_of).collect::<Option<_>>()?;
    (order.len() == pin.params().len()).then_some(order)
}

/// How positions of the replaced text go back to the saved one.
fn seams<'a>(saved: &str, scan: &Scan<'a>, replacement: impl Fn(&Mark<'a>) -> String) -> Vec<Seam> {
    let (mut byte, mut saved_chars, mut compiled_chars) = (0, 0, 0);
    let mut seams = Vec::with_capacity(scan.marks().len());
    for mark in scan.marks() {
        let between = saved.get(byte..mark.start).map_or(0, |text| text.chars().count());
        let (saved_start, compiled_start) = (saved_chars + between, compiled_chars + between);
        // The colon and the name are ASCII, and so is what replaces them.
        let saved_end = saved_start + (mark.end - mark.start);
        let compiled_end = compiled_start + replacement(mark).len();
        seams.push(Seam { saved_start, saved_end, compiled_start, compiled_end });
        (byte, saved_chars, compiled_chars) = (mark.end, saved_end, compiled_end);
    }
    seams
}

/// Everything that is wrong with a statement and its rows, but for types not picked; and the literal of its LIMIT.
fn check(pin: &Pin, scan: &Scan<'_>) -> (Option<u64>, Vec<Problem>) {
    let names = names(scan);
    let mut problems = scan.misplaced();
    // A misplaced parameter is an error of grammar too, and better said in our words.
    if problems.is_empty() {
        let compiled = scan.replace(|mark| placeholder(pin, &names, mark));
        problems.extend(statement::check_grammar(scan, &names, &compiled));
    }
    problems.extend(check_rows(pin, &names));
    let limit = statement::check(scan, &mut problems);
    (limit, problems)
}

/// Every parameter has its row and every row its parameter.
fn check_rows(pin: &Pin, names: &[&str]) -> Vec<Problem> {
    let rows: Vec<&str> = pin.params().iter().map(|param| param.name().as_str()).collect();
    // A name that no row can have is misplaced already.
    let rowless = names.iter().filter(|name| !rows.contains(name) && ParamName::parse(name).is_ok());
    let rowless = rowless.map(|name| {
        let message = format!(
            "`:{name}` has no row in the parameter table; add one, or put a blank after the colon if it is no parameter"
        );
        Problem::new("sql", message)
    });
    let unused = rows.iter().enumerate().filter(|(_, name)| !names.contains(name)).map(|(index, name)| {
        let message = format!("`:{name}` does not stand in the statement; use it there, or drop the row");
        Problem::new(format!("params[{index}].name"), message)
    });
    rowless.chain(unused).collect()
}

/// Parameters of which nobody has picked the type.
fn untyped(pin: &Pin) -> impl Iterator<Item = Problem> {
    let rows = pin.params().iter().enumerate().filter(|(_, param)| param.ty().is_none());
    rows.map(|(index, _)| {
        let types = fields::list(ParamType::ALL.into_iter().map(ParamType::name));
        Problem::new(format!("params[{index}].type"), format!("no type is picked; the types are {types}"))
    })
}
