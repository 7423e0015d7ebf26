//! What the files of projections and spectral maps state beyond the contract of all maps.

use mercer::dataset::{CsrView, Rows};
use mercer::feature_maps::{FeatureMap, FourierMap, Frequencies, Gamma, MapSpec, SpectralKernel, SpectralSpec, Waves};
use mercer::kernels::Kernel;
use mercer::projections::{DenseProjection, HadamardProjection, Projection, SparseSignProjection, Spectrum};
use mercer::random::{Purpose, Stream};
use mercer_simd::InstructionSet;
use mercer_simd::ops::hadamard::fwht;
use ndarray::{Array2, ArrayView2, s};

fn normal(lane: usize, shape: (usize, usize)) -> Array2<f64> {
    let mut values = vec![0.0; shape.0 * shape.1];
    Stream::new(5, Purpose::Start).lane(lane).normal_into(0, &mut values);
    Array2::from_shape_vec(shape, values).unwrap()
}

fn project<P: Projection<f64>>(
    projection: &P,
    rows: ArrayView2<'_, f64>,
    columns: std::ops::Range<usize>,
) -> Array2<f64> {
    let mut out = Array2::from_elem((rows.nrows(), columns.len()), f64::NAN);
    let mut scratch = vec![f64::NAN; projection.scratch_len(rows.nrows())];
    projection.project_into(rows.into(), columns, out.view_mut(), &mut scratch).unwrap();
    out
}

fn features(map: &dyn FeatureMap<f64>, rows: Rows<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((rows.n_rows(), map.n_components()));
    map.transform_into(rows, out.view_mut(), &mut vec![0.0; map.scratch_len(rows.n_rows())]).unwrap();
    out
}

/// Every projection of `n_inputs` × `n_outputs`.
fn projections(n_inputs: usize, n_outputs: usize) -> Vec<(&'static str, Box<dyn Projection<f64>>)> {
    let spectrum = Spectrum::rbf(0.4).unwrap();
    let arguments = (3, n_inputs, n_outputs, &spectrum);
    macro_rules! drawn {
        ($kind:ident, $name:ident) => {
            Box::new($kind::$name(arguments.0, arguments.1, arguments.2, arguments.3).unwrap())
        };
    }
    vec![
        ("independent", drawn!(DenseProjection, independent)),
        ("orthogonal", drawn!(DenseProjection, orthogonal)),
        ("quasi", drawn!(DenseProjection, quasi)),
        ("fastfood", drawn!(HadamardProjection, fastfood)),
        ("sorf", drawn!(HadamardProjection, sorf)),
        ("srht", Box::new(HadamardProjection::srht(3, n_inputs, n_outputs).unwrap())),
        ("sparse", Box::new(SparseSignProjection::new(3, n_inputs, n_outputs, 3.0, 0.5).unwrap())),
    ]
}

#[test]
fn any_columns_are_those_of_the_whole() {
    for (n_inputs, n_outputs) in [(1, 3), (5, 20), (16, 16), (30, 75)] {
        let x = normal(0, (3, n_inputs));
        for (name, projection) in projections(n_inputs, n_outputs) {
            let whole = project(&projection, x.view(), 0..n_outputs);
            for start in 0..n_outputs {
                for end in [start, start + 1, (start + 9).min(n_outputs), n_outputs] {
                    let part = project(&projection, x.view(), start..end);
                    assert_eq!(part, whole.slice(s![.., start..end]), "{name}: {start}..{end} of {n_outputs}");
                }
            }
        }
    }
}

/// ⟨xV, w⟩ = ⟨x, wVᵀ⟩.
#[test]
fn back_is_the_transpose() {
    for (n_inputs, n_outputs) in [(1, 2), (5, 20), (30, 75)] {
        let (x, w) = (normal(0, (4, n_inputs)), normal(1, (4, n_outputs)));
        for (name, projection) in projections(n_inputs, n_outputs) {
            let there = project(&projection, x.view(), 0..n_outputs);
            let mut back = Array2::from_elem((4, n_inputs), f64::NAN);
            projection.project_back_into(w.view(), back.view_mut()).unwrap();
            for i in 0..4 {
                let (a, b) = (there.row(i).dot(&w.row(i)), x.row(i).dot(&back.row(i)));
                assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "{name}: {a} {b}");
            }
        }
    }
}

/// With H of ±1 entries and S = s/‖G‖, column j of V has the length sⱼ·√(2γ), sⱼ a chi number of p degrees.
#[test]
fn fastfood_columns_have_chi_lengths() {
    let (p, gamma, seed) = (64, 0.4, 7);
    let projection = HadamardProjection::<f64>::fastfood(seed, p, 5 * p, &Spectrum::rbf(gamma).unwrap()).unwrap();
    let v = project(&projection, Array2::eye(p).view(), 0..5 * p);
    let chi = Stream::new(seed, Purpose::RowLength);
    for (j, column) in v.columns().into_iter().enumerate() {
        let (length, expected) = (column.dot(&column).sqrt(), chi.chi(p as f64, j as u64) * (2.0 * gamma).sqrt());
        assert!((length - expected).abs() < 1e-12 * expected, "{j}: {length} {expected}");
    }
}

/// Blocks of p columns that are orthogonal, of length √(2γp).
#[test]
fn sorf_columns_are_orthogonal() {
    let (p, gamma) = (64, 0.4);
    let projection = HadamardProjection::<f64>::sorf(7, p, 2 * p, &Spectrum::rbf(gamma).unwrap()).unwrap();
    let v = project(&projection, Array2::eye(p).view(), 0..2 * p);
    for block in [v.slice(s![.., ..p]), v.slice(s![.., p..])] {
        let off = (block.t().dot(&block) - Array2::<f64>::eye(p) * (2.0 * gamma * p as f64)).mapv(f64::abs);
        assert!(off.iter().all(|&x| x < 1e-12), "{off}");
    }
}

fn spec(frequencies: Frequencies, n_components: usize) -> SpectralSpec {
    SpectralSpec::new(frequencies, n_components, Gamma::Value(0.5))
}

fn build(spec: SpectralSpec, n_inputs: usize, seed: u64) -> Box<dyn FeatureMap<f64>> {
    MapSpec::Spectral(spec).resolve(0.5, n_inputs, seed).build().unwrap()
}

/// 5 of 8 coordinates, and 13 of 16: the variance is that of a sample without replacement, to 4.5 standard errors.
#[test]
fn srht_has_the_stated_variance() {
    let (x, n_seeds) = (normal(0, (2, 6)), 20_000);
    let (x, y) = (x.row(0), x.row(1));
    let fourth: f64 = x.iter().zip(y).map(|(x, y)| (x * y).powi(2)).sum();
    let one = x.dot(&x) * y.dot(&y) + x.dot(&y).powi(2) - 2.0 * fourth;
    for (n_components, chosen) in [(5, 5.0), (13, 5.0)] {
        let rows = ndarray::stack![ndarray::Axis(0), x, y];
        let errors: Vec<f64> = (0..n_seeds)
            .map(|seed| {
                let projection = HadamardProjection::<f64>::srht(seed, 6, n_components).unwrap();
                let out = project(&projection, rows.view(), 0..n_components);
                out.row(0).dot(&out.row(1)) - x.dot(&y)
            })
            .collect();
        let moment = |power| errors.iter().map(|x| x.powi(power)).sum::<f64>() / n_seeds as f64;
        let stated = one * chosen / (n_components * n_components) as f64 * (8.0 - chosen) / 7.0;
        let (mean, second) = (moment(1), moment(2));
        assert!(mean.abs() < 4.5 * (stated / n_seeds as f64).sqrt(), "{n_components}: mean {mean}");
        let allowed = 4.5 * ((moment(4) - second * second) / n_seeds as f64).sqrt();
        assert!((second - stated).abs() < allowed, "{n_components}: {second}, stated {stated} ± {allowed}");
    }
}

/// Rows divided by the length scales, or a map of them: one and the same.
#[test]
fn length_scales_divide_the_inputs() {
    let (x, scales) = (normal(0, (5, 6)), [0.5, 2.0, 1.0, 10.0, 0.1, 3.0]);
    let divided = &x / &ndarray::arr1(&scales);
    for frequencies in Frequencies::ALL {
        for kernel in [SpectralKernel::Rbf, SpectralKernel::Matern { nu: 2.5 }] {
            let plain = SpectralSpec { kernel, ..spec(frequencies, 40) };
            let scaled = SpectralSpec { length_scales: Some(scales.to_vec()), ..plain.clone() };
            let expected = features(&*build(plain, 6, 1), divided.view().into());
            let got = features(&*build(scaled, 6, 1), x.view().into());
            let off = (&got - &expected).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(off < 1e-12, "{frequencies:?} {kernel:?}: {off}");
        }
    }
}

/// Fewer features are made of the first frequencies of more.
#[test]
fn fewer_frequencies_are_a_prefix() {
    let x = normal(0, (2, 13));
    for ((name, few), (_, many)) in projections(13, 24).into_iter().zip(projections(13, 50)) {
        if name != "srht" {
            assert_eq!(project(&few, x.view(), 0..24), project(&many, x.view(), 0..24), "{name}");
        }
    }
}

/// The gradient of ⟨φ(x), g⟩ beside central differences: their error is h²/6 times the third derivative, at most
/// Σ│g│·scale·│v│³ ~ 10³, plus rounding 1e-16/h.
fn check_gradient<P: Projection<f64>>(name: &str, projection: P, waves: Waves) {
    let map = FourierMap::over(projection, waves, 3);
    let n_inputs = map.n_inputs();
    let (x, g) = (normal(0, (3, n_inputs)), normal(1, (3, map.n_components())));
    let mut gradient = Array2::from_elem(x.dim(), f64::NAN);
    map.backward_into(x.view().into(), g.view(), gradient.view_mut()).unwrap();
    let value = |x: &Array2<f64>, i: usize| features(&map, x.view().into()).row(i).dot(&g.row(i));
    let h = 1e-5;
    for ((i, j), &got) in gradient.indexed_iter() {
        let (mut up, mut down) = (x.clone(), x.clone());
        up[[i, j]] += h;
        down[[i, j]] -= h;
        let expected = (value(&up, i) - value(&down, i)) / (2.0 * h);
        assert!((got - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{name} {waves:?} {i} {j}: {got} {expected}");
    }
    // Sparse rows, and one row at a time.
    let indices: Vec<i64> = (0..x.len()).map(|at| (at % n_inputs) as i64).collect();
    let indptr: Vec<i64> = (0..=3).map(|row| row * n_inputs as i64).collect();
    let values = x.as_slice().unwrap();
    let sparse = CsrView::new(n_inputs, indptr.as_slice(), indices.as_slice(), values).unwrap();
    let mut again = Array2::from_elem(x.dim(), f64::NAN);
    map.backward_into(sparse.into(), g.view(), again.view_mut()).unwrap();
    assert_eq!(again, gradient, "{name}: sparse rows");
    for i in 0..3 {
        let (row, g) = (x.slice(s![i..=i, ..]), g.slice(s![i..=i, ..]));
        map.backward_into(row.into(), g, again.slice_mut(s![i..=i, ..])).unwrap();
    }
    assert_eq!(again, gradient, "{name}: row by row");
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for waves in [Waves::Paired, Waves::Phase] {
        for (name, projection) in projections(5, 11) {
            check_gradient(name, projection, waves);
        }
    }
}

#[test]
fn gradients_of_scaled_inputs_are_those_of_finite_differences() {
    let scaled = Spectrum::new(Kernel::Cauchy { gamma: 0.3 }, Some(vec![1.0, 2.0, 0.5, 1.5, 4.0])).unwrap();
    for waves in [Waves::Paired, Waves::Phase] {
        check_gradient("fastfood", HadamardProjection::fastfood(1, 5, 11, &scaled).unwrap(), waves);
        check_gradient("sorf", HadamardProjection::sorf(1, 5, 11, &scaled).unwrap(), waves);
        check_gradient("independent", DenseProjection::independent(1, 5, 11, &scaled).unwrap(), waves);
    }
}

/// A map built from a spec is the one of `build`, with gradients.
#[test]
fn a_spec_gives_a_map_with_gradients() {
    let x = normal(0, (3, 5));
    for frequencies in Frequencies::ALL {
        let spec = spec(frequencies, 40);
        let map = spec.map::<f64>(0.5, 5, 9).unwrap();
        assert_eq!(features(&map, x.view().into()), features(&*build(spec, 5, 9), x.view().into()));
        let mut gradient = Array2::zeros(x.dim());
        map.backward_into(x.view().into(), normal(1, (3, 40)).view(), gradient.view_mut()).unwrap();
        assert!(gradient.iter().all(|x| *x != 0.0), "{frequencies:?}");
    }
}

/// The mean of numbers, and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt())
}

/// (1/p)·Σ cos⟨v, z⟩ over a block of p SORF frequencies, p ≥ the inputs.
fn sorf_mean(z: &[f64], p: usize, seed: u64) -> f64 {
    let projection = HadamardProjection::<f64>::sorf(seed, z.len(), p, &Spectrum::rbf(0.5).unwrap()).unwrap();
    let row = ArrayView2::from_shape((1, z.len()), z).unwrap();
    project(&projection, row, 0..p).iter().map(|angle| angle.cos()).sum::<f64>() / p as f64
}

/// The expectation of the same over the third round of signs, given the first two: Π cos wᵢ with w = H·D₂·H·D₁·z/p, as
/// every ⟨v, z⟩ is Σ ±wᵢ with independent signs.
fn sorf_mean_over_third_round(z: &[f64], p: usize, seed: u64) -> f64 {
    let (mut w, mut signs) = (z.to_vec(), vec![0.0; p]);
    w.resize(p, 0.0);
    for round in 0..2 {
        Stream::new(seed, Purpose::Sign).lane(round).sign_into(0, &mut signs);
        w.iter_mut().zip(&signs).for_each(|(w, sign)| *w *= sign);
        fwht(InstructionSet::best(), &mut w);
    }
    w.iter().map(|w| (w / p as f64).cos()).product()
}

/// ‖z‖ where the kernel is ½.
const HALF: f64 = 1.177_410_022_515_474_7;

/// −k·r⁴/(4p), r = ‖z‖, to first order in 1/p, for a spread direction and for a single input.
///
/// Given two rounds the mean is Π cos wᵢ = exp(−Σwᵢ²/2 − Σwᵢ⁴/12 − Σwᵢ⁶/45 …) with Σwᵢ² = r². A signed transform of y
/// has E Σwᵢ⁴ = (3r⁴ − 2Σyᵢ⁴)/p, Σyᵢ⁴ at most 3r⁴/p on average: the stated bias, less up to 2/p of it, plus (4/3)r²/p
/// of it by the sixth powers; 4/p in all, at r = 1.18. The mean over two rounds has a standard error of 1 %; that the
/// projection has it is seen to an error well below the bias.
#[test]
fn the_bias_of_sorf_is_as_stated() {
    for (d, p, n_seeds) in [(2, 64, 20_000), (64, 64, 20_000), (256, 256, 20_000), (1024, 1024, 32_000)] {
        let stated = -0.5 * HALF.powi(4) / (4.0 * p as f64);
        let spread = normal(0, (1, d));
        let length = spread.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut single = vec![0.0; d];
        single[0] = HALF;
        for z in [spread.iter().map(|x| x / length * HALF).collect(), single] {
            let given: Vec<f64> = (0..n_seeds).map(|seed| sorf_mean_over_third_round(&z, p, seed)).collect();
            let (bias, error) = mean(&given.iter().map(|x| x - 0.5).collect::<Vec<_>>());
            let allowed = 4.5 * error + 4.0 / p as f64 * stated.abs();
            assert!(error < 0.01 * stated.abs(), "{d}: {error}");
            assert!((bias - stated).abs() < allowed, "{d}: {bias} ± {error}, stated {stated}");
            let off: Vec<f64> = given.iter().zip(0..).map(|(given, seed)| sorf_mean(&z, p, seed) - given).collect();
            let (off, error) = mean(&off);
            assert!(4.5 * error < 0.8 * stated.abs(), "{d}: {error} cannot tell {stated} from none");
            assert!(off.abs() < 4.5 * error, "{d}: off by {off} ± {error}");
        }
    }
}

/// Blocks of few inputs are long enough for their mean to be near the kernel.
#[test]
fn sorf_of_few_inputs_converges() {
    for d in [1, 2, 3, 7] {
        let x = normal(2, (60, d)) * (0.7 / (d as f64).sqrt());
        let (sorf, fourier) =
            (kernel_error(Frequencies::Sorf, &x, 4_096), kernel_error(Frequencies::Independent, &x, 4_096));
        assert!(sorf < 0.012 && sorf < 1.5 * fourier, "{d}: {sorf} {fourier}");
    }
}

/// Root mean squared error of the kernel over the pairs of 60 rows and 30 seeds.
fn kernel_error(frequencies: Frequencies, x: &Array2<f64>, n_components: usize) -> f64 {
    let mut exact = Array2::<f64>::zeros((x.nrows(), x.nrows()));
    Kernel::Rbf { gamma: 0.5 }.gram_into(x.view().into(), x.view().into(), exact.view_mut()).unwrap();
    let squares: f64 = (0..30)
        .map(|seed| {
            let y = features(&*build(spec(frequencies, n_components), x.ncols(), seed), x.view().into());
            (y.dot(&y.t()) - &exact).mapv(|x| x * x).mean().unwrap()
        })
        .sum();
    (squares / 30.0).sqrt()
}

#[test]
fn orthogonal_frequencies_err_less_and_fastfood_little_more() {
    let x = normal(2, (60, 64)) * 0.12;
    for n_components in [128, 512] {
        let error = |frequencies| kernel_error(frequencies, &x, n_components);
        let fourier = error(Frequencies::Independent);
        for frequencies in [Frequencies::Orthogonal, Frequencies::Sorf] {
            assert!(error(frequencies) < fourier, "{frequencies:?}: {} {fourier}", error(frequencies));
        }
        // Evenly filled slices of each input: not worse than random points.
        let quasi = error(Frequencies::Quasi);
        assert!(quasi < 1.02 * fourier, "{quasi} {fourier}");
        let fastfood = error(Frequencies::Fastfood);
        assert!(fastfood < 1.35 * fourier, "{fastfood} {fourier}");
    }
}
