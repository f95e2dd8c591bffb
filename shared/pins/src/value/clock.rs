//! Days and moments as ISO 8601 text, checked by the calendar. No zone but the one in the text is ever used.

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// PostgreSQL takes offsets below 16 hours (`MAX_TZDISP_HOUR`).
const MAX_OFFSET_HOURS: i64 = 15;

/// A point in time, its canonical text, and what it is compared by.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) text: String,
    /// Microseconds since 1970; of a timestamp without zone as if it were in UTC.
    pub(super) micros: i64,
}

type Result<T> = std::result::Result<T, &'static str>;

/// A day `YYYY-MM-DD` of the years 1 to 9999, as days since 1970.
pub(super) fn date(text: &str) -> Result<i64> {
    let (day, rest) = take_date(text)?;
    if rest.is_empty() { Ok(day) } else { Err("something follows the day") }
}

/// A day and a time, and nothing that names a zone.
pub(super) fn timestamp(text: &str) -> Result<Moment> {
    let (moment, rest) = take_moment(text)?;
    if rest.is_empty() {
        return Ok(moment);
    }
    Err(match take_offset(rest) {
        Ok(_) => "a zone follows the time; leave it out, or make the parameter timestamptz",
        Err(_) => "something follows the time",
    })
}

/// A day, a time, and `Z` or an offset.
pub(super) fn timestamptz(text: &str) -> Result<Moment> {
    let (local, rest) = take_moment(text)?;
    if rest.is_empty() {
        return Err("the zone is missing; add `Z` or an offset such as `+02:00`");
    }
    let (offset, seconds) = take_offset(rest.strip_prefix(' ').unwrap_or(rest))?;
    Ok(Moment { text: format!("{}{offset}", local.text), micros: local.micros - seconds * MICROS_PER_SECOND })
}

fn take_date(text: &str) -> Result<(i64, &str)> {
    const SHAPE: &str = "the day is not written `YYYY-MM-DD`";
    if text.is_empty() {
        return Err("");
    }
    let (year, rest) = take_number(text, 4).ok_or(SHAPE)?;
    let (month, rest) = rest.strip_prefix('-').and_then(|rest| take_number(rest, 2)).ok_or(SHAPE)?;
    let (day, rest) = rest.strip_prefix('-').and_then(|rest| take_number(rest, 2)).ok_or(SHAPE)?;
    if year == 0 || !(1..=12).contains(&month) || !(1..=days_of_month(year, month)).contains(&day) {
        return Err("the calendar has no such day");
    }
    Ok((days_since_1970(year, month, day), rest))
}

fn take_moment(text: &str) -> Result<(Moment, &str)> {
    const SHAPE: &str = "the time is not written `HH:MM:SS`";
    let (days, rest) = take_date(text)?;
    let day_text = text.get(..10).ok_or(SHAPE)?;
    let rest = rest.strip_prefix(['T', 't', ' ']).ok_or("the time is missing")?;
    let (hour, rest) = take_number(rest, 2).ok_or(SHAPE)?;
    let (minute, mut rest) = rest.strip_prefix(':').and_then(|rest| take_number(rest, 2)).ok_or(SHAPE)?;
    let (mut second, mut fraction) = (0, "");
    if let Some(after) = rest.strip_prefix(':') {
        (second, rest) = take_number(after, 2).ok_or(SHAPE)?;
        if let Some(after) = rest.strip_prefix('.') {
            let count = after.bytes().take_while(u8::is_ascii_digit).count();
            (fraction, rest) = after.split_at_checked(count).ok_or(SHAPE)?;
            if !(1..=6).contains(&count) {
                return Err("a second has 1 to 6 digits after its point");
            }
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return Err("the clock has no such time");
    }
    let micros: i64 = format!("{fraction:0<6}").parse().map_err(|_| SHAPE)?;
    let seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    let point = if fraction.is_empty() { "" } else { "." };
    let text = format!("{day_text} {hour:02}:{minute:02}:{second:02}{point}{fraction}");
    Ok((Moment { text, micros: seconds * MICROS_PER_SECOND + micros }, rest))
}

/// A whole text that is `Z` or an offset, as `±HH:MM` and in seconds east of UTC.
fn take_offset(text: &str) -> Result<(String, i64)> {
    const SHAPE: &str = "the zone is neither `Z` nor an offset such as `+02:00`";
    if text == "Z" || text == "z" {
        return Ok(("+00:00".to_owned(), 0));
    }
    let (sign, east) = match text.get(..1) {
        Some("+") => ("+", 1),
        Some("-") => ("-", -1),
        _ => return Err(SHAPE),
    };
    let (hours, rest) = text.get(1..).and_then(|rest| take_number(rest, 2)).ok_or(SHAPE)?;
    let (minutes, rest) = match rest.strip_prefix(':').unwrap_or(rest) {
        "" if rest.is_empty() => (0, ""),
        digits => take_number(digits, 2).ok_or(SHAPE)?,
    };
    if !rest.is_empty() || hours > MAX_OFFSET_HOURS || minutes > 59 {
        return Err(SHAPE);
    }
    Ok((format!("{sign}{hours:02}:{minutes:02}"), east * (hours * 3600 + minutes * 60)))
}

/// Exactly this many digits, and what follows them.
fn take_number(text: &str, digits: usize) -> Option<(i64, &str)> {
    let (number, rest) = text.split_at_checked(digits)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The proleptic Gregorian calendar, which is PostgreSQL's too: years begin in March, so that the leap day is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_one_after_the_day_before() {
        let mut expected = date("0001-01-01").unwrap();
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in 1..=days_of_month(year, month) {
                    assert_eq!(days_since_1970(year, month, day), expected, "{year}-{month}-{day}");
                    expected += 1;
                }
            }
        }
        assert_eq!(date("1970-01-01"), Ok(0));
        assert_eq!(date("2000-03-01"), Ok(11_017));
    }

    #[test]
    fn a_fraction_counts_by_its_place() {
        assert_eq!(timestamp("1970-01-01 00:00:01.5").unwrap().micros, 1_500_000);
        assert_eq!(timestamp("1970-01-01 00:00:01.000005").unwrap().micros, 1_000_005);
    }
}
