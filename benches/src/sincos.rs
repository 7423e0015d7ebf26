//! Cosine and sine of the same angles, beside numpy's two calls.

use mercer::random::{Purpose, Stream};
use mercer_simd::ops::sincos::cos_sin_into;
use mercer_simd::{InstructionSet, Scalar};

use crate::measure::{Case, fastest_after};

pub(crate) const CONDITIONS: &str = "cosine and sine of angles uniform in -20..20, one thread; an element is one angle. \
    mercer: one call, in place; numpy: cos and sin with out=. The angles are restored between runs, unmeasured";

pub(crate) fn run() {
    for (label, n) in [("16 k", 16_384), ("1 M", 1_048_576)] {
        measure::<f32>(&format!("{label}, f32"), n);
        measure::<f64>(&format!("{label}, f64"), n);
    }
}

fn measure<T: Scalar>(variant: &str, n: usize) {
    let mut uniform = vec![0.0; n];
    Stream::new(1, Purpose::Sample).uniform_into(0, &mut uniform);
    let angles: Vec<T> = uniform.iter().map(|u| T::from_f64(40.0 * u - 20.0)).collect();
    let (isa, scale) = (InstructionSet::best(), T::one());
    let mut cos = vec![T::zero(); n];
    let in_place = |mut angles: Vec<T>| {
        cos_sin_into(isa, scale, &mut angles, &mut cos);
        angles
    };
    let timing = fastest_after(|| angles.clone(), in_place);
    Case { name: "sincos", variant: variant.to_owned(), threads: 1, work: n as f64, unit: "element" }.report(timing);
}
