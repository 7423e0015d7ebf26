//! The rules, each checked on a map built by a factory.
//!
//! Bits are compared on batches of every length at which a matrix product changes its ways; expectation, variance and
//! decay over many seeds by z-scores. All seeds are fixed: a map passes always or never.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use mercer::dataset::{CsrView, Rows};
use mercer::feature_maps::{FeatureMap, MapSpec};
use mercer::kernels::Kernel;
use mercer::projections::{DenseProjection, Projection, Spectrum};
use mercer::random::{Purpose, Stream};
use mercer::{Error, Scalar};
use ndarray::{Array2, ArrayView1, s};

/// What a map can break, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// As many inputs and components as asked for; no rows are fine.
    Shape,
    /// Every feature is finite.
    Finite,
    /// A second call gives the same bits.
    Repeat,
    /// A row's features do not depend on its batch.
    BatchSplit,
    /// Dense and sparse rows give the same bits.
    DenseSparse,
    /// Whatever `scratch` held.
    DirtyScratch,
    /// Whatever `out` held.
    DirtyOutput,
    /// On every thread, several at once too.
    Threads,
    /// One seed, one map.
    SeedNotReproducible,
    /// Another seed, another map.
    SeedIgnored,
    /// Rows of another width are an [`Error::Inputs`].
    RejectsWidth,
    /// The f32 map is the f64 map up to the rounding of f32.
    Precision,
    /// E⟨φ(x), φ(y)⟩ = k(x, y).
    Bias,
    /// Var⟨φ(x), φ(y)⟩ is the stated one.
    Variance,
    /// The variance falls with the number of components as stated.
    Decay,
}

/// A broken rule.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.detail)
    }
}

type Checked = Result<(), Violation>;

fn require(rule: Rule, holds: bool, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Violation { rule, detail: detail() }) }
}

/// Builds the map that is checked.
pub(crate) trait Factory: Sync {
    fn build<T: Scalar>(&self, n_inputs: usize, n_components: usize, seed: u64) -> Box<dyn FeatureMap<T>>;
    fn kernel(&self) -> Kernel;
    fn theory(&self) -> Theory;

    /// Components of rows of `n_inputs` where so many are asked for: those of some maps are a matter of the rows.
    fn n_components(&self, _n_inputs: usize, asked: usize) -> usize {
        asked
    }
}

/// V of a spectrum, n_inputs × n_outputs.
pub(crate) type DrawnMatrix = fn(&Spectrum, usize, usize) -> Array2<f64>;

/// What is proven of a family of maps.
#[derive(Clone, Copy)]
pub(crate) struct Theory {
    /// Var⟨φ(x), φ(y)⟩ for x, y, k(x, y) and the number of components; none where no closed form is known: then it falls
    /// at least as fast as 1/components.
    pub(crate) variance: Option<fn(Pair<'_>, f64, usize) -> f64>,
    /// Whether E⟨φ(x), φ(y)⟩ = k(x, y), which is not checked otherwise.
    pub(crate) unbiased: bool,
    /// Whether anything is drawn: another seed is another map.
    pub(crate) drawn: bool,
    /// A bound of √D times the difference of a feature in f32 and in f64, of D components.
    pub(crate) rounding: fn(Kernel, ArrayView1<'_, f64>) -> f64,
    /// Of paired waves whose frequencies have no bound: V, of inputs × frequencies of `SEED`. The rounding of the
    /// angles comes on top of `rounding` then, for each feature.
    pub(crate) frequencies: Option<DrawnMatrix>,
}

/// Cosines and sines of m = D/2 independent frequencies of the RBF kernel.
pub(crate) const SPECTRAL: Theory = Theory {
    variance: Some(|_, k, n_components| (1.0 - k * k).powi(2) / n_components as f64),
    unbiased: true,
    drawn: true,
    frequencies: None,
    rounding: |kernel, x| {
        // ⟨v, x⟩ in f32: v is rounded once and each of at most d additions rounds once, so the angle is off by at most
        // (d + 2)·u·Σ│vᵢxᵢ│ with │vᵢ│ < 8.6·factor; cosine, sine and scale add a few roundings of numbers up to 1.
        let angle = (x.len() as f64 + 2.0) * U * 8.6 * largest_factor(kernel) * x.fold(0.0, |sum, x| sum + x.abs());
        (angle + 4.0 * U) * 2.0_f64.sqrt()
    },
};

/// Frequencies of which nothing but the law of each is known.
pub(crate) const DEPENDENT: Theory = Theory { variance: None, ..SPECTRAL };

/// Frequencies made by transforms of p values.
pub(crate) const STRUCTURED: Theory = Theory {
    variance: None,
    unbiased: true,
    drawn: true,
    frequencies: None,
    rounding: |kernel, x| {
        // Each of three rounds has log p stages, a diagonal and its rounding, and a stage is off by at most u times the
        // length of what it gives. The angles of a block have at most the length (√p + 8)·√p·factor·‖x‖: rows of V are no
        // longer than √p + 8, and at most p of them.
        let p = x.len().next_power_of_two().max(64) as f64;
        let length = (p.sqrt() + 8.0) * p.sqrt() * largest_factor(kernel) * x.dot(&x).sqrt();
        ((3.0 * (p.log2() + 2.0) + 3.0) * U * length + 4.0 * U) * 2.0_f64.sqrt()
    },
};

/// Waves whose frequencies are any numbers: cosine, sine and scale round as ever, the angles as their sums are large.
pub(crate) const fn unbounded(frequencies: DrawnMatrix, theory: Theory) -> Theory {
    Theory { rounding: |_, _| 4.0 * U * std::f64::consts::SQRT_2, frequencies: Some(frequencies), ..theory }
}

/// V of a projection.
pub(crate) fn matrix(projection: &DenseProjection<f64>) -> Array2<f64> {
    let (d, n) = (projection.n_inputs(), projection.n_outputs());
    let mut out = Array2::zeros((d, n));
    projection.project_into(Array2::eye(d).view().into(), 0..n, out.view_mut(), &mut []).unwrap();
    out
}

/// Half the distance of 1 from the next number.
pub(crate) const U: f64 = 0.5 * f32::EPSILON as f64;

/// What a normal frequency is multiplied by at most, among those that are checked.
fn largest_factor(kernel: Kernel) -> f64 {
    let factors = Spectrum::new(kernel, None).unwrap().factors(SEED, SHAPES[SHAPES.len() - 1].1);
    factors.into_iter().fold(0.0, f64::max)
}

/// D projections whose entries have the fourth moment s times their squared variance.
pub(crate) const fn linear(variance: fn(Pair<'_>, f64, usize) -> f64) -> Theory {
    // V is rounded once, each of at most d additions and the last product once: (d + 3)·u·Σ│vᵢxᵢ│, √D·│vᵢ│ < 8.6.
    let rounding =
        |_: Kernel, x: ArrayView1<'_, f64>| (x.len() as f64 + 3.0) * U * 8.6 * x.fold(0.0, |sum, x| sum + x.abs());
    Theory { variance: Some(variance), unbiased: true, drawn: true, rounding, frequencies: None }
}

/// (‖x‖²‖y‖² + ⟨x,y⟩² + (s−3)·Σxᵢ²yᵢ²)/D.
pub(crate) fn projection_variance((x, y): Pair<'_>, s: f64, n_components: usize) -> f64 {
    let fourth: f64 = x.iter().zip(y).map(|(x, y)| (x * y).powi(2)).sum();
    (x.dot(&x) * y.dot(&y) + x.dot(&y).powi(2) + (s - 3.0) * fourth) / n_components as f64
}

/// Two rows.
pub(crate) type Pair<'a> = (ArrayView1<'a, f64>, ArrayView1<'a, f64>);

/// A map of the library.
pub(crate) struct Registered {
    pub(crate) spec: fn(usize) -> MapSpec,
    pub(crate) gamma: f64,
    pub(crate) theory: Theory,
}

impl Factory for Registered {
    fn build<T: Scalar>(&self, n_inputs: usize, n_components: usize, seed: u64) -> Box<dyn FeatureMap<T>> {
        (self.spec)(n_components).resolve(self.gamma, n_inputs, seed).build().unwrap()
    }

    fn kernel(&self) -> Kernel {
        (self.spec)(2).resolve(self.gamma, 1, 0).kernel()
    }

    fn theory(&self) -> Theory {
        self.theory
    }

    fn n_components(&self, n_inputs: usize, asked: usize) -> usize {
        (self.spec)(asked).n_components(n_inputs)
    }
}

/// Numbers of inputs and components: the smallest; odd; more inputs than a panel of a product and more components
/// than a tile.
const SHAPES: [(usize, usize); 4] = [(1, 2), (5, 6), (33, 64), (530, 2 * 1_064)];
const N_ROWS: usize = 257;
const BATCHES: [usize; 7] = [1, 2, 3, 63, 64, 65, 257];
pub(crate) const SEED: u64 = 11;

/// Every rule, in the order of [`Rule`]; the first broken one.
pub(crate) fn check<F: Factory>(factory: &F) -> Checked {
    for (n_inputs, n_components) in SHAPES {
        let n_components = factory.n_components(n_inputs, n_components);
        check_bits::<f32, F>(factory, n_inputs, n_components)?;
        check_bits::<f64, F>(factory, n_inputs, n_components)?;
    }
    check_precision(factory)?;
    check_moments(factory)?;
    check_decay(factory)
}

fn check_bits<T: Scalar, F: Factory>(factory: &F, n_inputs: usize, n_components: usize) -> Checked {
    let map = factory.build::<T>(n_inputs, n_components, SEED);
    let map = &*map;
    let x = rows_with_zeros::<T>(n_inputs);
    let asked = (n_inputs, n_components);
    let got = (map.n_inputs(), map.n_components());
    require(Rule::Shape, got == asked, || format!("inputs and components are {got:?}, asked for {asked:?}"))?;
    let none = try_features(map, x.slice(s![..0, ..]).into(), T::zero(), T::zero());
    require(Rule::Shape, none.is_ok(), || format!("no rows: {:?}", none.err()))?;

    let expected = features(map, x.view().into());
    require(Rule::Finite, expected.iter().all(|x| x.is_finite()), || format!("{asked:?}"))?;
    let again = features(map, x.view().into());
    require(Rule::Repeat, same(&again, &expected), || format!("{asked:?}"))?;
    check_batches(map, &x, &expected)?;
    check_sparse(map, &x, &expected)?;
    check_dirt(map, &x, &expected)?;
    check_threads(map, &x, &expected)?;
    check_seeds(factory, &x, &expected)?;
    check_widths(map)
}

/// Batches of every length from several first rows, twenty of each.
fn check_batches<T: Scalar>(map: &dyn FeatureMap<T>, x: &Array2<T>, expected: &Array2<T>) -> Checked {
    for batch in BATCHES {
        for offset in [0, 5, 100] {
            for start in (offset..N_ROWS).step_by(batch).take(20) {
                let range = s![start..N_ROWS.min(start + batch), ..];
                let part = features(map, x.slice(range).into());
                let detail = || format!("{batch} rows from row {start} differ from the whole");
                require(Rule::BatchSplit, same(&part, &expected.slice(range).to_owned()), detail)?;
            }
        }
    }
    Ok(())
}

/// Indices of 32 and 64 bits, zeros left out and stored, whole and from a row inside.
fn check_sparse<T: Scalar>(map: &dyn FeatureMap<T>, x: &Array2<T>, expected: &Array2<T>) -> Checked {
    for stored_zeros in [false, true] {
        let (mut indptr, mut indices, mut values) = (vec![0_i64], Vec::new(), Vec::new());
        for row in x.outer_iter() {
            for (j, &value) in row.iter().enumerate().filter(|(_, x)| stored_zeros || **x != T::zero()) {
                indices.push(j as i64);
                values.push(value);
            }
            indptr.push(values.len() as i64);
        }
        let short = |x: &[i64]| x.iter().map(|&x| x as i32).collect::<Vec<_>>();
        let (indptr_32, indices_32) = (short(&indptr), short(&indices));
        let views = [
            CsrView::new(x.ncols(), indptr.as_slice(), indices.as_slice(), &values).unwrap(),
            CsrView::new(x.ncols(), indptr_32.as_slice(), indices_32.as_slice(), &values).unwrap(),
            CsrView::new(x.ncols(), indptr.as_slice(), indices_32.as_slice(), &values).unwrap(),
        ];
        for (at, view) in views.into_iter().enumerate() {
            let detail = || format!("view {at}, stored zeros {stored_zeros}");
            require(Rule::DenseSparse, same(&features(map, view.into()), expected), detail)?;
            let part = features(map, view.rows(17, 40).into());
            require(Rule::DenseSparse, same(&part, &expected.slice(s![17..40, ..]).to_owned()), detail)?;
        }
    }
    Ok(())
}

fn check_dirt<T: Scalar>(map: &dyn FeatureMap<T>, x: &Array2<T>, expected: &Array2<T>) -> Checked {
    for dirt in [T::nan(), T::max_value(), T::one()] {
        let out = try_features(map, x.view().into(), dirt, T::zero()).unwrap();
        require(Rule::DirtyScratch, same(&out, expected), || format!("scratch of {dirt}"))?;
        let out = try_features(map, x.view().into(), T::zero(), dirt).unwrap();
        require(Rule::DirtyOutput, same(&out, expected), || format!("out of {dirt}"))?;
    }
    Ok(())
}

fn check_threads<T: Scalar>(map: &dyn FeatureMap<T>, x: &Array2<T>, expected: &Array2<T>) -> Checked {
    let all_same = thread::scope(|scope| {
        let work = || (0..3).all(|_| same(&features(map, x.view().into()), expected));
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        threads.into_iter().all(|thread| thread.join().unwrap())
    });
    require(Rule::Threads, all_same, || "three threads at once differ from the first".to_owned())
}

fn check_seeds<T: Scalar, F: Factory>(factory: &F, x: &Array2<T>, expected: &Array2<T>) -> Checked {
    let of = |seed| features(&*factory.build::<T>(x.ncols(), expected.ncols(), seed), x.view().into());
    for other in [SEED + 1, SEED + (1 << 32), u64::MAX] {
        require(Rule::SeedNotReproducible, same(&of(SEED), expected), || format!("before seed {other}"))?;
        // A matrix of two signs may well be drawn twice, one of thirty is not; one of few entries may have none.
        let tells_nothing = x.ncols() == 1 || expected.iter().all(|z| *z == T::zero());
        let differs = !factory.theory().drawn || tells_nothing || !same(&of(other), expected);
        require(Rule::SeedIgnored, differs, || format!("{SEED} and {other} give one map"))?;
    }
    let elsewhere = thread::scope(|scope| scope.spawn(|| of(SEED)).join().unwrap());
    require(Rule::SeedNotReproducible, same(&elsewhere, expected), || "built on another thread".to_owned())
}

fn check_widths<T: Scalar>(map: &dyn FeatureMap<T>) -> Checked {
    for width in [map.n_inputs() - 1, map.n_inputs() + 1] {
        let dense = Array2::<T>::zeros((3, width));
        let sparse = CsrView::<T>::new(width, [0_i64; 4].as_slice(), [0_i64; 0].as_slice(), &[]).unwrap();
        for rows in [dense.view().into(), Rows::Sparse(sparse)] {
            let got = catch_unwind(AssertUnwindSafe(|| try_features(map, rows, T::zero(), T::zero())));
            let refused = matches!(got, Ok(Err(Error::Inputs { got, expected, .. }))
                if (got, expected) == (width, map.n_inputs()));
            require(Rule::RejectsWidth, refused, || format!("{width} inputs for {}: {got:?}", map.n_inputs()))?;
        }
    }
    Ok(())
}

/// Both types see the same rows, those of f32.
fn check_precision<F: Factory>(factory: &F) -> Checked {
    let Theory { rounding, frequencies, .. } = factory.theory();
    for (n_inputs, n_components) in SHAPES {
        let n_components = factory.n_components(n_inputs, n_components);
        let x32 = rows_with_zeros::<f32>(n_inputs);
        let x64 = x32.mapv(f64::from);
        let y32 = features(&*factory.build::<f32>(n_inputs, n_components, SEED), x32.view().into());
        let y64 = features(&*factory.build::<f64>(n_inputs, n_components, SEED), x64.view().into());
        // (d + 2)·u·Σ│vᵢxᵢ│ of each angle: see `SPECTRAL`.
        let angles = frequencies.map(|frequencies| {
            let v = frequencies(&Spectrum::new(factory.kernel(), None).unwrap(), n_inputs, n_components / 2);
            x64.mapv(f64::abs).dot(&v.mapv(f64::abs)) * ((n_inputs as f64 + 2.0) * U * 2.0_f64.sqrt())
        });
        let rows: Vec<f64> = x64.outer_iter().map(|x| rounding(factory.kernel(), x)).collect();
        for ((i, j), &y) in y64.indexed_iter() {
            let angle = angles.as_ref().map_or(0.0, |angles| angles[[i, j % angles.ncols()]]);
            let bound = (rows[i] + angle) / (n_components as f64).sqrt();
            let off = (f64::from(y32[[i, j]]) - y).abs();
            require(Rule::Precision, off <= bound, || format!("{n_inputs} inputs, {i}, {j}: {off:e} > {bound:e}"))?;
        }
    }
    Ok(())
}

/// Kernel values of the pairs (row 0, row i).
const KERNEL_VALUES: [f64; 7] = [1.0, 0.99, 0.9, 0.7, 0.4, 0.15, 0.03];
const N_INPUTS: usize = 6;
/// A z-score beyond this has probability below 1e-5.
const Z: f64 = 4.5;

/// ⟨φ(x₀), φ(xᵢ)⟩ of every seed: seeds × pairs.
fn products<F: Factory>(factory: &F, n_components: usize, n_seeds: usize) -> (Array2<f64>, Vec<f64>) {
    let x = rows_at_distances(factory.kernel());
    let exact = x.outer_iter().map(|row| factory.kernel().value(x.row(0), row).unwrap()).collect();
    let mut all = Array2::zeros((n_seeds, x.nrows()));
    for (seed, mut products) in (0..).zip(all.outer_iter_mut()) {
        let y = features(&*factory.build::<f64>(N_INPUTS, n_components, seed), x.view().into());
        products.assign(&y.dot(&y.row(0)));
    }
    (all, exact)
}

/// The stated variances of the pairs, where they are stated.
fn variances<F: Factory>(factory: &F, exact: &[f64], n_components: usize) -> Option<Vec<f64>> {
    let x = rows_at_distances(factory.kernel());
    let variance = factory.theory().variance?;
    Some((0..x.nrows()).map(|i| variance((x.row(0), x.row(i)), exact[i], n_components)).collect())
}

fn check_moments<F: Factory>(factory: &F) -> Checked {
    const N_COMPONENTS: usize = 32;
    const N_SEEDS: usize = 6_000;
    if !factory.theory().unbiased {
        return Ok(());
    }
    let (products, exact) = products(factory, N_COMPONENTS, N_SEEDS);
    let n = N_SEEDS as f64;
    let stated = variances(factory, &exact, N_COMPONENTS);
    for (i, (column, &k)) in products.columns().into_iter().zip(&exact).enumerate() {
        let mean = column.sum() / n;
        let seen = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let variance = stated.as_ref().map_or(seen, |stated| stated[i]);
        // The other terms allow for rounding, of features and of the sum: all that is left where the variance is 0.
        let allowed = Z * (variance / n).sqrt() + 1e-13 + n * f64::EPSILON * k.abs();
        let off = (mean - k).abs();
        require(Rule::Bias, off <= allowed, || format!("k = {k}: mean {mean}, off by {off:e} > {allowed:e}"))?;
    }
    let Some(stated) = stated else { return Ok(()) };
    for ((column, &k), variance) in products.columns().into_iter().zip(&exact).zip(&stated) {
        // About the known mean, so that Var of the sample's second moment is (μ₄ − σ⁴)/n exactly.
        let moment = |power| column.iter().map(|x| (x - k).powi(power)).sum::<f64>() / n;
        let (second, fourth) = (moment(2), moment(4));
        let allowed = Z * ((fourth - second * second).max(0.0) / n).sqrt() + 1e-26;
        let off = (second - variance).abs();
        require(Rule::Variance, off <= allowed, || format!("k = {k}: {second:e}, stated {variance:e} ± {allowed:e}"))?;
    }
    Ok(())
}

/// The mean squared error over the pairs falls from 64 to 1,024 components as stated (RMS: by √16 = 4 for most maps), or at
/// least as fast as that where nothing is stated.
fn check_decay<F: Factory>(factory: &F) -> Checked {
    const N_SEEDS: usize = 800;
    if !factory.theory().unbiased {
        return Ok(());
    }
    // ln of (mean squared error / stated), and the variance of that logarithm.
    let measure = |n_components| {
        let (products, exact) = products(factory, n_components, N_SEEDS);
        let squares = products.outer_iter().map(|row| row.iter().zip(&exact).map(|(x, k)| (x - k).powi(2)).sum());
        let squares: Vec<f64> = squares.collect();
        let mean = squares.iter().sum::<f64>() / N_SEEDS as f64;
        let spread = squares.iter().map(|x| (x / mean - 1.0).powi(2)).sum::<f64>() / N_SEEDS as f64;
        let stated = variances(factory, &exact, n_components).map(|stated| stated.iter().sum());
        ((mean / stated.unwrap_or(1.0 / n_components as f64)).ln(), spread / N_SEEDS as f64)
    };
    let (few, many) = (measure(64), measure(1_024));
    if variances(factory, &[0.0; KERNEL_VALUES.len()], 64).is_some_and(|stated| stated.iter().all(|v| *v == 0.0)) {
        // Nothing is left to fall: `check_moments` saw it.
        return Ok(());
    }
    let rise = many.0 - few.0;
    let off = if factory.theory().variance.is_some() { rise.abs() } else { rise };
    let allowed = Z * (few.1 + many.1).sqrt();
    require(Rule::Decay, off <= allowed, || format!("ratio off by e^{off} > e^{allowed}"))
}

/// Features from zeroed buffers.
fn features<T: Scalar>(map: &dyn FeatureMap<T>, rows: Rows<'_, T>) -> Array2<T> {
    try_features(map, rows, T::zero(), T::zero()).unwrap()
}

/// Features from buffers that hold `scratch` and `out`.
fn try_features<T: Scalar>(
    map: &dyn FeatureMap<T>,
    rows: Rows<'_, T>,
    scratch: T,
    out: T,
) -> mercer::Result<Array2<T>> {
    let mut out = Array2::from_elem((rows.n_rows(), map.n_components()), out);
    let mut scratch = vec![scratch; map.scratch_len(rows.n_rows())];
    map.transform_into(rows, out.view_mut(), &mut scratch)?;
    Ok(out)
}

fn same<T: Scalar>(a: &Array2<T>, b: &Array2<T>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| bits(*a) == bits(*b))
}

fn bits<T: Scalar>(value: T) -> u64 {
    Scalar::to_f64(value).to_bits()
}

fn normal(lane: usize, n_rows: usize, n_inputs: usize) -> Array2<f64> {
    let mut values = vec![0.0; n_rows * n_inputs];
    Stream::new(1, Purpose::Start).lane(lane).normal_into(0, &mut values);
    Array2::from_shape_vec((n_rows, n_inputs), values).unwrap()
}

/// `N_ROWS` rows of length about 2 with half of the values zero, row 7 all zero, the last column never.
fn rows_with_zeros<T: Scalar>(n_inputs: usize) -> Array2<T> {
    let mut x = normal(0, N_ROWS, n_inputs);
    let scale = 2.0 / (n_inputs as f64 / 2.0).max(1.0).sqrt();
    x.indexed_iter_mut().for_each(|((i, j), value)| {
        let kept = i != 7 && ((i + j * j) % 2 == 0 || j + 1 == n_inputs);
        *value = if kept { *value * scale } else { 0.0 };
    });
    x.mapv(T::from_f64)
}

/// Row i is where a radial kernel of row 0 is `KERNEL_VALUES[i]`; for other kernels, rows of as many distances.
fn rows_at_distances(kernel: Kernel) -> Array2<f64> {
    let gamma = if let Kernel::Rbf { gamma } = kernel { gamma } else { 1.0 };
    let mut x = normal(1, KERNEL_VALUES.len(), N_INPUTS);
    let first = x.row(0).to_owned();
    for (mut row, k) in x.outer_iter_mut().zip(KERNEL_VALUES) {
        let length = (-k.ln() / gamma).sqrt() / row.dot(&row).sqrt();
        row.mapv_inplace(|value| value * length);
        row += &first;
    }
    x
}
