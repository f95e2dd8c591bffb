//! The seven types of parameters, and values of them: checked, and made canonical text.

mod clock;
mod decimal;

use std::cmp::Ordering;

use serde_json::Value as Json;

use crate::fields::kind_of;
use decimal::Decimal;

/// Largest whole number up to which a JSON number is exact everywhere (RFC 8259, section 6): 2^53 − 1.
pub(crate) const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// What a parameter can be. Each is a type of `pg_catalog`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamType {
    /// Any text.
    Text,
    /// Whole numbers of 64 bits.
    Int8,
    /// Decimal numbers with every digit.
    Numeric,
    /// A day.
    Date,
    /// A day and a time, in no zone.
    Timestamp,
    /// A moment.
    Timestamptz,
    /// True or false.
    Bool,
}

impl ParamType {
    /// Every type, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Text, Self::Int8, Self::Numeric, Self::Date, Self::Timestamp, Self::Timestamptz, Self::Bool];

    /// PostgreSQL's name of the type, without its schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int8 => "int8",
            Self::Numeric => "numeric",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Timestamptz => "timestamptz",
            Self::Bool => "bool",
        }
    }

    /// The type of this name. The error lists the names.
    pub fn parse(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|ty| ty.name() == name).ok_or_else(|| {
            let names = crate::fields::list(Self::ALL.into_iter().map(Self::name));
            format!("is not a parameter type; the types are {names}")
        })
    }

    /// The type to suggest for a parameter of which the server inferred this type OID (`pg_type.dat`). None where it
    /// inferred nothing, or a type that none of the seven stands for without changing what the statement means: then a
    /// person picks.
    pub fn suggest(inferred_oid: u32) -> Option<Self> {
        match inferred_oid {
            // text, varchar, name
            25 | 1043 | 19 => Some(Self::Text),
            // int8, int2, int4
            20 | 21 | 23 => Some(Self::Int8),
            // numeric, float4, float8
            1700 | 700 | 701 => Some(Self::Numeric),
            1082 => Some(Self::Date),
            1114 => Some(Self::Timestamp),
            1184 => Some(Self::Timestamptz),
            16 => Some(Self::Bool),
            _ => None,
        }
    }

    /// What JSON a value of this type can be given as: the documented table, one line a type.
    pub fn accepts(self) -> &'static str {
        match self {
            Self::Text => "text without NUL",
            Self::Int8 => "a whole number of 64 bits, as a number or as text",
            Self::Numeric => "a decimal number, as a number or as text",
            Self::Date => "text `YYYY-MM-DD`",
            Self::Timestamp => "text `YYYY-MM-DD HH:MM:SS` without a zone",
            Self::Timestamptz => "text `YYYY-MM-DD HH:MM:SS+00:00` with `Z` or an offset",
            Self::Bool => "true or false",
        }
    }

    /// Whether values have an order that `min` and `max` can use.
    pub(crate) fn has_bounds(self) -> bool {
        match self {
            Self::Text | Self::Bool => false,
            Self::Int8 | Self::Numeric | Self::Date | Self::Timestamp | Self::Timestamptz => true,
        }
    }
}

/// A value of one of the seven types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    ty: ParamType,
    text: String,
    order: Order,
}

/// What values are compared by. Never the text: `1.0` equals `1`, and two offsets can name one moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Text(String),
    Bool(bool),
    Int(i64),
    Decimal(Decimal),
    Days(i64),
    Micros(i64),
}

impl Value {
    /// Reads a value from JSON. The error says what the type accepts and what kind of thing was sent, never the value
    /// itself, and is meant to follow the parameter's name.
    pub fn read(ty: ParamType, json: &Json) -> Result<Self, String> {
        let refused = |why: &str| {
            let why = if why.is_empty() { format!("got {}", kind_of(json)) } else { why.to_owned() };
            format!("{} takes {}; {why}", ty.name(), ty.accepts())
        };
        let (text, order) = match (ty, json) {
            (ParamType::Text, Json::String(text)) => {
                if text.contains('\0') {
                    return Err(refused("the text holds a NUL character"));
                }
                (text.clone(), Order::Text(text.clone()))
            }
            (ParamType::Bool, _) => {
                let value = match json {
                    Json::Bool(value) => *value,
                    Json::String(text) if text == "true" => true,
                    Json::String(text) if text == "false" => false,
                    _ => return Err(refused("")),
                };
                (value.to_string(), Order::Bool(value))
            }
            (ParamType::Int8, Json::Number(_) | Json::String(_)) => {
                let value = read_int8(json).map_err(refused)?;
                (value.to_string(), Order::Int(value))
            }
            (ParamType::Numeric, Json::Number(number)) => read_numeric(number.as_str()).map_err(refused)?,
            (ParamType::Numeric, Json::String(text)) => read_numeric(text).map_err(refused)?,
            (ParamType::Date, Json::String(text)) => {
                let date = clock::date(text).map_err(refused)?;
                (text.clone(), Order::Days(date))
            }
            (ParamType::Timestamp, Json::String(text)) => {
                let moment = clock::timestamp(text).map_err(refused)?;
                (moment.text, Order::Micros(moment.micros))
            }
            (ParamType::Timestamptz, Json::String(text)) => {
                let moment = clock::timestamptz(text).map_err(refused)?;
                (moment.text, Order::Micros(moment.micros))
            }
            _ => return Err(refused("")),
        };
        Ok(Self { ty, text, order })
    }

    /// The type of the value.
    pub fn ty(&self) -> ParamType {
        self.ty
    }

    /// The canonical text that is sent to PostgreSQL, and that means the same there whatever the server's settings.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value as JSON that [`Value::read`] reads as the same value, whatever passes it on.
    pub fn to_json(&self) -> Json {
        match self.order {
            Order::Bool(value) => value.into(),
            Order::Int(value) if value.abs_diff(0) <= MAX_SAFE_INTEGER.abs_diff(0) => value.into(),
            Order::Int(_) | Order::Text(_) | Order::Decimal(_) | Order::Days(_) | Order::Micros(_) => {
                self.text.clone().into()
            }
        }
    }

    /// How two values of one type stand to each other.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }

    /// A whole number.
    pub(crate) fn as_int(&self) -> Option<i64> {
        if let Order::Int(value) = self.order { Some(value) } else { None }
    }
}

fn read_int8(json: &Json) -> Result<i64, &'static str> {
    const OUT_OF_RANGE: &str = "the number does not fit in 64 bits";
    match json {
        Json::String(text) => {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(if text.is_empty() { "" } else { "the text is no whole number" });
            }
            text.parse().map_err(|_| OUT_OF_RANGE)
        }
        Json::Number(number) => {
            let decimal = Decimal::parse(number.as_str()).ok_or(OUT_OF_RANGE)?;
            if !decimal.is_whole() {
                return Err("the number has a fraction");
            }
            decimal.to_i64().ok_or(OUT_OF_RANGE)
        }
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => Err(""),
    }
}

fn read_numeric(text: &str) -> Result<(String, Order), &'static str> {
    if text.is_empty() {
        return Err("");
    }
    let decimal = Decimal::parse(text).ok_or("the text is no decimal number")?;
    if !decimal.fits_numeric() {
        return Err("the number has more digits than numeric holds");
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    Ok((digits.to_owned(), Order::Decimal(decimal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn ascends(ty: ParamType, texts: &[&str]) {
        let values: Vec<Value> =
            texts.iter().map(|text| Value::read(ty, &Json::from(*text)).unwrap()).collect();
        for pair in values.windows(2) {
            assert_eq!(pair[0].compare(&pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(pair[1].compare(&pair[0]), Ordering::Greater, "{pair:?}");
        }
    }

    #[track_caller]
    fn are_equal(ty: ParamType, one: &str, other: &str) {
        let [one, other] = [one, other].map(|text| Value::read(ty, &Json::from(text)).unwrap());
        assert_eq!(one.compare(&other), Ordering::Equal);
        assert_ne!(one, other);
    }

    #[test]
    fn values_are_compared_by_what_they_mean() {
        let numbers =
            ["-1e5", "-20", "-3", "-0.5", "-0.05", "0", "1e-300", "0.05", "0.5", "0.51", "3", "20", "1e5"];
        ascends(ParamType::Numeric, &numbers);
        are_equal(ParamType::Numeric, "1.0", "1");
        are_equal(ParamType::Numeric, "1e3", "1000.000");
        are_equal(ParamType::Numeric, "-0", "0e5");
        ascends(ParamType::Int8, &["-9223372036854775808", "-10", "-9", "9", "10", "9223372036854775807"]);
        ascends(ParamType::Date, &["0999-12-31", "1000-01-01", "2024-02-29", "2024-03-01"]);
        ascends(
            ParamType::Timestamp,
            &["1969-12-31 23:59:59.9", "1970-01-01 00:00", "1970-01-01 00:00:00.000001"],
        );
        ascends(
            ParamType::Timestamptz,
            &["2026-01-01 02:59Z", "2026-01-01 01:00-02:00", "2026-01-01 01:00-02:01"],
        );
        are_equal(ParamType::Timestamptz, "2026-01-01 01:00+02:00", "2025-12-31T23:00Z");
    }
}
