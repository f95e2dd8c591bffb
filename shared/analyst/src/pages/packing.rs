//! Rows as bytes, in parts. What was packed comes back to the last byte, or not at all.

use pg::RawValue;
use thiserror::Error;

use super::Row;

/// A part ends with the row that reaches this many bytes.
const PART: usize = 64 << 10;

/// What stands before a value.
const NULL: u8 = 0;
const WHOLE: u8 = 1;
const CUT: u8 = 2;

/// What was kept does not read as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("what was kept does not read as rows")]
pub struct Torn;

/// Packs rows into parts, each with its number of rows; none where a value is longer than can be told.
pub(super) fn pack(rows: &[Row]) -> Option<Vec<(u32, Vec<u8>)>> {
    let mut parts = Vec::new();
    let (mut count, mut part) = (0, Vec::new());
    for row in rows {
        for value in row {
            put(value.as_ref(), &mut part)?;
        }
        count += 1;
        if part.len() >= PART {
            parts.push((std::mem::take(&mut count), std::mem::take(&mut part)));
        }
    }
    if count > 0 {
        parts.push((count, part));
    }
    Some(parts)
}

fn put(value: Option<&RawValue>, part: &mut Vec<u8>) -> Option<()> {
    let Some(value) = value else {
        part.push(NULL);
        return Some(());
    };
    part.push(if value.is_cut() { CUT } else { WHOLE });
    let mut number = |number: usize| {
        part.extend_from_slice(&u32::try_from(number).ok()?.to_be_bytes());
        Some(())
    };
    number(value.bytes.len())?;
    number(value.full_chars)?;
    if value.is_cut() {
        number(value.full_bytes)?;
    }
    part.extend_from_slice(&value.bytes);
    Some(())
}

/// Gives back the rows of a part.
pub(super) fn unpack(mut part: &[u8], rows: u32, columns: usize) -> Result<Vec<Row>, Torn> {
    let rows =
        (0..rows).map(|_| (0..columns).map(|_| take(&mut part)).collect()).collect::<Result<_, _>>()?;
    if part.is_empty() { Ok(rows) } else { Err(Torn) }
}

fn take(part: &mut &[u8]) -> Result<Option<RawValue>, Torn> {
    let (&kind, rest) = part.split_first().ok_or(Torn)?;
    *part = rest;
    if kind == NULL {
        return Ok(None);
    }
    let mut number = || {
        let (number, rest) = part.split_first_chunk::<4>().ok_or(Torn)?;
        *part = rest;
        usize::try_from(u32::from_be_bytes(*number)).map_err(|_| Torn)
    };
    let (length, full_chars) = (number()?, number()?);
    let full_bytes = match kind {
        WHOLE => length,
        CUT => number()?,
        _ => return Err(Torn),
    };
    let (bytes, rest) = part.split_at_checked(length).ok_or(Torn)?;
    *part = rest;
    Ok(Some(RawValue { bytes: bytes.to_vec(), full_chars, full_bytes }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = Option<RawValue>> {
        let bytes = proptest::collection::vec(any::<u8>(), 0..40);
        let value = (bytes, 0_usize..100, 0_usize..1_000).prop_map(|(bytes, chars, more)| RawValue {
            full_bytes: bytes.len() + more,
            full_chars: chars,
            bytes,
        });
        proptest::option::of(value)
    }

    fn unpacked(parts: &[(u32, Vec<u8>)], columns: usize) -> Result<Vec<Row>, Torn> {
        let rows = parts.iter().map(|(rows, part)| unpack(part, *rows, columns));
        Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
    }

    #[test]
    fn rows_without_columns_are_kept_by_their_number() {
        let rows: Vec<Row> = vec![Vec::new(); 5];
        let parts = pack(&rows).unwrap();
        assert_eq!(parts, [(5, Vec::new())]);
        assert_eq!(unpacked(&parts, 0), Ok(rows));
        assert_eq!(pack(&[]).unwrap(), []);
    }

    #[test]
    fn a_part_ends_with_the_row_that_fills_it() {
        let value = RawValue { bytes: vec![b'x'; PART / 4], full_chars: PART / 4, full_bytes: PART / 4 };
        let rows: Vec<Row> = vec![vec![Some(value)]; 9];
        let counts: Vec<u32> = pack(&rows).unwrap().iter().map(|(rows, _)| *rows).collect();
        assert_eq!(counts, [4, 4, 1]);
    }

    proptest! {
        #[test]
        fn every_row_comes_back(rows in proptest::collection::vec(proptest::collection::vec(value(), 3), 0..20)) {
            prop_assert_eq!(unpacked(&pack(&rows).unwrap(), 3), Ok(rows));
        }

        #[test]
        fn what_was_cut_short_is_torn(rows in proptest::collection::vec(proptest::collection::vec(value(), 2), 1..5)) {
            let (count, part) = pack(&rows).unwrap().remove(0);
            for end in 0..part.len() {
                prop_assert_eq!(unpack(&part[..end], count, 2), Err(Torn));
            }
            prop_assert_eq!(unpack(&part, count, 1), Err(Torn));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), rows in 0_u32..5, columns in 0_usize..4) {
            let _ = unpack(&bytes, rows, columns);
        }
    }
}
