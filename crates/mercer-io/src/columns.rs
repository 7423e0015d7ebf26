//! What each column of a table (CSV, Parquet, Arrow) is.

use std::collections::{HashMap, HashSet};

use crate::open::Purpose;
use crate::{CategoricalChoice, ColumnRef, Error, InputChoice, ReadOptions, Result, TargetChoice};

const TARGET_NAMES: [&str; 4] = ["target", "label", "class", "y"];

/// What to do about extra columns where the inputs have names.
const ADD_HEADER: &str = "add the header that the training file has";
/// What to do about extra columns where the inputs have none.
const ONLY_INPUTS: &str = "leave only the columns of the inputs in";

/// Whether a column of this name is the target unless another is chosen.
pub(crate) fn is_target_name(name: &str) -> bool {
    TARGET_NAMES.iter().any(|target| name.trim().eq_ignore_ascii_case(target))
}

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// This input of the row.
    Input(usize),
    /// This target of the row.
    Target(usize),
    /// Neither.
    Ignored,
}

/// The columns of a file: their names (none without a header) and roles.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    pub(crate) roles: Vec<Role>,
    pub(crate) n_inputs: usize,
    pub(crate) n_targets: usize,
    /// Inputs that hold words, ascending.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code, reason = "until the CSV reader takes words"))]
    pub(crate) categorical: Vec<usize>,
    purpose: Purpose,
}

impl Columns {
    /// Assigns the roles that the options ask for. `holds_words` tells of each column whether its values look like
    /// words.
    pub(crate) fn new(
        file: &str,
        names: Vec<String>,
        holds_words: &[bool],
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self> {
        let n_columns = holds_words.len();
        let inputs_by_name = matches!(options.inputs, InputChoice::Names(_));
        let table = Table { file, names: &names, n_columns, inputs_by_name };
        let targets = match purpose {
            Purpose::Rows => table.targets(&options.target)?,
            Purpose::Labels => table.labels(&options.target)?,
        };
        let inputs = match purpose {
            Purpose::Rows => table.inputs(&options.inputs, &targets)?,
            Purpose::Labels => Vec::new(),
        };
        let categorical = table.categorical(&options.categorical, &inputs, holds_words)?;
        if inputs.is_empty() && purpose == Purpose::Rows {
            return Err(Error::NoInputs { file: file.to_owned(), n_columns });
        }
        let targets = if keeps_targets(&options.target) { targets } else { Vec::new() };
        let mut roles = vec![Role::Ignored; n_columns];
        inputs.iter().enumerate().for_each(|(i, &column)| roles[column] = Role::Input(i));
        targets.iter().enumerate().for_each(|(i, &column)| roles[column] = Role::Target(i));
        let count = |is: fn(&Role) -> bool| roles.iter().filter(|role| is(role)).count();
        let n_inputs = count(|role| matches!(role, Role::Input(_)));
        let n_targets = count(|role| matches!(role, Role::Target(_)));
        if n_inputs < inputs.len() || n_targets < targets.len() {
            let chosen: Vec<usize> = inputs.iter().chain(&targets).copied().collect();
            let twice = (1..chosen.len()).filter(|&i| chosen[..i].contains(&chosen[i])).map(|i| &chosen[i]);
            let column = table.described(twice.take(1)).join("");
            return Err(Error::ColumnTwice { file: file.to_owned(), column });
        }
        Ok(Self { names, roles, n_inputs, n_targets, categorical, purpose })
    }

    /// Names of the inputs in the order of the row; none without a header.
    pub(crate) fn input_names(&self) -> Vec<String> {
        let mut names = vec![String::new(); if self.names.is_empty() { 0 } else { self.n_inputs }];
        for (name, role) in self.names.iter().zip(&self.roles) {
            if let Role::Input(i) = *role {
                names[i].clone_from(name);
            }
        }
        names
    }

    /// Names of the targets; without a header, their numbers.
    pub(crate) fn target_names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.n_targets];
        for (column, role) in self.roles.iter().enumerate() {
            if let Role::Target(i) = *role {
                names[i] = self.names.get(column).cloned().unwrap_or_else(|| self.unnamed_target(column));
            }
        }
        names
    }

    /// What a target without a name is called. That of a label file is no column among the inputs.
    fn unnamed_target(&self, column: usize) -> String {
        match self.purpose {
            Purpose::Rows => format!("column {}", column + 1),
            Purpose::Labels if self.n_targets == 1 => "label".to_owned(),
            Purpose::Labels => format!("label {}", column + 1),
        }
    }
}

/// Whether targets that are found are read.
fn keeps_targets(choice: &TargetChoice) -> bool {
    !matches!(choice, TargetChoice::IfPresent { keep: false, .. })
}

/// The columns there are, to look some up.
struct Table<'a> {
    file: &'a str,
    names: &'a [String],
    n_columns: usize,
    /// Whether the inputs are those of certain names.
    inputs_by_name: bool,
}

impl Table<'_> {
    fn inputs(&self, choice: &InputChoice, targets: &[usize]) -> Result<Vec<usize>> {
        let all_but = |left_out: &[usize]| {
            (0..self.n_columns).filter(|column| !targets.contains(column) && !left_out.contains(column)).collect()
        };
        match choice {
            InputChoice::Columns(columns) => self.find_all(columns),
            InputChoice::AllBut(columns) => self.find_all(columns).map(|columns| all_but(&columns)),
            InputChoice::Names(names) if !self.names.is_empty() => self.by_names(names),
            InputChoice::Names(_) | InputChoice::All => Ok(all_but(&[])),
        }
    }

    /// The inputs that hold words, by their places in `inputs`.
    fn categorical(&self, choice: &CategoricalChoice, inputs: &[usize], holds_words: &[bool]) -> Result<Vec<usize>> {
        let places = 0..inputs.len();
        match choice {
            CategoricalChoice::None => Ok(Vec::new()),
            CategoricalChoice::Auto => Ok(places.filter(|&i| holds_words[inputs[i]]).collect()),
            CategoricalChoice::Inputs(chosen) => {
                let chosen: HashSet<usize> = chosen.iter().copied().collect();
                Ok(places.filter(|i| chosen.contains(i)).collect())
            }
            CategoricalChoice::Columns(columns) => {
                let columns = self.find_all(columns)?;
                Ok(places.filter(|&i| columns.contains(&inputs[i])).collect())
            }
        }
    }

    fn find_all(&self, columns: &[ColumnRef]) -> Result<Vec<usize>> {
        columns.iter().map(|column| self.find(column)).collect()
    }

    fn targets(&self, choice: &TargetChoice) -> Result<Vec<usize>> {
        let inputs_named = !self.names.is_empty() && self.inputs_by_name;
        match choice {
            TargetChoice::None => Ok(Vec::new()),
            // Inputs found by their names leave no doubt which columns are not theirs.
            TargetChoice::IfPresent { keep: false, .. } if inputs_named => Ok(Vec::new()),
            TargetChoice::Columns(columns) => self.find_all(columns),
            TargetChoice::Auto => self.usual_target().map(|column| vec![column]),
            TargetChoice::IfPresent { names, .. }
                if !names.is_empty() && names.iter().all(|name| self.names.contains(name)) =>
            {
                self.by_names(names)
            }
            TargetChoice::IfPresent { .. } if inputs_named => Ok(Vec::new()),
            TargetChoice::IfPresent { n_inputs, positions, .. } => self.by_positions(*n_inputs, positions),
        }
    }

    /// The targets at these columns, where the file has them besides its inputs.
    fn by_positions(&self, n_inputs: usize, positions: &[usize]) -> Result<Vec<usize>> {
        if positions.is_empty() && self.n_columns > n_inputs {
            let remedy = if self.inputs_by_name { ADD_HEADER } else { ONLY_INPUTS };
            let (file, n_columns) = (self.file.to_owned(), self.n_columns);
            return Err(Error::ExtraColumns { file, n_columns, n_inputs, remedy });
        }
        let present = self.n_columns == n_inputs.saturating_add(positions.len())
            && positions.iter().all(|&column| column < self.n_columns);
        Ok(if present { positions.to_vec() } else { Vec::new() })
    }

    /// The targets of a label file: those chosen, or the only column.
    fn labels(&self, choice: &TargetChoice) -> Result<Vec<usize>> {
        match choice {
            TargetChoice::Columns(_) => self.targets(choice),
            _ if self.n_columns == 1 => Ok(vec![0]),
            _ => Err(Error::LabelColumns { file: self.file.to_owned(), n_columns: self.n_columns }),
        }
    }

    fn usual_target(&self) -> Result<usize> {
        let usual: Vec<usize> = (0..self.names.len()).filter(|&i| is_target_name(&self.names[i])).collect();
        match usual[..] {
            [] => Ok(self.n_columns - 1),
            [column] => Ok(column),
            _ => {
                let (wanted, columns) = ("the target".to_owned(), self.described(usual.iter()));
                Err(Error::AmbiguousColumn { file: self.file.to_owned(), wanted, columns })
            }
        }
    }

    fn by_names(&self, names: &[String]) -> Result<Vec<usize>> {
        // None for a name that several columns have.
        let mut places: HashMap<&str, Option<usize>> = HashMap::with_capacity(self.names.len());
        for (column, name) in self.names.iter().enumerate() {
            places.entry(name).and_modify(|place| *place = None).or_insert(Some(column));
        }
        let find = |name: &String| match places.get(name.as_str()) {
            Some(&Some(column)) => Ok(column),
            _ => self.by_name(name),
        };
        names.iter().map(find).collect()
    }

    fn find(&self, column: &ColumnRef) -> Result<usize> {
        let number = match column {
            ColumnRef::Name(name) => return self.by_name(name),
            ColumnRef::Number(number) => *number,
        };
        let from_end = self.n_columns.checked_sub(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX));
        let found = if number < 0 { from_end } else { usize::try_from(number).ok().and_then(|n| n.checked_sub(1)) };
        found.filter(|&column| column < self.n_columns).ok_or_else(|| self.no_column(number.to_string()))
    }

    fn by_name(&self, name: &str) -> Result<usize> {
        let found: Vec<usize> = (0..self.names.len()).filter(|&i| self.names[i] == name).collect();
        match found[..] {
            [] => Err(self.no_column(format!("{name:?}"))),
            [column] => Ok(column),
            _ => {
                let (wanted, columns) = (format!("{name:?}"), self.described(found.iter()));
                Err(Error::AmbiguousColumn { file: self.file.to_owned(), wanted, columns })
            }
        }
    }

    fn no_column(&self, wanted: String) -> Error {
        let columns = self.names.to_vec();
        Error::NoColumn { file: self.file.to_owned(), wanted, columns, n_columns: self.n_columns }
    }

    fn described<'a>(&self, columns: impl Iterator<Item = &'a usize>) -> Vec<String> {
        columns
            .map(|&i| format!("{} {}", i + 1, self.names.get(i).map_or("", |name| name)).trim_end().to_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minutes if each name were looked for in all columns.
    #[test]
    fn many_inputs_are_found_by_their_names() {
        const N: usize = 200_000;
        let names: Vec<String> = (0..N).map(|i| format!("a long name that begins like all others {i}")).collect();
        let mut options = ReadOptions {
            target: TargetChoice::None,
            inputs: InputChoice::Names(names.iter().rev().cloned().collect()),
            categorical: CategoricalChoice::Inputs((0..N).step_by(2).collect()),
            ..ReadOptions::default()
        };
        let columns = |names: &[String], options: &ReadOptions| {
            Columns::new("a.csv", names.to_vec(), &[false; N], options, Purpose::Rows)
        };
        let found = columns(&names, &options).unwrap();
        assert!(found.roles.iter().rev().enumerate().all(|(i, role)| *role == Role::Input(i)));
        assert_eq!(found.categorical.len(), N / 2);
        let twice = [&names[..N - 1], &names[..1]].concat();
        options.inputs = InputChoice::Names(names[..1].to_vec());
        assert!(matches!(columns(&twice, &options), Err(Error::AmbiguousColumn { .. })));
        options.inputs = InputChoice::Names(names[N - 1..].to_vec());
        assert!(matches!(columns(&twice, &options), Err(Error::NoColumn { .. })));
    }
}
