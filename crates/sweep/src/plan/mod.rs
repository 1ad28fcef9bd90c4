//! Plans: axes and what is measured at each of their points (docs/sweeps.md). A plan is read once and never unfolded: its points
//! are computed one after the other, so that a million of them take no room.

mod axis;
mod make;
mod range;
mod read;
mod sample;

pub use axis::{Axis, Part, SHORT};
pub use sample::Sample;
pub(crate) use sample::shuffled;

use crate::error::PlanError;
use crate::measure::Measure;
use crate::value::{Kind, Value};
use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use wb_isa::SourceFile;
use xxhash_rust::xxh3::xxh3_128;

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    pub file: SourceFile,
    /// Paths in the plan start here.
    pub folder: PathBuf,
    pub measures: Vec<Measure>,
    /// Points whose machine cannot exist are left out instead of being an error.
    pub skip_invalid: bool,
    /// Axes that the data set is divided by; none: the first axis with a few values.
    pub partition: Option<Vec<String>>,
    /// Further files that HIP programs read.
    pub files: Vec<String>,
    /// The axes of all blocks, in the order of the plan.
    pub columns: Vec<Column>,
    pub blocks: Vec<Block>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub axis: Axis,
    pub kind: Kind,
    /// Where the plan has it.
    pub span: Range<usize>,
}

/// A product of axes, less what is excluded, and which of its points are taken.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub steps: Vec<Steps>,
    pub exclude: Vec<Exclusion>,
    pub sample: Sample,
}

/// An axis of a product, or several that go in step.
#[derive(Clone, Debug)]
pub struct Steps {
    pub columns: Vec<usize>,
    /// For each step a value for each of the columns.
    pub values: Vec<Vec<Value>>,
}

/// Points that are left out: every column has one of the values.
#[derive(Clone, Debug)]
pub struct Exclusion {
    pub conditions: Vec<(usize, Vec<Value>)>,
}

/// A point of a plan: which block, and its number in the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub block: u32,
    pub index: u64,
}

impl Plan {
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::new(&self.file, span, message)
    }

    /// An error at the axis of a field, or at the top of the plan.
    pub fn error_at(&self, column: Option<usize>, message: impl Into<String>) -> PlanError {
        self.error(column.map_or(0..0, |c| self.columns[c].span.clone()), message)
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// At most so many points: exclusions are not counted.
    pub fn most(&self) -> u64 {
        self.blocks.iter().map(Block::most).fold(0, u64::saturating_add)
    }

    /// Its points in order, each once.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let again =
            self.blocks.len() > 1 || self.blocks.iter().any(|b| matches!(b.sample, Sample::Latin { .. }));
        let mut seen: HashSet<u128> = HashSet::new();
        let all = (0..self.blocks.len() as u32)
            .flat_map(|block| self.blocks[block as usize].indices().map(move |index| Place { block, index }));
        all.filter(move |&place| !again || seen.insert(self.key(place)))
    }

    /// A number for the coordinates.
    fn key(&self, place: Place) -> u128 {
        let mut text = String::new();
        for (value, c) in self.coordinates(place).iter().zip(&self.columns) {
            if let Some(value) = value {
                text.push_str(&format!("{}\u{1}{:?}\u{2}", c.name, value));
            }
        }
        xxh3_128(text.as_bytes())
    }

    /// The coordinates of a point, by column.
    pub fn coordinates(&self, place: Place) -> Vec<Option<&Value>> {
        let mut out = vec![None; self.columns.len()];
        self.blocks[place.block as usize].fill(place.index, &mut out);
        out
    }

    /// A point as a user would write it.
    pub fn describe(&self, place: Place) -> String {
        let values = self.coordinates(place);
        let some = self.columns.iter().zip(values).filter_map(|(c, v)| Some(format!("{}={}", c.name, v?)));
        some.collect::<Vec<_>>().join(" ")
    }

    /// The axes that the data set is divided by.
    pub fn partitions(&self) -> Vec<usize> {
        match &self.partition {
            Some(names) => names.iter().filter_map(|n| self.column(n)).collect(),
            None => {
                let few = |c: &usize| (2..=FEW).contains(&self.values_of(*c));
                (0..self.columns.len()).find(few).into_iter().collect()
            }
        }
    }

    /// How many different values a column has.
    fn values_of(&self, column: usize) -> usize {
        let mut seen: Vec<&Value> = Vec::new();
        for steps in self.blocks.iter().flat_map(|b| &b.steps) {
            let Some(at) = steps.columns.iter().position(|c| *c == column) else { continue };
            for values in &steps.values {
                if !seen.contains(&&values[at]) {
                    seen.push(&values[at]);
                }
                if seen.len() > FEW {
                    return seen.len();
                }
            }
        }
        seen.len()
    }
}

/// A data set has no more parts than this unless the plan says so.
const FEW: usize = 64;

impl Block {
    /// Points of the product.
    pub fn size(&self) -> u64 {
        self.steps.iter().map(|s| s.values.len() as u64).fold(1, u64::saturating_mul)
    }

    fn most(&self) -> u64 {
        match self.sample {
            Sample::Grid => self.size(),
            Sample::Random { count, .. } => count.min(self.size()),
            Sample::Latin { count, .. } => count,
        }
    }

    /// The coordinates of a point of the product; the last axis runs fastest.
    fn fill<'a>(&'a self, mut index: u64, out: &mut [Option<&'a Value>]) {
        for steps in self.steps.iter().rev() {
            let count = steps.values.len().max(1) as u64;
            let values = &steps.values[(index % count) as usize];
            index /= count;
            for (&column, value) in steps.columns.iter().zip(values) {
                out[column] = Some(value);
            }
        }
    }

    fn excluded(&self, index: u64, room: &mut Vec<u32>) -> bool {
        if self.exclude.is_empty() {
            return false;
        }
        // Which step of each axis.
        room.clear();
        let mut rest = index;
        for steps in self.steps.iter().rev() {
            let count = steps.values.len().max(1) as u64;
            room.push((rest % count) as u32);
            rest /= count;
        }
        room.reverse();
        let value = |column: usize| {
            self.steps.iter().zip(room.iter()).find_map(|(steps, &at)| {
                let i = steps.columns.iter().position(|c| *c == column)?;
                Some(&steps.values[at as usize][i])
            })
        };
        let holds = |(column, list): &(usize, Vec<Value>)| {
            value(*column).is_some_and(|v| list.iter().any(|l| l.same(v)))
        };
        self.exclude.iter().any(|e| e.conditions.iter().all(holds))
    }

    /// The points that are taken.
    fn indices(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        let size = self.size();
        let mut room = Vec::new();
        let keep = move |index: &u64| !self.excluded(*index, &mut room);
        match self.sample {
            Sample::Grid => Box::new((0..size).filter(keep)),
            Sample::Random { count, seed } => Box::new(
                (0..size).map(move |at| sample::shuffled(at, size, seed)).filter(keep).take(count as usize),
            ),
            Sample::Latin { count, seed } => {
                let point = move |j: u64| {
                    self.steps.iter().enumerate().fold(0, |index, (axis, steps)| {
                        let values = steps.values.len() as u64;
                        index * values + sample::latin(j, count, values, axis as u64, seed)
                    })
                };
                Box::new((0..count).map(point).filter(keep))
            }
        }
    }
}
