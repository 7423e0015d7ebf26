//! The counts, lengths and buffers of an Arrow record batch, checked before it is decoded.
//!
//! The arrow crate takes memory for what a batch declares, up to 2⁶³ bytes for a packed buffer, and assumes counts that
//! fit the schema.

use arrow_ipc::{Buffer, CompressionType, RecordBatch};
use arrow_schema::{DataType, Field, UnionMode};

use super::Decoded;

/// Of bytes packed in LZ4 and zstd, the most that one can become.
const RATIOS: (u64, u64) = (256, 1 << 15);

/// Buffers and nodes that columns have in a record batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    nodes: usize,
    buffers: usize,
    /// Columns whose number of buffers the batch itself declares.
    views: usize,
}

impl Counts {
    fn add(&mut self, field: &Field) {
        self.nodes += 1;
        self.buffers += match field.data_type() {
            DataType::Null | DataType::RunEndEncoded(..) => 0,
            DataType::Struct(_) | DataType::FixedSizeList(..) | DataType::Union(_, UnionMode::Sparse) => 1,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
            DataType::ListView(_) | DataType::LargeListView(_) => 3,
            _ => 2,
        };
        match field.data_type() {
            DataType::Utf8View | DataType::BinaryView => self.views += 1,
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => self.add(item),
            DataType::ListView(item) | DataType::LargeListView(item) | DataType::Map(item, _) => self.add(item),
            DataType::Struct(fields) => fields.iter().for_each(|field| self.add(field)),
            DataType::Union(fields, _) => fields.iter().for_each(|(_, field)| self.add(field)),
            DataType::RunEndEncoded(ends, values) => [ends, values].iter().for_each(|field| self.add(field)),
            _ => {}
        }
    }
}

/// Refuses a batch of these columns whose counts, lengths and buffers do not fit the schema and the body.
pub(super) fn check_batch(fields: &[&Field], batch: RecordBatch<'_>, body: &[u8]) -> Decoded<()> {
    let mut expected = Counts::default();
    fields.iter().for_each(|field| expected.add(field));
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
        return Err("a batch without columns".to_owned());
    };
    let views: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
    let n_buffers = views.iter().try_fold(expected.buffers, |sum, &n| sum.checked_add(usize::try_from(n).ok()?));
    if nodes.len() != expected.nodes || views.len() != expected.views || n_buffers != Some(buffers.len()) {
        return Err("a batch of other columns than the schema's".to_owned());
    }
    let unpacked = check_memory(&batch, body)?;
    // A row takes at least a bit of a column, so this keeps lengths from overflowing.
    let longest = unpacked.saturating_mul(8);
    let fits = |length: i64| u64::try_from(length).is_ok_and(|length| length <= longest);
    if !fits(batch.length())
        || nodes.iter().any(|node| !fits(node.length()) || !(0..=node.length()).contains(&node.null_count()))
    {
        return Err("a batch of more rows than its bytes can hold".to_owned());
    }
    Ok(())
}

/// The size of all buffers once unpacked, for which there is memory.
fn check_memory(batch: &RecordBatch<'_>, body: &[u8]) -> Decoded<u64> {
    let mut unpacked = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let size = unpacked_size(buffer, batch, body)?;
        unpacked = unpacked.checked_add(size).ok_or("buffers larger than memory can address")?;
    }
    if batch.compression().is_some() {
        // The arrow crate would end the program where memory does not suffice.
        let mut probe: Vec<u8> = Vec::new();
        let size = usize::try_from(unpacked).map_err(|error| error.to_string())?;
        probe.try_reserve_exact(size).map_err(|_| format!("a batch of {size} bytes, more than memory"))?;
    }
    Ok(unpacked)
}

/// The size of a buffer once unpacked.
fn unpacked_size(buffer: &Buffer, batch: &RecordBatch<'_>, body: &[u8]) -> Decoded<u64> {
    let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
    let bytes = range.and_then(|(start, len)| body.get(start..start.checked_add(len)?));
    let bytes = bytes.ok_or("a buffer beyond the end of its batch")?;
    let Some(compression) = batch.compression().filter(|_| !bytes.is_empty()) else { return Ok(bytes.len() as u64) };
    let (size, packed) = bytes.split_first_chunk::<8>().ok_or("a packed buffer without its size")?;
    let ratio = if compression.codec() == CompressionType::LZ4_FRAME { RATIOS.0 } else { RATIOS.1 };
    match i64::from_le_bytes(*size) {
        // Stored as it is.
        -1 => Ok(packed.len() as u64),
        size => match u64::try_from(size) {
            Ok(size) if size <= (packed.len() as u64).saturating_mul(ratio) => Ok(size),
            _ => Err(format!("a buffer of {} packed bytes cannot unpack to {size}", packed.len())),
        },
    }
}
