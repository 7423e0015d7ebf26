//! Numbers and tables as a person reads them.

use std::fmt::Write;

use mercer::dataset::ClassLabel;
use mercer::feature_maps::{HadamardBlocks, LandmarkForm, MapSpec, VectorLaw, Waves};
use mercer::kernels::Kernel;
use mercer::learners::{ClassWeight, Loss, ResolvedLearner, Solver};
use mercer::metrics::ClassificationReport;
use mercer::pipeline::Evaluation;

/// 1234567 as 1,234,567.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A parameter with about four digits.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        let digits = (3.0 - x.abs().max(1e-9).log10().floor()).clamp(0.0, 8.0) as usize;
        let text = format!("{x:.digits$}");
        let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return trimmed.to_owned();
    }
    format!("{x:.3e}").replace(".000e", "e")
}

/// A number of bytes in its unit.
pub(crate) fn bytes(n: u64) -> String {
    let units = ["bytes", "KB", "MB", "GB", "TB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} bytes") } else { format!("{value:.1} {}", units[unit]) }
}

/// A kernel with its parameters.
pub(crate) fn kernel(kernel: Kernel) -> String {
    match kernel {
        Kernel::Linear => "the linear kernel".to_owned(),
        Kernel::Polynomial { degree, gamma, c } => {
            format!("the polynomial kernel of degree {degree}, gamma {}, coef0 {}", number(gamma), number(c))
        }
        Kernel::Rbf { gamma } => format!("the RBF kernel, gamma {}", number(gamma)),
        Kernel::Laplace { gamma } => format!("the Laplace kernel, gamma {}", number(gamma)),
        Kernel::Cauchy { gamma } => format!("the Cauchy kernel, gamma {}", number(gamma)),
        Kernel::Matern { nu, length_scale } => {
            format!("the Matérn kernel, nu {}, length scale {}", number(nu), number(length_scale))
        }
        Kernel::RationalQuadratic { alpha, length_scale } => {
            format!("the rational quadratic kernel, alpha {}, length scale {}", number(alpha), number(length_scale))
        }
        Kernel::Quadratic { gamma, squares } => {
            format!("the quadratic kernel, squares {}, gamma {}", number(squares), number(gamma))
        }
        Kernel::ArcCosine { degree } => format!("the arc-cosine kernel of degree {degree}"),
        Kernel::AdditiveChi2 => "the additive chi-squared kernel".to_owned(),
        Kernel::SkewedChi2 { skewedness } => {
            format!("the skewed chi-squared kernel, skewedness {}", number(skewedness))
        }
        Kernel::ExponentialChi2 { gamma } => format!("the chi-squared kernel, gamma {}", number(gamma)),
        Kernel::Tanimoto => "the Tanimoto kernel".to_owned(),
        Kernel::Exponential { gamma } => format!("the exponential kernel, gamma {}", number(gamma)),
        Kernel::PowerSeries { coefficients, gamma } => {
            let coefficients: Vec<String> = coefficients.coefficients().iter().map(|&a| number(a)).collect();
            format!("the power series of coefficients {}, gamma {}", shortened(&coefficients), number(gamma))
        }
    }
}

/// What a map has beside its kernel, by the names of the flags; what most maps have is not told.
pub(crate) fn parameters(map: &MapSpec) -> Vec<String> {
    match map {
        MapSpec::Spectral(spec) => {
            let lengths = |scales: &Vec<f64>| shortened(&scales.iter().map(|&x| number(x)).collect::<Vec<_>>());
            let scales = spec.length_scales.as_ref().map(|scales| format!("length scales {}", lengths(scales)));
            let waves = (spec.waves == Waves::Phase).then(|| "waves phase".to_owned());
            scales.into_iter().chain(waves).collect()
        }
        MapSpec::Binning { n_bins, .. } => vec![format!("n-bins {n_bins}")],
        MapSpec::TensorSrht(spec) => {
            let signs = (!spec.complex).then(|| "signs real".to_owned());
            signs.into_iter().chain(spec.tree.then(|| "tree".to_owned())).collect()
        }
        MapSpec::D2pkRp(spec) => vec![format!("n-terms {}", spec.n_terms)],
        MapSpec::Chain { first, then } => {
            let (name, size) = (then.name().replace('_', "-"), count(then.n_components(0) as u64));
            let first_name = first.name().replace('_', "-");
            let own = parameters(first);
            [vec![first_name], own, vec![format!("projected to {size} by {name}")]].concat()
        }
        MapSpec::PkRp(spec) => {
            let s = if let VectorLaw::Sparse(s) = spec.law { Some(format!("s {}", number(s))) } else { None };
            let terms = (spec.n_terms > 1).then(|| format!("n-terms {}", spec.n_terms));
            [format!("n-vectors {}", spec.n_vectors())].into_iter().chain(terms).chain(s).collect()
        }
        MapSpec::Landmark(spec) => {
            let balanced = spec.budget.balanced.then(|| "balanced".to_owned());
            let method = spec.budget.method.name().replace('_', "-");
            let terms = match spec.form {
                LandmarkForm::NystroemSymmetric => Some("symmetric".to_owned()),
                LandmarkForm::KgRp { n_terms } => Some(format!("n-terms {n_terms}")),
                _ => None,
            };
            let landmarks = spec.n_landmarks.map(|p| format!("n-landmarks {p}"));
            [format!("budget {method}")].into_iter().chain(balanced).chain(landmarks).chain(terms).collect()
        }
        MapSpec::SparseProjection { s, .. } => vec![format!("s {}", number(*s))],
        MapSpec::Hadamard { blocks: HadamardBlocks::Split } => vec!["blocks split".to_owned()],
        _ => Vec::new(),
    }
}

/// The first of many names.
pub(crate) fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown}, … {} more", names.len() - SHOWN) } else { shown }
}

/// 1 as "one real value", 3 as "3 real values".
pub(crate) fn real_values(n: usize) -> String {
    if n == 1 { "one real value".to_owned() } else { format!("{} real values", count(n as u64)) }
}

/// 0.98765 as 98.77 %.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The scores of an evaluation, on one line.
pub(crate) fn scores(evaluation: &Evaluation) -> String {
    match evaluation {
        Evaluation::Classification(report) => {
            let wrong = (report.error_rate * report.n_rows as f64).round() as u64;
            let (rows, f1) = (count(report.n_rows), report.f1_macro);
            let probabilities = report.probabilities.as_ref().map_or(String::new(), |report| {
                let (loss, error) = (number(report.log_loss), percent(report.calibration_error));
                format!("   log loss {loss}   calibration error {error}")
            });
            let (accuracy, wrong) = (percent(report.accuracy), count(wrong));
            format!("accuracy {accuracy}   macro F1 {f1:.4}   {wrong} of {rows} rows wrong{probabilities}")
        }
        Evaluation::Regression(report) => {
            let rows = count(report.n_rows);
            format!("RMSE {}   R² {:.4}   MAE {}   {rows} rows", number(report.rmse), report.r2, number(report.mae))
        }
    }
}

/// The tables behind the scores: by class, and who was taken for whom.
pub(crate) fn tables(evaluation: &Evaluation, classes: &[ClassLabel]) -> String {
    const MOST_CLASSES: usize = 30;
    match evaluation {
        Evaluation::Classification(report) if report.classes.len() <= MOST_CLASSES => {
            confusion_table(report, classes) + &class_table(report, classes)
        }
        _ => String::new(),
    }
}

fn confusion_table(report: &ClassificationReport, classes: &[ClassLabel]) -> String {
    let labels: Vec<String> = classes.iter().map(ToString::to_string).collect();
    let widest = report.confusion.iter().flatten().map(|n| n.to_string().len()).max().unwrap_or(1);
    let column = labels.iter().map(|label| label.chars().count().min(8)).max().unwrap_or(1).max(widest);
    let row = labels.iter().map(|label| label.chars().count()).max().unwrap_or(1).max(5);
    let mut text = format!("\nconfusion (rows: truth, columns: predicted)\n{:row$} ", "");
    for label in &labels {
        let label: String = label.chars().take(8).collect();
        let _ = write!(text, " {label:>column$}");
    }
    for (label, counts) in labels.iter().zip(&report.confusion) {
        let _ = write!(text, "\n{label:>row$} ");
        for &n in counts {
            let shown = if n == 0 { "·".to_owned() } else { n.to_string() };
            let _ = write!(text, " {shown:>column$}");
        }
    }
    text.push('\n');
    text
}

fn class_table(report: &ClassificationReport, classes: &[ClassLabel]) -> String {
    let row = classes.iter().map(|label| label.to_string().chars().count()).max().unwrap_or(1).max(5);
    let mut text = format!("\n{:>row$}  precision  recall      F1     rows\n", "class");
    for (label, class) in classes.iter().zip(&report.classes) {
        let label = label.to_string();
        let (precision, recall, f1, rows) = (class.precision, class.recall, class.f1, count(class.support));
        let _ = writeln!(text, "{label:>row$}  {precision:>9.4}  {recall:>6.4}  {f1:>6.4}  {rows:>7}");
    }
    text
}

/// A learner in words.
pub(crate) fn learner(learner: &ResolvedLearner) -> String {
    let name = match learner.loss {
        Loss::Squared => "ridge".to_owned(),
        Loss::SquaredHinge | Loss::Hinge => format!("svm: {} loss", learner.loss.name()),
        Loss::Logistic => "logistic regression".to_owned(),
        Loss::Softmax => "softmax regression".to_owned(),
        Loss::Huber { delta } => format!("huber: delta {}", number(delta)),
        Loss::SquaredEpsilonInsensitive { epsilon } => format!("svr: epsilon {}", number(epsilon)),
    };
    let separator = if name.contains(':') { "," } else { ":" };
    let mut text = format!("{name}{separator} lambda {}", number(learner.lambda));
    if learner.class_weight == ClassWeight::Balanced {
        text.push_str(", classes balanced");
    }
    if !learner.intercept {
        text.push_str(", no intercept");
    }
    match learner.solver {
        Solver::Auto | Solver::Direct => text,
        Solver::Iterative => format!("{text}, by passes"),
        Solver::Dual => format!("{text}, by coordinates"),
        Solver::Sgd => format!("{text}, by stochastic gradients"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        assert_eq!([count(0), count(999), count(1000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([number(0.0), number(0.0134412), number(1.0)], ["0", "0.01344", "1"]);
        assert_eq!([number(1e-6), number(2.5e-7), number(12345.6), number(2e6)], ["1e-6", "2.500e-7", "12346", "2e6"]);
        assert_eq!([bytes(12), bytes(1_500), bytes(2_300_000)], ["12 bytes", "1.5 KB", "2.3 MB"]);
        assert_eq!(percent(0.98765), "98.77 %");
    }
}
