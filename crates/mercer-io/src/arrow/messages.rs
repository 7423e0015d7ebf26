//! The messages of an Arrow IPC file or stream, found without decoding them.
//!
//! A message is its metadata and a body of buffers. A stream is a schema and messages one after the other; the file
//! format has a footer that holds the schema and tells where the messages are. The arrow crate would take memory for
//! what the metadata declares, so lengths are compared with the file here first.

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{Block, Endianness, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::Schema;

use super::Decoded;
use super::chunks::Chunks;
use super::guard::guarded;

const MAGIC: &[u8] = b"ARROW1";
/// The length of the footer and the magic.
const TAIL: usize = 10;
const CONTINUATION: u32 = u32::MAX;

/// Where a message is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) metadata: u64,
    pub(super) metadata_len: usize,
    pub(super) body_len: usize,
}

impl Place {
    fn body(&self) -> u64 {
        self.metadata + self.metadata_len as u64
    }

    fn end(&self) -> u64 {
        self.body() + self.body_len as u64
    }
}

/// The schema and the messages.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) schema: Schema,
    /// Dictionaries and record batches, in the order to read them.
    pub(super) rest: Vec<Place>,
    pub(super) n_rows: u64,
}

impl Messages {
    /// Finds all messages.
    pub(super) fn find(chunks: &Chunks) -> Decoded<Self> {
        let head = chunks.bytes(0, MAGIC.len()).map_err(|error| error.to_string())?;
        if head == MAGIC { Self::from_footer(chunks) } else { Self::from_stream(chunks) }
    }

    fn from_footer(chunks: &Chunks) -> Decoded<Self> {
        let (start, len) = footer(chunks)?;
        let bytes = chunks.bytes(start, len).map_err(|error| error.to_string())?;
        let footer = root_as_footer(&bytes).map_err(|error| format!("no footer: {error}"))?;
        let schema = convert(footer.schema().ok_or("there is no schema")?)?;
        let mut messages = Self { schema, rest: Vec::new(), n_rows: 0 };
        let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
        for block in dictionaries.into_iter().chain(batches).flatten() {
            let place = messages.of_block(chunks, block, start)?;
            messages.rest.push(place);
        }
        Ok(messages)
    }

    fn of_block(&mut self, chunks: &Chunks, block: &Block, end: u64) -> Decoded<Place> {
        let at = u64::try_from(block.offset()).ok().filter(|&at| at < end).ok_or("a batch beyond the footer")?;
        let (place, metadata) = message(chunks, at, end)?.ok_or("a batch without bytes")?;
        self.count(&metadata)?;
        Ok(place)
    }

    fn from_stream(chunks: &Chunks) -> Decoded<Self> {
        let end = chunks.size();
        let (first, metadata) = message(chunks, 0, end)?.ok_or("there is no schema")?;
        let schema = convert(parse(&metadata)?.header_as_schema().ok_or("there is no schema")?)?;
        let mut messages = Self { schema, rest: Vec::new(), n_rows: 0 };
        let mut at = first.end();
        while let Some((place, metadata)) = message(chunks, at, end)? {
            messages.count(&metadata)?;
            messages.rest.push(place);
            at = place.end();
        }
        Ok(messages)
    }

    /// Adds the rows of a batch; a dictionary has none.
    fn count(&mut self, metadata: &[u8]) -> Decoded<()> {
        let message = parse(metadata)?;
        match message.header_type() {
            MessageHeader::DictionaryBatch => Ok(()),
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or("a batch without a header")?;
                let rows = u64::try_from(batch.length()).map_err(|_| "a batch of a negative number of rows")?;
                self.n_rows = self.n_rows.checked_add(rows).ok_or("more rows than can be counted")?;
                Ok(())
            }
            other => Err(format!("a message of type {other:?} where rows are expected")),
        }
    }
}

/// Where the footer begins, and its length.
fn footer(chunks: &Chunks) -> Decoded<(u64, usize)> {
    let at = chunks.size().checked_sub(TAIL as u64).ok_or("it ends after the magic")?;
    let mut tail = [0; TAIL];
    chunks.read_exact(at, &mut tail).map_err(|error| error.to_string())?;
    let [a, b, c, d, magic @ ..] = tail;
    let len = u32::from_le_bytes([a, b, c, d]);
    match at.checked_sub(u64::from(len)) {
        Some(start) if magic == MAGIC => Ok((start, len as usize)),
        _ => Err("it does not end with a footer, it was cut off".to_owned()),
    }
}

/// The schema, where its numbers are little-endian. The arrow crate panics on types that it does not know.
fn convert(schema: arrow_ipc::Schema<'_>) -> Decoded<Schema> {
    if schema.endianness() != Endianness::Little {
        return Err("its numbers are big-endian".to_owned());
    }
    if schema.fields().is_none() {
        return Err("there are no columns".to_owned());
    }
    guarded(|| Ok(fb_to_schema(schema)))
}

/// The message at `at`, which lies before `end`, and its metadata; none where there is no more.
fn message(chunks: &Chunks, at: u64, end: u64) -> Decoded<Option<(Place, Vec<u8>)>> {
    let Some((metadata, len)) = metadata(chunks, at, end)? else { return Ok(None) };
    let bytes = chunks.bytes(metadata, len).map_err(|error| error.to_string())?;
    let body_len = usize::try_from(parse(&bytes)?.bodyLength()).map_err(|_| "a message of negative length")?;
    let place = Place { metadata, metadata_len: len, body_len };
    if body_len as u64 > end - place.body() {
        return Err(format!("the message at byte {at} is beyond the end, the file was cut off"));
    }
    Ok(Some((place, bytes)))
}

/// Where the metadata of the message at `at` begins, and its length; none at the end.
fn metadata(chunks: &Chunks, at: u64, end: u64) -> Decoded<Option<(u64, usize)>> {
    if at == end {
        return Ok(None);
    }
    let word = |at: u64| match chunks.bytes(at, 4).as_deref() {
        Ok(&[a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err("it was cut off".to_owned()),
    };
    // Files from before Arrow 0.15 have no marker before the length.
    let (start, len) = match word(at)? {
        CONTINUATION => (at + 8, word(at + 4)?),
        len => (at + 4, len),
    };
    if u64::from(len) > end.saturating_sub(start) {
        return Err(format!("the message at byte {at} is beyond the end, the file was cut off"));
    }
    Ok((len > 0).then_some((start, len as usize)))
}

/// The message that the metadata is.
pub(super) fn parse(metadata: &[u8]) -> Decoded<Message<'_>> {
    root_as_message(metadata).map_err(|error| format!("no message: {error}"))
}
