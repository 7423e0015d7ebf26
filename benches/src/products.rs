//! Features of polynomial kernels by every map of them, beside scikit-learn's `PolynomialCountSketch`.

use mercer::dataset::Rows;
use mercer::feature_maps::{D2pkRpSpec, FeatureMap, Gamma, MapSpec, PkRpSpec, TensorSketchSpec, TensorSrhtSpec};
use mercer::random::{Purpose, sample};
use mercer_simd::{Aligned, CsrMatrix, huge_pages};
use ndarray::{Array2, ArrayView2, s};

use crate::map::{N_INPUTS, uniform_rows};
use crate::measure::{Case, fastest};

pub(crate) const CONDITIONS: &str = "features of the kernel <x,y>^degree on one core, float32. Dense: 2,048 x 784 uniform rows of length 1 to 4,096 features, \
    into memory already there; scikit-learn: PolynomialCountSketch.transform, whose result is fresh memory (it has no way to reuse any), in calls of 512 or \
    2,048 rows, whichever is faster. CSR: 2,000 x 5,000 rows of 50 values to 300 features. PK-RP and D2PK-RP: 2,000 features of degree 2, of 488 vectors and \
    one product, and of ten squares, as the thesis that has them compares them (LS19, table 4.4). \
    Projections: scikit-learn's GaussianRandomProjection, and SparseRandomProjection of density 1/s. kernel_rmse is over all pairs of the first 512 rows";

const N_ROWS: usize = 2_048;
const N_COMPONENTS: usize = 4_096;

pub(crate) fn run() {
    let mut rows = uniform_rows().slice_move(s![..N_ROWS, ..]);
    for mut row in rows.outer_iter_mut() {
        let length = row.dot(&row).sqrt();
        row /= length;
    }
    let gamma = Gamma::Value(1.0);
    for degree in [2, 3] {
        let srht = |complex| TensorSrhtSpec { gamma, c: 0.0, complex, ..TensorSrhtSpec::new(N_COMPONENTS, degree) };
        let sketch = TensorSketchSpec { gamma, c: 0.0, ..TensorSketchSpec::new(N_COMPONENTS, degree) };
        let maps = [
            ("complex TensorSRHT", MapSpec::TensorSrht(srht(true))),
            ("real TensorSRHT", MapSpec::TensorSrht(srht(false))),
            ("TensorSketch", MapSpec::TensorSketch(sketch)),
        ];
        for (name, spec) in maps {
            dense(&format!("784 to 4,096, f32, degree {degree}, {name}"), &spec, degree, rows.view());
        }
    }
    let pk_rp = PkRpSpec { gamma, c: 0.0, n_vectors: Some(488), ..PkRpSpec::new(2_000, 2) };
    dense("784 to 2,000, f32, degree 2, PK-RP, p = 488, t = 1", &MapSpec::PkRp(pk_rp), 2, rows.view());
    let d2pk_rp = D2pkRpSpec { gamma, ..D2pkRpSpec::new(2_000) };
    dense("784 to 2,000, f32, degree 2, D2PK-RP, t = 10", &MapSpec::D2pkRp(d2pk_rp), 2, rows.view());
    let normal = MapSpec::GaussianProjection { n_components: 2_000 };
    dense("784 to 2,000, f32, projection, normal", &normal, 1, rows.view());
    for sparsity in [3, 30, 200] {
        let spec = MapSpec::SparseProjection { n_components: 2_000, s: f64::from(sparsity) };
        dense(&format!("784 to 2,000, f32, projection, s = {sparsity}"), &spec, 1, rows.view());
    }

    let rows = sparse_rows();
    let spec = MapSpec::TensorSketch(TensorSketchSpec { gamma, c: 0.0, ..TensorSketchSpec::new(300, 2) });
    let case = Case {
        name: "products",
        variant: "CSR, 5,000 to 300, f32, degree 2, TensorSketch".to_owned(),
        threads: 1,
        work: rows.n_rows() as f64,
        unit: "row",
    };
    let mut out = huge_pages::zeros::<f32>((rows.n_rows(), 300));
    case.report(timed(&spec, Rows::Sparse(rows.view()), &mut out));
    let written_out = Rows::Sparse(rows.view()).to_dense().into_owned();
    let case = Case { variant: "the same rows, dense, TensorSketch".to_owned(), ..case };
    case.report(timed(&spec, written_out.view().into(), &mut out));
}

fn timed(spec: &MapSpec, rows: Rows<'_, f32>, out: &mut Array2<f32>) -> crate::measure::Timing {
    let map: Box<dyn FeatureMap<f32>> = spec.resolve(1.0, rows.n_inputs(), 0).build().expect("parameters in range");
    let mut scratch = Aligned::zeros(map.scratch_len(rows.n_rows()));
    fastest(|| map.transform_into(rows, out.view_mut(), &mut scratch))
}

fn dense(variant: &str, spec: &MapSpec, degree: u32, rows: ArrayView2<'_, f32>) {
    let mut out = huge_pages::zeros::<f32>((N_ROWS, spec.n_components(N_INPUTS)));
    let timing = timed(spec, rows.into(), &mut out);
    let case = Case { name: "products", variant: variant.to_owned(), threads: 1, work: N_ROWS as f64, unit: "row" };
    case.report_of("mercer", timing, &[("kernel_rmse", kernel_rmse(degree, rows, out.view()))]);
}

fn kernel_rmse(degree: u32, rows: ArrayView2<'_, f32>, features: ArrayView2<'_, f32>) -> f64 {
    let products = |x: ArrayView2<'_, f32>| {
        let x = x.slice(s![..512, ..]).mapv(f64::from);
        x.dot(&x.t())
    };
    let errors = products(features) - products(rows).mapv(|x| x.powi(degree as i32));
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
}

fn sparse_rows() -> CsrMatrix<f32> {
    let mut rows = CsrMatrix::new(5_000);
    for row in 0..2_000 {
        let mut columns = sample(row, Purpose::Sample, 5_000, 50);
        columns.sort_unstable();
        columns
            .into_iter()
            .for_each(|column| rows.push(column as usize, 1.0 / (1 + column) as f32).expect("they ascend"));
        rows.finish_row();
    }
    rows
}
