//! TensorSRHT as a tree: products of two, sketched again before they are multiplied further.
//!
//! A node has two operands, each the signed transform of a row or of the n numbers of another node:
//!
//! zⱼ = n^-½ · (H·D·a)ⱼ·(H·D′·b)ⱼ.
//!
//! Given a and b, E z(x)·z(y) = ⟨a(x),a(y)⟩·⟨b(x),b(y)⟩; so the tree of g rows has E⟨φ(x),φ(y)⟩ = (γ⟨x,y⟩ + c)^g like the product of
//! g transforms. Each node adds errors of the size 1/√n relative to ‖a‖‖b‖, so that by Ahle et al. the variance is polynomial in g, not
//! 2^g/n or 3^g/n: the map for high degrees.
//!
//! **Variance**, for n a power of two and not below the places of a row: a recursion. Let χ_m(j) be −1 where m and j have an odd number of
//! bits in common, else 1. Of the numbers a of a node, X_m = E(Σχ_m|a(x)|²)(Σχ_m|a(y)|²), Y_m = E|Σχ_m·a(x)ā(y)|² and
//! V_m = E(Σχ_m·a(x)ā(y))², sums over j, with S the mean of X over m (and of Y), T that of V. Coordinates j and l of v = H·D·a have, for m = j ⊕ l,
//!
//! | | real | complex |
//! |---|---|---|
//! | C_m = E│v_j(x)│²│v_l(y)│² | X₀ + 2Y_m − 2S | X₀ + Y_m − S |
//! | A_m = E v_j(x)v̄_j(y)·v̄_l(x)v_l(y) | Y₀ + X_m + Y_m − 2S | Y₀ + X_m − S |
//! | B_m = E v_j(x)v̄_j(y)·v_l(x)v̄_l(y) | A_m | V₀ + V_m − T |
//!
//! and the operands of a node are independent: its X_m is (1/n)·Σχ_m·CC′, its Y_m and V_m the same of AA′ and of BB′. At the root
//!
//! Var⟨φ(x),φ(y)⟩ = ½(Y₀ + V₀) − (γ⟨x,y⟩ + c)^2g.
//!
//! The coordinates of a row begin it: C, A and B are as above with X, Y, V of the row itself; where l is in another block only X₀,
//! Y₀ and V₀ are left, with the constant; permuted inputs have the means of X_m, Y_m and V_m over the orders, the same for all m but 0. As the
//! mean of A_m over m is Y₀, a node has Y₀Y₀′ + (1/n)·Σ(A_m − Y₀)(A′_m − Y₀′) over m: what it adds is the second term.
//!
//! Rows are halved: those of degree 7 are 4 and 3, those of 4 are 2 and 2. The second operand of a node that is a row has its
//! inputs permuted, as in [`tensor_srht`](super::TensorSrhtSpec).
//!
//! Cost of a row: 2g − 2 transforms of n numbers, those of rows in blocks of the next power of two from d on; memory
//! 4·n numbers for a level of the tree and 2·n for each operand.
//!
//! Reference: Ahle, Kapralov, Knudsen, Pagh, Velingker, Woodruff and Zandieh, "Oblivious sketching of high-degree polynomial kernels",
//! SODA 2020; with complex signs Wacker, Ohana and Filippone, "Complex-to-real sketches for tensor products", AISTATS 2023.

use mercer_simd::ops::products::{multiply, multiply_complex};
use mercer_simd::{InstructionSet, Scalar};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

use super::tensor_srht::{Drawn, TensorSrhtSpec};
use super::{Factor, add_back, check_gradients, check_inputs, matrix};
use crate::Result;
use crate::dataset::Rows;
use crate::feature_maps::FeatureMap;
use crate::projections::{Diagonal, HadamardProjection, Projection};
use crate::random::{Purpose, Stream};

/// Numbers of a node that are worked on together, about: they stay in the second-level cache.
const BATCH_VALUES: usize = 1 << 14;
/// The first lane of the turns of nodes: those before it are of signs and offsets of factors.
const TURN_LANE: usize = 1 << 17;
/// The numbers of projections of nodes come behind those of rows.
const FIRST_NODE: usize = 1 << 12;

/// Products sketched pair by pair: see the module's head.
pub struct TreeMap<T> {
    n_inputs: usize,
    /// of one part
    n: usize,
    /// 1 for real numbers, 2 for the parts of complex ones
    n_parts: usize,
    root: Operand<T>,
}

/// What is multiplied.
enum Operand<T> {
    /// The transform of a row: one factor for each part.
    Row(Vec<Factor<T>>),
    /// The transform of the product of two.
    Node(Box<Node<T>>),
}

struct Node<T> {
    operands: [Operand<T>; 2],
    /// numbers that are multiplied by i before they are transformed; none of real ones
    turns: Vec<usize>,
    /// none of the root
    projection: Option<HadamardProjection<T>>,
}

/// Draws operands one after the other.
struct Drawing<'a> {
    spec: &'a TensorSrhtSpec,
    gamma: f64,
    n_inputs: usize,
    n: usize,
    seed: u64,
    n_rows: usize,
    n_nodes: usize,
}

impl Drawing<'_> {
    /// The product of `degree` rows; `root` is not transformed.
    fn node<T: Scalar>(&mut self, degree: usize, root: bool) -> Result<Node<T>> {
        let number = self.n_nodes;
        self.n_nodes += 1;
        let operands = [self.operand(degree.div_ceil(2), true)?, self.operand(degree / 2, false)?];
        let mut kinds = vec![0.0; if self.spec.complex && !root { self.n } else { 0 }];
        Stream::new(self.seed, Purpose::Sign).lane(TURN_LANE + number).sign_into(0, &mut kinds);
        let turns = (0..kinds.len()).filter(|&j| kinds[j] < 0.0).collect();
        let projection = if root {
            None
        } else {
            Some(HadamardProjection::factor(self.seed, FIRST_NODE + number, Diagonal::Real, self.n, self.n, 1.0)?)
        };
        Ok(Node { operands, turns, projection })
    }

    /// The first operand of a node carries its scale.
    fn operand<T: Scalar>(&mut self, degree: usize, is_first: bool) -> Result<Operand<T>> {
        let scale = if is_first { (1.0 / self.n as f64).sqrt() } else { 1.0 };
        if degree > 1 {
            let mut node = self.node(degree, false)?;
            if is_first {
                node.projection = node.projection.map(|projection| projection.scaled(scale));
            }
            return Ok(Operand::Node(Box::new(node)));
        }
        let number = self.n_rows;
        self.n_rows += 1;
        let (constant, scale) = (scale * self.spec.c.sqrt(), scale * self.gamma.sqrt());
        let (n_inputs, n_outputs) = (self.n_inputs, self.n);
        let drawn = Drawn { seed: self.seed, number, is_first, n_inputs, n_outputs, scale, constant };
        Ok(Operand::Row(if self.spec.complex {
            let (re, im) = drawn.complex()?;
            vec![re, im]
        } else {
            vec![drawn.real()?]
        }))
    }
}

impl TensorSrhtSpec {
    /// Draws the map as a tree, whatever `tree` says.
    ///
    /// # Errors
    /// As [`TensorSrhtSpec::map`].
    pub fn tree_map<T: Scalar>(&self, gamma: f64, n_inputs: usize, seed: u64) -> Result<TreeMap<T>> {
        self.validate()?;
        let n_parts = if self.complex { 2 } else { 1 };
        let n = self.n_components / n_parts;
        let mut drawing = Drawing { spec: self, gamma, n_inputs, n, seed, n_rows: 0, n_nodes: 0 };
        let root = match self.degree {
            1 => drawing.operand(1, true)?,
            degree => Operand::Node(Box::new(drawing.node(degree as usize, true)?)),
        };
        Ok(TreeMap { n_inputs, n, n_parts, root })
    }
}

impl<T: Scalar> Operand<T> {
    /// Nodes on the longest way to a row.
    fn depth(&self) -> usize {
        match self {
            Self::Row(_) => 0,
            Self::Node(node) => 1 + node.operands.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    /// What the projections need for some rows, and rows in another order.
    fn inner_scratch(&self, n_rows: usize) -> usize {
        match self {
            Self::Row(factors) => {
                let inner = factors.iter().map(|factor| factor.projection.scratch_len(n_rows)).max().unwrap_or(0);
                inner + n_rows * factors[0].n_places()
            }
            Self::Node(node) => {
                let own = node.projection.as_ref().map_or(0, |projection| projection.scratch_len(n_rows));
                node.operands.iter().map(|operand| operand.inner_scratch(n_rows)).fold(own, usize::max)
            }
        }
    }
}

impl<T: Scalar> TreeMap<T> {
    fn rows_at_once(&self) -> usize {
        (BATCH_VALUES / self.n).clamp(1, 64)
    }

    /// Numbers of all parts of some rows.
    fn len(&self, n_rows: usize) -> usize {
        self.n_parts * n_rows * self.n
    }

    /// out = the operand, part by part, rows of n numbers.
    fn operand_into(&self, operand: &Operand<T>, rows: &Rows<'_, T>, out: &mut [T], scratch: &mut [T]) -> Result<()> {
        let n_rows = rows.n_rows();
        let dim = (n_rows, self.n);
        match operand {
            Operand::Row(factors) => {
                let (ordered, scratch) = scratch.split_at_mut(n_rows * factors[0].n_places());
                // All parts have the same order.
                let rows = factors[0].ordered(rows, ordered);
                for (factor, out) in factors.iter().zip(out.chunks_exact_mut(n_rows * self.n)) {
                    factor.values_into(rows, 0, matrix(out, dim), scratch)?;
                }
                Ok(())
            }
            Operand::Node(node) => {
                let Some(projection) = &node.projection else { return self.product_into(node, rows, out, scratch) };
                let (product, scratch) = scratch.split_at_mut(self.len(n_rows));
                self.product_into(node, rows, product, scratch)?;
                self.turn(&node.turns, product, 1.0);
                let parts = product.chunks_exact(n_rows * self.n).zip(out.chunks_exact_mut(n_rows * self.n));
                parts.map(|(from, to)| (ArrayView2::from_shape(dim, from).expect("rows of n"), to)).try_for_each(
                    |(from, to)| projection.project_into(Rows::Dense(from), 0..self.n, matrix(to, dim), scratch),
                )
            }
        }
    }

    fn product_into(&self, node: &Node<T>, rows: &Rows<'_, T>, out: &mut [T], scratch: &mut [T]) -> Result<()> {
        let isa = InstructionSet::best();
        self.operand_into(&node.operands[0], rows, out, scratch)?;
        let (other, scratch) = scratch.split_at_mut(self.len(rows.n_rows()));
        self.operand_into(&node.operands[1], rows, other, scratch)?;
        if self.n_parts == 1 {
            multiply(isa, out, other);
        } else {
            let half = out.len() / 2;
            let ((x, y), (a, b)) = (out.split_at_mut(half), other.split_at(half));
            multiply_complex(isa, (x, y), (a, b));
        }
        Ok(())
    }

    /// Multiplies some numbers of each row by i, or by −i.
    fn turn(&self, turns: &[usize], values: &mut [T], sign: f64) {
        if turns.is_empty() {
            return;
        }
        let (sign, half) = (T::from_f64(sign), values.len() / 2);
        let (re, im) = values.split_at_mut(half);
        for (re, im) in re.chunks_exact_mut(self.n).zip(im.chunks_exact_mut(self.n)) {
            for &j in turns {
                (re[j], im[j]) = (-sign * im[j], sign * re[j]);
            }
        }
    }

    /// The gradient with respect to the rows of any function with the gradient `grad_out` with respect to their features.
    ///
    /// Cost: about that of the map for each level of the tree, and of a product by each Vᵀ.
    ///
    /// # Errors
    /// [`crate::Error::Inputs`] when the rows have another length.
    ///
    /// # Panics
    /// When `grad_out` is not as large as the features, or `grad_rows` as the rows.
    pub fn backward_into(
        &self,
        rows: Rows<'_, T>,
        grad_out: ArrayView2<'_, T>,
        mut grad_rows: ArrayViewMut2<'_, T>,
    ) -> Result<()> {
        check_gradients(self, rows, &grad_out, &grad_rows)?;
        let mut grad = Vec::with_capacity(self.len(rows.n_rows()));
        for part in 0..self.n_parts {
            grad.extend(grad_out.slice(s![.., part * self.n..(part + 1) * self.n]).iter());
        }
        let mut sum = Array2::zeros(grad_rows.dim());
        self.operand_back(&self.root, &rows, grad, &mut sum)?;
        grad_rows.assign(&sum);
        Ok(())
    }

    fn operand_back(&self, operand: &Operand<T>, rows: &Rows<'_, T>, grad: Vec<T>, sum: &mut Array2<T>) -> Result<()> {
        let n_rows = rows.n_rows();
        let part = |values: &[T]| Array2::from_shape_vec((n_rows, self.n), values.to_vec()).expect("rows of n");
        let node = match operand {
            Operand::Row(factors) => {
                let mut parts = factors.iter().zip(grad.chunks_exact(n_rows * self.n));
                return parts.try_for_each(|(factor, grad)| add_back(factor, &part(grad), sum));
            }
            Operand::Node(node) => node,
        };
        let mut grad = grad;
        if let Some(projection) = &node.projection {
            let mut back = vec![T::zero(); grad.len()];
            let parts = grad.chunks_exact(n_rows * self.n).zip(back.chunks_exact_mut(n_rows * self.n));
            for (grad, back) in parts {
                projection.project_back_into(part(grad).view(), matrix(back, (n_rows, self.n)))?;
            }
            self.turn(&node.turns, &mut back, -1.0);
            grad = back;
        }
        // That by one operand is that by the product times the conjugate of the other.
        for (at, operand) in node.operands.iter().enumerate() {
            let mut other = vec![T::zero(); self.len(n_rows)];
            let mut scratch = vec![T::zero(); self.scratch_for(n_rows)];
            self.operand_into(&node.operands[1 - at], rows, &mut other, &mut scratch)?;
            let mut own = grad.clone();
            let half = own.len() / self.n_parts;
            if self.n_parts == 1 {
                multiply(InstructionSet::best(), &mut own, &other);
            } else {
                other[half..].iter_mut().for_each(|im| *im = -*im);
                let ((x, y), (a, b)) = (own.split_at_mut(half), other.split_at(half));
                multiply_complex(InstructionSet::best(), (x, y), (a, b));
            }
            self.operand_back(operand, rows, own, sum)?;
        }
        Ok(())
    }

    /// For so many rows at once: the operands of every level, its products, and what projections need.
    fn scratch_for(&self, n_rows: usize) -> usize {
        2 * (self.root.depth() + 1) * self.len(n_rows) + self.root.inner_scratch(n_rows)
    }
}

impl<T: Scalar> FeatureMap<T> for TreeMap<T> {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_components(&self) -> usize {
        self.n_parts * self.n
    }

    fn scratch_len(&self, n_rows: usize) -> usize {
        self.scratch_for(n_rows.min(self.rows_at_once()))
    }

    fn transform_into(&self, rows: Rows<'_, T>, mut out: ArrayViewMut2<'_, T>, scratch: &mut [T]) -> Result<()> {
        check_inputs(rows, self.n_inputs)?;
        for first in (0..rows.n_rows()).step_by(self.rows_at_once()) {
            let last = rows.n_rows().min(first + self.rows_at_once());
            let (values, scratch) = scratch.split_at_mut(self.len(last - first));
            self.operand_into(&self.root, &rows.slice(first, last), values, scratch)?;
            for (part, values) in values.chunks_exact((last - first) * self.n).enumerate() {
                let values = ArrayView2::from_shape((last - first, self.n), values).expect("rows of n");
                out.slice_mut(s![first..last, part * self.n..(part + 1) * self.n]).assign(&values);
            }
        }
        Ok(())
    }
}
