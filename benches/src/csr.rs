//! Sparse rows times a dense matrix on one thread, beside scipy.

use mercer::random::{Purpose, normal_columns, sample};
use mercer_simd::{CsrMatrix, CsrView, InstructionSet, csr_matmul_into, huge_pages};
use ndarray::{Array2, s};

use crate::measure::{Case, Timing, fastest};

pub(crate) const CONDITIONS: &str = "50,000 x 300 rows with 12 values each (4 %) times 300 x 512, float32, one thread. \
    \"array\": both allocate the whole result in every run, in huge pages (numpy and mercer ask the system for them); \
    \"blocks\": 512 rows at a time, as mercer's driver does it, into one array used again; scipy has no such form and \
    allocates each block. scipy: csr_matrix @ array, 32-bit indices";

const SHAPE: (usize, usize, usize) = (50_000, 300, 512);
const PER_ROW: usize = 12;
const PANEL_ROWS: usize = 512;

pub(crate) fn run() {
    let rows = sparse_rows();
    let dense = normal_columns::<f32>(1, Purpose::Projection, SHAPE.1, 0..SHAPE.2);
    report("array", fastest(|| product(rows.view(), &dense)));
    let mut block = Array2::zeros((PANEL_ROWS, SHAPE.2));
    report("blocks", fastest(|| product_by_blocks(rows.view(), &dense, &mut block)));
}

fn report(form: &str, timing: Timing) {
    let (m, k, n) = SHAPE;
    let (variant, work) = (format!("{m} x {k} x {n}, 4 %, {form}, f32"), 2.0 * (m * PER_ROW * n) as f64);
    Case { name: "csr", variant, threads: 1, work, unit: "flop" }.report(timing);
}

fn product(rows: CsrView<'_, f32>, dense: &Array2<f32>) -> Array2<f32> {
    let mut out = huge_pages::zeros((rows.n_rows(), dense.ncols()));
    csr_matmul_into(InstructionSet::best(), rows, dense.view(), out.view_mut());
    out
}

fn product_by_blocks(rows: CsrView<'_, f32>, dense: &Array2<f32>, block: &mut Array2<f32>) {
    for start in (0..rows.n_rows()).step_by(PANEL_ROWS) {
        let end = rows.n_rows().min(start + PANEL_ROWS);
        let out = block.slice_mut(s![..end - start, ..]);
        csr_matmul_into(InstructionSet::best(), rows.rows(start, end), dense.view(), out);
    }
}

fn sparse_rows() -> CsrMatrix<f32> {
    let mut rows = CsrMatrix::new(SHAPE.1);
    for row in 0..SHAPE.0 {
        let mut columns = sample(row as u64, Purpose::Sample, SHAPE.1 as u64, PER_ROW);
        columns.sort_unstable();
        for column in columns {
            rows.push(column as usize, 1.0 / (1 + column) as f32).expect("columns ascend");
        }
        rows.finish_row();
    }
    rows
}
