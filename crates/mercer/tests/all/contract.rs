//! The contract that every feature map keeps, and proof that a map which breaks it is caught.
//!
//! A map is registered by one line: its name, its spec, and the theory of its family.

mod broken;
mod checks;
mod products;
pub(crate) mod squares;
pub(crate) mod trees;

use checks::{
    DEPENDENT, Factory, Pair, Registered, Rule, SEED, SPECTRAL, STRUCTURED, Theory, U, check, linear, matrix,
    projection_variance, unbounded,
};
use mercer::Scalar;
use mercer::dataset::PanelRows;
use mercer::feature_maps::{
    Allocation, FeatureMap, Frequencies, Gamma, HadamardBlocks, LandmarkForm, LandmarkMap, LandmarkSpec, MapSpec,
    PkRpSpec, SpectralKernel, SpectralSpec, VectorLaw, Waves,
};
use mercer::kernels::Kernel;
use mercer::projections::DenseProjection;
use mercer::random::{Purpose, normal_columns};

use broken::{Broken, Fault};

/// The width of radial kernels here.
const GAMMA: f64 = 0.5;

macro_rules! contract {
    ($name:ident, $spec:expr, $theory:expr) => {
        #[test]
        fn $name() {
            check(&Registered { spec: $spec, gamma: GAMMA, theory: $theory }).unwrap();
        }
    };
}

fn spectral(frequencies: Frequencies, n_components: usize) -> SpectralSpec {
    SpectralSpec::new(frequencies, n_components, Gamma::Value(GAMMA))
}

fn independent(kernel: SpectralKernel, n_components: usize) -> MapSpec {
    MapSpec::Spectral(SpectralSpec { kernel, ..spectral(Frequencies::Independent, n_components) })
}

/// (1 + k₂ − 2k²)/(2m), k₂ the kernel at twice the distance.
fn paired_variance(kernel: SpectralKernel, (x, y): Pair<'_>, k: f64, n_components: usize) -> f64 {
    let twice = kernel.with_gamma(GAMMA).value((&x * 2.0).view(), (&y * 2.0).view()).unwrap();
    (1.0 + twice - 2.0 * k * k) / n_components as f64
}

/// A rotation: the linear kernel without error, nothing drawn.
fn exact() -> Theory {
    Theory {
        drawn: false,
        rounding: |_, x| (x.len() as f64).log2().ceil().mul_add(U, 2.0 * U) * x.fold(0.0, |sum, x| sum + x.abs()),
        ..linear(|_, _, _| 0.0)
    }
}

contract!(fourier, |n| MapSpec::Spectral(spectral(Frequencies::Independent, n)), SPECTRAL);
contract!(orthogonal, |n| MapSpec::Spectral(spectral(Frequencies::Orthogonal, n)), DEPENDENT);
contract!(quasi, |n| MapSpec::Spectral(spectral(Frequencies::Quasi, n)), DEPENDENT);
contract!(fastfood, |n| MapSpec::Spectral(spectral(Frequencies::Fastfood, n)), STRUCTURED);
// Its bias is measured in `spectral.rs`.
contract!(sorf, |n| MapSpec::Spectral(spectral(Frequencies::Sorf, n)), Theory { unbiased: false, ..STRUCTURED });
contract!(
    phase,
    |n| MapSpec::Spectral(SpectralSpec { waves: Waves::Phase, ..spectral(Frequencies::Independent, n) }),
    Theory {
        // k₂ = k⁴ for the RBF kernel.
        variance: Some(|_, k, n| (1.0 + 0.5 * k.powi(4) - k * k) / n as f64),
        // The phase, up to 2π, and its sum with the angle are rounded too.
        rounding: |kernel, x| (SPECTRAL.rounding)(kernel, x) + 2.0 * std::f64::consts::TAU * f64::from(f32::EPSILON),
        ..SPECTRAL
    }
);
contract!(
    matern,
    |n| independent(SpectralKernel::Matern { nu: 1.5 }, n),
    Theory { variance: Some(|x, k, n| paired_variance(SpectralKernel::Matern { nu: 1.5 }, x, k, n)), ..SPECTRAL }
);
contract!(
    matern_of_orthogonal_frequencies,
    |n| MapSpec::Spectral(SpectralSpec {
        kernel: SpectralKernel::Matern { nu: 0.5 },
        ..spectral(Frequencies::Orthogonal, n)
    }),
    DEPENDENT
);
contract!(
    cauchy,
    |n| independent(SpectralKernel::Cauchy, n),
    Theory { variance: Some(|x, k, n| paired_variance(SpectralKernel::Cauchy, x, k, n)), ..SPECTRAL }
);
contract!(
    cauchy_by_fastfood,
    |n| MapSpec::Spectral(SpectralSpec { kernel: SpectralKernel::Cauchy, ..spectral(Frequencies::Fastfood, n) }),
    STRUCTURED
);
contract!(
    rational_quadratic,
    |n| independent(SpectralKernel::RationalQuadratic { alpha: 0.3 }, n),
    Theory {
        variance: Some(|x, k, n| paired_variance(SpectralKernel::RationalQuadratic { alpha: 0.3 }, x, k, n)),
        ..SPECTRAL
    }
);
contract!(
    laplace,
    |n| independent(SpectralKernel::Laplace, n),
    unbounded(
        |spectrum, d, m| matrix(&DenseProjection::independent(SEED, d, m, spectrum).unwrap()),
        Theory { variance: Some(|x, k, n| paired_variance(SpectralKernel::Laplace, x, k, n)), ..SPECTRAL }
    )
);
contract!(
    laplace_of_quasi_frequencies,
    |n| MapSpec::Spectral(SpectralSpec { kernel: SpectralKernel::Laplace, ..spectral(Frequencies::Quasi, n) }),
    unbounded(|spectrum, d, m| matrix(&DenseProjection::quasi(SEED, d, m, spectrum).unwrap()), DEPENDENT)
);
contract!(
    binning,
    |n_components| MapSpec::Binning { n_components, gamma: Gamma::Value(GAMMA), n_bins: 2 },
    Theory {
        variance: Some(|_, k, n| (k + (1.0 - k) / 2.0 - k * k) / (n / 2) as f64),
        // Both types have the same bins: only 1/√m is rounded, times √D.
        rounding: |_, _| 2.0_f64.sqrt() * f64::from(f32::EPSILON),
        ..SPECTRAL
    }
);
contract!(
    binning_of_16_bins,
    |n| MapSpec::Binning { n_components: n.next_multiple_of(16), gamma: Gamma::Value(GAMMA), n_bins: 16 },
    Theory {
        variance: Some(|_, k, n| (k + (1.0 - k) / 16.0 - k * k) / (n / 16) as f64),
        // 1/√m is rounded, times √D.
        rounding: |_, _| 16.0_f64.sqrt() * f64::from(f32::EPSILON),
        ..SPECTRAL
    }
);
contract!(identity, |_| MapSpec::Identity, Theory { rounding: |_, _| 0.0, ..exact() });
// A stage and the scale round once each: (log p + 2)·u·Σ│xᵢ│/√p, times √D = √p.
contract!(hadamard, |_| MapSpec::Hadamard { blocks: HadamardBlocks::Padded }, exact());
// The shortest block may have one value, and D is up to p.
contract!(
    hadamard_of_split_rows,
    |_| MapSpec::Hadamard { blocks: HadamardBlocks::Split },
    Theory { rounding: |kernel, x| (x.len() as f64).sqrt() * (exact().rounding)(kernel, x), ..exact() }
);
// Numbers of components here are whole transforms, without error; `spectral.rs` has others.
contract!(
    srht,
    |n_components| MapSpec::Srht { n_components },
    linear(|pair, _, n| {
        let p = pair.0.len().next_power_of_two();
        let chosen = (n - 1) % p + 1;
        let whole = projection_variance(pair, 1.0, n) * chosen as f64 / n as f64;
        whole * (p - chosen) as f64 / (p - 1) as f64
    })
);
contract!(
    gaussian_projection,
    |n_components| MapSpec::GaussianProjection { n_components },
    linear(|pair, _, n_components| projection_variance(pair, 3.0, n_components))
);
contract!(
    sparse_projection_1,
    |n_components| MapSpec::SparseProjection { n_components, s: 1.0 },
    linear(|pair, _, n_components| projection_variance(pair, 1.0, n_components))
);
contract!(
    sparse_projection_3,
    |n_components| MapSpec::SparseProjection { n_components, s: 3.0 },
    linear(|pair, _, n_components| projection_variance(pair, 3.0, n_components))
);
contract!(
    sparse_projection_7,
    |n_components| MapSpec::SparseProjection { n_components, s: 7.0 },
    linear(|pair, _, n_components| projection_variance(pair, 7.0, n_components))
);
contract!(
    sparse_projection_30,
    |n_components| MapSpec::SparseProjection { n_components, s: 30.0 },
    linear(|pair, _, n_components| projection_variance(pair, 30.0, n_components))
);
contract!(
    sparse_projection_200,
    |n_components| MapSpec::SparseProjection { n_components, s: 200.0 },
    Theory {
        // An entry is √200, not up to 8.6.
        rounding: |kernel, x| 2.0 * (linear(|_, _, _| 0.0).rounding)(kernel, x),
        ..linear(|pair, _, n_components| projection_variance(pair, 200.0, n_components))
    }
);

contract!(
    tensor_srht,
    |n| products::tensor_srht(n, 2, 0.0, false),
    products::tensor_srht_theory(products::real::<2, 0>)
);
contract!(
    tensor_srht_of_degree_3,
    |n| products::tensor_srht(n, 3, 0.3, false),
    products::tensor_srht_theory(products::real::<3, 3>)
);
contract!(
    complex_tensor_srht,
    |n| products::tensor_srht(n, 2, 0.0, true),
    products::tensor_srht_theory(products::complex::<2, 0>)
);
contract!(
    complex_tensor_srht_of_degree_3,
    |n| products::tensor_srht(n, 3, 0.3, true),
    products::tensor_srht_theory(products::complex::<3, 3>)
);
contract!(
    pk_rp,
    |n| products::pk_rp(n, 2, 0.0, 1, VectorLaw::Gaussian),
    products::pk_rp_theory(products::summed::<2, 0, 1, 3>)
);
contract!(
    pk_rp_of_degree_3,
    |n| products::pk_rp(n, 3, 0.3, 1, VectorLaw::Sparse(1.0)),
    products::pk_rp_theory(products::summed::<3, 3, 1, 1>)
);
contract!(
    pk_rp_of_sparse_vectors,
    |n| products::pk_rp(n, 2, 0.3, 2, VectorLaw::Sparse(5.0)),
    products::pk_rp_theory(products::summed::<2, 3, 2, 5>)
);
contract!(tensor_tree, |n| products::tensor_tree(n, false), products::tensor_tree_theory(products::tree::<false>));
contract!(
    complex_tensor_tree,
    |n| products::tensor_tree(n, true),
    products::tensor_tree_theory(products::tree::<true>)
);
contract!(tensor_sketch, |n| products::tensor_sketch(n, 2, 0.0), products::sketch_theory(products::sketched::<2, 0>));
contract!(
    tensor_sketch_of_degree_3,
    |n| products::tensor_sketch(n, 3, 0.3),
    products::sketch_theory(products::sketched::<3, 3>)
);
// An odd number of buckets.
contract!(
    tensor_sketch_of_odd_lengths,
    |n| products::tensor_sketch(n | 1, 2, 0.3),
    products::sketch_theory(|pair, k, n| products::sketched::<2, 3>(pair, k, n | 1))
);
contract!(
    d2pk_rp,
    |n| products::d2pk_rp(n, 2, VectorLaw::Gaussian),
    products::d2pk_rp_theory(|pair, _, n| products::squares(pair, 2.0, n))
);
// Its defaults.
contract!(
    d2pk_rp_of_sparse_vectors,
    |n| products::d2pk_rp(n, 10, VectorLaw::Sparse(3.0)),
    products::d2pk_rp_theory(products::sparse_squares::<3, 10>)
);
// Of another kernel by design, which says how.
contract!(
    d2pk_rp_of_signs,
    |n| products::d2pk_rp(n, 2, VectorLaw::Sparse(1.0)),
    products::d2pk_rp_theory(products::sparse_squares::<1, 2>)
);
contract!(
    d2pk_rp_of_one_entry_in_five,
    |n| products::d2pk_rp(n, 2, VectorLaw::Sparse(5.0)),
    products::d2pk_rp_theory(products::sparse_squares::<5, 2>)
);
contract!(
    maclaurin,
    |n| products::maclaurin(n, products::CUBIC, Allocation::Optimal, false),
    products::maclaurin_theory(Some(|pair, _, n| products::allocated(pair, products::CUBIC, n, false)))
);
contract!(
    complex_maclaurin,
    |n| products::maclaurin(n, products::CUBIC, Allocation::Optimal, true),
    products::maclaurin_theory(Some(|pair, _, n| products::allocated(pair, products::CUBIC, n, true)))
);
contract!(
    maclaurin_by_chance,
    |n| products::maclaurin(n.max(4), products::CUBIC, Allocation::Random, true),
    products::maclaurin_theory(None)
);
contract!(
    maclaurin_of_given_coefficients,
    |n| products::maclaurin(n, products::given_series(), Allocation::Optimal, false),
    products::maclaurin_theory(Some(|pair, _, n| products::allocated(pair, products::given_series(), n, false)))
);
contract!(
    complex_maclaurin_of_given_coefficients,
    |n| products::maclaurin(n, products::given_series(), Allocation::Optimal, true),
    products::maclaurin_theory(Some(|pair, _, n| products::allocated(pair, products::given_series(), n, true)))
);
contract!(
    maclaurin_of_given_coefficients_by_chance,
    |n| products::maclaurin(n, products::given_series(), Allocation::Random, false),
    products::maclaurin_theory(None)
);
contract!(
    craft_maps,
    |n| products::chain(products::tensor_sketch(4 * n, 2, 0.3), MapSpec::Srht { n_components: n }),
    products::chain_theory(None)
);
// Features that share vectors: no closed form, but no bias either.
contract!(
    pk_rp_of_few_vectors,
    |n| MapSpec::PkRp(PkRpSpec { n_vectors: Some((n / 2).max(2)), gamma: Gamma::Value(GAMMA), ..PkRpSpec::new(n, 2) }),
    Theory { variance: None, ..products::pk_rp_theory(products::summed::<2, 3, 1, 3>) }
);

contract!(
    arc_cosine,
    |n_components| MapSpec::ArcCosine { n_components, degree: 1 },
    Theory {
        // √2 times the rounding of a projection.
        rounding: |kernel, x| 1.5 * (linear(|_, _, _| 0.0).rounding)(kernel, x),
        ..linear(|(x, y), k, n| (2.0 * Kernel::ArcCosine { degree: 2 }.value(x, y).unwrap() - k * k) / n as f64)
    }
);

/// No row here has a value below −8. (1 + k₂ − 2k²)/D, k₂ at twice the distance of logarithms.
const SKEWED: Theory = Theory {
    variance: Some(|(x, y), k, n| {
        let pairs = x.iter().zip(y).map(|(x, y)| (x + 8.0, y + 8.0));
        let twice: f64 = pairs.map(|(a, b)| 2.0 * a * b / (a * a + b * b)).product();
        (1.0 + twice - 2.0 * k * k) / n as f64
    }),
    // As of other waves, with one rounding more, of the logarithm; │vᵢ│ < 12.
    rounding: |_, x| {
        let sum = x.fold(0.0, |sum, x| sum + (x / 8.0).ln_1p().abs());
        ((x.len() as f64 + 3.0) * U * 12.0 * sum + 4.0 * U) * 2.0_f64.sqrt()
    },
    ..SPECTRAL
};
contract!(
    skewed_chi2,
    |n_components| MapSpec::SkewedChi2 { n_components, skewedness: 8.0, waves: Waves::Paired },
    SKEWED
);

/// Landmarks drawn like the rows, of the RBF kernel; the variance of what a form draws is checked where it is.
struct Landmarked(LandmarkForm);

impl Factory for Landmarked {
    fn build<T: Scalar>(&self, n_inputs: usize, n_components: usize, seed: u64) -> Box<dyn FeatureMap<T>> {
        let scale = 2.0 / (n_inputs as f64).sqrt();
        let form = self.0;
        let n_landmarks = if form == LandmarkForm::KernelPca { n_components + 1 } else { n_components };
        let rows = normal_columns::<f32>(seed, Purpose::Projection, n_landmarks, 0..n_inputs);
        // Both types have the same rows, and so the same pivots.
        let rows = rows.mapv(|x| T::from_f64(f64::from(x * scale as f32)));
        let n_landmarks = (form == LandmarkForm::KernelPca).then_some(n_landmarks);
        let spec = LandmarkSpec { form, n_landmarks, ..LandmarkSpec::new(n_components) };
        let landmarks = spec.fit(self.kernel(), &PanelRows::Dense(rows), seed).unwrap();
        Box::new(LandmarkMap::new(self.kernel(), &landmarks).unwrap())
    }

    fn n_components(&self, _n_inputs: usize, n_components: usize) -> usize {
        // More than a tile; eigenvectors and directions of thousands of landmarks would take minutes.
        if self.0 == LandmarkForm::Nystroem { n_components } else { n_components.min(300) }
    }

    fn kernel(&self) -> Kernel {
        Kernel::Rbf { gamma: GAMMA }
    }

    fn theory(&self) -> Theory {
        Theory {
            variance: None,
            // Below k by what is beyond the span of the landmarks.
            unbiased: false,
            // A squared distance is off by at most (d + 3)·u·(‖x‖² + ‖l‖²), ‖l‖² < 9 here, and m kernel values are multiplied by a W of norm
            // below 4; times √D = √m.
            rounding: |_, x| 2128.0 * (x.len() as f64 + 6.0) * U * (x.dot(&x) + 9.0) * 4.0 * GAMMA,
            ..SPECTRAL
        }
    }
}

#[test]
fn nystroem() {
    check(&Landmarked(LandmarkForm::Nystroem)).unwrap();
}

#[test]
fn nystroem_by_eigenvectors() {
    check(&Landmarked(LandmarkForm::NystroemSymmetric)).unwrap();
}

#[test]
fn kg_rp() {
    check(&Landmarked(LandmarkForm::KgRp { n_terms: 2 })).unwrap();
}

#[test]
fn korp() {
    check(&Landmarked(LandmarkForm::Korp)).unwrap();
}

#[test]
fn kernel_pca() {
    check(&Landmarked(LandmarkForm::KernelPca)).unwrap();
}

fn caught(fault: Fault) -> Option<Rule> {
    check(&Broken { fault, gamma: GAMMA, theory: SPECTRAL }).err().map(|violation| violation.rule)
}

/// The wrapper in which faults are put passes without one: what is caught below is the fault.
#[test]
fn no_fault_is_caught() {
    assert_eq!(caught(Fault::None), None);
}

macro_rules! caught {
    ($name:ident, $fault:ident, $rule:ident) => {
        #[test]
        fn $name() {
            assert_eq!(caught(Fault::$fault), Some(Rule::$rule));
        }
    };
}

caught!(fewer_components, FewerComponents, Shape);
caught!(nan_for_zero_rows, NanForZeroRows, Finite);
caught!(state_of_the_first_call, FirstCall, Repeat);
caught!(mean_of_the_batch, SubtractsBatchMean, BatchSplit);
caught!(other_bits_for_single_rows, SingleRow, BatchSplit);
caught!(other_bits_from_row_256_on, LongBatch, BatchSplit);
caught!(sparse_rows_without_their_last_column, DropsLastSparseColumn, DenseSparse);
caught!(stored_zeros_counted, CountsStoredValues, DenseSparse);
caught!(reads_scratch, ReadsScratch, DirtyScratch);
caught!(adds_to_out, AddsToOut, DirtyOutput);
caught!(depends_on_the_thread, Thread, Threads);
caught!(seed_of_a_counter, CountedSeed, SeedNotReproducible);
caught!(seed_ignored, SeedIgnored, SeedIgnored);
caught!(seed_cut_to_32_bits, ShortSeed, SeedIgnored);
caught!(any_width_accepted, AcceptsAnyWidth, RejectsWidth);
caught!(panics_on_other_widths, PanicsOnWidth, RejectsWidth);
caught!(other_numbers_in_f32, OtherNumbersInF32, Precision);
caught!(wrong_scale, Scale, Bias);
caught!(wrong_gamma, Gamma, Bias);
caught!(small_bias, SmallBias, Bias);
caught!(components_in_equal_pairs, EqualPairs, Variance);
caught!(no_more_than_64_components, Repeats64, Decay);

/// A map whose error is smaller than its file says is as wrong as one whose error is larger.
#[test]
fn a_variance_stated_too_large() {
    let variance: fn(Pair<'_>, f64, usize) -> f64 = |pair, k, n| 1.25 * SPECTRAL.variance.unwrap()(pair, k, n);
    let theory = Theory { variance: Some(variance), ..SPECTRAL };
    let violation = check(&Broken { fault: Fault::None, gamma: GAMMA, theory }).unwrap_err();
    assert_eq!(violation.rule, Rule::Variance);
}
