//! Which columns of a file become which inputs and targets.
//!
//! A column of lists of k numbers counts as k columns, `name[0]` to `name[k-1]`; a user names it as one. It is taken
//! whole and in order, or not at all. So a model finds its inputs again by their names, as in any other file.

use std::ops::Range;

use arrow_schema::{DataType, Field, Schema};

use super::kinds::{Holds, Kind, described};
use crate::columns::{Columns, Role, is_target_name};
use crate::open::Purpose;
use crate::{CategoricalChoice, ColumnRef, Error, InputChoice, ReadOptions, Result, TargetChoice};

const LEAVE_OUT: &str = "leave it out (--drop NAME) or convert it to a number";
const CATEGORICAL: &str = "name it as categorical, or leave it out (--drop NAME)";
const ONE_TARGET: &str = "several targets are numbers, and words are one target alone";
const CHOOSE_TARGET: &str = "choose the target column by its name or number";

/// What a part of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartRole {
    /// This input and the following ones of the same list.
    Numbers(usize),
    /// This input, by the numbers of its words.
    Words(usize),
    /// This target and the following ones of the same list.
    Targets(usize),
    /// The only target, in words.
    Class,
}

/// A column that is read.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its number in the file.
    pub(super) column: usize,
    pub(super) name: String,
    pub(super) role: PartRole,
    pub(super) kind: Kind,
    /// Length of its lists.
    pub(super) list: Option<usize>,
    pub(super) nullable: bool,
}

impl Part {
    /// Inputs or targets it becomes.
    pub(super) fn width(&self) -> usize {
        self.list.unwrap_or(1)
    }

    /// The name of one of them.
    pub(super) fn name_of(&self, item: usize) -> String {
        if self.list.is_some() { format!("{}[{item}]", self.name) } else { self.name.clone() }
    }
}

/// The columns that are read, in the order of the file, and what all columns are.
pub(super) struct Layout {
    pub(super) parts: Vec<Part>,
    pub(super) columns: Columns,
}

impl Layout {
    /// `lengths`: of the lists of each column, none of other columns or where it is unknown.
    pub(super) fn new(
        file: &str,
        schema: &Schema,
        lengths: &[Option<usize>],
        options: &ReadOptions,
        purpose: Purpose,
    ) -> Result<Self> {
        let table = Flat::new(file, schema, lengths);
        let options = table.flattened(options, purpose)?;
        let columns = Columns::new(file, table.names.clone(), &table.holds_words, &options, purpose)?;
        let mut parts = Vec::new();
        for column in 0..schema.fields().len() {
            parts.extend(table.part(column, &columns)?);
        }
        Ok(Self { parts, columns })
    }
}

/// The columns of a file with each number of a list as a column of its own.
struct Flat<'a> {
    file: &'a str,
    fields: Vec<&'a Field>,
    lengths: &'a [Option<usize>],
    /// The flat columns of each column.
    ranges: Vec<Range<usize>>,
    names: Vec<String>,
    holds_words: Vec<bool>,
}

impl<'a> Flat<'a> {
    fn new(file: &'a str, schema: &'a Schema, lengths: &'a [Option<usize>]) -> Self {
        let fields: Vec<&Field> = schema.fields().iter().map(AsRef::as_ref).collect();
        let (mut ranges, mut names, mut holds_words) = (Vec::new(), Vec::new(), Vec::new());
        for (field, len) in fields.iter().zip(lengths) {
            let start = names.len();
            match len {
                Some(len) => names.extend((0..*len).map(|item| format!("{}[{item}]", field.name()))),
                None => names.push(field.name().clone()),
            }
            ranges.push(start..names.len());
            let words = Holds::of(field.data_type()).is_some_and(|holds| holds.kind == Kind::Words);
            holds_words.resize(names.len(), words);
        }
        Self { file, fields, lengths, ranges, names, holds_words }
    }

    /// The options in terms of flat columns.
    fn flattened(&self, options: &ReadOptions, purpose: Purpose) -> Result<ReadOptions> {
        let mut options = options.clone();
        if self.lengths.iter().all(Option::is_none) {
            return Ok(options);
        }
        if options.target == TargetChoice::Auto && purpose == Purpose::Rows {
            self.check_usual_target()?;
        }
        if let TargetChoice::Columns(columns) = &mut options.target {
            *columns = self.refs(columns)?;
        }
        if let InputChoice::Columns(columns) | InputChoice::AllBut(columns) = &mut options.inputs {
            *columns = self.refs(columns)?;
        }
        if let CategoricalChoice::Columns(columns) = &mut options.categorical {
            *columns = self.refs(columns)?;
        }
        Ok(options)
    }

    /// The last number of a list is not the target because it stands last.
    fn check_usual_target(&self) -> Result<()> {
        let last = self.fields.len() - 1;
        if self.lengths[last].is_none() || self.names.iter().any(|name| is_target_name(name)) {
            return Ok(());
        }
        let (file, column) = (self.file.to_owned(), format!("{:?}", self.fields[last].name()));
        let found = format!("{}, and no column is called target", described(self.fields[last].data_type()));
        Err(Error::ColumnType { file, column, found, remedy: CHOOSE_TARGET })
    }

    fn refs(&self, columns: &[ColumnRef]) -> Result<Vec<ColumnRef>> {
        let mut flat = Vec::new();
        for column in columns {
            match self.whole_column(column)? {
                Some(column) => flat.extend(self.ranges[column].clone().map(|i| ColumnRef::Number(i as i64 + 1))),
                None => flat.push(column.clone()),
            }
        }
        Ok(flat)
    }

    /// The column of the file that is meant; none where the name is to be found among the flat ones.
    fn whole_column(&self, column: &ColumnRef) -> Result<Option<usize>> {
        let n_columns = self.fields.len();
        match column {
            ColumnRef::Name(name) => {
                let is_list = |&i: &usize| self.fields[i].name() == name && self.lengths[i].is_some();
                Ok((0..n_columns).find(is_list).filter(|_| !self.names.contains(name)))
            }
            ColumnRef::Number(number) => {
                let place = if *number < 0 { n_columns as i64 + number } else { number - 1 };
                let found = usize::try_from(place).ok().filter(|&place| place < n_columns);
                let columns = self.fields.iter().map(|field| field.name().clone()).collect();
                let no_column =
                    || Error::NoColumn { file: self.file.into(), wanted: number.to_string(), columns, n_columns };
                found.map(Some).ok_or_else(no_column)
            }
        }
    }

    /// What is read of a column; none where nothing is.
    fn part(&self, column: usize, columns: &Columns) -> Result<Option<Part>> {
        let range = self.ranges[column].clone();
        let roles = &columns.roles[range.clone()];
        let Some(first) = roles.first().filter(|_| roles.iter().any(|role| *role != Role::Ignored)) else {
            return Ok(None);
        };
        let follows = |(i, role): (usize, &Role)| match (first, role) {
            (Role::Input(first), Role::Input(input)) => *input == first + i,
            (Role::Target(first), Role::Target(target)) => *target == first + i,
            _ => false,
        };
        if !roles.iter().enumerate().all(follows) {
            let asked = roles.iter().filter(|role| **role != Role::Ignored).count();
            let (file, column) = (self.file.to_owned(), format!("{:?}", self.fields[column].name()));
            return Err(Error::ListPart { file, column, len: range.len(), asked });
        }
        let (role, kind) = self.role(column, *first, columns)?;
        let field = self.fields[column];
        let (name, list, nullable) = (field.name().clone(), self.lengths[column], nullable(field));
        Ok(Some(Part { column, name, role, kind, list, nullable }))
    }

    fn role(&self, column: usize, role: Role, columns: &Columns) -> Result<(PartRole, Kind)> {
        let data_type = self.fields[column].data_type();
        let refused = |remedy| {
            let name = format!("{:?}", self.fields[column].name());
            let found = match Holds::of(data_type) {
                Some(holds) if holds.list => "lists that are empty or null in the first rows".to_owned(),
                _ => described(data_type),
            };
            Error::ColumnType { file: self.file.to_owned(), column: name, found, remedy }
        };
        let holds = Holds::of(data_type).filter(|holds| holds.list == self.lengths[column].is_some());
        let Holds { kind, list } = holds.ok_or_else(|| refused(LEAVE_OUT))?;
        let width = self.ranges[column].len();
        match role {
            Role::Input(input) if list && (input..input + width).any(|input| columns.categorical.contains(&input)) => {
                Err(refused(LEAVE_OUT))
            }
            Role::Input(input) if columns.categorical.contains(&input) => Ok((PartRole::Words(input), kind)),
            Role::Input(_) if kind == Kind::Words => Err(refused(CATEGORICAL)),
            Role::Input(input) => Ok((PartRole::Numbers(input), kind)),
            Role::Target(_) if kind == Kind::Words && columns.n_targets > 1 => Err(refused(ONE_TARGET)),
            Role::Target(_) if kind == Kind::Words => Ok((PartRole::Class, kind)),
            Role::Target(target) => Ok((PartRole::Targets(target), kind)),
            Role::Ignored => Err(refused(LEAVE_OUT)),
        }
    }
}

/// Whether values of a column, or the items of its lists, may be null.
fn nullable(field: &Field) -> bool {
    let items = match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.is_nullable(),
        _ => false,
    };
    field.is_nullable() || items
}
