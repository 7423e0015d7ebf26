//! The headers of the pages of a Parquet column, checked before the pages are read.
//!
//! The parquet crate takes memory for what a page header declares, up to 2 GiB for a page of some bytes. Here the
//! headers are looked through first: pages must lie within their column, and unpack to no more than their codec can
//! make of their bytes.

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

use super::Decoded;
use super::chunks::Chunks;
use super::thrift::{DEPTH, Thrift};

/// A page up to this size is believed: constant values are packed better than any ratio.
const BELIEVED: u64 = 1 << 24;
/// Bytes looked at for a header; statistics make some longer.
const HEADER: [usize; 3] = [256, 1 << 14, 1 << 22];

/// Refuses a column chunk whose pages cannot be what they declare.
pub(super) fn check_pages(chunks: &Chunks, chunk: &ColumnChunkMetaData) -> Decoded<()> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    let end = range.and_then(|(start, len)| start.checked_add(len)).filter(|&end| end <= chunks.size());
    let (Some((mut at, _)), Some(end)) = (range, end) else {
        return Err(format!("column {} is beyond the end of the file", chunk.column_path()));
    };
    let ratio = largest_ratio(chunk.compression());
    while at < end {
        let page = read_header(chunks, at, end).ok_or_else(|| format!("no page header at byte {at}"))?;
        at += page.header_len;
        if page.packed > end - at {
            return Err(format!("the page at byte {at} is beyond the end of its column"));
        }
        if page.unpacked > BELIEVED.max(page.packed.saturating_mul(ratio)) {
            return Err(format!("the page at byte {at} cannot unpack to {} bytes", page.unpacked));
        }
        at += page.packed;
    }
    Ok(())
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
}

fn read_header(chunks: &Chunks, at: u64, end: u64) -> Option<Page> {
    HEADER.iter().find_map(|&len| {
        let len = usize::try_from(end - at).map_or(len, |left| left.min(len));
        parse_header(&chunks.bytes(at, len).ok()?)
    })
}

/// The fields 2 and 3 of a `PageHeader` in Thrift's compact protocol.
fn parse_header(bytes: &[u8]) -> Option<Page> {
    let mut thrift = Thrift::new(bytes);
    let (mut id, mut unpacked, mut packed) = (0, None, None);
    while let Some(kind) = thrift.field(&mut id)? {
        match (id, kind) {
            (2, Thrift::I32) => unpacked = Some(thrift.i32()?),
            (3, Thrift::I32) => packed = Some(thrift.i32()?),
            _ => thrift.skip(kind, DEPTH)?,
        }
    }
    let size = |size: Option<i64>| size.and_then(|size| u64::try_from(size).ok());
    Some(Page { header_len: thrift.position() as u64, packed: size(packed)?, unpacked: size(unpacked)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_parsed_to_its_end() {
        // type 0, 300 bytes unpacked, 40 packed, a data page header with three numbers and binary statistics.
        let bytes = [21, 0, 21, 216, 4, 21, 80, 44, 21, 20, 21, 0, 28, 24, 2, 7, 7, 0, 0, 0, 99];
        let page = parse_header(&bytes).unwrap();
        assert_eq!((page.unpacked, page.packed, page.header_len), (300, 40, 20));
        for len in 0..20 {
            assert!(parse_header(&bytes[..len]).is_none(), "{len}");
        }
    }
}
