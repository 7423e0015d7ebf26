//! Maps of products beyond the contract: gradients, and chains whose variance is known.

use mercer::feature_maps::{
    D2pkRpSpec, DotProduct, ExpansionForm, ExpansionSpec, FeatureMap, Gamma, MaclaurinSpec, MapSpec, PkRpSpec,
    TensorSrhtSpec, VectorLaw,
};
use mercer::kernels::Kernel;
use mercer::random::{Purpose, Stream};
use ndarray::{Array1, Array2, ArrayView2, s};

use crate::contract::squares::moments_of_squares;
use crate::contract::trees::Tree;

fn normal(n_rows: usize, n_inputs: usize) -> Array2<f64> {
    let mut values = vec![0.0; n_rows * n_inputs];
    Stream::new(3, Purpose::Start).normal_into(0, &mut values);
    Array2::from_shape_vec((n_rows, n_inputs), values).unwrap()
}

fn features(map: &dyn FeatureMap<f64>, x: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((x.nrows(), map.n_components()));
    let mut scratch = vec![0.0; map.scratch_len(x.nrows())];
    map.transform_into(x.into(), out.view_mut(), &mut scratch).unwrap();
    out
}

/// The gradient of Σ weights·φ(x) by central differences: an error of h²·third derivatives, about 1e-9 here, and of rounding, 1e-16/h.
fn check_gradient(
    map: &dyn FeatureMap<f64>,
    backward: impl Fn(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Array2<f64>,
    name: &str,
) {
    let x = normal(3, map.n_inputs());
    let weights = Array2::from_shape_fn((3, map.n_components()), |(i, j)| ((i * 31 + j * 7) as f64).sin());
    let grad = backward(x.view(), weights.view());
    let value = |x: &Array2<f64>| (features(map, x.view()) * &weights).sum();
    let h = 1e-5;
    for ((i, j), &grad) in grad.indexed_iter() {
        let (mut above, mut below) = (x.clone(), x.clone());
        above[[i, j]] += h;
        below[[i, j]] -= h;
        let expected = (value(&above) - value(&below)) / (2.0 * h);
        assert!((grad - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{name}, {i}, {j}: {grad}, {expected}");
    }
}

/// Of a map that has gradients: all have them by the same method.
macro_rules! check_gradients {
    ($map:expr, $name:expr) => {{
        let map = $map.unwrap();
        let backward = |x: ArrayView2<'_, f64>, weights: ArrayView2<'_, f64>| {
            let mut out = Array2::zeros(x.dim());
            map.backward_into(x.into(), weights, out.view_mut()).unwrap();
            out
        };
        check_gradient(&map, backward, $name);
    }};
}

#[test]
fn gradients_are_those_of_the_features() {
    for degree in [1, 2, 3, 5] {
        for complex in [false, true] {
            let spec = TensorSrhtSpec { complex, c: 0.4, ..TensorSrhtSpec::new(22, degree) };
            check_gradients!(spec.map(0.7, 5, 1), "tensor_srht");
            check_gradients!(spec.tree_map(0.7, 5, 1), "tree");
        }
        for law in [VectorLaw::Gaussian, VectorLaw::Sparse(1.0), VectorLaw::Sparse(3.0)] {
            let spec = PkRpSpec { n_terms: 3, n_vectors: Some(20), law, ..PkRpSpec::new(12, degree) };
            check_gradients!(spec.map(0.7, 5, 1), "pk_rp");
        }
    }
    check_gradients!(D2pkRpSpec { n_terms: 4, ..D2pkRpSpec::new(9) }.map(0.7, 5, 1), "d2pk_rp");
    let exponential = MaclaurinSpec::new(80, DotProduct::Exponential);
    check_gradients!(exponential.map(0.7, 5, 1), "maclaurin");
}

/// Mean and spread of ⟨φ(x₀), φ(x₁)⟩ over seeds, as a z-score of the first against the kernel.
fn z_score(spec: &MapSpec, x: &Array2<f64>, n_seeds: u64) -> f64 {
    let kernel = spec.resolve(0.5, x.ncols(), 0).kernel();
    let exact = kernel.value(x.row(0), x.row(1)).unwrap();
    let products: Vec<f64> = (0..n_seeds)
        .map(|seed| {
            let z = features(&*spec.resolve(0.5, x.ncols(), seed).build().unwrap(), x.view());
            z.row(0).dot(&z.row(1))
        })
        .collect();
    let (n, mean) = (n_seeds as f64, products.iter().sum::<f64>() / n_seeds as f64);
    let variance = products.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - exact) / (variance / n).sqrt()
}

/// The mean squared error of ⟨φ(x₀), φ(x₁)⟩ over seeds about the exact value, as a z-score against the stated variance.
fn z_score_of_variance(spec: &MapSpec, x: &Array2<f64>, (exact, stated): (f64, f64), n_seeds: u64) -> f64 {
    let squares: Array1<f64> = (0..n_seeds)
        .map(|seed| {
            let z = features(&*spec.resolve(0.5, x.ncols(), seed).build().unwrap(), x.view());
            (z.row(0).dot(&z.row(1)) - exact).powi(2)
        })
        .collect();
    let (n, mean) = (n_seeds as f64, squares.sum() / n_seeds as f64);
    let spread = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / n;
    (mean - stated) / (spread / n).sqrt()
}

/// E = γ²(⟨x,y⟩² + ((s−3)/2)·Σxᵢ²yᵢ²), and without the term of s it would be found out.
#[test]
fn alternating_squares_have_the_kernel_of_their_law() {
    let x = normal(2, 4);
    for (s, n_terms) in [(1.0, 2), (1.0, 10), (3.0, 2), (3.0, 10), (5.0, 2), (5.0, 10)] {
        let spec = D2pkRpSpec { n_terms, law: VectorLaw::Sparse(s), ..D2pkRpSpec::new(16) };
        let z = z_score(&MapSpec::D2pkRp(spec), &x, 4_000);
        assert!(z.abs() < 4.5, "s = {s}, t = {n_terms}: {z}");
    }
    let other = MapSpec::D2pkRp(D2pkRpSpec { n_terms: 2, law: VectorLaw::Sparse(1.0), ..D2pkRpSpec::new(16) });
    let (k, p) = (other.resolve(0.5, 4, 0).kernel(), Kernel::Polynomial { degree: 2, gamma: 0.5, c: 0.0 });
    assert!((k.value(x.row(0), x.row(1)).unwrap() - p.value(x.row(0), x.row(1)).unwrap()).abs() > 0.01);
}

/// The recursion has the kernel of every law, and of normal entries the closed forms; of one square it has ½‖x‖²‖y‖² more, which is why
/// t is even.
#[test]
fn the_recursion_of_squares_has_the_closed_forms() {
    let (x, gamma) = (normal(2, 4), 0.5);
    let pair = (x.row(0), x.row(1));
    let close = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12 * expected.abs(), "{got}, {expected}");
    let (norms, k) = (0.25 * x.row(0).dot(&x.row(0)) * x.row(1).dot(&x.row(1)), gamma * x.row(0).dot(&x.row(1)));
    for (law, n_terms) in [
        (VectorLaw::Gaussian, 2),
        (VectorLaw::Gaussian, 10),
        (VectorLaw::Sparse(1.0), 2),
        (VectorLaw::Sparse(3.0), 10),
        (VectorLaw::Sparse(5.0), 4),
    ] {
        let (mean, variance) = moments_of_squares(pair, gamma, law, n_terms, 7);
        let spec = D2pkRpSpec { n_terms, law, ..D2pkRpSpec::new(7) };
        close(mean, MapSpec::D2pkRp(spec).resolve(gamma, 4, 0).kernel().value(pair.0, pair.1).unwrap());
        if law == VectorLaw::Gaussian {
            let t = n_terms as f64;
            close(variance, (norms.powi(2) + k.powi(4) + (8.0 * norms * k * k + 4.0 * k.powi(4)) / t) / 7.0);
        }
    }
    close(moments_of_squares(pair, gamma, VectorLaw::Sparse(3.0), 1, 7).0, k * k + 0.5 * norms);
}

/// The mean over seeds is the kernel for any shape of the tree, and products of two rows are those of the flat map.
#[test]
fn trees_have_the_polynomial_kernel() {
    let x = normal(2, 4);
    for complex in [false, true] {
        for degree in 1..=9 {
            let spec = TensorSrhtSpec { complex, tree: true, c: 0.3, ..TensorSrhtSpec::new(48, degree) };
            let z = z_score(&MapSpec::TensorSrht(spec.clone()), &x, 2_000);
            assert!(z.abs() < 4.5, "{complex}, {degree}: {z}");
            if degree <= 2 {
                let flat = features(&spec.map(0.5, 4, 7).unwrap(), x.view());
                assert_eq!(features(&spec.tree_map(0.5, 4, 7).unwrap(), x.view()), flat);
            }
        }
    }
}

/// Var⟨φ(x),φ(y)⟩ of trees of many shapes is that of the recursion.
#[test]
fn trees_have_the_variance_of_their_recursion() {
    const N_SEEDS: u64 = 12_000;
    let x = normal(2, 3);
    for (complex, degree) in
        [(false, 2), (true, 2), (false, 4), (true, 4), (false, 5), (true, 5), (false, 7), (true, 7)]
    {
        let spec = TensorSrhtSpec { complex, c: 0.4, ..TensorSrhtSpec::new(16, degree) };
        let n = if complex { 8 } else { 16 };
        let stated = Tree { pair: (x.row(0), x.row(1)), gamma: 0.5, c: 0.4, n, complex }.variance(degree as usize);
        let exact = (0.5 * x.row(0).dot(&x.row(1)) + 0.4).powi(degree as i32);
        let spec = MapSpec::TensorSrht(TensorSrhtSpec { tree: true, ..spec });
        let z = z_score_of_variance(&spec, &x, (exact, stated), N_SEEDS);
        assert!(z.abs() < 4.5, "{complex}, {degree}: z = {z}");
    }
}

/// Sums of ten products of normal vectors, all of them different: N^g + κ^2g + (M − N^g − 2κ^2g)/t over k.
#[test]
fn sums_of_many_products_have_the_stated_variance() {
    let (x, c) = (normal(2, 4), 0.3);
    let product = |i: usize, j: usize| 0.5 * x.row(i).dot(&x.row(j)) + c;
    let (norms, k2) = (product(0, 0) * product(1, 1), product(0, 1).powi(2));
    let fourth = (norms + 2.0 * k2).powi(2);
    let stated = (norms * norms + k2 * k2 + (fourth - norms * norms - 2.0 * k2 * k2) / 10.0) / 16.0;
    let spec = PkRpSpec { c, n_terms: 10, n_vectors: Some(2 * 10 * 16), ..PkRpSpec::new(16, 2) };
    let z = z_score_of_variance(&MapSpec::PkRp(spec), &x, (k2, stated), 6_000);
    assert!(z.abs() < 4.5, "{z}");
}

/// Of seven factors the variance is far below that of whole products, and halves with twice the features: over 400 seeds a
/// ratio of variances is known to a tenth, or worse where tails are long; the bounds are at more than twice that.
#[test]
fn trees_have_a_small_variance() {
    let mut x = normal(2, 12);
    for mut row in x.outer_iter_mut() {
        let length = row.dot(&row).sqrt();
        row /= length;
    }
    let variance = |n_components: usize, tree: bool| {
        let spec = TensorSrhtSpec { tree, c: 0.5, ..TensorSrhtSpec::new(n_components, 7) };
        let errors = (0..400).map(|seed| {
            let resolved = MapSpec::TensorSrht(spec.clone()).resolve(0.5, 12, seed);
            let z = features(&*resolved.build().unwrap(), x.view());
            (z.row(0).dot(&z.row(0)) - 1.0).powi(2)
        });
        errors.sum::<f64>() / 400.0
    };
    let (tree, twice, flat) = (variance(256, true), variance(512, true), variance(256, false));
    assert!(3.0 * tree < flat, "{tree}, {flat}");
    assert!((1.4..2.9).contains(&(tree / twice)), "{tree}, {twice}");
}

#[test]
fn the_exponential_kernel_has_a_series() {
    let x = normal(2, 4);
    for complex in [false, true] {
        let spec = MaclaurinSpec { complex, ..MaclaurinSpec::new(64, DotProduct::Exponential) };
        let z = z_score(&MapSpec::Maclaurin(spec), &x, 1_000);
        assert!(z.abs() < 4.5, "{complex}: {z}");
    }
}

/// All products of inputs have no error but rounding, dense or sparse.
#[test]
fn expansions_are_exact() {
    let mut x = normal(6, 5);
    x[[2, 1]] = 0.0;
    x.row_mut(4).fill(0.0);
    for form in [ExpansionForm::Triangular, ExpansionForm::Kronecker] {
        for (degree, c) in [(2, 0.0), (2, 0.3), (3, 0.0), (3, 0.3)] {
            let spec = MapSpec::Expansion(ExpansionSpec { degree, gamma: Gamma::Scale, c, form });
            let resolved = spec.resolve(0.5, 5, 0);
            let map = resolved.build::<f64>().unwrap();
            assert_eq!(map.n_components(), resolved.n_components());
            let z = features(&*map, x.view());
            for ((i, j), got) in z.dot(&z.t()).indexed_iter() {
                let expected = resolved.kernel().value(x.row(i), x.row(j)).unwrap();
                assert!(
                    (got - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                    "{spec:?}, {i}, {j}: {got}, {expected}"
                );
            }
        }
    }
}

/// Sizes that no memory holds are refused before anything is drawn, with the bytes they would take.
#[test]
fn expansions_that_do_not_fit_say_what_they_would_take() {
    let expansion = |degree| MapSpec::Expansion(ExpansionSpec::new(degree));
    let chain = |degree, n_components| {
        let then = Box::new(MapSpec::GaussianProjection { n_components });
        MapSpec::Chain { first: Box::new(expansion(degree)), then }
    };
    let error = |spec: &MapSpec, n_inputs| spec.resolve(1.0, n_inputs, 0).validate().unwrap_err().to_string();
    // 785·786·787/6 features of four bytes, 1,001 times.
    let text = error(&chain(3, 1_000), 784);
    assert!(
        text.starts_with("all products of 3 of 784 inputs are 80931145 features: 324048304580 bytes for"),
        "{text}"
    );
    assert!(text.contains("use a smaller degree, fewer inputs, or a sketch"), "{text}");
    // 2,401·2,402·2,403/6 of them.
    let text = error(&expansion(3), 2_400);
    assert!(text.contains("2309764401 features: 9239057604 bytes for a row of them, more than memory holds"), "{text}");
    assert!(error(&expansion(2), 1 << 26).contains("all products of 2 of 67108864 inputs"));
    assert!(error(&expansion(3), usize::MAX).contains("bytes for a row of them"));
    expansion(3).resolve(1.0, 784, 0).validate().unwrap();
    chain(2, 1_000).resolve(1.0, 784, 0).validate().unwrap();
    // What the system does not give is refused by the map too.
    let Err(error) = ExpansionSpec::new(3).map::<f64>(1.0, 1 << 20) else { panic!("there is no such memory") };
    assert!(error.to_string().contains("bytes for a row of them"), "{error}");
}

/// Features without error behind a random projection: Var = (k(x,x)·k(y,y) + k(x,y)²)/D for normal entries.
#[test]
fn a_chain_has_the_kernel_of_its_first_map_and_the_variance_of_its_second() {
    const N_SEEDS: usize = 4_000;
    let x = normal(2, 4);
    let kernel = Kernel::Polynomial { degree: 2, gamma: 0.5, c: 0.3 };
    let k = |i: usize, j: usize| kernel.value(x.row(i), x.row(j)).unwrap();
    for form in [ExpansionForm::Triangular, ExpansionForm::Kronecker] {
        let first = MapSpec::Expansion(ExpansionSpec { degree: 2, gamma: Gamma::Scale, c: 0.3, form });
        let spec =
            MapSpec::Chain { first: Box::new(first), then: Box::new(MapSpec::GaussianProjection { n_components: 16 }) };
        let products: Array1<f64> = (0..N_SEEDS as u64)
            .map(|seed| {
                let resolved = spec.resolve(0.5, 4, seed);
                assert_eq!(resolved.kernel(), kernel);
                let z = features(&*resolved.build().unwrap(), x.view());
                z.row(0).dot(&z.row(1))
            })
            .collect();
        let (n, variance) = (N_SEEDS as f64, (k(0, 0) * k(1, 1) + k(0, 1).powi(2)) / 16.0);
        let mean = products.sum() / n;
        assert!((mean - k(0, 1)).abs() < 4.5 * (variance / n).sqrt(), "{mean}, {}", k(0, 1));
        let moment = |power: i32| products.iter().map(|z| (z - k(0, 1)).powi(power)).sum::<f64>() / n;
        let allowed = 4.5 * ((moment(4) - moment(2).powi(2)) / n).sqrt();
        assert!((moment(2) - variance).abs() < allowed, "{form:?}: {} {variance} {allowed}", moment(2));
    }
}

/// The quadratic kernel by its definition, for dense and sparse rows and in blocks.
#[test]
fn the_quadratic_kernel_weighs_squares() {
    let x = normal(5, 7);
    for squares in [0.0, 1.0, 2.0] {
        let kernel = Kernel::Quadratic { gamma: 0.5, squares };
        let mut gram = Array2::<f64>::zeros((5, 5));
        kernel.gram_into(x.view().into(), x.view().into(), gram.view_mut()).unwrap();
        for ((i, j), &got) in gram.indexed_iter() {
            let mut expected = 0.0;
            for a in 0..7 {
                for b in 0..7 {
                    let weight = if a == b { squares } else { 1.0 };
                    expected += 0.25 * weight * x[[i, a]] * x[[i, b]] * x[[j, a]] * x[[j, b]];
                }
            }
            assert!((got - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{squares}, {i}, {j}: {got}, {expected}");
            assert!((kernel.value(x.row(i), x.row(j)).unwrap() - expected).abs() < 1e-12 * (1.0 + expected.abs()));
        }
        let diagonal = kernel.diagonal(x.slice(s![..2, ..]).into()).unwrap();
        assert!((diagonal[1] - gram[[1, 1]]).abs() < 1e-12 * gram[[1, 1]].abs());
    }
}

#[test]
fn chains_of_what_is_no_projection_are_refused() {
    let first = Box::new(MapSpec::TensorSrht(TensorSrhtSpec::new(8, 2)));
    let chain = |then: MapSpec| MapSpec::Chain { first: first.clone(), then: Box::new(then) };
    let error = chain(MapSpec::Identity).validate().unwrap_err().to_string();
    assert!(error.contains("then is identity, must be gaussian_projection"), "{error}");
    let inner = chain(MapSpec::Srht { n_components: 4 });
    inner.validate().unwrap();
    let nested = MapSpec::Chain { first: Box::new(inner), then: Box::new(MapSpec::Srht { n_components: 2 }) };
    assert!(nested.validate().unwrap_err().to_string().contains("first is chain"));
    let spec = ExpansionSpec::new(4);
    assert!(spec.validate().unwrap_err().to_string().contains("degree is 4"));
}
