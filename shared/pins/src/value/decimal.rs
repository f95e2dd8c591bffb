//! Decimal numbers of any length, compared without ever writing them out.

use std::cmp::Ordering;

/// Digits that PostgreSQL's numeric holds before and after the point (documentation, table 8.2).
const MAX_BEFORE_POINT: i64 = 131_072;
const MAX_AFTER_POINT: i64 = 16_383;

/// Exponents are cut here: far outside numeric, and small enough to add to.
const MAX_EXPONENT: i64 = 1_000_000_000;

/// A number ±0.DIGITS × 10^exponent. Zero has no digits, no sign, exponent 0.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    negative: bool,
    /// ASCII digits, none of the first and the last is zero.
    digits: String,
    exponent: i64,
    /// Digits after the point as written, negative where the exponent fills up the places before it.
    scale: i64,
    /// The exponent as written.
    written_exponent: i64,
}

impl Decimal {
    /// Reads `[+-] digits [. digits] [e [+-] digits]` with a digit before or after the point, nothing else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, written_exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = [whole, fraction].concat();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let scale = i64::try_from(fraction.len()).ok()? - written_exponent;
        let leading_zeros = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..leading_zeros);
        digits.truncate(digits.trim_end_matches('0').len());
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0, scale, written_exponent });
        }
        let before_point = i64::try_from(whole.len()).ok()? - i64::try_from(leading_zeros).ok()?;
        Some(Self { negative, digits, exponent: before_point + written_exponent, scale, written_exponent })
    }

    /// Whether nothing but zeros follows the point.
    pub(super) fn is_whole(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|count| count <= self.exponent)
    }

    /// The number itself, where it is whole and fits.
    pub(super) fn to_i64(&self) -> Option<i64> {
        let places = usize::try_from(self.exponent).ok()?;
        if !self.is_whole() || places > 19 {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{:0<1$}", self.digits, places.max(1)).parse().ok()
    }

    /// Whether PostgreSQL's numeric reads the number as written, and keeps all of it.
    pub(super) fn fits_numeric(&self) -> bool {
        self.exponent <= MAX_BEFORE_POINT
            && self.scale <= MAX_AFTER_POINT
            && self.written_exponent.abs() < MAX_EXPONENT
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        let size = if self.negative { size.reverse() } else { size };
        self.sign().cmp(&other.sign()).then(size)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits alone fail to parse only where they are too many.
    let size = digits.parse().unwrap_or(MAX_EXPONENT).min(MAX_EXPONENT);
    Some(if negative { -size } else { size })
}
