//! Flags of maps of landmarks.

use clap::{Args, ValueEnum};
use mercer::budget::{BudgetMethod, BudgetSpec};
use mercer::feature_maps::{Gamma, LandmarkForm, LandmarkSpec, MapSpec};
use mercer::kernels::KernelFamily;

use super::model::{KernelArgs, KernelName, Map, refuse};
use super::product::PolynomialArgs;
use super::whole;
use crate::failure::Failure;

/// How landmarks are chosen.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct LandmarkArgs {
    /// Of maps of landmarks: how they are chosen among the rows [default: uniform]
    #[arg(long, value_enum, value_name = "METHOD")]
    budget: Option<Budget>,
    /// Of maps of landmarks: a file of your own, in place of a choice; its columns are those of the rows, and it is scaled as they
    /// are
    #[arg(long, value_name = "FILE", conflicts_with_all = ["budget", "balanced", "n_landmarks"])]
    landmarks: Option<String>,
    /// Of maps of landmarks: as many from each class
    #[arg(long)]
    balanced: bool,
    /// Of kg-rp, korp and kernel-pca: number of landmarks [default: as many as features, of kg-rp at most 1024, of kernel-pca twice
    /// as many and at least 1024]
    #[arg(long, value_name = "P", value_parser = whole::<usize>, allow_negative_numbers = true)]
    n_landmarks: Option<usize>,
    /// Of nystroem: features that treat all landmarks alike, by eigenvectors; the same inner products, slower
    #[arg(long)]
    symmetric: bool,
    /// Of additive-chi2: samples of the spectrum; each input has twice as many features, less one [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    n_steps: Option<usize>,
    /// Of additive-chi2: how far samples are apart [default: 0.8, 0.5 and 0.4 for 1, 2 and 3 of them]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    interval: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Budget {
    /// By chance
    Uniform,
    /// By chance in proportion to what those chosen do not explain (randomly pivoted Cholesky)
    RandomCholesky,
    /// By ridge leverage scores
    Leverage,
    /// The largest pivots of a sample's kernel matrix
    Columns,
    /// The one farthest from those chosen
    Farthest,
    /// By chance in proportion to the squared distance from those chosen
    KmeansPp,
    /// Centres of mini-batch k-means
    Kmeans,
    /// A middle row of each bucket of a distance-based hash
    Dbh,
}

impl From<Budget> for BudgetMethod {
    fn from(name: Budget) -> Self {
        match name {
            Budget::Uniform => Self::Uniform,
            Budget::RandomCholesky => Self::RandomCholesky,
            Budget::Leverage => Self::Leverage,
            Budget::Columns => Self::Columns,
            Budget::Farthest => Self::Farthest,
            Budget::KmeansPp => Self::KmeansPp,
            Budget::Kmeans => Self::Kmeans,
            Budget::Dbh => Self::Dbh,
        }
    }
}

const LANDMARKS: &str = "--map nystroem, kg-rp, korp and kernel-pca";

impl LandmarkArgs {
    /// Refuses what would do nothing.
    pub(super) fn refuse(&self, map: Map) -> Result<(), Failure> {
        refuse("--budget", self.budget.is_some() && !map.has_landmarks(), LANDMARKS)?;
        refuse("--landmarks", self.landmarks.is_some() && !map.has_landmarks(), LANDMARKS)?;
        refuse("--balanced", self.balanced && !map.has_landmarks(), LANDMARKS)?;
        let own = map.has_landmarks() && map != Map::Nystroem;
        refuse("--n-landmarks", self.n_landmarks.is_some() && !own, "--map kg-rp, korp and kernel-pca")?;
        refuse("--symmetric", self.symmetric && map != Map::Nystroem, "--map nystroem")?;
        let other = map != Map::AdditiveChi2;
        refuse("--n-steps", self.n_steps.is_some() && other, "--map additive-chi2")?;
        refuse("--interval", self.interval.is_some() && other, "--map additive-chi2")
    }

    /// The file of landmarks.
    pub(super) fn file(&self) -> Option<&String> {
        self.landmarks.as_ref()
    }

    /// The map of waves of logarithms.
    pub(super) fn additive_chi2(&self) -> MapSpec {
        MapSpec::AdditiveChi2 { n_steps: self.n_steps.unwrap_or(2), interval: self.interval }
    }

    /// The map of so many features, of sums of `n_terms` landmarks where they are sums.
    pub(super) fn spec(
        &self,
        (map, n_components, n_terms): (Map, usize, Option<usize>),
        kernel: &KernelArgs,
        polynomial: &PolynomialArgs,
    ) -> Result<LandmarkSpec, Failure> {
        let (family, gamma) = family(kernel, polynomial)?;
        let budget =
            BudgetSpec { method: self.budget.map_or(BudgetMethod::Uniform, Into::into), balanced: self.balanced };
        let n_landmarks = self.n_landmarks;
        let form = match map {
            Map::KgRp => {
                let most = n_landmarks.unwrap_or(n_components).max(1);
                LandmarkForm::KgRp { n_terms: n_terms.unwrap_or(most.min(30)) }
            }
            Map::Korp => LandmarkForm::Korp,
            Map::KernelPca => LandmarkForm::KernelPca,
            _ if self.symmetric => LandmarkForm::NystroemSymmetric,
            _ => LandmarkForm::Nystroem,
        };
        Ok(LandmarkSpec { n_components, n_landmarks, kernel: family, gamma, budget, form })
    }
}

/// Any kernel, and its width.
pub(crate) fn family(kernel: &KernelArgs, polynomial: &PolynomialArgs) -> Result<(KernelFamily, Gamma), Failure> {
    let name = kernel.kernel.unwrap_or(KernelName::Rbf);
    let is = |other: KernelName| name == other;
    refuse("--nu", kernel.nu.is_some() && !is(KernelName::Matern), "--kernel matern")?;
    let quadratic = is(KernelName::RationalQuadratic);
    refuse("--alpha", kernel.alpha.is_some() && !quadratic, "--kernel rational-quadratic")?;
    kernel.refuse_skewedness(!is(KernelName::SkewedChi2))?;
    kernel.refuse_frequencies()?;
    polynomial.refuse_but(is(KernelName::Poly), is(KernelName::ArcCosine))?;
    let family = match name {
        KernelName::Rbf => KernelFamily::Rbf,
        KernelName::Laplace => KernelFamily::Laplace,
        KernelName::Matern => KernelFamily::Matern { nu: kernel.nu.unwrap_or(1.5) },
        KernelName::Cauchy => KernelFamily::Cauchy,
        KernelName::RationalQuadratic => KernelFamily::RationalQuadratic { alpha: kernel.alpha.unwrap_or(1.0) },
        KernelName::Poly => KernelFamily::Polynomial { degree: polynomial.degree(), c: polynomial.c() },
        KernelName::Exponential => KernelFamily::Exponential,
        KernelName::Linear => KernelFamily::Linear,
        KernelName::AdditiveChi2 => KernelFamily::AdditiveChi2,
        KernelName::Chi2 => KernelFamily::ExponentialChi2,
        KernelName::SkewedChi2 => KernelFamily::SkewedChi2 { skewedness: kernel.skewedness() },
        KernelName::ArcCosine => KernelFamily::ArcCosine { degree: polynomial.given_degree().unwrap_or(1) },
        KernelName::Tanimoto => KernelFamily::Tanimoto,
    };
    let name = name.to_possible_value().expect("it has a name");
    if kernel.gamma.is_some() && !family.has_gamma() {
        let text = format!("--gamma is of no use with --kernel {}, which has no width", name.get_name());
        return Err(Failure::Usage(text));
    }
    Ok((family, kernel.gamma()))
}
