//! Names of built-in types with a modifier, as `format_type` prints them on every major.

/// The interval's field mask and precision that stand for "all", from PostgreSQL's `utils/timestamp.h`.
const INTERVAL_FULL_RANGE: i32 = 0x7fff;
const INTERVAL_FULL_PRECISION: i32 = 0xffff;

/// The name of a built-in scalar type with a modifier of 0 or more; `None` where the server must be asked.
pub(super) fn name(oid: u32, modifier: i32) -> Option<String> {
    // Character types and numeric count a header of four bytes in.
    let length = modifier.checked_sub(4);
    Some(match oid {
        1042 => format!("character{}", parenthesised(length?)?),
        1043 => format!("character varying{}", parenthesised(length?)?),
        1083 => format!("time({modifier}) without time zone"),
        1114 => format!("timestamp({modifier}) without time zone"),
        1184 => format!("timestamp({modifier}) with time zone"),
        1186 => format!("interval{}", interval(modifier)?),
        1266 => format!("time({modifier}) with time zone"),
        1560 => format!("bit({modifier})"),
        1562 => format!("bit varying({modifier})"),
        1700 => {
            let (precision, scale) = numeric(length.filter(|length| *length >= 0)?);
            format!("numeric({precision},{scale})")
        }
        _ => return None,
    })
}

fn parenthesised(length: i32) -> Option<String> {
    (length > 0).then(|| format!("({length})"))
}

/// The scale is eleven bits with a sign since 15; 14 has no negative one and none above 1,000, so both read alike.
fn numeric(packed: i32) -> (i32, i32) {
    ((packed >> 16) & 0xffff, ((packed & 0x7ff) ^ 0x400) - 0x400)
}

/// Fields and precision: ` day to second(3)`.
fn interval(modifier: i32) -> Option<String> {
    const MONTH: i32 = 1 << 1;
    const YEAR: i32 = 1 << 2;
    const DAY: i32 = 1 << 3;
    const HOUR: i32 = 1 << 10;
    const MINUTE: i32 = 1 << 11;
    const SECOND: i32 = 1 << 12;
    let fields = match (modifier >> 16) & INTERVAL_FULL_RANGE {
        INTERVAL_FULL_RANGE => "",
        YEAR => " year",
        MONTH => " month",
        DAY => " day",
        HOUR => " hour",
        MINUTE => " minute",
        SECOND => " second",
        range if range == YEAR | MONTH => " year to month",
        range if range == DAY | HOUR => " day to hour",
        range if range == DAY | HOUR | MINUTE => " day to minute",
        range if range == DAY | HOUR | MINUTE | SECOND => " day to second",
        range if range == HOUR | MINUTE => " hour to minute",
        range if range == HOUR | MINUTE | SECOND => " hour to second",
        range if range == MINUTE | SECOND => " minute to second",
        _ => return None,
    };
    Some(match modifier & INTERVAL_FULL_PRECISION {
        INTERVAL_FULL_PRECISION => fields.to_owned(),
        precision => format!("{fields}({precision})"),
    })
}
