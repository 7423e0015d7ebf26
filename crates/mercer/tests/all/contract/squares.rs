//! The variance of alternating sums of squares, by the recursion in the head of `feature_maps/product/d2pk_rp.rs`.

use mercer::feature_maps::VectorLaw;

use super::checks::Pair;

/// Expectations of AᵖBᵍ for powers below N.
type Joint<const N: usize> = [[f64; N]; N];

/// Those of nothing: A = B = 0.
fn nothing<const N: usize>() -> Joint<N> {
    let mut moments = [[0.0; N]; N];
    moments[0][0] = 1.0;
    moments
}

/// Of (A + a, B + b), a and b independent of A and B: E(A+a)ᵖ(B+b)ᵍ = Σ C(p,u)·C(q,v)·E aᵘbᵛ·E Aᵖ⁻ᵘBᵍ⁻ᵛ.
fn plus<const N: usize>(sum: &Joint<N>, term: &Joint<N>) -> Joint<N> {
    let of = |p: usize, q: usize| {
        let pairs = (0..=p).flat_map(|u| (0..=q).map(move |v| (u, v)));
        pairs.map(|(u, v)| binomial(p, u) * binomial(q, v) * term[u][v] * sum[p - u][q - v]).sum()
    };
    std::array::from_fn(|p| std::array::from_fn(|q| of(p, q)))
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// E vⁿ of an entry, n up to 8.
fn moment(law: VectorLaw, n: usize) -> f64 {
    match law {
        _ if n == 0 => 1.0,
        _ if n % 2 == 1 => 0.0,
        VectorLaw::Gaussian => (1..n).step_by(2).map(|odd| odd as f64).product(),
        VectorLaw::Sparse(s) => s.powi(n as i32 / 2 - 1),
    }
}

/// Expectations of ⟨x,v⟩ᵖ⟨y,v⟩ᵍ of rows √γ·x, input by input.
fn projected((x, y): Pair<'_>, gamma: f64, law: VectorLaw) -> Joint<5> {
    x.iter().zip(y).fold(nothing(), |sum, (x, y)| {
        let (x, y) = (gamma.sqrt() * x, gamma.sqrt() * y);
        let of = |p: usize, q: usize| x.powi(p as i32) * y.powi(q as i32) * moment(law, p + q);
        plus(&sum, &std::array::from_fn(|p| std::array::from_fn(|q| of(p, q))))
    })
}

/// E⟨φ(x),φ(y)⟩ and Var⟨φ(x),φ(y)⟩ of `n` features of `n_terms` squares.
pub(crate) fn moments_of_squares(pair: Pair<'_>, gamma: f64, law: VectorLaw, n_terms: usize, n: usize) -> (f64, f64) {
    let projected = projected(pair, gamma, law);
    let square = |sign: f64| -> Joint<3> {
        std::array::from_fn(|p| std::array::from_fn(|q| sign.powi((p + q) as i32) * projected[2 * p][2 * q]))
    };
    let squares = [square(1.0), square(-1.0)];
    let sum = (0..n_terms).fold(nothing(), |sum, i| plus(&sum, &squares[i % 2]));
    let scale = 1.0 / (2 * n_terms) as f64;
    (scale * sum[1][1], scale * scale * (sum[2][2] - sum[1][1].powi(2)) / n as f64)
}
