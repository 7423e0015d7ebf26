//! Projections against the explicit matrix, and their moments against the closed forms.
//!
//! With independent columns v of E vvᵀ = I, one component of ⟨xV, yV⟩ has the expectation ⟨x, y⟩ and the variance
//! ‖x‖²‖y‖² + ⟨x,y⟩² + (κ − 3)·Σxᵢ²yᵢ², where κ is the fourth moment of an entry: 3 for the normal law, s for sparse
//! signs (Li, Hastie and Church 2006, lemma 2).

use mercer::dataset::{CsrMatrix, Rows};
use mercer::projections::{DenseProjection, HadamardProjection, Projection, SparseSignProjection, Spectrum};
use mercer::random::{Law, Purpose, Stream, columns};
use mercer::{Error, Scalar};
use ndarray::{Array2, ArrayView1, s};

const SEED: u64 = 5;
const FACTOR: f64 = 0.7;

/// The projection of this law with entries times `FACTOR`.
fn build<T: Scalar>(law: Law, seed: u64, n_inputs: usize, n_outputs: usize) -> Box<dyn Projection<T>> {
    match law {
        Law::Normal => Box::new(DenseProjection::gaussian(seed, n_inputs, n_outputs, FACTOR).unwrap()),
        Law::SparseSign { s } => Box::new(SparseSignProjection::new(seed, n_inputs, n_outputs, s, FACTOR).unwrap()),
        other => unreachable!("no projection of {other:?}"),
    }
}

fn laws(n_inputs: usize) -> [Law; 6] {
    let sparse = |s| Law::SparseSign { s };
    [Law::Normal, sparse(1.0), sparse(3.0), sparse((n_inputs as f64).sqrt()), sparse(30.0), sparse(200.0)]
}

/// 70 rows, half of the values zero, row 3 all zero.
fn rows<T: Scalar>(n_inputs: usize) -> Array2<T> {
    let mut values = vec![0.0; 70 * n_inputs];
    Stream::new(1, Purpose::Start).normal_into(0, &mut values);
    let x = Array2::from_shape_vec((70, n_inputs), values).unwrap();
    Array2::from_shape_fn(x.dim(), |(i, j)| T::from_f64(if i != 3 && (i + j) % 2 == 0 { x[[i, j]] } else { 0.0 }))
}

fn csr<T: Scalar>(x: &Array2<T>) -> CsrMatrix<T> {
    let mut out = CsrMatrix::new(x.ncols());
    for row in x.outer_iter() {
        let stored = row.iter().enumerate().filter(|(_, value)| **value != T::zero());
        stored.for_each(|(j, &value)| out.push(j, value).unwrap());
        out.finish_row();
    }
    out
}

/// The columns `range` of the product, from buffers of NaN.
fn product<T: Scalar>(v: &dyn Projection<T>, rows: Rows<'_, T>, range: std::ops::Range<usize>) -> Array2<T> {
    let mut out = Array2::from_elem((rows.n_rows(), range.len()), T::nan());
    let mut scratch = vec![T::nan(); v.scratch_len(rows.n_rows())];
    v.project_into(rows, range, out.view_mut(), &mut scratch).unwrap();
    out
}

fn bits<T: Scalar>(x: &Array2<T>) -> Vec<u64> {
    x.iter().map(|&x| Scalar::to_f64(x).to_bits()).collect()
}

/// Inputs and outputs: tiny; odd; beyond a tile of columns, a panel of inputs and the rows worked on together.
const SHAPES: [(usize, usize); 4] = [(1, 1), (7, 19), (530, 300), (9, 1_064)];

fn check_bits<T: Scalar>() {
    for (n_inputs, n_outputs) in SHAPES {
        let x = rows::<T>(n_inputs);
        let sparse = csr(&x);
        for law in laws(n_inputs) {
            let v = build::<T>(law, SEED, n_inputs, n_outputs);
            let v = &*v;
            let context = format!("{law:?}, {n_inputs} × {n_outputs}");
            assert_eq!((v.n_inputs(), v.n_outputs()), (n_inputs, n_outputs), "{context}");
            let whole = product(v, x.view().into(), 0..n_outputs);
            assert!(whole.iter().all(|x| x.is_finite()), "{context}");
            assert_eq!(bits(&product(v, sparse.view().into(), 0..n_outputs)), bits(&whole), "sparse, {context}");
            check_column_ranges(v, &x, &whole, &context);
            check_batches(v, &x, &whole, &context);
            // Fewer outputs are a prefix of more; another seed is another matrix.
            let shorter = build::<T>(law, SEED, n_inputs, n_outputs.div_ceil(2));
            let prefix = product(&*shorter, x.view().into(), 0..shorter.n_outputs());
            assert_eq!(bits(&prefix), bits(&whole.slice(s![.., ..shorter.n_outputs()]).to_owned()), "{context}");
            // A matrix of few entries may have none.
            if n_outputs > 1 && whole.iter().any(|x| *x != T::zero()) {
                let other = build::<T>(law, SEED + (1 << 32), n_inputs, n_outputs);
                assert_ne!(bits(&product(&*other, x.view().into(), 0..n_outputs)), bits(&whole), "{context}");
            }
        }
    }
}

fn check_column_ranges<T: Scalar>(v: &dyn Projection<T>, x: &Array2<T>, whole: &Array2<T>, context: &str) {
    for width in [1, 2, 16, 17, 128, v.tile()] {
        for start in (0..v.n_outputs()).step_by(width).take(20) {
            let range = start..v.n_outputs().min(start + width);
            let part = product(v, x.view().into(), range.clone());
            let expected = whole.slice(s![.., range.clone()]).to_owned();
            assert_eq!(bits(&part), bits(&expected), "columns {range:?}, {context}");
        }
    }
}

fn check_batches<T: Scalar>(v: &dyn Projection<T>, x: &Array2<T>, whole: &Array2<T>, context: &str) {
    for n_rows in [1, 2, 3, 15, 16, 17, 63, 64, 65] {
        for start in [0, 3, 5] {
            let range = s![start..start + n_rows, ..];
            let part = product(v, x.slice(range).into(), 0..v.n_outputs());
            assert_eq!(bits(&part), bits(&whole.slice(range).to_owned()), "{n_rows} rows from {start}, {context}");
        }
    }
}

#[test]
fn the_same_bits_for_any_rows_columns_and_storage() {
    check_bits::<f32>();
    check_bits::<f64>();
}

/// The naive product with the matrix of `random::columns`; the bound is that of d additions in T.
fn check_definition<T: Scalar>() {
    let unit = 0.5 * Scalar::to_f64(T::epsilon());
    for (n_inputs, n_outputs) in SHAPES {
        let x = rows::<T>(n_inputs).mapv(|x| Scalar::to_f64(x));
        for law in laws(n_inputs) {
            let matrix = columns::<f64>(law, SEED, Purpose::Projection, n_inputs, 0..n_outputs) * FACTOR;
            let v = build::<T>(law, SEED, n_inputs, n_outputs);
            let got = product(&*v, rows::<T>(n_inputs).view().into(), 0..n_outputs);
            let (expected, size) = (x.dot(&matrix), x.mapv(f64::abs).dot(&matrix.mapv(f64::abs)));
            for (at, &expected) in expected.indexed_iter() {
                let (off, bound) =
                    ((Scalar::to_f64(got[at]) - expected).abs(), (n_inputs as f64 + 3.0) * unit * size[at]);
                assert!(off <= bound, "{law:?} {n_inputs} × {n_outputs} at {at:?}: {off:e} > {bound:e}");
            }
        }
    }
}

#[test]
fn the_product_with_the_explicit_matrix() {
    check_definition::<f32>();
    check_definition::<f64>();
}

/// The expectation and the variance of one component of ⟨xV, yV⟩, for entries of variance 1.
fn theory(law: Law, x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> (f64, f64) {
    let fourth_moment = if let Law::SparseSign { s } = law { s } else { 3.0 };
    let common: f64 = x.iter().zip(y).map(|(x, y)| (x * y).powi(2)).sum();
    let product = x.dot(&y);
    (product, x.dot(&x) * y.dot(&y) + product * product + (fourth_moment - 3.0) * common)
}

#[test]
fn expectation_and_variance_over_seeds() {
    const N_INPUTS: usize = 16;
    const N_OUTPUTS: usize = 16;
    const N_SEEDS: u64 = 4_000;
    // One large value, shared: where the laws differ most.
    let mut x = rows::<f64>(N_INPUTS).slice(s![..5, ..]).to_owned();
    x.column_mut(0).mapv_inplace(|value| value + 1.5);
    let pairs = [(0, 0), (0, 1), (1, 2), (2, 4), (3, 3), (3, 4)];
    let n = N_SEEDS as f64;
    for law in laws(N_INPUTS) {
        let mut sums = [[0.0; 3]; 6];
        for seed in 0..N_SEEDS {
            let y = product(&*build::<f64>(law, seed, N_INPUTS, N_OUTPUTS), x.view().into(), 0..N_OUTPUTS);
            for (sums, &(a, b)) in sums.iter_mut().zip(&pairs) {
                let off = y.row(a).dot(&y.row(b)) / (N_OUTPUTS as f64 * FACTOR * FACTOR) - x.row(a).dot(&x.row(b));
                sums.iter_mut().zip([1, 2, 4]).for_each(|(sum, power)| *sum += off.powi(power));
            }
        }
        for (sums, (a, b)) in sums.into_iter().zip(pairs) {
            let [first, second, fourth] = sums.map(|sum| sum / n);
            let (product, variance) = theory(law, x.row(a), x.row(b));
            let variance = variance / N_OUTPUTS as f64;
            let z = first.abs() / (variance / n).sqrt().max(1e-14);
            assert!(z < 4.5, "{law:?}, rows {a} and {b}: mean off by {first} from {product}, z = {z}");
            // The second moment about the known mean has variance (μ₄ − σ⁴)/n.
            let allowed = 4.5 * ((fourth - second * second).max(0.0) / n).sqrt() + 1e-14;
            let off = (second - variance).abs();
            assert!(off < allowed, "{law:?}, rows {a} and {b}: variance {second}, stated {variance} ± {allowed}");
        }
    }
}

/// The share of nonzero entries is 1/s: what makes the projection cheap.
#[test]
fn unit_rows_read_off_the_signs() {
    let (n_inputs, n_outputs, s) = (64, 500, 8.0);
    let v = SparseSignProjection::<f64>::new(SEED, n_inputs, n_outputs, s, 1.0).unwrap();
    let matrix = product(&v, Array2::eye(n_inputs).view().into(), 0..n_outputs);
    assert!(matrix.iter().all(|&x| x == 0.0 || (x.abs() - s.sqrt()).abs() < 1e-14));
    let n = matrix.len() as f64;
    let share = matrix.iter().filter(|x| **x != 0.0).count() as f64 / n;
    let z = (share - 1.0 / s) / (1.0 / s * (1.0 - 1.0 / s) / n).sqrt();
    assert!(z.abs() < 4.5, "share {share}, z = {z}");
}

/// Rows that are too wide to be turned.
#[test]
fn rows_of_many_inputs_go_by_their_values() {
    let (n_inputs, n_outputs) = ((1 << 18) + 5, 3);
    let v = SparseSignProjection::<f64>::new(SEED, n_inputs, n_outputs, 50.0, FACTOR).unwrap();
    assert_eq!(v.scratch_len(100), 0);
    let mut x = CsrMatrix::new(n_inputs);
    (0..n_inputs).step_by(7).for_each(|j| x.push(j, (j as f64).sin()).unwrap());
    x.finish_row();
    let mut matrix = Array2::zeros((n_outputs, n_inputs));
    v.project_back_into(Array2::eye(n_outputs).view(), matrix.view_mut()).unwrap();
    let expected = matrix.dot(&Rows::Sparse(x.view()).to_dense().row(0));
    let got = product(&v, x.view().into(), 1..3);
    for (got, expected) in got.iter().zip(&expected.to_vec()[1..]) {
        assert!((got - expected).abs() < 1e-9 && *expected != 0.0, "{got}, {expected}");
    }
}

#[test]
fn rows_of_another_width_are_refused() {
    for law in laws(7) {
        let v = build::<f32>(law, 0, 7, 4);
        for width in [0, 6, 8] {
            let (dense, sparse) = (Array2::zeros((2, width)), csr(&Array2::<f32>::zeros((2, width))));
            for rows in [dense.view().into(), Rows::Sparse(sparse.view())] {
                let mut scratch = vec![0.0; v.scratch_len(2)];
                let result = v.project_into(rows, 0..4, Array2::zeros((2, 4)).view_mut(), &mut scratch);
                let Err(Error::Inputs { got, expected, .. }) = result else { panic!("{law:?}: {result:?}") };
                assert_eq!((got, expected), (width, 7));
            }
        }
    }
}

/// Every constructor, for any sizes.
fn constructors(n_inputs: usize, n_outputs: usize) -> Vec<(&'static str, mercer::Result<()>)> {
    let spectrum = &Spectrum::rbf(1.0).unwrap();
    vec![
        ("gaussian", DenseProjection::<f32>::gaussian(0, n_inputs, n_outputs, 1.0).map(drop)),
        ("independent", DenseProjection::<f32>::independent(0, n_inputs, n_outputs, spectrum).map(drop)),
        ("orthogonal", DenseProjection::<f32>::orthogonal(0, n_inputs, n_outputs, spectrum).map(drop)),
        ("quasi", DenseProjection::<f32>::quasi(0, n_inputs, n_outputs, spectrum).map(drop)),
        ("sparse", SparseSignProjection::<f32>::new(0, n_inputs, n_outputs, 3.0, 1.0).map(drop)),
        ("sorf", HadamardProjection::<f32>::sorf(0, n_inputs, n_outputs, spectrum).map(drop)),
        ("fastfood", HadamardProjection::<f32>::fastfood(0, n_inputs, n_outputs, spectrum).map(drop)),
        ("srht", HadamardProjection::<f32>::srht(0, n_inputs, n_outputs).map(drop)),
    ]
}

#[test]
fn sizes_of_nothing_and_beyond_memory_are_refused() {
    for (name, result) in constructors(0, 3) {
        assert!(matches!(result, Err(Error::Parameter { name: "n_inputs", .. })), "{name}: {result:?}");
    }
    for (name, result) in constructors(3, 0) {
        assert!(matches!(result, Err(Error::Parameter { name: "n_outputs", .. })), "{name}: {result:?}");
    }
    for (n_inputs, n_outputs) in [(1 << 26, 1 << 45), (3, 1 << 58), (3, usize::MAX), (1 << 26, usize::MAX)] {
        for (name, result) in constructors(n_inputs, n_outputs) {
            let Err(Error::Memory { what, .. }) = &result else { panic!("{name}: {result:?}") };
            assert!(what.contains(&format!("{n_inputs} inputs to {n_outputs} outputs")), "{name}: {what}");
        }
    }
}

/// All reflections would be 4 TB.
#[test]
fn few_orthogonal_frequencies_of_many_inputs() {
    let projection = DenseProjection::<f32>::orthogonal(0, 1 << 20, 2, &Spectrum::rbf(1.0).unwrap()).unwrap();
    assert_eq!((projection.n_inputs(), projection.n_outputs()), (1 << 20, 2));
}

#[test]
fn sparsity_below_one_is_refused() {
    for bad in [0.0, 0.99, -3.0, f64::NAN, f64::INFINITY] {
        let error = SparseSignProjection::<f32>::new(0, 3, 3, bad, 1.0).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "s", .. }), "{bad}: {error}");
    }
    let error = SparseSignProjection::<f32>::new(0, 1 << 31, 3, 3.0, 1.0).unwrap_err();
    assert!(matches!(error, Error::Parameter { name: "n_inputs", .. }), "{error}");
}
