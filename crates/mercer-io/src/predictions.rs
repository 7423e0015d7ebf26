//! Predictions as files: CSV for people and tables, NPY for arrays.

use std::io::{self, Write};

use npyz::WriterBuilder;

/// A table of predictions being written, row by row.
pub enum PredictionWriter<W: Write> {
    /// Text with a header.
    Csv(csv::Writer<W>),
    /// Rows of numbers.
    Npy(npyz::NpyWriter<f64, W>),
}

impl<W: Write> PredictionWriter<W> {
    /// A CSV table with these columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn csv(writer: W, columns: &[String]) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(writer);
        writer.write_record(columns)?;
        Ok(Self::Csv(writer))
    }

    /// A float64 array of this many rows; one column gives a vector.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn npy(writer: W, n_rows: u64, n_columns: usize) -> io::Result<Self> {
        let shape = if n_columns == 1 { vec![n_rows] } else { vec![n_rows, n_columns as u64] };
        Ok(Self::Npy(npyz::WriteOptions::new().default_dtype().shape(&shape).writer(writer).begin_nd()?))
    }

    /// Writes a row: a label as text (CSV only) and numbers.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_row(&mut self, label: Option<&str>, numbers: &[f64]) -> io::Result<()> {
        match self {
            Self::Csv(writer) => {
                if let Some(label) = label {
                    writer.write_field(label)?;
                }
                numbers.iter().try_for_each(|x| writer.write_field(x.to_string()))?;
                writer.write_record(None::<&[u8]>)?;
                Ok(())
            }
            Self::Npy(writer) => numbers.iter().try_for_each(|x| writer.push(x)),
        }
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// Those of the writer; too few rows for a declared array.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(mut writer) => writer.flush(),
            Self::Npy(writer) => writer.finish(),
        }
    }
}
