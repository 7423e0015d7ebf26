//! Files to rows in memory, beside scikit-learn, pandas, polars and pyarrow.
//!
//! `MERCER_DATA` is the folder that holds `w8a/` and `covtype/`; the plain files are unpacked into a temporary folder.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use mercer::dataset::{Block, Table};
use mercer_io::{ReadOptions, Schema};

use crate::measure::{Case, THREADS, fastest, skip};

pub(crate) const CONDITIONS: &str = "from a file in the page cache to float32 values in memory. LIBSVM: w8a (49,749 rows, \
    579,586 values), scikit-learn: load_svmlight_file(dtype=float32). CSV: covertype (581,012 x 55 whole numbers, 75 MB, \
    no header), mercer: 54 inputs and a target; pandas: read_csv(engine=c, dtype=float32), polars: read_csv with a \
    float32 schema, in a process of its own for each number of threads, pyarrow: csv.read_csv with float32 types. \
    Parquet: covertype as float32 columns, written by mercer (zstd), the same file for both; pyarrow: read_table, and \
    the same turned into a row-major matrix as mercer's blocks are. \
    mercer opens the file anew in every run, tells its format, checks every value and keeps all blocks; it reads with \
    one thread, beside two of the others as well";

/// A file measured; `competitors.py` has the same.
struct Data {
    variant: &'static str,
    /// in the data folder
    packed: &'static str,
    /// whether it is unpacked first
    unpack: bool,
    n_rows: f64,
}

const DATA: [Data; 4] = [
    Data { variant: "w8a, LIBSVM", packed: "w8a/w8a.gz", unpack: true, n_rows: 49_749.0 },
    Data { variant: "w8a, LIBSVM, gzip", packed: "w8a/w8a.gz", unpack: false, n_rows: 49_749.0 },
    Data { variant: "covertype, CSV", packed: "covtype/covtype.data.gz", unpack: true, n_rows: 581_012.0 },
    Data { variant: "covertype, CSV, gzip", packed: "covtype/covtype.data.gz", unpack: false, n_rows: 581_012.0 },
];

pub(crate) fn run() {
    for data in &DATA {
        match data.file() {
            Ok(path) => {
                THREADS.iter().for_each(|&threads| data.measure(&path, threads));
                data.remove(&path);
            }
            Err(reason) => skip("read", &reason),
        }
    }
    let covertype = &DATA[2];
    match covertype.file().and_then(|path| written_as_parquet(&path)) {
        Ok(path) => {
            let parquet = Data { variant: "covertype, Parquet", ..*covertype };
            THREADS.iter().for_each(|&threads| parquet.measure(&path, threads));
        }
        Err(reason) => skip("read", &reason),
    }
}

/// The file that `competitors.py` reads too, in the temporary folder.
fn written_as_parquet(csv: &Path) -> Result<PathBuf, String> {
    let path = env::temp_dir().join("mercer-bench-covtype.parquet");
    let write = || -> Result<(), Box<dyn Error>> {
        let source = mercer_io::open(&csv.to_string_lossy(), &ReadOptions::default())?;
        let table = Table::scan(source, usize::MAX)?;
        let mut writer = mercer_io::create(&path, &Schema::of_table(&table))?;
        let mut blocks = table.blocks(None)?;
        while let Some(block) = blocks.next_block()? {
            writer.write(&block)?;
        }
        Ok(writer.finish()?)
    };
    let written = write().map_err(|error| format!("{}: {error}", path.display()));
    fs::remove_file(csv).map_err(|error| error.to_string())?;
    written.map(|()| path)
}

impl Data {
    /// The file to read, unpacked where that is wanted.
    fn file(&self) -> Result<PathBuf, String> {
        let folder = env::var_os("MERCER_DATA").ok_or("MERCER_DATA is not set")?;
        let packed = Path::new(&folder).join(self.packed);
        if !packed.is_file() {
            return Err(format!("MERCER_DATA names no folder with {} in it", self.packed));
        }
        if !self.unpack {
            return Ok(packed);
        }
        let plain = env::temp_dir().join(format!("mercer-bench-{}", self.packed.replace('/', "-").replace(".gz", "")));
        unpack(&packed, &plain).map_err(|error| format!("{} cannot be written: {error}", plain.display()))?;
        Ok(plain)
    }

    fn remove(&self, path: &Path) {
        if self.unpack
            && let Err(error) = fs::remove_file(path)
        {
            eprintln!("{} is left: {error}", path.display());
        }
    }

    fn measure(&self, path: &Path, threads: usize) {
        let read = || read_all(&path.to_string_lossy());
        let n_rows: usize = read().iter().map(|block| block.rows.n_rows()).sum();
        assert_eq!(n_rows as f64, self.n_rows, "rows of {}", path.display());
        let case = Case { name: "read", variant: self.variant.to_owned(), threads, work: self.n_rows, unit: "row" };
        case.report(fastest(read));
    }
}

fn unpack(packed: &Path, plain: &Path) -> io::Result<()> {
    io::copy(&mut MultiGzDecoder::new(File::open(packed)?), &mut File::create(plain)?).map(drop)
}

fn read_all(path: &str) -> Vec<Block> {
    let source = mercer_io::open(path, &ReadOptions::default()).expect("the file has a known format");
    let mut reader = source.read().expect("the file can be read");
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block().expect("the file is well-formed") {
        blocks.push(block);
    }
    blocks
}
