//! The maps that `mercer compare` knows, by their names.

use mercer::budget::BudgetMethod;
use mercer::feature_maps::Frequencies;

/// A map to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    Spectral(Frequencies),
    /// Landmarks by a budget.
    Nystroem(BudgetMethod),
    KgRp,
    Korp,
    KernelPca,
    ArcCosine,
    AdditiveChi2,
    SkewedChi2,
    TensorSrht,
    TensorSrhtReal,
    TensorTree,
    TensorSketch,
    PkRp,
    D2pkRp,
    Maclaurin,
    CraftMaclaurin,
    CraftTensorSketch,
    Explicit,
}

impl Candidate {
    const PRODUCTS: [Self; 10] = [
        Self::TensorSrht,
        Self::TensorSrhtReal,
        Self::TensorTree,
        Self::TensorSketch,
        Self::PkRp,
        Self::D2pkRp,
        Self::Maclaurin,
        Self::CraftMaclaurin,
        Self::CraftTensorSketch,
        Self::Explicit,
    ];

    /// All of them, those of landmarks behind the waves.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let landmarks =
            BudgetMethod::ALL.into_iter().map(Self::Nystroem).chain([Self::KgRp, Self::Korp, Self::KernelPca]);
        let of_own_kernels = [Self::ArcCosine, Self::AdditiveChi2, Self::SkewedChi2];
        let waves = Frequencies::ALL.into_iter().map(Self::Spectral);
        waves.chain(landmarks).chain(of_own_kernels).chain(Self::PRODUCTS)
    }

    /// The name in flags and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spectral(frequencies) => frequencies.name(),
            Self::Nystroem(BudgetMethod::Uniform) => "nystroem",
            Self::Nystroem(BudgetMethod::RandomCholesky) => "nystroem-rpc",
            Self::Nystroem(BudgetMethod::Leverage) => "nystroem-leverage",
            Self::Nystroem(BudgetMethod::Columns) => "nystroem-columns",
            Self::Nystroem(BudgetMethod::Farthest) => "nystroem-farthest",
            Self::Nystroem(BudgetMethod::KmeansPp) => "nystroem-kmeans-pp",
            Self::Nystroem(BudgetMethod::Kmeans) => "nystroem-kmeans",
            Self::Nystroem(BudgetMethod::Dbh) => "nystroem-dbh",
            Self::KgRp => "kg-rp",
            Self::Korp => "korp",
            Self::KernelPca => "kernel-pca",
            Self::ArcCosine => "arc-cosine",
            Self::AdditiveChi2 => "additive-chi2",
            Self::SkewedChi2 => "skewed-chi2",
            Self::TensorSrht => "tensor-srht",
            Self::TensorSrhtReal => "tensor-srht-real",
            Self::TensorTree => "tensor-tree",
            Self::TensorSketch => "tensor-sketch",
            Self::PkRp => "pk-rp",
            Self::D2pkRp => "d2pk-rp",
            Self::Maclaurin => "maclaurin",
            Self::CraftMaclaurin => "craft-maclaurin",
            Self::CraftTensorSketch => "craft-tensor-sketch",
            Self::Explicit => "explicit",
        }
    }

    /// Whether it has landmarks, and so any kernel.
    pub(super) fn has_landmarks(self) -> bool {
        matches!(self, Self::Nystroem(_) | Self::KgRp | Self::Korp | Self::KernelPca)
    }

    /// Whether it is a map of products.
    pub(super) fn is_product(self) -> bool {
        Self::PRODUCTS.contains(&self)
    }

    /// Whether it is compared only where it is asked for: `mercer budget` compares all budgets before anything is learned.
    pub(super) fn is_only_by_name(self) -> bool {
        matches!(self, Self::Nystroem(method) if !matches!(method, BudgetMethod::Uniform | BudgetMethod::RandomCholesky))
    }

    /// The flags with which it has features, where they are its own.
    pub(super) fn needs(self) -> Option<&'static str> {
        match self {
            Self::D2pkRp => Some("--kernel poly --degree 2"),
            Self::TensorTree => Some("--kernel poly --degree 3 or more"),
            Self::Explicit => Some("--kernel poly --degree 2 or 3"),
            Self::Maclaurin | Self::CraftMaclaurin => Some("--kernel poly or exponential"),
            _ if self.is_product() => Some("--kernel poly"),
            Self::ArcCosine => Some("--kernel arc-cosine"),
            Self::AdditiveChi2 => Some("--kernel additive-chi2"),
            Self::SkewedChi2 => Some("--kernel skewed-chi2"),
            _ => None,
        }
    }
}

/// Their names in a row.
pub(super) fn names(maps: &[Candidate], between: &str) -> String {
    maps.iter().map(|map| map.name()).collect::<Vec<_>>().join(between)
}

/// The map of a name.
pub(super) fn candidate(text: &str) -> Result<Candidate, String> {
    let names = names(&Candidate::all().collect::<Vec<_>>(), ", ");
    Candidate::all().find(|map| map.name() == text).ok_or_else(|| format!("expected one of {names}"))
}
