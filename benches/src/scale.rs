//! The time and memory of the whole command as the rows grow, from generated files.
//!
//! The environment says where the command is, as for `train`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use mercer::random::{Purpose, Stream};
use serde_json::Value;

use crate::measure::{Case, Timing, skip};

pub(crate) const CONDITIONS: &str = "`mercer train` on generated rows of 100 normal values (float32, NPY, up to 2 GB), two \
    classes by the sign of x1 + x2^2 - 1, D = 1,024, lambda and gamma found by the data, two threads; wall time \
    and peak memory of the process. \"exponent\" is the slope of log time by log rows, of this and the smaller files";

const N_INPUTS: usize = 100;
const N_ROWS: [usize; 5] = [100_000, 300_000, 1_000_000, 2_000_000, 5_000_000];

pub(crate) fn run() {
    let Some(binary) = std::env::var_os("MERCER_BIN").map(PathBuf::from) else {
        return skip("scale", "MERCER_BIN is not set");
    };
    let folder = std::env::temp_dir();
    let (rows, labels) = (folder.join("mercer-bench-scale.npy"), folder.join("mercer-bench-scale-labels.npy"));
    let mut points: Vec<(f64, f64)> = Vec::new();
    for n_rows in N_ROWS {
        let measured = generate(&rows, &labels, n_rows)
            .map_err(|error| format!("{} cannot be written: {error}", rows.display()))
            .and_then(|()| train(&binary, &rows, &labels));
        match measured {
            Ok((seconds, memory, accuracy)) => {
                points.push(((n_rows as f64).ln(), seconds.ln()));
                let variant = format!("{n_rows} x {N_INPUTS}, D = 1024");
                let case = Case { name: "scale", variant, threads: 2, work: n_rows as f64, unit: "row" };
                let further = [("peak_memory_bytes", memory), ("accuracy", accuracy), ("exponent", slope(&points))];
                case.report_of("mercer", Timing { seconds, repeats: 1 }, &further);
            }
            Err(reason) => skip("scale", &reason),
        }
    }
    for path in [&rows, &labels] {
        if let Err(error) = std::fs::remove_file(path) {
            eprintln!("{} is left: {error}", path.display());
        }
    }
}

/// Writes rows, and their classes, a panel at a time.
fn generate(rows: &Path, labels: &Path, n_rows: usize) -> std::io::Result<()> {
    let (mut rows, mut labels) = (BufWriter::new(File::create(rows)?), BufWriter::new(File::create(labels)?));
    header(&mut rows, "<f4", &format!("({n_rows}, {N_INPUTS})"))?;
    header(&mut labels, "|u1", &format!("({n_rows},)"))?;
    let stream = Stream::new(1, Purpose::Start);
    let mut values = vec![0.0; N_INPUTS];
    for row in 0..n_rows {
        stream.lane(row).normal_into(0, &mut values);
        let class = values[0] + values[1].powi(2) > 1.0;
        values.iter().try_for_each(|value| rows.write_all(&(*value as f32).to_le_bytes()))?;
        labels.write_all(&[u8::from(class)])?;
    }
    rows.flush()?;
    labels.flush()
}

/// The first 128 bytes of an NPY file, version 1.0.
pub(crate) fn header(file: &mut impl Write, dtype: &str, shape: &str) -> std::io::Result<()> {
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&118_u16.to_le_bytes())?;
    writeln!(file, "{text:<117}")
}

fn train(binary: &Path, rows: &Path, labels: &Path) -> Result<(f64, f64, f64), String> {
    let mut command = Command::new(binary);
    command.arg("train").arg(rows).arg("--labels").arg(labels);
    command.args(["--n-components", "1024", "--test-size", "0.01", "--threads", "2", "--json"]);
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("the command mercer cannot be started: {error}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("`mercer train` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).ok_or(format!("no {pointer}"));
    Ok((seconds, number("/peak_memory_bytes")?, number("/test/accuracy")?))
}

/// Of the line of least squares; zero for one point.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let (sxy, sxx) = points.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - x) * (p.1 - y), b + (p.0 - x).powi(2)));
    if sxx > 0.0 { sxy / sxx } else { 0.0 }
}
