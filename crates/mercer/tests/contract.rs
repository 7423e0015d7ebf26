//! The contract that every feature map keeps, and proof that a map which breaks it is caught.
//!
//! A map is registered by one line: its name, its spec, and the theory of its family.

// A test that fails may panic, also in its helpers.
#![allow(clippy::unwrap_used)]

#[path = "contract/broken.rs"]
mod broken;
#[path = "contract/checks.rs"]
mod checks;

use checks::{Registered, Rule, SPECTRAL, Theory, check, linear, projection_variance};
use mercer::feature_maps::{Gamma, MapSpec};

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

contract!(fourier, |n_components| MapSpec::Fourier { n_components, gamma: Gamma::Value(GAMMA) }, SPECTRAL);
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
    let theory = Theory { variance: |pair, k, n| 1.25 * (SPECTRAL.variance)(pair, k, n), ..SPECTRAL };
    let violation = check(&Broken { fault: Fault::None, gamma: GAMMA, theory }).unwrap_err();
    assert_eq!(violation.rule, Rule::Variance);
}
