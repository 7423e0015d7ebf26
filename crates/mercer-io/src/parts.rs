//! Several files read one after the other, as one.
//!
//! The first file decides what the columns are. In every other one inputs and targets are found by their names, where
//! there are names, and must be the same; without names, as many columns in the same places.

use std::mem::{Discriminant, discriminant};

use mercer::Result as MercerResult;
use mercer::dataset::{Block, BlockReader, Layout, Source, SourceInfo, TargetBlock};

use crate::locate::Located;
use crate::open::{Purpose, open_located};
use crate::{CategoricalChoice, ColumnRef, Error, InputChoice, ReadOptions, Result, TargetChoice};

/// Opens files of the same columns as one; a single file as itself.
pub(crate) fn open_parts(purpose: Purpose, files: &[Located], options: &ReadOptions) -> Result<Box<dyn Source>> {
    let (first, others) = files.split_first().ok_or(Error::NoFiles)?;
    let first = open_located(purpose, first, options)?;
    if others.is_empty() {
        return Ok(first);
    }
    let target = target_like(purpose, first.info(), options);
    let categorical = CategoricalChoice::Inputs(first.info().categorical.clone());
    let like_first = ReadOptions { target, categorical, ..options.clone() };
    let mut parts = vec![first];
    for file in others {
        let part = open_like(purpose, file, parts[0].info(), &like_first)?;
        parts.push(part);
    }
    Ok(Box::new(PartsSource { info: joint_info(&parts), parts }))
}

/// The targets of the first file in others: by their names, where its columns have names.
fn target_like(purpose: Purpose, first: &SourceInfo, options: &ReadOptions) -> TargetChoice {
    if purpose == Purpose::Labels || first.input_names.is_empty() || first.target_names.is_empty() {
        return options.target.clone();
    }
    TargetChoice::Columns(first.target_names.iter().cloned().map(ColumnRef::Name).collect())
}

/// Opens a file whose columns are those of `first`, perhaps in another order.
fn open_like(purpose: Purpose, file: &Located, first: &SourceInfo, options: &ReadOptions) -> Result<Box<dyn Source>> {
    let differs = |error| match error {
        Error::NoColumn { file, wanted, .. } => part_differs(file, first, format!("it has no column {wanted}")),
        other => other,
    };
    let mut part = open_located(purpose, file, options).map_err(differs)?;
    let (names, expected) = (&part.info().input_names, &first.input_names);
    if purpose == Purpose::Rows && !expected.is_empty() && names != expected && sorted(names) == sorted(expected) {
        let by_name = ReadOptions { inputs: InputChoice::Names(expected.clone()), ..options.clone() };
        part = open_located(purpose, file, &by_name)?;
    }
    match difference(purpose, part.info(), first) {
        Some(what) => Err(part_differs(part.info().name.clone(), first, what)),
        None => Ok(part),
    }
}

fn part_differs(file: String, first: &SourceInfo, what: String) -> Error {
    Error::PartDiffers { file, first: first.name.clone(), what }
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    names
}

/// What makes `part` another table than `first`.
fn difference(purpose: Purpose, part: &SourceInfo, first: &SourceInfo) -> Option<String> {
    let rows = purpose == Purpose::Rows;
    if rows && part.layout != first.layout {
        return Some(format!("its rows are {}, not {}", shown(part.layout), shown(first.layout)));
    }
    if part.n_inputs != first.n_inputs {
        let count = |info: &SourceInfo| info.n_inputs.map_or("any number of".to_owned(), |n| n.to_string());
        return Some(format!("it has {} inputs, not {}", count(part), count(first)));
    }
    if rows && part.input_names != first.input_names {
        return Some(format!("its inputs are {}, not {}", listed(&part.input_names), listed(&first.input_names)));
    }
    let renamed = rows && part.target_names != first.target_names;
    if renamed || part.target_names.len() != first.target_names.len() {
        return Some(format!("its targets are {}, not {}", listed(&part.target_names), listed(&first.target_names)));
    }
    None
}

fn shown(layout: Layout) -> &'static str {
    match layout {
        Layout::Bytes => "bytes",
        Layout::Dense => "numbers",
        Layout::Sparse => "sparse",
    }
}

/// Names, as many as fit a message.
fn listed(names: &[String]) -> String {
    const LONGEST: usize = 8;
    match names.len() {
        0 => "without names".to_owned(),
        n if n > LONGEST => format!("{}, … ({n})", names[..LONGEST].join(", ")),
        _ => names.join(", "),
    }
}

fn joint_info(parts: &[Box<dyn Source>]) -> SourceInfo {
    let mut info = parts[0].info().clone();
    info.name = format!("{} and {} more", info.name, parts.len() - 1);
    info.n_rows = parts.iter().map(|part| part.info().n_rows).sum();
    info.n_bytes = parts.iter().map(|part| part.info().n_bytes).sum();
    let mut formats: Vec<&str> = parts.iter().map(|part| part.info().format.as_str()).collect();
    formats.sort_unstable();
    formats.dedup();
    info.format = formats.join(" and ");
    info
}

struct PartsSource {
    info: SourceInfo,
    parts: Vec<Box<dyn Source>>,
}

impl Source for PartsSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn read(&self) -> MercerResult<Box<dyn BlockReader + '_>> {
        let reader = self.parts[0].read()?;
        Ok(Box::new(PartsReader { parts: &self.parts, at: 0, reader, first: None }))
    }
}

struct PartsReader<'a> {
    parts: &'a [Box<dyn Source>],
    /// The part that is read.
    at: usize,
    reader: Box<dyn BlockReader + 'a>,
    /// The kind of the targets of the first block.
    first: Option<Option<Discriminant<TargetBlock>>>,
}

impl BlockReader for PartsReader<'_> {
    fn next_block(&mut self) -> MercerResult<Option<Block>> {
        loop {
            if let Some(block) = self.reader.next_block()? {
                self.check_kinds(&block)?;
                return Ok(Some(block));
            }
            let Some(next) = self.parts.get(self.at + 1) else { return Ok(None) };
            (self.at, self.reader) = (self.at + 1, next.read()?);
        }
    }
}

impl PartsReader<'_> {
    /// Text is classes only where some of it is no number, which numbers of another file would not know.
    fn check_kinds(&mut self, block: &Block) -> Result<()> {
        let kind = block.targets.as_ref().map(discriminant);
        if *self.first.get_or_insert(kind) == kind {
            return Ok(());
        }
        let what = "one has targets as text, the other as numbers".to_owned();
        Err(part_differs(self.parts[self.at].info().name.clone(), self.parts[0].info(), what))
    }
}
