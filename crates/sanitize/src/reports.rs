//! All reports of a checker: one for each place, with a count, but for those that are suppressed.

use crate::kind::Kind;
use crate::report::Report;
use crate::suppress::Suppressions;
use std::collections::BTreeMap;

/// More different reports than this are not kept.
const MOST: usize = 1000;

/// Reports by kind and place.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    list: Vec<Report>,
    index: BTreeMap<(Kind, u32, u32), usize>,
    /// Reports that a file of suppressions takes out, by line of that file.
    pub suppressed: BTreeMap<usize, u64>,
    pub suppressions: Suppressions,
    /// Different places that were left out.
    pub left_out: u64,
}

impl Reports {
    /// Counts a report that has been made before: kind, place and other place as numbers. False if it is new.
    #[inline]
    pub fn again(&mut self, kind: Kind, place: u32, other: u32) -> bool {
        let Some(&at) = self.index.get(&(kind, place, other)) else { return false };
        if let Some(report) = self.list.get_mut(at) {
            report.count += 1;
        }
        true
    }

    /// A new one.
    pub fn add(&mut self, key: (u32, u32), report: Report) {
        let key = (report.kind, key.0, key.1);
        if let Some(line) = self.suppressions.matches(&report) {
            *self.suppressed.entry(line).or_insert(0) += 1;
            self.index.insert(key, usize::MAX);
            return;
        }
        if self.list.len() >= MOST {
            self.left_out += 1;
            self.index.insert(key, usize::MAX);
            return;
        }
        self.index.insert(key, self.list.len());
        self.list.push(report);
    }

    pub fn all(&self) -> &[Report] {
        &self.list
    }
}
