//! Predictions as files: CSV for people and tables, NPY for arrays.

use std::io::{self, Write};

/// A table of predictions being written, row by row.
pub enum PredictionWriter<W: Write> {
    /// Text with a header.
    Csv(Box<csv::Writer<W>>),
    /// Rows of float64 behind the header of a NumPy array.
    Npy(W),
}

impl<W: Write> PredictionWriter<W> {
    /// A CSV table with these columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn csv(writer: W, columns: &[String]) -> io::Result<Self> {
        let mut writer = Box::new(csv::Writer::from_writer(writer));
        writer.write_record(columns).map_err(io_error)?;
        Ok(Self::Csv(writer))
    }

    /// A float64 array of this many rows; one column gives a vector.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn npy(mut writer: W, n_rows: u64, n_columns: usize) -> io::Result<Self> {
        let shape = if n_columns == 1 { vec![n_rows] } else { vec![n_rows, n_columns as u64] };
        writer.write_all(&npy_header(&shape))?;
        Ok(Self::Npy(writer))
    }

    /// Writes a row: a label as text (CSV only) and numbers.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_row(&mut self, label: Option<&str>, numbers: &[f64]) -> io::Result<()> {
        match self {
            Self::Csv(writer) => {
                if let Some(label) = label {
                    writer.write_field(label).map_err(io_error)?;
                }
                numbers.iter().try_for_each(|x| writer.write_field(x.to_string())).map_err(io_error)?;
                writer.write_record(None::<&[u8]>).map_err(io_error)
            }
            Self::Npy(writer) => numbers.iter().try_for_each(|x| writer.write_all(&x.to_le_bytes())),
        }
    }

    /// Writes what is buffered and gives the writer back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Csv(writer) => writer.into_inner().map_err(|error| io::Error::from(error.error().kind())),
            Self::Npy(mut writer) => writer.flush().map(|()| writer),
        }
    }
}

/// The error of the writer itself: its kind tells a closed pipe from a full disk.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Version 1.0 of the format: magic, length and a dictionary padded with blanks to a multiple of 64 bytes.
fn npy_header(shape: &[u64]) -> Vec<u8> {
    let shape = shape.iter().map(|n| format!("{n},")).collect::<Vec<_>>().join(" ");
    let mut dictionary = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    let padding = 64 - (10 + dictionary.len() + 1) % 64;
    dictionary.extend(std::iter::repeat_n(' ', padding % 64));
    dictionary.push('\n');
    let length = u16::try_from(dictionary.len()).expect("two numbers are short");
    [b"\x93NUMPY\x01\x00", length.to_le_bytes().as_slice(), dictionary.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_by_hand() {
        let columns = ["prediction".to_owned(), "score a,b".to_owned()];
        let mut writer = PredictionWriter::csv(Vec::new(), &columns).unwrap();
        writer.write_row(Some("a,b"), &[0.1]).unwrap();
        writer.write_row(Some("c"), &[-1e-7]).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        assert_eq!(text, "prediction,\"score a,b\"\n\"a,b\",0.1\nc,-0.0000001\n");
    }

    #[test]
    fn npy_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.npy");
        let mut writer = PredictionWriter::npy(Vec::new(), 2, 3).unwrap();
        writer.write_row(None, &[1.0, 2.0, 3.0]).unwrap();
        writer.write_row(None, &[4.0, 5.0, 6.5]).unwrap();
        std::fs::write(&path, writer.finish().unwrap()).unwrap();
        let options = crate::ReadOptions { dtype: Some(mercer::Dtype::Float64), ..Default::default() };
        let source = crate::open(path.to_str().unwrap(), &options).unwrap();
        let block = source.read().unwrap().next_block().unwrap().unwrap();
        let expected = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]];
        assert_eq!(block.rows, mercer::dataset::BlockRows::Dense64(expected));
    }
}
