//! Several tests at once: differences of average ranks, and their p-values adjusted for their number.
//!
//! Two methods of average ranks Rᵢ and Rⱼ over n rows of k methods are compared by
//!
//! ```text
//! z = (Rⱼ − Rᵢ) / √(k(k+1)/(6n)),   p = P(|Z| ≥ |z|) of a standard normal Z
//! ```
//!
//! The divisor is that of ranks without ties; with ties it is too large and the test careful. Of m such tests with p₍₁₎
//! ≤ … ≤ p₍ₘ₎, an adjusted p-value is the level at which a method's test is the first to be rejected. All keep the
//! chance of one wrong rejection or more below the level:
//!
//! | adjustment | of p₍ᵢ₎ | holds for |
//! |---|---|---|
//! | Bonferroni (against a control: Dunn) | min(1, m·p₍ᵢ₎) | any dependence |
//! | Holm, stepping down | max over j ≤ i of min(1, (m−j+1)·p₍ⱼ₎) | any dependence |
//! | Hochberg, stepping up | min over j ≥ i of (m−j+1)·p₍ⱼ₎ | independent tests and many kinds of positive dependence |
//!
//! So p ≤ Hochberg ≤ Holm ≤ Bonferroni. Against a control m = k − 1, for all pairs m = k(k−1)/2.
//!
//! References: García, Fernández, Luengo and Herrera, Information Sciences 180, 2010 (which LS18 and LS19 follow);
//! Dunn, JASA 56, 1961; Holm, Scandinavian Journal of Statistics 6, 1979; Hochberg, Biometrika 75, 1988; Sarkar, Annals
//! of Statistics 26, 1998 (where Hochberg's holds).
//!
//! ```
//! use mercer::metrics::Adjustment;
//!
//! let p = [0.01, 0.04, 0.03];
//! let holm = Adjustment::Holm.adjusted(&p)?;
//! assert!(holm.iter().zip([0.03, 0.06, 0.06]).all(|(got, expected)| (got - expected).abs() < 1e-15));
//! # Ok::<(), mercer::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::FriedmanReport;
use super::tails::normal_tails;
use crate::{Error, Result};

/// How p-values are adjusted for the number of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjustment {
    /// All are multiplied by their number.
    Bonferroni,
    /// The smallest is multiplied by their number, the next by one less, and so on; none is below one before it.
    Holm,
    /// As Holm's, but none is above one after it.
    Hochberg,
}

/// Two methods compared by their average ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The control, or the method of the smaller number; counted from 0.
    pub first: usize,
    /// The other method.
    pub second: usize,
    /// The difference of average ranks in standard deviations: above 0 where the first method is better.
    pub z: f64,
    /// Chance of a |z| at least as large between equal methods, for this test alone.
    pub p_value: f64,
    /// Adjusted by Bonferroni.
    pub bonferroni: f64,
    /// Adjusted by Holm.
    pub holm: f64,
    /// Adjusted by Hochberg.
    pub hochberg: f64,
}

impl Adjustment {
    /// The adjusted p-values, in the order of those given.
    ///
    /// # Errors
    /// [`Error::Parameter`] for one that is not between 0 and 1.
    pub fn adjusted(self, p_values: &[f64]) -> Result<Vec<f64>> {
        if let Some(bad) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(Error::parameter("p_values", bad, "from 0 to 1"));
        }
        let m = p_values.len();
        let mut ascending: Vec<usize> = (0..m).collect();
        ascending.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
        let step = |place: usize| p_values[ascending[place]] * (m - place) as f64;
        let mut adjusted = vec![0.0; m];
        match self {
            Self::Bonferroni => adjusted = p_values.iter().map(|p| (p * m as f64).min(1.0)).collect(),
            Self::Holm => {
                let mut largest = 0.0_f64;
                for place in 0..m {
                    largest = largest.max(step(place)).min(1.0);
                    adjusted[ascending[place]] = largest;
                }
            }
            Self::Hochberg => {
                let mut smallest = 1.0_f64;
                for place in (0..m).rev() {
                    smallest = smallest.min(step(place));
                    adjusted[ascending[place]] = smallest;
                }
            }
        }
        Ok(adjusted)
    }
}

impl FriedmanReport {
    /// Every other method compared with a control, in their order; adjusted for k − 1 tests.
    ///
    /// # Errors
    /// [`Error::Parameter`] when there is no such method.
    pub fn against(&self, control: usize) -> Result<Vec<Comparison>> {
        let k = self.average_ranks.len();
        if control >= k {
            return Err(Error::parameter("control", control, "the number of a method, counted from 0"));
        }
        self.compared((0..k).filter(|&other| other != control).map(|other| (control, other)))
    }

    /// All methods compared with all after them; adjusted for k(k−1)/2 tests.
    ///
    /// # Errors
    /// None for a report of [`friedman`](super::friedman).
    pub fn all_pairs(&self) -> Result<Vec<Comparison>> {
        let k = self.average_ranks.len();
        self.compared((0..k).flat_map(|first| (first + 1..k).map(move |second| (first, second))))
    }

    fn compared(&self, pairs: impl Iterator<Item = (usize, usize)>) -> Result<Vec<Comparison>> {
        let k = self.average_ranks.len() as f64;
        let deviation = (k * (k + 1.0) / (6.0 * self.n_rows as f64)).sqrt();
        let one = |(first, second)| {
            let z = (self.average_ranks[second] - self.average_ranks[first]) / deviation;
            let p_value = normal_tails(z);
            Comparison { first, second, z, p_value, bonferroni: 1.0, holm: 1.0, hochberg: 1.0 }
        };
        let mut comparisons: Vec<Comparison> = pairs.map(one).collect();
        let p_values: Vec<f64> = comparisons.iter().map(|comparison| comparison.p_value).collect();
        let [bonferroni, holm, hochberg] =
            [Adjustment::Bonferroni, Adjustment::Holm, Adjustment::Hochberg].map(|by| by.adjusted(&p_values));
        for (comparison, ((bonferroni, holm), hochberg)) in
            comparisons.iter_mut().zip(bonferroni?.into_iter().zip(holm?).zip(hochberg?))
        {
            *comparison = Comparison { bonferroni, holm, hochberg, ..*comparison };
        }
        Ok(comparisons)
    }
}
