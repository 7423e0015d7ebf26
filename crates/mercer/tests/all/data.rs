//! Generated data, a source that delivers it in blocks of any size, and ridge regression by the textbook.

use mercer::dataset::{
    Block, BlockReader, BlockRows, CsrMatrix, Dataset, Layout, Rows, Source, SourceInfo, TargetBlock,
};
use mercer::random::{Purpose, Stream};
use mercer::{Result, Scalar};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};

pub(crate) fn normal(lane: usize, n_rows: usize, n_columns: usize) -> Array2<f64> {
    let mut values = vec![0.0; n_rows * n_columns];
    Stream::new(3, Purpose::Start).lane(lane).normal_into(0, &mut values);
    Array2::from_shape_vec((n_rows, n_columns), values).unwrap()
}

/// Rows with their targets.
#[derive(Clone)]
pub(crate) struct Data {
    pub(crate) rows: BlockRows,
    pub(crate) targets: TargetBlock,
}

/// Points of concentric rings of radius 1, 2, …, which no line parts; ring i has the label `labels[i]`. Half the gap
/// between rings is four standard deviations of the noise, so one point in 10,000 lies nearer to another ring.
pub(crate) fn rings(lane: usize, n_rows: usize, labels: &[&str]) -> Data {
    let noise = normal(lane, n_rows, 3);
    let ring = |i: usize| i % labels.len();
    let rows = Array2::from_shape_fn((n_rows, 2), |(i, j)| {
        let radius = (ring(i) + 1) as f64 + 0.125 * noise[[i, 0]];
        let direction = noise.slice(s![i, 1..]);
        radius * direction[j] / direction.dot(&direction).sqrt()
    });
    let labels = (0..n_rows).map(|i| labels[ring(i)].to_owned()).collect();
    Data { rows: BlockRows::Dense64(rows), targets: TargetBlock::Text(labels) }
}

/// y = (sin 2x₀, cos 2x₁) with noise of variance 0.0025. For standard normal x the best line explains
/// (2e⁻²)²/((1 − e⁻⁸)/2) = 15 % of the first target and, as cosine is even, nothing of the second.
pub(crate) fn waves(lane: usize, n_rows: usize) -> Data {
    let (x, noise) = (normal(lane, n_rows, 2), normal(lane + 1_000, n_rows, 2));
    let y = Array2::from_shape_fn((n_rows, 2), |(i, t)| {
        let clean = if t == 0 { (2.0 * x[[i, 0]]).sin() } else { (2.0 * x[[i, 1]]).cos() };
        clean + 0.05 * noise[[i, t]]
    });
    Data { rows: BlockRows::Dense64(x), targets: TargetBlock::Numbers(y) }
}

/// Sparse rows: about 6 of 40 values, and the label 1 where the product of the first two columns' signs is positive
/// (exclusive or: no line parts it), else −1. The first two values are always there.
pub(crate) fn sparse_signs(lane: usize, n_rows: usize) -> Data {
    let x = normal(lane, n_rows, 40);
    let mut rows = CsrMatrix::new(0);
    for (i, row) in x.outer_iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            match j {
                0 | 1 => rows.push(j, value.signum() * (1.0 + 0.1 * value.abs())).unwrap(),
                _ if (i * 7 + j * 5) % 9 == 0 => rows.push(j, 0.1 * value).unwrap(),
                _ => (),
            }
        }
        rows.finish_row();
    }
    let labels = Array2::from_shape_fn((n_rows, 1), |(i, _)| (x[[i, 0]] * x[[i, 1]]).signum());
    Data { rows: BlockRows::Sparse64(rows), targets: TargetBlock::Numbers(labels) }
}

impl Data {
    pub(crate) fn dense(x: Array2<f64>, y: Array2<f64>) -> Self {
        Self { rows: BlockRows::Dense64(x), targets: TargetBlock::Numbers(y) }
    }

    pub(crate) fn dataset(&self) -> Dataset {
        Dataset::from_memory("data", self.rows.clone(), Some(self.targets.clone())).unwrap()
    }

    /// Delivered in blocks of `block_rows` rows, kept in memory or read again at every pass.
    pub(crate) fn delivered(&self, block_rows: usize, in_memory: bool) -> Dataset {
        let layout = if matches!(self.rows, BlockRows::Sparse64(_)) { Layout::Sparse } else { Layout::Dense };
        let info = SourceInfo::new("data", "test", layout);
        let source: Box<dyn Source> = Box::new(Delivery { data: self.clone(), info, block_rows });
        let dataset = Dataset::scan(source, if in_memory { usize::MAX } else { 0 }).unwrap();
        assert_eq!(dataset.is_in_memory(), in_memory);
        dataset
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// Rows `start..end`; sparse ones only as wide as their last column.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Self {
        let rows = match &self.rows {
            BlockRows::Dense64(x) => BlockRows::Dense64(x.slice(s![start..end, ..]).to_owned()),
            BlockRows::Sparse64(x) => {
                let mut out = CsrMatrix::new(0);
                for i in start..end {
                    x.view().row(i).for_each(|(j, value)| out.push(j, value).unwrap());
                    out.finish_row();
                }
                BlockRows::Sparse64(out)
            }
            _ => unreachable!("the data here is f64"),
        };
        let targets = match &self.targets {
            TargetBlock::Numbers(y) => TargetBlock::Numbers(y.slice(s![start..end, ..]).to_owned()),
            TargetBlock::Text(y) => TargetBlock::Text(y[start..end].to_vec()),
        };
        Self { rows, targets }
    }

    pub(crate) fn dense_rows(&self) -> Array2<f64> {
        let mut out = Array2::zeros((self.n_rows(), self.rows.n_inputs()));
        match &self.rows {
            BlockRows::Dense64(x) => out.assign(x),
            BlockRows::Sparse64(x) => Rows::Sparse(x.view()).write_dense(out.view_mut()),
            _ => unreachable!("the data here is f64"),
        }
        out
    }
}

struct Delivery {
    data: Data,
    info: SourceInfo,
    block_rows: usize,
}

struct Reading<'a> {
    from: &'a Delivery,
    at: usize,
}

impl Source for Delivery {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> Result<Box<dyn BlockReader + '_>> {
        Ok(Box::new(Reading { from: self, at: 0 }))
    }
}

impl BlockReader for Reading<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        let end = self.from.data.n_rows().min(self.at + self.from.block_rows);
        if self.at == end {
            return Ok(None);
        }
        let Data { rows, targets } = self.from.data.slice(self.at, end);
        self.at = end;
        Ok(Some(Block::new(rows, Some(targets))))
    }
}

/// scores = z·weights + intercept, of min (1/n)·Σ(y − wz − b)² + λ‖w‖².
pub(crate) struct Naive {
    weights: Array2<f64>,
    intercept: Array1<f64>,
}

impl Naive {
    pub(crate) fn fit(z: &Array2<f64>, y: &Array2<f64>, lambda: f64) -> Self {
        let n = z.nrows() as f64;
        let (z_mean, y_mean) = (z.mean_axis(Axis(0)).unwrap(), y.mean_axis(Axis(0)).unwrap());
        let (z, y) = (z - &z_mean, y - &y_mean);
        let matrix = z.t().dot(&z) / n + Array2::<f64>::eye(z.ncols()) * lambda;
        let weights = solve(matrix, z.t().dot(&y) / n);
        let intercept = y_mean - z_mean.dot(&weights);
        Self { weights, intercept }
    }

    pub(crate) fn scores(&self, z: &Array2<f64>) -> Array2<f64> {
        z.dot(&self.weights) + &self.intercept
    }
}

/// Gauss and Jordan with pivots.
fn solve(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[[i, k]].abs().total_cmp(&a[[j, k]].abs())).unwrap();
        for x in [&mut a, &mut b] {
            (0..x.ncols()).for_each(|j| x.swap([k, j], [pivot, j]));
        }
        let (row_a, row_b) = (a.row(k).to_owned(), b.row(k).to_owned());
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[[i, k]] / row_a[k];
            a.row_mut(i).scaled_add(-factor, &row_a);
            b.row_mut(i).scaled_add(-factor, &row_b);
        }
    }
    Array2::from_shape_fn(b.dim(), |(i, j)| b[[i, j]] / a[[i, i]])
}

/// ±1 for each class, one column for two classes.
pub(crate) fn signs(classes: &[usize], n_classes: usize) -> Array2<f64> {
    let n_outputs = if n_classes == 2 { 1 } else { n_classes };
    Array2::from_shape_fn((classes.len(), n_outputs), |(i, output)| {
        let positive = if n_classes == 2 { 1 } else { output };
        if classes[i] == positive { 1.0 } else { -1.0 }
    })
}

pub(crate) fn class_of(scores: ArrayView1<'_, f64>) -> usize {
    if scores.len() == 1 {
        return usize::from(scores[0] > 0.0);
    }
    (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
}

pub(crate) fn bits<T: Scalar>(x: &Array2<T>) -> Vec<u64> {
    x.iter().map(|&x| Scalar::to_f64(x).to_bits()).collect()
}
