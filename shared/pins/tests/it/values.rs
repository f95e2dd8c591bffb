//! The table of accepted JSON, type by type.

use pins::{ParamType, Value};

use crate::parsed;

/// Each line is JSON and the canonical text that becomes of it.
#[track_caller]
fn accepts(ty: ParamType, cases: &str) {
    for case in cases.lines().map(str::trim).filter(|case| !case.is_empty()) {
        let (json, text) = case.split_once(" => ").unwrap();
        let value = Value::read(ty, &parsed(json)).unwrap();
        assert_eq!(value.text(), text, "{} {json}", ty.name());
    }
}

/// Each line is JSON, and the end of the message that refuses it.
#[track_caller]
fn refuses(ty: ParamType, cases: &str) {
    for case in cases.lines().map(str::trim).filter(|case| !case.is_empty()) {
        let (json, why) = case.split_once(" => ").unwrap();
        let expected = format!("{} takes {}; {why}", ty.name(), ty.accepts());
        assert_eq!(Value::read(ty, &parsed(json)), Err(expected), "{json}");
    }
}

#[test]
fn text_takes_any_text_and_nothing_else() {
    accepts(
        ParamType::Text,
        r#"
        "x" => x
        "null" => null
        "'; DROP TABLE t; --" => '; DROP TABLE t; --
        "5" => 5
        "#,
    );
    refuses(
        ParamType::Text,
        r#"
        5 => got a number
        5.0 => got a number
        true => got true or false
        ["x"] => got a list
        {} => got an object
        "a\u0000b" => the text holds a NUL character
        "#,
    );
}

#[test]
fn int8_takes_whole_numbers_that_are_exact() {
    accepts(
        ParamType::Int8,
        r#"
        5 => 5
        "5" => 5
        5.0 => 5
        5e0 => 5
        1e6 => 1000000
        1E+6 => 1000000
        1.5e1 => 15
        100e-2 => 1
        -0 => 0
        -0.0 => 0
        0e999999999999 => 0
        "-007" => -7
        "+7" => 7
        9007199254740993 => 9007199254740993
        9223372036854775807 => 9223372036854775807
        "9223372036854775807" => 9223372036854775807
        -9223372036854775808 => -9223372036854775808
        "#,
    );
    refuses(
        ParamType::Int8,
        r#"
        5.5 => the number has a fraction
        1e-1 => the number has a fraction
        1e-400 => the number has a fraction
        9223372036854775808 => the number does not fit in 64 bits
        1e19 => the number does not fit in 64 bits
        1E400 => the number does not fit in 64 bits
        -1e99999999999999999999 => the number does not fit in 64 bits
        "9223372036854775808" => the number does not fit in 64 bits
        "5.0" => the text is no whole number
        "1e3" => the text is no whole number
        " 5" => the text is no whole number
        "0x1F" => the text is no whole number
        "1_000" => the text is no whole number
        "٥" => the text is no whole number
        "-" => the text is no whole number
        "--5" => the text is no whole number
        "null" => the text is no whole number
        "" => got empty text
        true => got true or false
        [5] => got a list
        "#,
    );
}

#[test]
fn numeric_keeps_its_digits_as_sent() {
    // serde_json writes exponents its own way; the digits are as sent.
    accepts(
        ParamType::Numeric,
        r#"
        1.10 => 1.10
        "1.10" => 1.10
        12345678901234567890 => 12345678901234567890
        0.1234567890123456789012345 => 0.1234567890123456789012345
        "1e3" => 1e3
        1e400 => 1e+400
        1.50E-3 => 1.50e-3
        -0 => -0
        "+5" => 5
        ".5" => .5
        "5." => 5.
        1e131071 => 1e+131071
        1e-16383 => 1e-16383
        "#,
    );
    refuses(
        ParamType::Numeric,
        r#"
        "NaN" => the text is no decimal number
        "Infinity" => the text is no decimal number
        "0x1F" => the text is no decimal number
        "1_000" => the text is no decimal number
        "1,5" => the text is no decimal number
        " 5" => the text is no decimal number
        "." => the text is no decimal number
        "e5" => the text is no decimal number
        "5e" => the text is no decimal number
        "--5" => the text is no decimal number
        1e131072 => the number has more digits than numeric holds
        1e-16384 => the number has more digits than numeric holds
        1e99999999999999999999 => the number has more digits than numeric holds
        0e99999999999999999999 => the number has more digits than numeric holds
        "" => got empty text
        true => got true or false
        "#,
    );
}

#[test]
fn date_takes_days_that_exist() {
    accepts(
        ParamType::Date,
        r#"
        "2026-01-01" => 2026-01-01
        "2024-02-29" => 2024-02-29
        "0001-01-01" => 0001-01-01
        "9999-12-31" => 9999-12-31
        "#,
    );
    refuses(
        ParamType::Date,
        r#"
        "2026-02-29" => the calendar has no such day
        "1900-02-29" => the calendar has no such day
        "2026-13-01" => the calendar has no such day
        "2026-00-10" => the calendar has no such day
        "2026-01-00" => the calendar has no such day
        "0000-01-01" => the calendar has no such day
        "2026-1-1" => the day is not written `YYYY-MM-DD`
        "01/02/2026" => the day is not written `YYYY-MM-DD`
        "today" => the day is not written `YYYY-MM-DD`
        "infinity" => the day is not written `YYYY-MM-DD`
        "20260101" => the day is not written `YYYY-MM-DD`
        "12026-01-01" => the day is not written `YYYY-MM-DD`
        " 2026-01-01" => the day is not written `YYYY-MM-DD`
        "2026‑01‑01" => the day is not written `YYYY-MM-DD`
        "2026-01-01 00:00" => something follows the day
        "" => got empty text
        20260101 => got a number
        "#,
    );
}

#[test]
fn timestamp_takes_no_zone() {
    accepts(
        ParamType::Timestamp,
        r#"
        "2026-01-01 10:20:30" => 2026-01-01 10:20:30
        "2026-01-01T10:20:30.120" => 2026-01-01 10:20:30.120
        "2026-01-01T10:20" => 2026-01-01 10:20:00
        "#,
    );
    refuses(
        ParamType::Timestamp,
        r#"
        "2026-01-01 10:20:30Z" => a zone follows the time; leave it out, or make the parameter timestamptz
        "2026-01-01 10:20:30+02" => a zone follows the time; leave it out, or make the parameter timestamptz
        "2026-01-01 10:20:30 Europe/Berlin" => something follows the time
        "2026-01-01" => the time is missing
        "2026-01-01 24:00:00" => the clock has no such time
        "2026-01-01 10:60:00" => the clock has no such time
        "2026-01-01 10:20:60" => the clock has no such time
        "2026-01-01 10:20:30.1234567" => a second has 1 to 6 digits after its point
        "2026-01-01 10:20:30." => a second has 1 to 6 digits after its point
        "2026-01-01 1:20" => the time is not written `HH:MM:SS`
        "2026-02-30 10:20" => the calendar has no such day
        "now" => the day is not written `YYYY-MM-DD`
        "" => got empty text
        1767225600 => got a number
        "#,
    );
}

#[test]
fn timestamptz_needs_a_zone_and_keeps_it() {
    accepts(
        ParamType::Timestamptz,
        r#"
        "2026-01-01T10:20:30Z" => 2026-01-01 10:20:30+00:00
        "2026-01-01 10:20:30.5+02" => 2026-01-01 10:20:30.5+02:00
        "2026-01-01 10:20-0330" => 2026-01-01 10:20:00-03:30
        "2026-01-01 10:20:30 +05:45" => 2026-01-01 10:20:30+05:45
        "#,
    );
    refuses(
        ParamType::Timestamptz,
        r#"
        "2026-01-01 10:20:30" => the zone is missing; add `Z` or an offset such as `+02:00`
        "2026-01-01 10:20:30 CET" => the zone is neither `Z` nor an offset such as `+02:00`
        "2026-01-01 10:20:30+16:00" => the zone is neither `Z` nor an offset such as `+02:00`
        "2026-01-01 10:20:30+01:60" => the zone is neither `Z` nor an offset such as `+02:00`
        "2026-01-01 10:20:30+1" => the zone is neither `Z` nor an offset such as `+02:00`
        "2026-01-01 10:20:30+01:" => the zone is neither `Z` nor an offset such as `+02:00`
        "2026-01-01 10:20:30Z+1" => the zone is neither `Z` nor an offset such as `+02:00`
        "2026-01-01" => the time is missing
        "" => got empty text
        0 => got a number
        "#,
    );
}

#[test]
fn bool_takes_true_and_false() {
    accepts(
        ParamType::Bool,
        r#"
        true => true
        false => false
        "true" => true
        "false" => false
        "#,
    );
    refuses(
        ParamType::Bool,
        r#"
        1 => got a number
        0 => got a number
        "t" => got text
        "TRUE" => got text
        "yes" => got text
        "" => got empty text
        [true] => got a list
        "#,
    );
}
