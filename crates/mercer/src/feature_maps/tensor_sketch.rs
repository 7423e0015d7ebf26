//! TensorSketch: the count sketch of all products of g inputs, by convolving g count sketches.
//!
//! A count sketch adds each input, with a random sign, to one of D buckets. The sketch of all d^g products of inputs whose bucket is
//! the sum of theirs (modulo D) and whose sign is the product of theirs is the circular convolution of g sketches: a product of
//! their Fourier transforms. φ(x) is that sketch, of rows √γ·x with √c behind them, so that for the kernel (γ⟨x,y⟩ + c)^g
//!
//! E⟨φ(x),φ(y)⟩ = k(x,y).
//!
//! With N = ‖x‖²‖y‖², κ = ⟨x,y⟩ and S = Σxᵢ²yᵢ² of these rows, a = κ², b = N − S, r = κ² − S, and e = 2 for even D, 1 for odd ones,
//!
//! Var⟨φ(x),φ(y)⟩ = [(a+b)^g + (a+r)^g − 2a^g]/D + e·[(a+b+r)^g − (a+b)^g − (a+r)^g + a^g]/D².
//!
//! To see it, write the square of the inner product as a sum over four g-tuples of inputs. The signs leave, for each of the g
//! sketches, three ways to be equal in pairs: both inner pairs alike (a), or crosswise in one of two ways (b, r) with a difference δ
//! of buckets. Two collisions are then asked of the sums of differences, B and R, of the sketches of each kind: B + R = 0 and B − R = 0.
//!
//! Cost of a row: g additions for each stored input, g + 1 real Fourier transforms of D values: sparse rows are cheaper. Memory
//! 2·g·d numbers. For dense rows [products of transforms](super::TensorSrhtSpec) take additions only.
//!
//! Fourier transforms are of a library that chooses its instructions at run time: features are the same bits on one machine, not on
//! all.
//!
//! References: Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013; Charikar, Chen and
//! Farach-Colton, "Finding frequent items in data streams", ICALP 2002 (count sketches).
//!
//! ```
//! use mercer::feature_maps::{FeatureMap, TensorSketchSpec};
//! use ndarray::{Array2, array};
//!
//! let map = TensorSketchSpec::new(4_096, 2).map::<f64>(1.0, 3, 0)?;
//! let mut features = Array2::zeros((2, 4_096));
//! map.transform_into(array![[1.0, 0.0, 1.0], [1.0, 2.0, 0.0]].view().into(), features.view_mut(), &mut [])?;
//! // (⟨x,y⟩ + 1)² = 4; the standard deviation is about 0.3.
//! assert!((features.row(0).dot(&features.row(1)) - 4.0).abs() < 1.5);
//! # Ok::<(), mercer::Error>(())
//! ```

use mercer_simd::Scalar;
use mercer_simd::fft::{Complex, RealFft, Scratch};
use ndarray::{ArrayViewMut1, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use super::product::{check_inputs, check_polynomial};
use super::{FeatureMap, Gamma};
use crate::dataset::Rows;
use crate::projections::MAX_INPUTS;
use crate::random::{Purpose, Stream};
use crate::room::check_room;
use crate::{Error, Result};

/// Convolved count sketches: see the module's head.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `n_components` | 4,096 | D, number of features | at least 1 |
/// | `degree` | 2 | g | 1 to 64 |
/// | `gamma` | `scale` | γ | above 0 |
/// | `c` | 1 | the constant of the kernel | at least 0 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorSketchSpec {
    /// number of features
    pub n_components: usize,
    /// sketches that are convolved
    pub degree: u32,
    /// what inner products are multiplied by
    pub gamma: Gamma,
    /// what is added to them
    pub c: f64,
}

impl TensorSketchSpec {
    /// With every other parameter at its default.
    pub fn new(n_components: usize, degree: u32) -> Self {
        Self { n_components, degree, gamma: Gamma::Scale, c: 1.0 }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first outside its range.
    pub fn validate(&self) -> Result<()> {
        check_polynomial(self.degree, self.c)?;
        super::projection::check_n_components(self.n_components)?;
        self.gamma.validate()
    }

    /// Draws the map.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a parameter is outside its range, [`Error::Memory`] where memory is short.
    pub fn map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<TensorSketch<T>> {
        self.validate()?;
        if !(1..=MAX_INPUTS).contains(&n_inputs) {
            return Err(Error::parameter("n_inputs", n_inputs, "1 to 2^26 for sketches"));
        }
        let bytes = (4 + size_of::<T>() as u128) * u128::from(self.degree) * (n_inputs as u128 + 1);
        check_room(bytes, || format!("{} sketches of {n_inputs} inputs", self.degree))?;
        let sketch = |number| Sketch::draw(self, number, (gamma.sqrt(), n_inputs), seed);
        let sketches = (0..self.degree as usize).map(sketch).collect();
        Ok(TensorSketch { n_inputs, sketches, fft: RealFft::new(self.n_components) })
    }
}

/// Convolved count sketches, drawn: see the module's head.
pub struct TensorSketch<T> {
    n_inputs: usize,
    sketches: Vec<Sketch<T>>,
    fft: RealFft<T>,
}

/// One count sketch, of the inputs and the constant behind them.
struct Sketch<T> {
    /// of each input
    buckets: Vec<u32>,
    /// ± the factor of the inputs
    factors: Vec<T>,
    constant: Option<(u32, T)>,
}

impl<T: Scalar> Sketch<T> {
    fn draw(spec: &TensorSketchSpec, number: usize, (factor, n_inputs): (f64, usize), seed: u64) -> Self {
        // The scale of the transforms there and back.
        let scale = if number == 0 { 1.0 / spec.n_components as f64 } else { 1.0 };
        let stream = Stream::new(seed, Purpose::Bucket).lane(number);
        let bucket = |i: usize| stream.below(spec.n_components as u64, i as u64) as u32;
        let mut signs = vec![0.0; n_inputs + 1];
        Stream::new(seed, Purpose::Sign).lane(number).sign_into(0, &mut signs);
        let constant = (spec.c > 0.0).then(|| (bucket(n_inputs), T::from_f64(signs[n_inputs] * scale * spec.c.sqrt())));
        Self {
            buckets: (0..n_inputs).map(bucket).collect(),
            factors: signs[..n_inputs].iter().map(|sign| T::from_f64(sign * scale * factor)).collect(),
            constant,
        }
    }

    fn sketch_into(&self, row: Rows<'_, T>, out: &mut [T]) {
        out.fill(T::zero());
        let mut add = |bucket: u32, value: T| out[bucket as usize] = out[bucket as usize] + value;
        if let Some((bucket, value)) = self.constant {
            add(bucket, value);
        }
        match row {
            Rows::Dense(row) => {
                let places = self.buckets.iter().zip(&self.factors);
                row.iter().zip(places).for_each(|(&x, (&bucket, &factor))| add(bucket, x * factor));
            }
            Rows::Sparse(row) => row.row(0).for_each(|(i, x)| add(self.buckets[i], x * self.factors[i])),
        }
    }
}

/// What the transforms of a row write to.
struct Buffers<T> {
    values: Vec<T>,
    spectrum: Vec<Complex<T>>,
    product: Vec<Complex<T>>,
    scratch: Scratch<T>,
}

impl<T: Scalar> TensorSketch<T> {
    fn buffers(&self) -> Buffers<T> {
        Buffers {
            values: vec![T::zero(); self.n_components()],
            spectrum: self.fft.spectrum(),
            product: self.fft.spectrum(),
            scratch: self.fft.scratch(),
        }
    }

    fn row_into(&self, row: Rows<'_, T>, mut out: ArrayViewMut1<'_, T>, buffers: &mut Buffers<T>) {
        let out = out.as_slice_mut().expect("features of a row are neighbours");
        let Buffers { values, spectrum, product, scratch } = buffers;
        if let [sketch] = &self.sketches[..] {
            // Nothing to convolve; the scale is that of two transforms.
            sketch.sketch_into(row, out);
            let n = T::from_f64(self.n_components() as f64);
            return out.iter_mut().for_each(|x| *x = *x * n);
        }
        for (number, sketch) in self.sketches.iter().enumerate() {
            sketch.sketch_into(row, values);
            let to = if number == 0 { &mut *product } else { &mut *spectrum };
            self.fft.forward(values, to, scratch);
            if number > 0 {
                product.iter_mut().zip(&*spectrum).for_each(|(product, factor)| *product = *product * *factor);
            }
        }
        self.fft.inverse(product, out, scratch);
    }
}

impl<T: Scalar> FeatureMap<T> for TensorSketch<T> {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        self.fft.len()
    }

    /// Complex numbers are kept elsewhere.
    fn scratch_len(&self, _n_rows: usize) -> usize {
        0
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, _scratch: &mut [T]) -> Result<()> {
        check_inputs(rows, self.n_inputs)?;
        let mut buffers = self.buffers();
        for (i, out) in out.outer_iter_mut().enumerate() {
            self.row_into(rows.slice(i, i + 1), out, &mut buffers);
        }
        Ok(())
    }
}
