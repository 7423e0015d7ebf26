//! A row group of a Parquet file whose pages are looked at on their way from the file to the parquet crate's decoders.

use std::sync::Arc;
use std::vec;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::chunks::Chunks;
use super::delta;
use super::unpack::Codec;

/// One row group.
pub(super) struct RowGroup {
    pub(super) chunks: Chunks,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) group: usize,
    /// What the pages of each column unpack to, as their headers declare; nothing of columns that are not read.
    pub(super) unpacked: Vec<Vec<u64>>,
}

impl RowGroup {
    fn own(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.group)
    }
}

impl RowGroups for RowGroup {
    fn num_rows(&self) -> usize {
        usize::try_from(self.own().num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, leaf: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.own().column(leaf);
        let codec = Codec::of(chunk.compression());
        // What is unpacked here comes as it is stored.
        let stored = if codec.is_some() { Compression::UNCOMPRESSED } else { chunk.compression() };
        let chunk = chunk.clone().into_builder().set_compression(stored).build()?;
        let (max_rep_level, max_def_level) =
            (chunk.column_descr().max_rep_level(), chunk.column_descr().max_def_level());
        let reader = SerializedPageReader::new(Arc::new(self.chunks.clone()), &chunk, self.num_rows(), None)?;
        let unpacked = self.unpacked[leaf].clone().into_iter();
        Ok(Box::new(OneColumn(Some(Pages { reader, codec, unpacked, max_rep_level, max_def_level }))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.own()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pages of a column of one row group, once.
struct OneColumn(Option<Pages>);

impl Iterator for OneColumn {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(pages) as _))
    }
}

impl PageIterator for OneColumn {}

/// The pages of a column, unpacked and with counts that are no greater than they can be.
struct Pages {
    reader: SerializedPageReader<Chunks>,
    codec: Option<Codec>,
    unpacked: vec::IntoIter<u64>,
    max_rep_level: i16,
    max_def_level: i16,
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.reader.get_next_page()? else { return Ok(None) };
        let size = self.unpacked.next();
        if let Some(codec) = self.codec {
            let size = size.and_then(|size| usize::try_from(size).ok());
            unpack(codec, &mut page, size.ok_or_else(|| damaged("a page without a size"))?)?;
        }
        self.check_counts(&page)?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.unpacked.next();
        self.reader.skip_next_page()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl Pages {
    /// Refuses a page whose lengths are more than its values.
    fn check_counts(&self, page: &Page) -> Result<()> {
        let n_runs = delta::n_runs(page.encoding());
        if n_runs == 0 || page.is_dictionary_page() {
            return Ok(());
        }
        let values = self.values(page).ok_or_else(|| damaged("a page ends in its levels"))?;
        if delta::are_runs(values, n_runs, u64::from(page.num_values())) {
            return Ok(());
        }
        Err(damaged("a page of more lengths than values, or of malformed ones"))
    }

    /// What follows the levels of a data page.
    fn values<'a>(&self, page: &'a Page) -> Option<&'a [u8]> {
        match page {
            Page::DataPage { buf, num_values, rep_level_encoding, def_level_encoding, .. } => {
                let rest = after_levels(buf, self.max_rep_level, *rep_level_encoding, *num_values)?;
                after_levels(rest, self.max_def_level, *def_level_encoding, *num_values)
            }
            Page::DataPageV2 { buf, rep_levels_byte_len, def_levels_byte_len, .. } => {
                buf.get(*rep_levels_byte_len as usize + *def_levels_byte_len as usize..)
            }
            Page::DictionaryPage { .. } => None,
        }
    }
}

/// Puts the unpacked bytes, which are `size`, in place of the packed ones.
fn unpack(codec: Codec, page: &mut Page, size: usize) -> Result<()> {
    let (buf, plain) = match page {
        Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => (buf, 0),
        Page::DataPageV2 { is_compressed: false, .. } => return Ok(()),
        // The levels of these pages are not packed.
        Page::DataPageV2 { buf, rep_levels_byte_len, def_levels_byte_len, .. } => {
            (buf, *rep_levels_byte_len as usize + *def_levels_byte_len as usize)
        }
    };
    *buf = codec.unpack(buf, plain, size).map_err(|reason| damaged(&reason))?.into();
    Ok(())
}

/// What follows the levels that a page of the first version begins with.
fn after_levels(bytes: &[u8], max_level: i16, encoding: Encoding, n_values: u32) -> Option<&[u8]> {
    if max_level == 0 {
        return Some(bytes);
    }
    #[expect(deprecated, reason = "old files have such levels")]
    let packed = Encoding::BIT_PACKED;
    if encoding == packed {
        let bits = u64::from(16 - max_level.leading_zeros()) * u64::from(n_values);
        return bytes.get(usize::try_from(bits.div_ceil(8)).ok()?..);
    }
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.get(u32::from_le_bytes(*len) as usize..)
}

fn damaged(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}
