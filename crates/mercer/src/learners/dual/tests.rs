use mercer_simd::{CsrMatrix, CsrView};
use ndarray::{Array2, ArrayView2, array};

use super::*;
use crate::random::{Purpose, Stream};

const LOSSES: [DualLoss; 2] = [DualLoss::Hinge, DualLoss::SquaredHinge];

fn params(loss: DualLoss, tol: f64) -> DualParams {
    DualParams { loss, intercept: true, max_epochs: 5000, tol, seed: 3 }
}

/// Rows of two overlapping classes, a third of the values 0.
fn problem(n: usize, d: usize) -> (Array2<f64>, Vec<bool>) {
    let mut numbers = vec![0.0; n * (d + 1)];
    Stream::new(5, Purpose::Start).normal_into(0, &mut numbers);
    let noise = numbers.split_off(n * d);
    let x = Array2::from_shape_fn((n, d), |(i, j)| if (i + j) % 3 == 0 { 0.0 } else { numbers[i * d + j] });
    let positive = (0..n).map(|i| x[[i, 1]] - 0.7 * x[[i, d - 1]] + 0.5 * noise[i] > 0.3).collect();
    (x, positive)
}

fn sparse(x: ArrayView2<'_, f64>) -> CsrMatrix<f64> {
    let mut csr = CsrMatrix::new(x.ncols());
    for row in x.outer_iter() {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            csr.push(j, value).unwrap();
        }
        csr.finish_row();
    }
    csr
}

fn solve(x: ArrayView2<'_, f64>, positive: &[bool], costs: &[f64], params: &DualParams) -> DualSolution {
    solve_dual(x.into(), positive, costs, params, &|| false)
}

/// The primal objective by its definition.
fn objective(x: ArrayView2<'_, f64>, positive: &[bool], costs: &[f64], loss: DualLoss, w: &[f64], b: f64) -> f64 {
    let mut sum = 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + b * b);
    for (i, row) in x.outer_iter().enumerate() {
        let product: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
        let short = (1.0 - if positive[i] { product } else { -product }).max(0.0);
        sum += costs[i] * if loss == DualLoss::Hinge { short } else { short * short };
    }
    sum
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// The objective is that of the weights, and ½‖w − w*‖² ≤ objective − minimum ≤ gap, by strong convexity, holds between
/// a rough and a sharp solution.
#[test]
fn the_gap_bounds_the_distance_to_the_minimum() {
    let (x, positive) = problem(300, 7);
    let costs: Vec<f64> = (0..300).map(|i| 0.1 + (i % 4) as f64).collect();
    for loss in LOSSES {
        let sharp = solve(x.view(), &positive, &costs, &params(loss, 1e-10));
        assert!(sharp.converged && sharp.gap <= 1e-10 * sharp.objective, "{loss:?}: {}", sharp.gap);
        for tol in [0.3, 1e-2, 1e-4] {
            let rough = solve(x.view(), &positive, &costs, &params(loss, tol));
            let expected = objective(x.view(), &positive, &costs, loss, &rough.weights, rough.intercept);
            assert!(rough.converged && close(rough.objective, expected, 1e-12), "{loss:?}");
            let excess = rough.objective - (sharp.objective - sharp.gap);
            assert!(rough.objective >= sharp.objective - sharp.gap && excess <= rough.gap + sharp.gap, "{loss:?}");
            let mut apart = (rough.intercept - sharp.intercept).powi(2);
            apart += rough.weights.iter().zip(&sharp.weights).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            assert!(apart.sqrt() <= (2.0 * excess).sqrt() + (2.0 * sharp.gap).sqrt(), "{loss:?}");
        }
    }
}

/// No direction from the solution leads down: the objective is convex, so this is a minimum.
#[test]
fn is_a_minimum_in_every_direction_tried() {
    let (x, positive) = problem(120, 4);
    let costs = vec![0.5; 120];
    for loss in LOSSES {
        let found = solve(x.view(), &positive, &costs, &params(loss, 1e-11));
        let mut directions = vec![0.0; 5 * 200];
        Stream::new(9, Purpose::Start).normal_into(0, &mut directions);
        for direction in directions.chunks_exact(5) {
            for length in [1e-3, 1e-1] {
                let w: Vec<f64> = found.weights.iter().zip(direction).map(|(w, e)| w + length * e).collect();
                let b = found.intercept + length * direction[4];
                assert!(objective(x.view(), &positive, &costs, loss, &w, b) > found.objective, "{loss:?}");
            }
        }
    }
}

/// Rows 2 (+), −1 (−) and 0.5 (−), C = 1: w²/2 + max(0, 1 − 2w) + max(0, 1 − w) + max(0, 1 + w/2) has the slope w − 5/2
/// for 0 < w < ½ and w − ½ for ½ < w < 1, so the minimum is at ½: 1/8 + 0 + 1/2 + 5/4.
#[test]
fn hand_computed() {
    let x = array![[2.0], [-1.0], [0.5]];
    let without = |loss| DualParams { intercept: false, ..params(loss, 1e-12) };
    let hinge = solve(x.view(), &[true, false, false], &[1.0; 3], &without(DualLoss::Hinge));
    assert!(close(hinge.weights[0], 0.5, 1e-5) && close(hinge.objective, 1.875, 1e-10), "{hinge:?}");
    // Squares: w − 2·(1 − w) + (1 + w/2) − 4·(1 − 2w)₊ = 0 has its root below ½: 11.5·w = 5.
    let squared = solve(x.view(), &[true, false, false], &[1.0; 3], &without(DualLoss::SquaredHinge));
    assert!(close(squared.weights[0], 5.0 / 11.5, 1e-6), "{squared:?}");
    // Two rows with an intercept: x = 3 (+) and x = 1 (−) under a large cost: 3w + b = 1, w + b = −1.
    let apart = solve(array![[3.0], [1.0]].view(), &[true, false], &[1e3; 2], &params(DualLoss::Hinge, 1e-12));
    assert!(close(apart.weights[0], 1.0, 1e-5) && close(apart.intercept, -2.0, 1e-5), "{apart:?}");
    assert!(close(apart.objective, 2.5, 1e-10));
}

#[test]
fn dense_equals_sparse_of_either_index_type() {
    let (x, positive) = problem(200, 75);
    let csr = sparse(x.view());
    let wide: Vec<i64> = (0..200).flat_map(|i| csr.view().row(i).map(|(j, _)| j as i64).collect::<Vec<_>>()).collect();
    let pointers: Vec<i64> = (0..=200).map(|i| csr.view().rows(0, i).nnz() as i64).collect();
    let wide = CsrView::new(75, pointers.as_slice(), wide.as_slice(), csr.view().values()).unwrap();
    for loss in LOSSES {
        let dense = solve(x.view(), &positive, &[0.3; 200], &params(loss, 1e-9));
        let narrow = solve_dual(csr.view().into(), &positive, &[0.3; 200], &params(loss, 1e-9), &|| false);
        assert_eq!(narrow, solve_dual(wide.into(), &positive, &[0.3; 200], &params(loss, 1e-9), &|| false));
        assert!(dense.converged && narrow.converged && close(dense.objective, narrow.objective, 2e-9));
        let scale = dense.weights.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        // ½‖w − w'‖² is at most the sum of both gaps.
        assert!(dense.weights.iter().zip(&narrow.weights).all(|(a, b)| (a - b).abs() < 1e-3 * scale), "{loss:?}");
    }
}

#[test]
fn single_precision_rows_differ_by_their_rounding_only() {
    let (x, positive) = problem(200, 9);
    let narrow = x.mapv(|x| x as f32);
    let widened = narrow.mapv(f64::from);
    for loss in LOSSES {
        let of_narrow = solve_dual(narrow.view().into(), &positive, &[1.0; 200], &params(loss, 1e-6), &|| false);
        assert_eq!(of_narrow, solve(widened.view(), &positive, &[1.0; 200], &params(loss, 1e-6)));
    }
}

#[test]
fn rows_of_cost_0_are_ignored_and_repeated_rows_add_their_costs() {
    let (x, positive) = problem(150, 5);
    let costs: Vec<f64> = (0..150).map(|i| if i < 100 { 0.8 } else { 0.0 }).collect();
    for loss in LOSSES {
        let ignored = solve(x.view(), &positive, &costs, &params(loss, 1e-6));
        let absent = solve(x.slice(ndarray::s![..100, ..]), &positive[..100], &[0.8; 100], &params(loss, 1e-6));
        assert_eq!(ignored, absent);
        let twice = ndarray::concatenate![ndarray::Axis(0), x, x];
        let both: Vec<bool> = positive.iter().chain(&positive).copied().collect();
        let twice = solve(twice.view(), &both, &[0.4; 300], &params(loss, 1e-8));
        let once = solve(x.view(), &positive, &[0.8; 150], &params(loss, 1e-8));
        assert!(close(twice.objective, once.objective, 1e-7), "{loss:?}");
    }
}

#[test]
fn costs_weigh_classes_and_tighten_the_fit() {
    let (x, positive) = problem(400, 6);
    let loss_of = |solution: &DualSolution, class: bool, loss| {
        let costs: Vec<f64> = positive.iter().map(|&p| f64::from(u8::from(p == class))).collect();
        let penalty = objective(x.view(), &positive, &[0.0; 400], loss, &solution.weights, solution.intercept);
        objective(x.view(), &positive, &costs, loss, &solution.weights, solution.intercept) - penalty
    };
    for loss in LOSSES {
        let of = |for_positive: f64, for_negative: f64| {
            let costs: Vec<f64> = positive.iter().map(|&p| if p { for_positive } else { for_negative }).collect();
            solve(x.view(), &positive, &costs, &params(loss, 1e-7))
        };
        let (even, uneven) = (of(0.1, 0.1), of(1.0, 0.1));
        assert!(loss_of(&uneven, true, loss) < 0.9 * loss_of(&even, true, loss), "{loss:?}");
        assert!(loss_of(&uneven, false, loss) > 1.1 * loss_of(&even, false, loss), "{loss:?}");
        let (loose, tight) = (of(1e-3, 1e-3), of(10.0, 10.0));
        let total = |solution| loss_of(solution, true, loss) + loss_of(solution, false, loss);
        assert!(total(&tight) < total(&even) && total(&even) < total(&loose), "{loss:?}");
        let length = |solution: &DualSolution| solution.weights.iter().map(|w| w * w).sum::<f64>();
        assert!(length(&tight) > length(&even) && length(&even) > length(&loose), "{loss:?}");
    }
}

#[test]
fn the_same_bits_again_and_in_any_pool_and_others_by_seed() {
    let (x, positive) = problem(500, 40);
    let solve = |seed, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let params = DualParams { seed, ..params(DualLoss::Hinge, 1e-4) };
        pool.install(|| solve(x.view(), &positive, &[0.2; 500], &params))
    };
    assert_eq!(solve(3, 1), solve(3, 1));
    assert_eq!(solve(3, 1), solve(3, 2));
    assert_ne!(solve(3, 1).weights, solve(4, 1).weights);
}

#[test]
fn interruption_gives_what_was_measured_last() {
    let (x, positive) = problem(300, 8);
    for loss in LOSSES {
        let asked = std::cell::Cell::new(0);
        let after = |epochs: usize| {
            asked.set(0);
            let interrupted = || asked.replace(asked.get() + 1) == epochs;
            solve_dual(x.view().into(), &positive, &[1.0; 300], &params(loss, 1e-9), &interrupted)
        };
        let at_once = after(0);
        assert_eq!((at_once.epochs, at_once.converged, at_once.objective), (0, false, 300.0));
        assert_eq!(at_once.weights, [0.0; 8]);
        let later = after(3);
        assert_eq!((later.epochs, later.converged), (3, false));
        let expected = objective(x.view(), &positive, &[1.0; 300], loss, &later.weights, later.intercept);
        assert!(close(later.objective, expected, 1e-12) && later.objective < 300.0 && later.gap > 0.0);
        let few = DualParams { max_epochs: 2, ..params(loss, 1e-9) };
        let few = solve(x.view(), &positive, &[1.0; 300], &few);
        assert_eq!((few.epochs, few.converged), (2, false));
    }
}

#[test]
fn degenerate_rows_give_finite_results() {
    let (x, positive) = problem(60, 3);
    let zeros = Array2::zeros((60, 3));
    let constant = Array2::from_elem((60, 3), 2.5);
    let (large, small) = (x.mapv(|x| x * 1e150), x.mapv(|x| x * 1e-300));
    let huge = x.mapv(|x| x * 1e300);
    let mixed = Array2::from_shape_fn((60, 3), |(i, j)| x[[i, j]] * [1e-30, 1.0, 1e30][j]);
    let none = Array2::zeros((0, 3));
    let narrow = Array2::zeros((60, 0));
    for loss in LOSSES {
        for intercept in [false, true] {
            for x in [&x, &zeros, &constant, &large, &small, &huge, &mixed, &none, &narrow] {
                for cost in [1e-310, 1e-30, 1.0, 1e30] {
                    let params = DualParams { intercept, max_epochs: 50, ..params(loss, 1e-3) };
                    for positive in [&positive[..x.nrows()], &[true; 60][..x.nrows()]] {
                        let found = solve(x.view(), positive, &vec![cost; x.nrows()], &params);
                        assert!(found.weights.iter().all(|w| w.is_finite()) && found.intercept.is_finite());
                        assert!(found.objective.is_finite() && found.gap.is_finite() && found.gap >= 0.0, "{found:?}");
                    }
                }
            }
        }
        let of_zeros =
            solve(zeros.view(), &positive, &[1.0; 60], &DualParams { intercept: false, ..params(loss, 1e-9) });
        assert!(of_zeros.converged && of_zeros.weights == [0.0; 3] && of_zeros.objective == 60.0, "{of_zeros:?}");
        let of_none = solve(none.view(), &[], &[], &params(loss, 1e-9));
        assert!(of_none.converged && of_none.objective == 0.0, "{of_none:?}");
        let one_class = solve(x.view(), &[true; 60], &[1.0; 60], &params(loss, 1e-9));
        assert!(one_class.converged && one_class.intercept > 0.0);
    }
}

#[test]
#[should_panic(expected = "costs are finite and at least 0")]
fn a_negative_cost_is_a_fault() {
    solve(array![[1.0]].view(), &[true], &[-1.0], &params(DualLoss::Hinge, 1e-3));
}
