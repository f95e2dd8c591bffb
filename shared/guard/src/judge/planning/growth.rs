//! How long the built-in functions make what they are given, at most.

use crate::builtin;
use crate::facts::Oid;
use crate::tree::{Node, NodeKind, Value};

/// What a constant may come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) bytes: u64,
    /// A whole number's absolute value, or the product of several; none where it is not known.
    pub(super) number: Option<u64>,
}

impl Constant {
    const fn of(bytes: u64) -> Self {
        Self { bytes, number: None }
    }

    pub(super) fn or(self, other: Self) -> Self {
        let number = self.number.zip(other.number).map(|(one, two)| one.max(two));
        Self { bytes: self.bytes.max(other.bytes), number }
    }
}

/// What a caller sends beside the statement is bounded elsewhere; most of it is short.
pub(super) const PARAMETER: Constant = Constant::of(8_192);
/// One of the values of something else, and values of a few bytes.
pub(super) const ELEMENT: Constant = Constant::of(SHORT);

/// The most that a number, a date and their kin are written with.
const SHORT: u64 = 32;
/// The most digits that powers of numeric come to.
const NUMERIC: u64 = 150_000;
/// Where a count is not known.
const UNBOUNDED: u64 = 1 << 31;

/// Whether a function makes much of little: more than so many times what it is given.
pub(super) fn is_steep(function: u32) -> bool {
    matches!(
        function,
        REPEAT
            | LPAD | LPAD_WITH
            | RPAD | RPAD_WITH
            | FILL | FILL_FROM
            | REPLACE
            | FORMAT
            | POLYGON
            | JSONB_PRETTY
            | QUOTE_FIRST..=QUOTE_LAST
            | QUOTE_ANY | QUOTE_NULLABLE | QUOTE_NULLABLE_ANY
            | REWRITE | REWRITE_BY
            | JOINED | JOINED_WITH
            | ARRAY_REPLACE
            | PAD_CHAR | PAD_BIT | INT8_BIT | INT4_BIT
            | 2284 | 2285 | 6251..=6253
            | 1376 | 1732 | 1733 | 1738 | 1739 | 2169
    ) || builtin::writes_json(Oid(function))
}

const REPEAT: u32 = 1622;
const LPAD: u32 = 879;
const LPAD_WITH: u32 = 873;
const RPAD: u32 = 880;
const RPAD_WITH: u32 = 874;
const FILL: u32 = 1193;
const FILL_FROM: u32 = 1286;
const REPLACE: u32 = 2087;
const FORMAT: u32 = 3539;
const POLYGON: u32 = 1475;
const JSONB_PRETTY: u32 = 3306;
const QUOTE_FIRST: u32 = 1282;
const QUOTE_LAST: u32 = 1283;
const QUOTE_ANY: u32 = 1285;
const QUOTE_NULLABLE: u32 = 1289;
const QUOTE_NULLABLE_ANY: u32 = 1290;
const REWRITE: u32 = 3684;
const REWRITE_BY: u32 = 3685;
const JOINED: u32 = 395;
const JOINED_WITH: u32 = 384;
const ARRAY_REPLACE: u32 = 3168;
/// Casts to `char(n)` and `bit(n)`.
const PAD_CHAR: u32 = 668;
const PAD_BIT: u32 = 1685;
const INT8_BIT: u32 = 2075;
const INT4_BIT: u32 = 1683;

/// A literal. What has no fixed length begins with four bytes that tell it.
pub(super) fn literal(node: Node<'_, '_>) -> Constant {
    let Value::Bytes(printed) = node.value("constvalue") else { return Constant::of(0) };
    let bytes = || printed.split_ascii_whitespace().filter_map(super::super::scan::byte);
    let number = match node.number("consttype") {
        Some(20 | 21 | 23) => whole(bytes()),
        Some(1007) => Some(dimensions(&bytes().collect::<Vec<u8>>())),
        _ => None,
    };
    let header = if node.token("constlen") == Some("-1") { 4 } else { 0 };
    Constant { bytes: (bytes().count() as u64).saturating_sub(header), number }
}

/// The eight bytes of a whole number, as processors of today keep them.
fn whole(bytes: impl Iterator<Item = u8>) -> Option<u64> {
    let bytes: [u8; 8] = bytes.collect::<Vec<u8>>().try_into().ok()?;
    Some(i64::from_le_bytes(bytes).unsigned_abs())
}

/// The product of a list of int4: behind a header of 24 bytes, or less where there are none.
fn dimensions(bytes: &[u8]) -> u64 {
    let numbers = bytes.get(24..).unwrap_or_default().as_chunks::<4>().0;
    product(numbers.iter().map(|number| u64::from(i32::from_le_bytes(*number).unsigned_abs())))
}

fn product(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(1, u64::saturating_mul)
}

fn sum(given: &[Constant]) -> u64 {
    given.iter().fold(0, |sum, one| sum.saturating_add(one.bytes.max(SHORT)))
}

/// Several values in one.
pub(super) fn together(given: &[Constant]) -> Constant {
    Constant::of(sum(given))
}

/// A list of values.
pub(super) fn array(given: &[Constant]) -> Constant {
    let numbers: Option<Vec<u64>> = given.iter().map(|one| one.number).collect();
    Constant { bytes: sum(given), number: numbers.map(|numbers| product(numbers.into_iter())) }
}

/// A cast of each value of a list, the second of what is given.
pub(super) fn each(given: &[Constant]) -> Constant {
    let [list, cast @ ..] = given else { return ELEMENT };
    let element = cast.iter().map(|one| one.bytes).max().unwrap_or(1).max(1);
    Constant::of(list.bytes.saturating_mul(element.max(2)))
}

/// As text. Rows and lists put quotes around their values, and double those that they hold.
pub(super) fn written(given: &[Constant]) -> Constant {
    Constant::of(sum(given).saturating_mul(2))
}

/// What a call or operator makes of constants; none where it is computed for each row.
pub(super) fn call(node: Node<'_, '_>, given: &[Constant]) -> Option<Constant> {
    let (function, result, set) = match node.kind()? {
        NodeKind::FuncExpr => ("funcid", "funcresulttype", "funcretset"),
        _ => ("opfuncid", "opresulttype", "opretset"),
    };
    let function = node.number(function)?;
    if node.token(set) != Some("false") || is_volatile(function) {
        return None;
    }
    let bytes = match function {
        FORMAT => sum(given).saturating_mul(2).saturating_add(widths(node, given)),
        _ if node.number(result).is_some_and(is_short) => SHORT,
        _ => length(function, given),
    };
    Some(Constant { bytes, number: number(function, given) })
}

/// Those that PostgreSQL never computes ahead.
fn is_volatile(function: u32) -> bool {
    matches!(function, 274 | 1598 | 2649 | 3432 | 6212 | 6339..=6341 | 6428..=6430)
}

/// Types whose values have one length, or nearly so.
fn is_short(result: u32) -> bool {
    matches!(
        result,
        16 | 18 | 20 | 21 | 23 | 26 | 600 | 700 | 701 | 790 | 1082 | 1083 | 1114 | 1184 | 1186 | 1266 | 2950
    )
}

fn length(function: u32, given: &[Constant]) -> u64 {
    let bytes = |place: usize| given.get(place).map_or(0, |one| one.bytes);
    let count = |place: usize| given.get(place).and_then(|one| one.number).unwrap_or(UNBOUNDED);
    let all = sum(given);
    let times = |one: u64, other: u64| one.saturating_add(1).saturating_mul(other.saturating_add(1));
    match function {
        REPEAT => bytes(0).saturating_mul(count(1)),
        LPAD | LPAD_WITH | RPAD | RPAD_WITH | PAD_CHAR => all.max(count(1).saturating_mul(4)),
        PAD_BIT | INT8_BIT | INT4_BIT => all.max(count(1) / 8),
        FILL | FILL_FROM => bytes(0).saturating_add(8).saturating_mul(count(1)),
        POLYGON => count(0).saturating_mul(16),
        REPLACE | REWRITE | REWRITE_BY => times(bytes(0), bytes(2)),
        // The replacement may hold the whole match, and more than once.
        2284 | 2285 | 6251..=6253 => times(bytes(0), bytes(2)).saturating_mul(2),
        ARRAY_REPLACE => times(bytes(0).saturating_mul(8), bytes(2)),
        JOINED | JOINED_WITH => times(bytes(0).saturating_mul(8), bytes(1).saturating_add(bytes(2))),
        // A level of nesting takes eight bytes, and each of its lines four blanks.
        JSONB_PRETTY => times(bytes(0), bytes(0) / 8).saturating_add(all),
        QUOTE_FIRST..=QUOTE_LAST | QUOTE_ANY | QUOTE_NULLABLE | QUOTE_NULLABLE_ANY => all.saturating_mul(2),
        1376 | 1732 | 1733 | 1738 | 1739 | 2169 => NUMERIC,
        // To upper and lower case, trimmed, cut out, turned round, put together.
        870..=872 | 875..=877 | 881..=885 | 936 | 937 | 1258 | 3058..=3062 => all,
        // Lists of what was divided.
        376 | 394 | 2767 | 2768 => all.saturating_mul(8),
        1717 | 1813 | 1714 | 1946 => all.saturating_mul(4),
        4350 => all.saturating_mul(18),
        _ if builtin::writes_json(Oid(function)) => all.saturating_mul(6),
        _ => all.saturating_mul(2),
    }
}

/// A whole number that is computed.
fn number(function: u32, given: &[Constant]) -> Option<u64> {
    let one = given.first().copied()?;
    let both = || one.number.zip(given.get(1)?.number);
    match function {
        // Casts between whole numbers; dividing.
        313 | 314 | 480 | 481 | 714 | 754 | 153 | 154 | 172 | 173 | 466 | 837 | 840 | 948 | 1277 | 1281 => {
            one.number
        }
        // Adding and taking away.
        176..=183 | 463 | 464 | 838 | 841 | 942 | 1274 | 1275 | 1278 | 1279 => {
            both().map(|(one, two)| one.saturating_add(two))
        }
        141 | 152 | 170 | 171 | 465 | 839 | 943 | 1276 | 1280 => {
            both().map(|(one, two)| one.saturating_mul(two))
        }
        // Lengths.
        720 | 1317 | 1318 | 1367 | 1369 | 1372 | 1374 | 1375 | 1381 | 2010 | 3179 => Some(one.bytes),
        _ => None,
    }
}

/// The widths that the text of a `format` asks for; a `*` takes one from among the values.
fn widths(call: Node<'_, '_>, given: &[Constant]) -> u64 {
    let text = call.list("args").next().and_then(super::super::scan::literal_text);
    let Some(text) = text else { return UNBOUNDED };
    let numbers =
        text.split(|character: char| !character.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let written = numbers.map(|digits| digits.parse().unwrap_or(UNBOUNDED));
    let taken = given.iter().filter(|_| text.contains('*')).map(|one| match one.number {
        Some(number) => number,
        None if one.bytes == SHORT => UNBOUNDED,
        None => 0,
    });
    written.chain(taken).fold(0, u64::saturating_add)
}
