//! Arrow IPC, the file format (Feather version 2) and the stream format.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::Message;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::bodies::check_batch;
use super::chunks::Chunks;
use super::guard::guarded;
use super::messages::{Messages, Place, parse};
use super::{Batches, Container, Decoded};

/// An Arrow IPC file or stream.
pub(super) struct IpcFile {
    chunks: Chunks,
    messages: Arc<Messages>,
}

impl IpcFile {
    pub(super) fn open(chunks: Chunks) -> Decoded<Self> {
        let messages = Arc::new(Messages::find(&chunks)?);
        Ok(Self { chunks, messages })
    }
}

impl Container for IpcFile {
    fn schema(&self) -> &Schema {
        &self.messages.schema
    }

    fn n_rows(&self) -> u64 {
        self.messages.n_rows
    }

    fn batches(&self, columns: &[usize], _rows: usize) -> Decoded<Box<dyn Batches>> {
        Ok(Box::new(IpcBatches {
            chunks: self.chunks.clone(),
            schema: Arc::new(self.messages.schema.clone()),
            read: self.messages.schema.project(columns).map_err(|error| error.to_string())?,
            messages: Arc::clone(&self.messages),
            next: 0,
            columns: columns.to_vec(),
            dictionaries: HashMap::new(),
        }))
    }
}

/// One reading of some columns.
struct IpcBatches {
    chunks: Chunks,
    schema: SchemaRef,
    /// The columns of the schema that are read.
    read: Schema,
    messages: Arc<Messages>,
    /// The message to read next.
    next: usize,
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Batches for IpcBatches {
    fn next(&mut self) -> Decoded<Option<RecordBatch>> {
        while let Some(&place) = self.messages.rest.get(self.next) {
            self.next += 1;
            let (metadata, body) = self.load(place).map_err(|error| error.to_string())?;
            let message = parse(&metadata)?;
            if let Some(batch) = self.decode(message, &body)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl IpcBatches {
    /// The metadata and the body of a message, aligned.
    fn load(&self, place: Place) -> std::io::Result<(Vec<u8>, Buffer)> {
        let metadata = self.chunks.bytes(place.metadata, place.metadata_len)?;
        let mut body = MutableBuffer::from_len_zeroed(place.body_len);
        self.chunks.read_exact(place.metadata + place.metadata_len as u64, &mut body)?;
        Ok((metadata, body.into()))
    }

    /// The batch that the message is; none where it is a dictionary.
    fn decode(&mut self, message: Message<'_>, body: &Buffer) -> Decoded<Option<RecordBatch>> {
        let version = message.version();
        if let Some(batch) = message.header_as_record_batch() {
            let fields: Vec<&Field> = self.schema.fields().iter().map(AsRef::as_ref).collect();
            check_batch(&fields, batch, body)?;
            let (schema, columns) = (SchemaRef::clone(&self.schema), Some(&self.columns[..]));
            return guarded(|| {
                let batch = read_record_batch(body, batch, schema, &self.dictionaries, columns, &version);
                batch.map(Some).map_err(|error| error.to_string())
            });
        }
        let dictionary = message.header_as_dictionary_batch().ok_or("a message without a header")?;
        let Some(values) = self.values_of(dictionary.id()) else { return Ok(None) };
        check_batch(&[&values], dictionary.data().ok_or("a dictionary without values")?, body)?;
        let (schema, dictionaries) = (&self.schema, &mut self.dictionaries);
        guarded(|| {
            read_dictionary(body, dictionary, schema, dictionaries, &version).map_err(|error| error.to_string())
        })?;
        Ok(None)
    }

    /// What a dictionary holds; none where no column that is read needs it, itself or in its lists.
    fn values_of(&self, id: i64) -> Option<Field> {
        #[expect(deprecated, reason = "a dictionary is known by its number, and only the field tells it")]
        let fields = self.read.fields_with_dict_id(id);
        match fields.first()?.data_type() {
            DataType::Dictionary(_, values) => Some(Field::new("", values.as_ref().clone(), true)),
            _ => None,
        }
    }
}
