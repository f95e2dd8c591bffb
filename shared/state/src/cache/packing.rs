//! How a part lies in the cache: a format byte, its length, and the bytes, compressed where that helps.

use super::error::CacheError;

/// The most bytes a part may have, packed or not: also what a length read from the cache may claim.
pub(super) const MAX_PART: usize = 16 * 1024 * 1024;

/// As it is.
const PLAIN: u8 = 0;
/// An LZ4 block: half a millisecond a MiB, and rows as JSON shrink to about a quarter.
const LZ4: u8 = 1;

const HEADER: usize = 5;

/// Packs a part.
pub(super) fn pack(part: &[u8]) -> Result<Vec<u8>, CacheError> {
    let too_large = || CacheError::TooLarge { bytes: part.len(), most: MAX_PART };
    if part.len() > MAX_PART {
        return Err(too_large());
    }
    let length = u32::try_from(part.len()).map_err(|_| too_large())?.to_be_bytes();
    let smaller = lz4_flex::block::compress(part);
    let (format, body) = if smaller.len() < part.len() { (LZ4, smaller.as_slice()) } else { (PLAIN, part) };
    let mut packed = Vec::with_capacity(HEADER + body.len());
    packed.push(format);
    packed.extend_from_slice(&length);
    packed.extend_from_slice(body);
    Ok(packed)
}

/// Gives back what was packed, whole, or nothing.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, CacheError> {
    let (header, body) = packed.split_first_chunk::<HEADER>().ok_or(CacheError::Malformed)?;
    let [format, length @ ..] = *header;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(|_| CacheError::Malformed)?;
    if length > MAX_PART {
        return Err(CacheError::Malformed);
    }
    let part = match format {
        PLAIN => body.to_vec(),
        LZ4 => lz4_flex::block::decompress(body, length).map_err(|_| CacheError::Malformed)?,
        _ => return Err(CacheError::Malformed),
    };
    if part.len() == length { Ok(part) } else { Err(CacheError::Malformed) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_shrink_and_noise_grows_by_the_header_alone() {
        let rows = r#"["east","64.00"],"#.repeat(10_000);
        assert!(pack(rows.as_bytes()).unwrap().len() < rows.len() / 50);
        let noise: Vec<u8> =
            (0..4_096_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        assert_eq!(pack(&noise).unwrap().len(), noise.len() + HEADER);
    }

    #[test]
    fn what_was_cut_or_altered_or_is_of_a_later_format_is_no_part() {
        let packed = pack(&b"abcdefgh".repeat(100)).unwrap();
        for end in 0..packed.len() {
            assert!(unpack(&packed[..end]).is_err(), "cut after {end}");
        }
        let mut longer = packed.clone();
        longer[4] += 1;
        assert!(unpack(&longer).is_err());
        let mut later = packed.clone();
        later[0] = 2;
        assert!(unpack(&later).is_err());
        assert!(unpack(&[LZ4, 0xff, 0xff, 0xff, 0xff, 0]).is_err(), "a length that nobody could mean");
    }

    #[test]
    fn a_part_over_the_limit_is_refused_with_both_figures() {
        let error = pack(&vec![0; MAX_PART + 1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "16777217 bytes are too many for one entry of the cache, which takes 16777216"
        );
    }

    proptest! {
        #[test]
        fn every_part_comes_back(part in proptest::collection::vec(any::<u8>(), 0..2_000)) {
            prop_assert_eq!(unpack(&pack(&part).unwrap()).unwrap(), part);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(&bytes);
        }
    }
}
