//! The solution of the normal equations of ridge regression, beside scipy (LAPACK of `OpenBLAS`) and faer.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Par, Side};
use mercer::learners::{LinearModel, RidgeStatistics};
use mercer::random::{Purpose, normal_columns};

use crate::measure::{Case, THREADS, Timing, fastest, pool};

pub(crate) const CONDITIONS: &str = "factorise a D x D positive definite float64 matrix and solve for 10 right-hand \
    sides; every side keeps the matrix, so each copies it. mercer: RidgeSystem::solve (own factorisation by tiles); \
    faer: Llt::new and solve; scipy: cho_factor and cho_solve, lower, column-major, check_finite=False";

const N_TARGETS: usize = 10;
const PANEL_ROWS: usize = 512;

pub(crate) fn run() {
    for n in [2_048, 4_096] {
        for threads in THREADS {
            let work = (n * n * n) as f64 / 3.0 + 2.0 * (n * n * N_TARGETS) as f64;
            let case = Case { name: "cholesky", variant: format!("D = {n}, f64"), threads, work, unit: "flop" };
            let pool = pool(threads);
            case.report(pool.install(|| mercer(n)));
            case.report_of("faer", pool.install(|| faer(n, threads)), &[]);
        }
    }
}

fn mercer(n: usize) -> Timing {
    let features = normal_columns::<f32>(1, Purpose::Projection, PANEL_ROWS, 0..n);
    let targets = normal_columns::<f32>(2, Purpose::Projection, PANEL_ROWS, 0..N_TARGETS);
    let mut statistics = RidgeStatistics::new(n, N_TARGETS);
    statistics.add(features.view(), targets.view());
    let mut system = statistics.into_system().expect("there are rows");
    fastest(|| -> LinearModel<f64> { system.solve(1e-3).expect("positive definite") })
}

fn faer(n: usize, threads: usize) -> Timing {
    faer::set_global_parallelism(if threads == 1 { Par::Seq } else { Par::rayon(threads) });
    let matrix = Mat::from_fn(n, n, |i, j| if i == j { n as f64 } else { ((i * j) % 7) as f64 / 7.0 });
    let right = Mat::from_fn(n, N_TARGETS, |i, j| ((i + j) % 5) as f64);
    fastest(|| Llt::new(matrix.as_ref(), Side::Lower).expect("positive definite").solve(&right))
}
