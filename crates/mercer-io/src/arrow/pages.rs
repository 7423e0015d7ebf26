//! The headers of the pages of a Parquet column, checked before the pages are read.
//!
//! The parquet crate takes memory for what a page header declares, up to 2 GiB for a page of some bytes. Here the
//! headers are looked through first: pages must lie within their column, unpack to no more than their codec can make of
//! their bytes, and have no more values than these can hold.

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

use super::Decoded;
use super::chunks::Chunks;
use super::footer::PAGE_HEADER;
use super::thrift::{DEPTH, Thrift};

/// A page up to this size is believed: constant values are packed better than any ratio.
const BELIEVED: u64 = 1 << 24;
/// A column of lists with up to this many values is believed, and one with up to so many for each of its bytes. Levels
/// take 4 bytes or more for each list, so that lists of 4,096 are within it, even of one number only.
pub(super) const BELIEVED_VALUES: u64 = 1 << 22;
pub(super) const VALUES_OF_BYTE: u64 = 1 << 10;
/// Bytes looked at for a header; statistics make some longer.
const HEADER: [usize; 3] = [256, 1 << 14, 1 << 22];

/// Refuses a column chunk whose pages cannot be what they declare; gives the bytes that each unpacks to.
pub(super) fn check_pages(chunks: &Chunks, chunk: &ColumnChunkMetaData) -> Decoded<Vec<u64>> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    let end = range.and_then(|(start, len)| start.checked_add(len)).filter(|&end| end <= chunks.size());
    let (Some((mut at, _)), Some(end)) = (range, end) else {
        return Err(format!("column {} is beyond the end of the file", chunk.column_path()));
    };
    let ratio = largest_ratio(chunk.compression());
    let (mut values, mut sizes) = (0, Vec::new());
    while at < end {
        let page = read_header(chunks, at, end).ok_or_else(|| format!("no page header at byte {at}"))?;
        at += page.header_len;
        if page.packed > end - at {
            return Err(format!("the page at byte {at} is beyond the end of its column"));
        }
        if page.unpacked > BELIEVED.max(page.packed.saturating_mul(ratio)) {
            return Err(format!("the page at byte {at} cannot unpack to {} bytes", page.unpacked));
        }
        // What is not packed has the size of its bytes, whatever is declared.
        if page.dictionary > if ratio == 1 { page.packed } else { page.unpacked } {
            return Err(format!("the dictionary at byte {at} cannot have {} values", page.dictionary));
        }
        values += page.data;
        sizes.push(page.unpacked);
        at += page.packed;
    }
    let bytes: u64 = sizes.iter().sum();
    // A row of a column of lists is read whole. The rows of other columns are read one by one, so that their number
    // takes no memory.
    if chunk.column_descr().max_rep_level() > 0 && values > BELIEVED_VALUES.max(bytes.saturating_mul(VALUES_OF_BYTE)) {
        return Err(format!("column {} cannot have {values} values in {bytes} bytes", chunk.column_path()));
    }
    Ok(sizes)
}

/// The most that a codec can make of a byte.
fn largest_ratio(codec: Compression) -> u64 {
    match codec {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 64,
        Compression::LZ4 | Compression::LZ4_RAW | Compression::LZO => 256,
        Compression::GZIP(_) => 1100,
        // A block of 128 KiB of one value takes 4 bytes.
        Compression::ZSTD(_) | Compression::BROTLI(_) => 1 << 15,
    }
}

struct Page {
    header_len: u64,
    packed: u64,
    unpacked: u64,
    /// Values of a dictionary, of data.
    dictionary: u64,
    data: u64,
}

fn read_header(chunks: &Chunks, at: u64, end: u64) -> Option<Page> {
    HEADER.iter().find_map(|&len| {
        let len = usize::try_from(end - at).map_or(len, |left| left.min(len));
        parse_header(&chunks.bytes(at, len).ok()?)
    })
}

/// The sizes in a `PageHeader`, and the first field of what it has for its type of page, which is the number of values.
///
/// It must have that of its type and no other. Index pages are refused: looking ahead, the crate would take their bytes
/// for headers.
fn parse_header(bytes: &[u8]) -> Option<Page> {
    let mut thrift = Thrift::new(bytes);
    let (mut kind, mut unpacked, mut packed, mut counts) = (None, None, None, [None; 3]);
    thrift.fields(&PAGE_HEADER, DEPTH, |id, mut value| match id {
        1 => kind = value.i32(),
        2 => unpacked = value.i32(),
        3 => packed = value.i32(),
        5 => counts[0] = Some(value.first_i32()),
        7 => counts[1] = Some(value.first_i32()),
        8 => counts[2] = Some(value.first_i32()),
        _ => {}
    })?;
    let size = |size: Option<i32>| size.and_then(|size| u64::try_from(size).ok());
    let (dictionary, data) = match (kind?, counts) {
        (0, [Some(data), None, None]) | (3, [None, None, Some(data)]) => (0, size(data)?),
        (2, [None, Some(dictionary), None]) => (size(dictionary)?, 0),
        _ => return None,
    };
    let header_len = thrift.position() as u64;
    let (packed, unpacked) = (size(packed)?, size(unpacked)?);
    Some(Page { header_len, packed, unpacked, dictionary, data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_parsed_to_its_end() {
        // type 0, 300 bytes unpacked, 40 packed, a data page header of 10 values with an encoding and binary statistics.
        let bytes = [21, 0, 21, 216, 4, 21, 80, 44, 21, 20, 21, 0, 60, 24, 2, 7, 7, 0, 0, 0, 99];
        let page = parse_header(&bytes).unwrap();
        assert_eq!((page.unpacked, page.packed, page.header_len), (300, 40, 20));
        assert_eq!((page.data, page.dictionary), (10, 0));
        for len in 0..20 {
            assert!(parse_header(&bytes[..len]).is_none(), "{len}");
        }
    }

    #[test]
    fn fields_of_headers_have_their_type() {
        let dictionary = [21, 4, 21, 20, 21, 20, 76, 21, 6, 21, 0, 17, 0, 0];
        assert_eq!(parse_header(&dictionary).unwrap().dictionary, 3);
        for (at, kind) in [(0, 22), (2, 22), (6, 72), (7, 25), (11, 21)] {
            let mut bytes = dictionary;
            bytes[at] = kind;
            assert!(parse_header(&bytes).is_none(), "{kind} at {at}");
        }
        for kind in [0, 2, 6, 8] {
            let mut bytes = dictionary;
            bytes[1] = kind;
            assert!(parse_header(&bytes).is_none(), "what a dictionary has, in a page of type {}", kind / 2);
        }
        let both = [21, 0, 21, 20, 21, 20, 44, 21, 6, 0, 60, 21, 6, 0, 0];
        assert!(parse_header(&both).is_none(), "what two versions of data pages have");
        let long = [21, 0, 21, 128, 128, 128, 128, 32, 21, 20, 0];
        assert!(parse_header(&long).is_none(), "a size of 33 bits, which the crate would cut off");
    }
}
