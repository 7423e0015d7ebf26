//! What is proven of maps of products, by the closed forms of their files. Constants c are in tenths.

use mercer::feature_maps::{
    Allocation, D2pkRpSpec, DotProduct, Gamma, MaclaurinSpec, MapSpec, PkRpSpec, TensorSketchSpec, TensorSrhtSpec,
    VectorLaw,
};
use mercer::kernels::{Kernel, PowerSeries};
use ndarray::ArrayView1;

use super::GAMMA;
use super::checks::{Pair, Theory, U, linear};
use super::squares::moments_of_squares;
use super::trees::Tree;

pub(super) fn tensor_srht(n_components: usize, degree: u32, c: f64, complex: bool) -> MapSpec {
    MapSpec::TensorSrht(TensorSrhtSpec { n_components, degree, gamma: Gamma::Value(GAMMA), c, complex, tree: false })
}

/// Of features without common vectors.
pub(super) fn pk_rp(n_components: usize, degree: u32, c: f64, n_terms: usize, law: VectorLaw) -> MapSpec {
    let n_vectors = Some(n_components * degree as usize * n_terms);
    let spec = PkRpSpec::new(n_components, degree);
    MapSpec::PkRp(PkRpSpec { gamma: Gamma::Value(GAMMA), c, n_terms, n_vectors, law, ..spec })
}

pub(super) fn tensor_sketch(n_components: usize, degree: u32, c: f64) -> MapSpec {
    MapSpec::TensorSketch(TensorSketchSpec { n_components, degree, gamma: Gamma::Value(GAMMA), c })
}

pub(super) fn d2pk_rp(n_components: usize, n_terms: usize, law: VectorLaw) -> MapSpec {
    MapSpec::D2pkRp(D2pkRpSpec { n_components, gamma: Gamma::Value(GAMMA), n_terms, law })
}

/// (z + ½)³
pub(super) const CUBIC: DotProduct = DotProduct::Polynomial { degree: 3, c: 0.5 };

/// ½ + 0.3z + 0.2z³: a power is missing.
pub(super) fn given_series() -> DotProduct {
    DotProduct::PowerSeries { coefficients: PowerSeries::new(&[0.5, 0.3, 0.0, 0.2]).unwrap() }
}

pub(super) fn maclaurin(n_components: usize, kernel: DotProduct, allocation: Allocation, complex: bool) -> MapSpec {
    // Every power needs a number.
    let n_components = n_components.max(if allocation == Allocation::Optimal { 8 } else { 4 });
    let gamma = Gamma::Value(GAMMA);
    MapSpec::Maclaurin(MaclaurinSpec { n_components, kernel, gamma, allocation, complex })
}

pub(super) fn chain(first: MapSpec, then: MapSpec) -> MapSpec {
    MapSpec::Chain { first: Box::new(first), then: Box::new(then) }
}

/// N = ‖x‖²‖y‖², κ = ⟨x,y⟩ and S = Σxᵢ²yᵢ² of rows √γ·x, with √c behind them.
struct Moments {
    n: f64,
    k: f64,
    s: f64,
}

impl Moments {
    fn of((x, y): Pair<'_>, c: f64) -> Self {
        let square = |x: ArrayView1<'_, f64>| GAMMA * x.dot(&x) + c;
        let fourth: f64 = x.iter().zip(y).map(|(x, y)| (GAMMA * x * y).powi(2)).sum();
        Self { n: square(x) * square(y), k: GAMMA * x.dot(&y) + c, s: fourth + c * c }
    }
}

/// The sum over blocks of `own` for each of m coordinates and `cross` for each pair of them, over n².
fn blocks(pair: Pair<'_>, n: usize, own: f64, cross: f64) -> f64 {
    let p = pair.0.len().next_power_of_two();
    let whole = (n / p) as f64 * (p as f64 * own + (p * (p - 1)) as f64 * cross);
    let m = (n % p) as f64;
    (whole + m * own + m * (m - 1.0).max(0.0) * cross) / (n * n) as f64
}

/// The other coordinates of a block: each is short of being independent by one part in so many.
fn others(pair: Pair<'_>) -> f64 {
    (pair.0.len().next_power_of_two() - 1) as f64
}

pub(super) fn real<const G: i32, const C: u32>(pair: Pair<'_>, _: f64, n: usize) -> f64 {
    let (rows, longer) = (Moments::of(pair, 0.0), Moments::of(pair, f64::from(C) / 10.0));
    let (k2, exact) = (longer.k.powi(2), longer.k.powi(2 * G));
    let own = (2.0 * k2 + longer.n - 2.0 * longer.s).powi(G) - exact;
    let cross = (k2 - (rows.n + rows.k.powi(2) - 2.0 * rows.s) / others(pair)).powi(G) - exact;
    blocks(pair, n, own, cross)
}

pub(super) fn complex<const G: i32, const C: u32>(pair: Pair<'_>, _: f64, n: usize) -> f64 {
    let (rows, longer) = (Moments::of(pair, 0.0), Moments::of(pair, f64::from(C) / 10.0));
    let (k2, exact) = (longer.k.powi(2), longer.k.powi(2 * G));
    let own = 0.5 * ((k2 + longer.n - longer.s).powi(G) + (2.0 * k2 - longer.s).powi(G)) - exact;
    let off = |shared: f64| (k2 - (shared - rows.s) / others(pair)).powi(G);
    blocks(pair, n / 2, own, 0.5 * (off(rows.n) + off(rows.k.powi(2))) - exact)
}

pub(super) fn summed<const G: i32, const C: u32, const T: u32, const S: u32>(pair: Pair<'_>, _: f64, n: usize) -> f64 {
    let Moments { n: norms, k, s } = Moments::of(pair, f64::from(C) / 10.0);
    let (norms_g, exact) = (norms.powi(G), k.powi(2 * G));
    let fourth = (norms + 2.0 * k * k + (f64::from(S) - 3.0) * s).powi(G);
    (norms_g + exact + (fourth - norms_g - 2.0 * exact) / f64::from(T)) / n as f64
}

pub(super) fn sketched<const G: i32, const C: u32>(pair: Pair<'_>, _: f64, n: usize) -> f64 {
    let Moments { n: norms, k, s } = Moments::of(pair, f64::from(C) / 10.0);
    let (a, b, r) = (k * k, norms - s, k * k - s);
    let (ab, ar, a_g) = ((a + b).powi(G), (a + r).powi(G), a.powi(G));
    let both = (a + b + r).powi(G) - ab - ar + a_g;
    let solutions = if n.is_multiple_of(2) { 2.0 } else { 1.0 };
    (ab + ar - 2.0 * a_g) / n as f64 + solutions * both / (n * n) as f64
}

pub(super) fn sketch_theory(variance: fn(Pair<'_>, f64, usize) -> f64) -> Theory {
    // No value of a spectrum is larger than b, and a transform is off by 3·log D·u of the root mean square of its values: so
    // are g + 1 of them, with a rounding for each product and sum of up to d inputs in a bucket; √D for √D times a feature.
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let (g, b) = largest(kernel, x);
        let stages = 3.0 * 12.0 * f64::from(g + 1) + 4.0 * f64::from(g) + x.len() as f64;
        stages * U * b.powi(g) * 2128.0_f64.sqrt()
    };
    Theory { rounding, ..linear(variance) }
}

/// Of normal vectors.
pub(super) fn squares(pair: Pair<'_>, t: f64, n: usize) -> f64 {
    let Moments { n: norms, k, .. } = Moments::of(pair, 0.0);
    (norms * norms + k.powi(4) + (8.0 * norms * k * k + 4.0 * k.powi(4)) / t) / n as f64
}

/// Σ aₙ² · the variance of the products of n factors of the features that power n has.
pub(super) fn allocated(pair: Pair<'_>, kernel: DotProduct, n: usize, complex: bool) -> f64 {
    let MapSpec::Maclaurin(spec) = maclaurin(n, kernel, Allocation::Optimal, complex) else { unreachable!() };
    let shares = spec.shares(0).into_iter().filter(|share| share.power > 0);
    let of_power = |share: mercer::feature_maps::PowerShare| {
        let a = share.factor.powi(2) * share.n_numbers as f64;
        let g = share.power as i32;
        let (k2, rows) = (Moments::of(pair, 0.0).k.powi(2), Moments::of(pair, 0.0));
        let exact = k2.powi(g);
        let (own, cross) = if complex {
            let off = |shared: f64| (k2 - (shared - rows.s) / others(pair)).powi(g);
            let own = 0.5 * ((k2 + rows.n - rows.s).powi(g) + (2.0 * k2 - rows.s).powi(g));
            (own, 0.5 * (off(rows.n) + off(k2)))
        } else {
            let cross = (k2 - (rows.n + k2 - 2.0 * rows.s) / others(pair)).powi(g);
            ((2.0 * k2 + rows.n - 2.0 * rows.s).powi(g), cross)
        };
        a * a * blocks(pair, share.n_numbers, own - exact, cross - exact)
    };
    shares.map(of_power).sum()
}

/// Of vectors of one entry in S.
pub(super) fn sparse_squares<const S: u32, const T: usize>(pair: Pair<'_>, _: f64, n: usize) -> f64 {
    moments_of_squares(pair, GAMMA, VectorLaw::Sparse(f64::from(S)), T, n).1
}

pub(super) fn d2pk_rp_theory(variance: fn(Pair<'_>, f64, usize) -> f64) -> Theory {
    // Coordinates are off by (d + 4)·u of at most 8.6·b, their squares by twice that; t of them over √(2t), t up to 10.
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let Kernel::Quadratic { gamma, .. } = kernel else { panic!("{kernel:?}") };
        let b = 8.6 * gamma.sqrt() * x.fold(0.0, |sum, x| sum + x.abs());
        5.0_f64.sqrt() * 2.0 * (x.len() as f64 + 8.0) * U * b * b
    };
    Theory { rounding, ..linear(variance) }
}

pub(super) fn maclaurin_theory(variance: Option<fn(Pair<'_>, f64, usize) -> f64>) -> Theory {
    // As of products of transforms, for each power; the factors of the powers are at most those of one feature each, √aₙ, or
    // √(aₙ/pₙ) of powers drawn by chance.
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let (gamma, series) = match kernel {
            Kernel::Polynomial { degree, gamma, c } => (gamma, DotProduct::Polynomial { degree, c }),
            Kernel::PowerSeries { coefficients, gamma } => (gamma, DotProduct::PowerSeries { coefficients }),
            other => panic!("{other:?}"),
        };
        let b = gamma.sqrt() * x.fold(0.0, |sum, x| sum + x.abs());
        let stages = (x.len().next_power_of_two() as f64).log2() + 4.0;
        let of_power = |(g, a): (usize, f64)| {
            let products = 1.0 + g as f64 * (2.0_f64.sqrt() * stages + 4.0);
            products * U * b.powi(g as i32) * (2128.0 * a * 2.0_f64.powi(g as i32 + 1)).sqrt()
        };
        series.coefficients().into_iter().enumerate().map(of_power).fold(0.0, f64::max)
    };
    Theory { rounding, variance, ..linear(|_, _, _| 0.0) }
}

pub(super) fn chain_theory(variance: Option<fn(Pair<'_>, f64, usize) -> f64>) -> Theory {
    // Features of the first map are off as its own theory says, at most as a sketch of four times the features, and a projection adds
    // (n + 3) roundings of sums of up to n = 8,512 of them, with entries up to 8.6.
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let (g, b) = largest(kernel, x);
        let n = 4.0 * 2128.0_f64;
        (n + 300.0) * U * 8.6 * b.powi(g) * n.sqrt()
    };
    Theory { rounding, variance, ..linear(|_, _, _| 0.0) }
}

/// The degree, and Σ│√γ·xᵢ│ + √c: no coordinate is larger for entries up to 1.
fn largest(kernel: Kernel, x: ArrayView1<'_, f64>) -> (i32, f64) {
    let Kernel::Polynomial { degree, gamma, c } = kernel else { panic!("{kernel:?}") };
    (degree as i32, gamma.sqrt() * x.fold(0.0, |sum, x| sum + x.abs()) + c.sqrt())
}

pub(super) fn tensor_srht_theory(variance: fn(Pair<'_>, f64, usize) -> f64) -> Theory {
    // A coordinate is off by (log p + 4)·u times its largest value b, √2 times that for both parts of a complex one; each
    // of g products adds 4u, and the scale is at most √(2/D).
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let (g, b) = largest(kernel, x);
        let stages = (x.len().next_power_of_two() as f64).log2() + 4.0;
        2.0_f64.sqrt() * f64::from(g) * (2.0_f64.sqrt() * stages + 4.0) * U * b.powi(g)
    };
    Theory { rounding, ..linear(variance) }
}

/// Three rows: a node of two, transformed, and a row.
pub(super) fn tensor_tree(n_components: usize, complex: bool) -> MapSpec {
    let spec = TensorSrhtSpec::new(n_components, 3);
    MapSpec::TensorSrht(TensorSrhtSpec { gamma: Gamma::Value(GAMMA), c: 0.3, complex, tree: true, ..spec })
}

/// By the recursion of its file.
pub(super) fn tree<const COMPLEX: bool>(pair: Pair<'_>, _: f64, n: usize) -> f64 {
    let n = if COMPLEX { n / 2 } else { n };
    Tree { pair, gamma: GAMMA, c: 0.3, n, complex: COMPLEX }.variance(3)
}

pub(super) fn tensor_tree_theory(variance: fn(Pair<'_>, f64, usize) -> f64) -> Theory {
    // The n numbers of the node are below b²/√n, so their transform is below √n·b², and a feature below b³ (√2 times that
    // for both parts of complex ones, at each of three products); transforms are off by log p + log n + 4 roundings, and 4 come for
    // each product. There are fewer than 4,096 features here.
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let (g, b) = largest(kernel, x);
        let stages = (x.len().next_power_of_two() as f64).log2() + 12.0 + 16.0;
        64.0 * 2.0_f64.powf(1.5) * f64::from(g) * stages * U * b.powi(g)
    };
    Theory { rounding, ..linear(variance) }
}

pub(super) fn pk_rp_theory(variance: fn(Pair<'_>, f64, usize) -> f64) -> Theory {
    // Entries are below 8.6, coordinates off by (d + 4)·u, products by 2u each and up to 3 sums over √t ≤ √3.
    let rounding = |kernel: Kernel, x: ArrayView1<'_, f64>| {
        let (g, b) = largest(kernel, x);
        2.0 * f64::from(g) * (x.len() as f64 + 6.0) * U * (8.6 * b).powi(g)
    };
    Theory { rounding, ..linear(variance) }
}
