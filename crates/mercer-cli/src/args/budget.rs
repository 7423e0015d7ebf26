//! Flags of `mercer budget`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mercer::budget::BudgetMethod;
use mercer::feature_maps::{LandmarkSpec, MapSpec};

use super::compare::{Sizes, sizes};
use super::landmark::{Budget, family};
use super::model::KernelArgs;
use super::product::PolynomialArgs;
use super::{ColumnArgs, DtypeName, EncodingArgs, Preprocess, ReadingArgs, RowsArgs, RunArgs, whole};
use crate::failure::Failure;

const BUDGET_EXAMPLES: &str = "\
Examples:
  mercer budget --sample digits --plot budget.svg
  mercer budget --sample digits --seeds 5 --report budget.html
  mercer budget iris.csv --target species --sizes 5..80
  mercer budget w8a.gz --methods uniform,random-cholesky --sizes 100,500,1000 --seeds 5
  mercer budget x.npy --kernel laplace --gamma median --json
  mercer budget w8a.gz --balanced

The score is the share of the kernel that the landmarks explain on rows that they were not chosen
from: 1 is all of it, and where it stops growing more landmarks do not pay. Distinct is the share
of landmarks that the others do not give already. Use what you like by
mercer train --map nystroem --budget METHOD --n-components SIZE.";

/// Compare budgets: how well landmarks chosen by each method stand for all rows, before anything is learned.
#[derive(Debug, Args)]
#[command(after_help = BUDGET_EXAMPLES)]
pub(crate) struct BudgetArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    /// Where to draw scores, distinct landmarks and times, as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Where to write charts and tables, as one HTML file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    /// How landmarks are chosen, with commas [default: all methods]
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Features")]
    methods: Vec<Budget>,
    /// Numbers of landmarks: 10..1280 doubles, 30,100 lists
    #[arg(long, value_name = "M", default_value = "10..1280", value_delimiter = ',', value_parser = sizes, help_heading = "Features")]
    sizes: Vec<Sizes>,
    /// Choose as many landmarks from each class
    #[arg(long, help_heading = "Features")]
    pub(crate) balanced: bool,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    polynomial: PolynomialArgs,
    /// Scaling of the inputs
    #[arg(long, value_enum, default_value_t = Preprocess::Auto, help_heading = "Features")]
    pub(crate) preprocess: Preprocess,
    /// Names every random choice
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = "Features")]
    pub(crate) seed: u64,
    /// Choose so often, by this many seeds from --seed on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Features")]
    pub(crate) seeds: u64,
    /// Type of all numbers
    #[arg(long, value_enum, default_value_t = DtypeName::Float32, help_heading = "Features")]
    pub(crate) dtype: DtypeName,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl BudgetArgs {
    /// The methods asked for, once each.
    pub(crate) fn methods(&self) -> Vec<BudgetMethod> {
        let named = if self.methods.is_empty() { Budget::value_variants() } else { &self.methods };
        let mut methods: Vec<BudgetMethod> = Vec::new();
        for method in named.iter().map(|&name| name.into()) {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods
    }

    /// Ascending, once each.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.sizes.iter().flat_map(|sizes| sizes.0.clone()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// A map of the kernel, of one landmark.
    pub(crate) fn map(&self) -> Result<MapSpec, Failure> {
        let (kernel, gamma) = family(&self.kernel, &self.polynomial)?;
        Ok(MapSpec::Landmark(LandmarkSpec { kernel, gamma, ..LandmarkSpec::new(1) }))
    }
}
