//! Cases by hand, and what is refused.

use ndarray::{Array2, array};

use super::*;

const KERNELS: [Kernel; 12] = [
    Kernel::Linear,
    Kernel::Polynomial { degree: 3, gamma: 0.5, c: 1.0 },
    Kernel::Rbf { gamma: 0.25 },
    Kernel::Laplace { gamma: 0.5 },
    Kernel::Matern { nu: 0.5, length_scale: 2.0 },
    Kernel::Cauchy { gamma: 0.5 },
    Kernel::RationalQuadratic { alpha: 2.0, length_scale: 0.5 },
    Kernel::AdditiveChi2,
    Kernel::ExponentialChi2 { gamma: 0.5 },
    Kernel::ArcCosine { degree: 0 },
    Kernel::Tanimoto,
    Kernel::SkewedChi2 { skewedness: 0.5 },
];

fn gram(kernel: Kernel, x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((x.nrows(), y.nrows()));
    kernel.gram_into(x.view().into(), y.view().into(), out.view_mut()).unwrap();
    out
}

#[test]
fn by_hand() {
    let (x, y) = (array![[1.0, 2.0], [0.0, -1.0]], array![[3.0, 0.5]]);
    assert_eq!(gram(KERNELS[0], &x, &y), array![[4.0], [-0.5]]);
    assert_eq!(gram(KERNELS[1], &x, &y), array![[27.0], [0.421875]]); // (4/2 + 1)³, (−0.5/2 + 1)³
    assert_eq!(gram(KERNELS[2], &x, &y), array![[(-6.25_f64 / 4.0).exp()], [(-11.25_f64 / 4.0).exp()]]);
    assert_eq!(KERNELS[1].diagonal(x.view().into()).unwrap(), [42.875, 3.375]); // (5/2 + 1)³, (1/2 + 1)³
    assert_eq!(KERNELS[2].diagonal(x.view().into()).unwrap(), [1.0, 1.0]);
}

/// x = (1, 2), y = (3, ½): ‖x−y‖² = 6.25, ‖x−y‖₁ = 3.5, ⟨x,y⟩ = 4, ‖x‖² = 5, ‖y‖² = 9.25, harmonic means 1.5 and 0.8,
/// χ² differences 1 and 0.9.
#[test]
fn more_by_hand() {
    let (x, y) = (array![[1.0, 2.0]], array![[3.0, 0.5]]);
    let k = |kernel| gram(kernel, &x, &y)[[0, 0]];
    let expected = [
        (KERNELS[3], (-1.75_f64).exp()),
        (KERNELS[4], (-1.25_f64).exp()),
        (KERNELS[5], 1.0 / 4.125),
        (KERNELS[6], 7.25_f64.powi(-2)), // 1 + 6.25/(2·2·¼)
        (KERNELS[7], 2.3),
        (KERNELS[8], (-0.95_f64).exp()),
        (KERNELS[9], 1.0 - (4.0 / 46.25_f64.sqrt()).acos() / std::f64::consts::PI),
        (KERNELS[10], 4.0 / 10.25),
        (KERNELS[11], 2.0 * 5.25_f64.sqrt() / 5.0 * 2.0 * 2.5_f64.sqrt() / 3.5), // (1.5, 2.5) and (3.5, 1)
    ];
    for (kernel, expected) in expected {
        assert!((k(kernel) - expected).abs() < 1e-15, "{kernel:?}: {} for {expected}", k(kernel));
    }
}

#[test]
fn rows_of_zeros() {
    let (zero, x) = (array![[0.0, 0.0]], array![[3.0, 4.0]]);
    let arc_cosine = |degree| Kernel::ArcCosine { degree };
    let cases = [
        (arc_cosine(0), [0.5, 0.5, 1.0]),
        (arc_cosine(1), [0.0, 0.0, 25.0]),
        (arc_cosine(2), [0.0, 0.0, 1875.0]),
        (Kernel::Tanimoto, [1.0, 0.0, 1.0]),
        (Kernel::AdditiveChi2, [0.0, 0.0, 7.0]),
    ];
    for (kernel, expected) in cases {
        let of = |x, y| gram(kernel, x, y)[[0, 0]];
        let got = [of(&zero, &zero), of(&zero, &x), of(&x, &x)];
        assert!(got.iter().zip(expected).all(|(got, k)| (got - k).abs() <= 1e-15 * k), "{kernel:?}: {got:?}");
        assert_eq!(kernel.diagonal(zero.view().into()).unwrap(), [expected[0]]);
        assert_eq!(kernel.diagonal(x.view().into()).unwrap(), [got[2]]);
    }
}

#[test]
fn feature_space_distances_by_hand() {
    let (x, y) = (array![[1.0, 2.0]], array![[3.0, 0.5], [1.0, 2.0]]);
    let expected = [
        array![[6.25, 0.0]],
        array![[42.875 + 5.625_f64.powi(3) - 54.0, 0.0]], // (9.25/2 + 1)³ = 5.625³
        array![[2.0 - 2.0 * (-6.25_f64 / 4.0).exp(), 0.0]],
    ];
    for (kernel, expected) in KERNELS.iter().zip(expected) {
        let mut out = Array2::<f64>::zeros((1, 2));
        kernel.squared_distances_into(x.view().into(), y.view().into(), out.view_mut()).unwrap();
        assert!((out[[0, 0]] - expected[[0, 0]]).abs() < 1e-12, "{kernel:?}: {out} for {expected}");
        assert_eq!(out[[0, 1]], 0.0, "{kernel:?}");
    }
}

#[test]
fn huge_rows_are_far_apart_not_nan() {
    let x = array![[1e200, 0.0], [-1e200, 0.0]];
    assert_eq!(gram(Kernel::Rbf { gamma: 1.0 }, &x, &x), array![[1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn no_rows_and_no_inputs() {
    let (none, x) = (Array2::zeros((0, 2)), array![[1.0, 2.0]]);
    let narrow = Array2::zeros((2, 0));
    for (kernel, of_nothing) in KERNELS.into_iter().zip([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.5, 1.0, 1.0]) {
        assert_eq!(gram(kernel, &none, &x).dim(), (0, 1));
        assert_eq!(gram(kernel, &x, &none).dim(), (1, 0));
        assert_eq!(gram(kernel, &narrow, &narrow), Array2::from_elem((2, 2), of_nothing));
    }
}

#[test]
fn rejects_parameters_outside_their_ranges() {
    let polynomial = |degree, gamma, c| Kernel::Polynomial { degree, gamma, c };
    let bad = [
        (polynomial(0, 1.0, 0.0), "degree"),
        (polynomial(2, 0.0, 0.0), "gamma"),
        (polynomial(2, f64::NAN, 0.0), "gamma"),
        (polynomial(2, 1.0, -1.0), "c"),
        (polynomial(2, 1.0, f64::INFINITY), "c"),
        (Kernel::Rbf { gamma: -1.0 }, "gamma"),
        (Kernel::Rbf { gamma: f64::INFINITY }, "gamma"),
        (Kernel::Laplace { gamma: 0.0 }, "gamma"),
        (Kernel::Cauchy { gamma: f64::NAN }, "gamma"),
        (Kernel::ExponentialChi2 { gamma: -1.0 }, "gamma"),
        (Kernel::Matern { nu: 0.0, length_scale: 1.0 }, "nu"),
        (Kernel::Matern { nu: 1000.5, length_scale: 1.0 }, "nu"),
        (Kernel::Matern { nu: f64::NAN, length_scale: 1.0 }, "nu"),
        (Kernel::Matern { nu: 1.5, length_scale: 0.0 }, "length_scale"),
        (Kernel::RationalQuadratic { alpha: 0.0, length_scale: 1.0 }, "alpha"),
        (Kernel::RationalQuadratic { alpha: 1.0, length_scale: f64::INFINITY }, "length_scale"),
        (Kernel::ArcCosine { degree: 3 }, "degree"),
        (Kernel::SkewedChi2 { skewedness: 0.0 }, "skewedness"),
        (Kernel::SkewedChi2 { skewedness: f64::NAN }, "skewedness"),
    ];
    let x = array![[1.0]];
    for (kernel, parameter) in bad {
        let mut out = Array2::<f64>::zeros((1, 1));
        let uses = [
            kernel.validate(),
            kernel.value(x.row(0), x.row(0)).map(drop),
            kernel.diagonal(x.view().into()).map(drop),
            kernel.gram_into(x.view().into(), x.view().into(), out.view_mut()),
            kernel.squared_distances_into(x.view().into(), x.view().into(), out.view_mut()),
        ];
        for result in uses {
            assert!(matches!(result, Err(Error::Parameter { name, .. }) if name == parameter), "{kernel:?}");
        }
    }
}

#[test]
fn rejects_shapes_that_do_not_fit() {
    let (x, y) = (array![[1.0, 2.0]], array![[1.0, 2.0, 3.0]]);
    for kernel in KERNELS {
        let mut out = Array2::<f64>::zeros((1, 1));
        assert!(matches!(kernel.value(x.row(0), y.row(0)), Err(Error::Inputs { got: 3, expected: 2, .. })));
        let result = kernel.gram_into(x.view().into(), y.view().into(), out.view_mut());
        assert!(matches!(result, Err(Error::Inputs { got: 3, expected: 2, .. })));
        let mut wide = Array2::<f64>::zeros((1, 2));
        let result = kernel.gram_into(x.view().into(), x.view().into(), wide.view_mut());
        assert!(matches!(result, Err(Error::Parameter { name: "out", .. })));
        let result = kernel.squared_distances_into(x.view().into(), x.view().into(), wide.view_mut());
        assert!(matches!(result, Err(Error::Parameter { name: "out", .. })));
    }
}

#[test]
fn is_a_small_tagged_object_in_json() {
    let text = r#"{"name":"polynomial","degree":3,"gamma":0.5,"c":1.0}"#;
    assert_eq!(serde_json::to_string(&KERNELS[1]).unwrap(), text);
    for kernel in KERNELS {
        let text = serde_json::to_string(&kernel).unwrap();
        assert_eq!(serde_json::from_str::<Kernel>(&text).unwrap(), kernel);
    }
    let text = r#"{"name":"rational_quadratic","alpha":2.0,"length_scale":0.5}"#;
    assert_eq!(serde_json::from_str::<Kernel>(text).unwrap(), KERNELS[6]);
    for kernel in KERNELS {
        let text = serde_json::to_string(&kernel).unwrap().replace('}', r#","sigma":2}"#);
        assert!(serde_json::from_str::<Kernel>(&text).is_err(), "{text}");
    }
}
