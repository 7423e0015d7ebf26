//! The variance of a tree of products, by the recursion in the head of `feature_maps/product/tree.rs`, for powers of two.

use super::checks::Pair;

/// Of a tree of real or complex numbers of rows √γ·x with √c behind them.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) pair: Pair<'a>,
    pub(crate) gamma: f64,
    pub(crate) c: f64,
    /// numbers of a node, not below the places of a row
    pub(crate) n: usize,
    pub(crate) complex: bool,
}

/// Expectations of four coordinates, by j ⊕ l, or of their transforms: see the head of the map.
struct Moments {
    /// |v_j(x)|²·|v_l(y)|²
    lengths: Vec<f64>,
    /// v_j(x)·v̄_j(y)·v̄_l(x)·v_l(y)
    products: Vec<f64>,
    /// v_j(x)·v̄_j(y)·v_l(x)·v̄_l(y), the same as the products of real numbers
    squares: Vec<f64>,
}

impl Tree<'_> {
    /// Var⟨φ(x),φ(y)⟩.
    pub(crate) fn variance(&self, degree: usize) -> f64 {
        let Moments { products, squares, .. } = self.node(degree);
        let exact = self.gamma * self.pair.0.dot(&self.pair.1) + self.c;
        0.5 * (products[0] + squares[0]) - exact.powi(2 * degree as i32)
    }

    /// X, Y and V of the product of `degree` rows.
    fn node(&self, degree: usize) -> Moments {
        let (a, b) = (self.operand(degree.div_ceil(2), true), self.operand(degree / 2, false));
        let multiplied = |a: &[f64], b: &[f64]| {
            let products: Vec<f64> = a.iter().zip(b).map(|(a, b)| a * b / self.n as f64).collect();
            walsh(&products)
        };
        Moments {
            lengths: multiplied(&a.lengths, &b.lengths),
            products: multiplied(&a.products, &b.products),
            squares: multiplied(&a.squares, &b.squares),
        }
    }

    /// Of the coordinates of a signed transform.
    fn operand(&self, degree: usize, is_first: bool) -> Moments {
        if degree == 1 {
            return self.row(is_first);
        }
        let Moments { lengths: x, products: y, squares: v } = self.node(degree);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / self.n as f64;
        let (s, of_squares) = (mean(&x), mean(&v));
        let each = |value: &dyn Fn(usize) -> f64| (0..self.n).map(value).collect::<Vec<f64>>();
        if self.complex {
            Moments {
                lengths: each(&|m| x[0] + y[m] - s),
                products: each(&|m| y[0] + x[m] - s),
                squares: each(&|m| v[0] + v[m] - of_squares),
            }
        } else {
            let products = each(&|m| y[0] + x[m] + y[m] - 2.0 * s);
            Moments { lengths: each(&|m| x[0] + 2.0 * y[m] - 2.0 * s), squares: products.clone(), products }
        }
    }

    /// Of a row: in another block signs are others, and in the same one the constant has other signs too.
    fn row(&self, is_first: bool) -> Moments {
        let p = self.pair.0.len().next_power_of_two();
        let (root, c) = (self.gamma.sqrt(), self.c);
        let padded =
            |x: &dyn Fn(usize) -> f64| (0..p).map(|i| if i < self.pair.0.len() { x(i) } else { 0.0 }).collect();
        let (x, y) = (&self.pair.0 * root, &self.pair.1 * root);
        let (xx, yy): (Vec<f64>, Vec<f64>) = (padded(&|i| x[i] * x[i]), padded(&|i| y[i] * y[i]));
        let xy: Vec<f64> = padded(&|i| x[i] * y[i]);
        let s: f64 = xy.iter().map(|value| value * value).sum();
        let (xx, yy, xy) = (walsh(&xx), walsh(&yy), walsh(&xy));
        let (n, k) = (xx[0] * yy[0], xy[0]);
        // Permuted inputs make the coordinates of a block alike.
        let others = (p - 1) as f64;
        let crossed = |m: usize| if is_first { xx[m] * yy[m] } else { s - (n - s) / others };
        let own = |m: usize| if is_first { xy[m] * xy[m] } else { s - (k * k - s) / others };
        let (n_longer, k_longer, s_longer) = ((xx[0] + c) * (yy[0] + c), (k + c).powi(2), s + c * c);
        let each = |same: f64, other: &dyn Fn(usize) -> f64, apart: f64| {
            let value = |m: usize| if m == 0 { same } else { apart + if m < p { other(m) } else { 0.0 } };
            (0..self.n).map(value).collect::<Vec<f64>>()
        };
        if self.complex {
            Moments {
                lengths: each(n_longer + k_longer - s_longer, &|m| own(m) - s, n_longer),
                products: each(k_longer + n_longer - s_longer, &|m| crossed(m) - s, k_longer),
                squares: each(2.0 * k_longer - s_longer, &|m| own(m) - s, k_longer),
            }
        } else {
            let same = n_longer + 2.0 * k_longer - 2.0 * s_longer;
            let products = each(same, &|m| crossed(m) + own(m) - 2.0 * s, k_longer);
            Moments { lengths: each(same, &|m| 2.0 * own(m) - 2.0 * s, n_longer), squares: products.clone(), products }
        }
    }
}

/// Σⱼ χ_m(j)·vⱼ by its definition.
fn walsh(values: &[f64]) -> Vec<f64> {
    let sign = |m: usize, j: usize| if (m & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..values.len()).map(|m| values.iter().enumerate().map(|(j, value)| sign(m, j) * value).sum()).collect()
}
