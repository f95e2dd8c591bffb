//! How long the built-in functions make what they are given, at most.

use super::super::literal;
use crate::builtin;
use crate::facts::Oid;
use crate::tree::{Node, NodeKind};

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

/// How a function makes much of little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steep {
    /// `repeat`.
    Repeats,
    /// `lpad`, `rpad`, and casts to `char(n)`: up to so many characters.
    Pads,
    /// Casts to `bit(n)`.
    PadsBits,
    /// `array_fill`.
    Fills,
    /// `replace`, `ts_rewrite`.
    Replaces,
    /// `regexp_replace`, whose replacement may hold the whole match, and more than once.
    ReplacesMatches,
    /// `array_replace`.
    ReplacesItems,
    /// `array_to_string`.
    Joins,
    /// `polygon` of so many points.
    Points,
    /// `format` with values.
    Formats,
    /// `jsonb_pretty`.
    Indents,
    /// `quote_literal` and its kin.
    Quotes,
    /// Powers and factorials of numeric.
    Powers,
    /// What writes JSON.
    Json,
}

impl Steep {
    fn of(function: u32) -> Option<Self> {
        Some(match function {
            1622 => Self::Repeats,
            668 | 873 | 874 | 879 | 880 => Self::Pads,
            1683 | 1685 | 2075 => Self::PadsBits,
            1193 | 1286 => Self::Fills,
            2087 | 3684 | 3685 => Self::Replaces,
            2284 | 2285 | 6251..=6253 => Self::ReplacesMatches,
            3168 => Self::ReplacesItems,
            384 | 395 => Self::Joins,
            1475 => Self::Points,
            3539 => Self::Formats,
            3306 => Self::Indents,
            1282 | 1283 | 1285 | 1289 | 1290 => Self::Quotes,
            1376 | 1732 | 1733 | 1738 | 1739 | 2169 => Self::Powers,
            _ if builtin::writes_json(Oid(function)) => Self::Json,
            _ => return None,
        })
    }
}

/// Whether a function makes much of little: more than so many times what it is given.
pub(super) fn is_steep(function: u32) -> bool {
    Steep::of(function).is_some()
}

/// A literal.
pub(super) fn given(node: Node<'_, '_>) -> Constant {
    let number = match node.number("consttype") {
        Some(20 | 21 | 23) => whole(literal::bytes(node)),
        Some(1007) => Some(dimensions(&literal::value(node))),
        _ => None,
    };
    Constant { bytes: literal::value(node).len() as u64, number }
}

/// The eight bytes of a whole number, as processors of today keep them.
fn whole(bytes: Vec<u8>) -> Option<u64> {
    Some(i64::from_le_bytes(bytes.try_into().ok()?).unsigned_abs())
}

/// The product of a list of int4: behind a header of 20 bytes, or less where there are none.
fn dimensions(bytes: &[u8]) -> u64 {
    let numbers = bytes.get(20..).unwrap_or_default().as_chunks::<4>().0;
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
    let bytes = match Steep::of(function) {
        Some(steep @ Steep::Formats) => steep.length(given).saturating_add(widths(node, given)),
        Some(steep) => steep.length(given),
        None if node.number(result).is_some_and(is_short) => SHORT,
        None => length(function, given),
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

impl Steep {
    /// Bytes that it makes; of `format` without its widths.
    fn length(self, given: &[Constant]) -> u64 {
        let bytes = |place: usize| given.get(place).map_or(0, |one| one.bytes);
        let count = |place: usize| given.get(place).and_then(|one| one.number).unwrap_or(UNBOUNDED);
        let times = |one: u64, other: u64| one.saturating_add(1).saturating_mul(other.saturating_add(1));
        let all = sum(given);
        match self {
            Self::Repeats => bytes(0).saturating_mul(count(1)),
            Self::Pads => all.max(count(1).saturating_mul(4)),
            Self::PadsBits => all.max(count(1) / 8),
            Self::Fills => bytes(0).saturating_add(8).saturating_mul(count(1)),
            Self::Replaces => times(bytes(0), bytes(2)),
            Self::ReplacesMatches => times(bytes(0), bytes(2)).saturating_mul(2),
            Self::ReplacesItems => times(bytes(0).saturating_mul(8), bytes(2)),
            Self::Joins => times(bytes(0).saturating_mul(8), bytes(1).saturating_add(bytes(2))),
            Self::Points => count(0).saturating_mul(16),
            // A level of nesting takes eight bytes, and each of its lines four blanks.
            Self::Indents => times(bytes(0), bytes(0) / 8).saturating_add(all),
            Self::Formats | Self::Quotes => all.saturating_mul(2),
            Self::Powers => NUMERIC,
            Self::Json => all.saturating_mul(6),
        }
    }
}

/// Bytes that any other function makes.
fn length(function: u32, given: &[Constant]) -> u64 {
    sum(given).saturating_mul(match function {
        // To upper and lower case, trimmed, cut out, turned round, put together.
        870..=872 | 875..=877 | 881..=885 | 936 | 937 | 1258 | 3058..=3062 => 1,
        // Lists of what was divided.
        376 | 394 | 2767 | 2768 => 8,
        // Other encodings.
        1714 | 1717 | 1813 | 1946 => 4,
        // `normalize`.
        4350 => 18,
        _ => 2,
    })
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
    let text = call.list("args").next().and_then(literal::text);
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
