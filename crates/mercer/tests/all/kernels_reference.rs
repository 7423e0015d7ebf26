//! Kernels against scikit-learn, and against 50 digits where their formulas are hardest.

use mercer::dataset::Rows;
use mercer::kernels::{GramCentring, GramSums, Kernel, centre_in_place, squared_distances_into};
use mercer::{Error, Scalar};
use ndarray::{Array2, array, s};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    squared_distances: Vec<Vec<f64>>,
    cases: Vec<Case>,
    #[serde(rename = "matern (nu, distance, k, 1 - k)")]
    matern: Vec<[f64; 4]>,
    #[serde(rename = "arc_cosine (degree, x, y, k, distance)")]
    arc_cosine: Vec<(u32, f64, f64, f64, f64, f64, f64)>,
    centring: Centred,
}

#[derive(Deserialize)]
struct Case {
    kernel: Kernel,
    x: Sign,
    gram: Vec<Vec<f64>>,
}

/// Whether the rows are taken as they are or by absolute value.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Sign {
    Signed,
    Positive,
}

#[derive(Deserialize)]
struct Centred {
    train: Vec<Vec<f64>>,
    test: Vec<Vec<f64>>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/kernels.json")).unwrap()
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn gram<T: Scalar, O: Scalar>(kernel: Kernel, x: Rows<'_, T>, y: Rows<'_, T>) -> Array2<O> {
    let mut out = Array2::zeros((x.n_rows(), y.n_rows()));
    kernel.gram_into(x, y, out.view_mut()).unwrap();
    out
}

fn distances(kernel: Kernel, x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros((x.nrows(), y.nrows()));
    kernel.squared_distances_into(x.view().into(), y.view().into(), out.view_mut()).unwrap();
    out
}

fn assert_close(got: &Array2<f64>, expected: &Array2<f64>, relative: f64, what: &str) {
    let scale = expected.iter().fold(0.0_f64, |scale, x| scale.max(x.abs()));
    for (index, &expected) in expected.indexed_iter() {
        let error = (got[index] - expected).abs();
        assert!(error <= relative * scale, "{what} at {index:?}: {} for {expected}", got[index]);
    }
}

/// The inputs are exact in f32, so its Gram matrix is off by half a unit of its last place.
#[test]
fn as_scikit_learn() {
    let fixture = fixture();
    let (x, y) = (matrix(&fixture.x), matrix(&fixture.y));
    for Case { kernel, x: sign, gram: expected } in &fixture.cases {
        let take = |rows: &Array2<f64>| if *sign == Sign::Positive { rows.mapv(f64::abs) } else { rows.clone() };
        let (x, y, expected) = (take(&x), take(&y), matrix(expected));
        let what = format!("{kernel:?}");
        // scikit-learn's own Bessel functions are good to 10⁻¹³.
        assert_close(&gram(*kernel, x.view().into(), y.view().into()), &expected, 1e-13, &what);
        let (narrow_x, narrow_y) = (x.mapv(|x| x as f32), y.mapv(|y| y as f32));
        let narrow: Array2<f32> = gram(*kernel, narrow_x.view().into(), narrow_y.view().into());
        assert_close(&narrow.mapv(f64::from), &expected, f64::from(f32::EPSILON) / 2.0 + 1e-13, &what);
    }
    let mut distances = Array2::zeros((x.nrows(), y.nrows()));
    squared_distances_into(x.view().into(), y.view().into(), distances.view_mut()).unwrap();
    assert_close(&distances, &matrix(&fixture.squared_distances), 1e-14, "distances");
}

/// A relative error ε of the distance moves k by less than ε; the recurrence adds about one rounding a step. 1 − k of close
/// rows climbs from ν = μ+2 with a cancellation of (ν−1)/(μ+1).
#[test]
fn matern_of_any_smoothness() {
    for [nu, distance, k, below] in fixture().matern {
        let kernel = Kernel::Matern { nu, length_scale: 1.0 };
        let (x, y) = (array![[0.0]], array![[distance]]);
        let got = gram::<_, f64>(kernel, x.view().into(), y.view().into())[[0, 0]];
        let tolerance = (10.0 + nu) * f64::EPSILON;
        assert!((got - k).abs() <= tolerance, "ν {nu}, distance {distance}: {got} for {k}");
        let got = distances(kernel, &x, &y)[[0, 0]] / 2.0;
        let tolerance = 4.0 * tolerance * below;
        assert!((got - below).abs() <= tolerance, "ν {nu}, distance {distance}: {got} for 1 − k = {below}");
    }
}

/// Nearly parallel, opposite, and in between, of equal and of other length. Just outside the pairs that are taken from unit
/// vectors an error of 4ε of the cosine is one of 4ε/φ² ≤ 4ε/(2·10⁻⁴) of the angle φ from 0 or π, relatively; k goes
/// with φ^(2n+1) near π, the distance with θ² near 0 (θ for n = 0).
#[test]
fn arc_cosine_of_nearly_parallel_rows() {
    for (degree, x0, x1, y0, y1, k, distance) in fixture().arc_cosine {
        let kernel = Kernel::ArcCosine { degree };
        let (x, y) = (array![[x0, x1]], array![[y0, y1]]);
        let of_angle = 4.0 * f64::EPSILON / 2e-4;
        let got = gram::<_, f64>(kernel, x.view().into(), y.view().into())[[0, 0]];
        let tolerance = f64::from(2 * degree + 1) * of_angle * k;
        assert!((got - k).abs() <= tolerance, "degree {degree}, {x} and {y}: {got} for {k}");
        let got = distances(kernel, &x, &y)[[0, 0]];
        assert!(
            (got - distance).abs() <= 2.0 * of_angle * distance,
            "degree {degree}, {x} and {y}: {got} for {distance}"
        );
    }
}

#[test]
fn centring_is_scikit_learns() {
    let fixture = fixture();
    let (x, y) = (matrix(&fixture.x), matrix(&fixture.y));
    let kernel = Kernel::Rbf { gamma: 0.1 };
    let train: Array2<f64> = gram(kernel, x.view().into(), x.view().into());
    let mut test: Array2<f64> = gram(kernel, y.view().into(), x.view().into());
    let mut centred = train.clone();
    let centring = centre_in_place(centred.view_mut()).unwrap();
    assert_close(&centred, &matrix(&fixture.centring.train), 1e-14, "train");
    centring.apply_in_place(test.view_mut()).unwrap();
    assert_close(&test, &matrix(&fixture.centring.test), 1e-14, "test");
    // HKH from the definition: rows and columns sum to 0.
    let n = x.nrows() as f64;
    let h = Array2::<f64>::eye(x.nrows()) - 1.0 / n;
    assert_close(&centred, &h.dot(&train).dot(&h), 1e-14, "HKH");
}

/// Fitted and applied in blocks of rows: the same bits.
#[test]
fn centring_streams() {
    let x = matrix(&fixture().x);
    let train: Array2<f64> = gram(Kernel::Cauchy { gamma: 0.4 }, x.view().into(), x.view().into());
    let whole = GramCentring::fit(train.view()).unwrap();
    let mut centred = train.clone();
    whole.apply_in_place(centred.view_mut()).unwrap();
    let mut sums = GramSums::new(7);
    [s![..3, ..], s![3..4, ..], s![4.., ..]].into_iter().for_each(|rows| sums.add(train.slice(rows)).unwrap());
    let streamed = sums.finish().unwrap();
    assert_eq!(streamed, whole);
    let mut block = train.slice(s![3..5, ..]).to_owned();
    streamed.apply_in_place(block.view_mut()).unwrap();
    assert_eq!(block, centred.slice(s![3..5, ..]));
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<GramCentring>(&text).unwrap(), whole);
}

#[test]
fn centring_rejects_shapes_that_do_not_fit() {
    let square = array![[1.0, 2.0], [2.0, 4.0]];
    assert!(matches!(GramCentring::fit(array![[1.0, 2.0]].view()), Err(Error::Parameter { name: "gram", .. })));
    assert!(matches!(GramCentring::fit(Array2::<f32>::zeros((0, 0)).view()), Err(Error::TooFewRows { .. })));
    let result = GramCentring::fit(square.view()).unwrap().apply_in_place(array![[1.0]].view_mut());
    assert!(matches!(result, Err(Error::Inputs { got: 1, expected: 2, .. })));
    assert!(matches!(GramSums::new(3).add(square.view()), Err(Error::Inputs { got: 2, expected: 3, .. })));
}
