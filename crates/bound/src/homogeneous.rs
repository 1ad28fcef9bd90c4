//! Masks that the facts file calls homogeneous (THESIS 5.2.4, docs/facts.md): where that can be used, the error when a run
//! shows otherwise, and the assumption that a bound lists.

use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use std::collections::BTreeSet;
use wb_facts::HomogeneousFact;
use wb_isa::Pc;
use wb_wcet::measure::{Measured, Mixed};
use wb_wcet::wave::{self, Splitting};

impl AnalysedKernel {
    /// Branches whose paths take one side. Where paths meet at places that are not known, one that ran a side may go on
    /// with lanes that run the other: then nothing follows.
    pub(crate) fn homogeneous(&self) -> BTreeSet<Pc> {
        match self.machine.splits() && self.splitting.unknown {
            true => BTreeSet::new(),
            false => self.facts.homogeneous.iter().map(|h| h.branch).collect(),
        }
    }

    /// How waves split: at branches whose lanes agree they do not, marked or not.
    pub(crate) fn counted_splitting(&self) -> Splitting {
        let sure = self.splitting.sure.difference(&self.homogeneous()).copied().collect();
        Splitting { sure, ..self.splitting.clone() }
    }

    /// Regions of `measured` of which every path takes one side.
    pub(crate) fn one_sided(&self, measured: &Measured) -> Vec<usize> {
        wave::homogeneous(&self.plan, measured, &self.splitting, &self.homogeneous())
    }

    /// A run showed a mask that is not what the facts file says.
    pub(crate) fn mixed(&self, mixed: Mixed) -> BoundError {
        let Mixed { branch, wave, cycle, side } = mixed;
        let said = self.facts.homogeneous.iter().find(|h| h.branch == branch);
        let why = said.map_or("", |h| h.why.as_str());
        let seen = match side {
            None => "came there with lanes for both sides".to_owned(),
            Some(side) => format!("took the {} side", side.name()),
        };
        refused!(
            Contradiction,
            help = "remove the [[homogeneous]] fact, or say nothing about its side",
            "the mask at {} is homogeneous (user: {why}), but wave {wave} {seen} at cycle {cycle}",
            self.place(branch)
        )
    }

    /// What the bound assumes about masks, in words.
    pub(crate) fn about_masks(&self) -> Vec<String> {
        let used = self.homogeneous();
        let line = |h: &HomogeneousFact| {
            let what = match h.side {
                None => "all lanes of a path take the same side, and the other one is not charged".to_owned(),
                Some(side) => format!("all lanes of every path take the {} side", side.name()),
            };
            let why = if h.why.is_empty() { String::new() } else { format!(" ({})", h.why) };
            format!(
                "the mask at {} is homogeneous: {what}: said by the facts file{why}",
                self.place(h.branch)
            )
        };
        let all = self.facts.homogeneous.iter();
        all.filter(|h| h.side.is_some() || used.contains(&h.branch)).map(line).collect()
    }
}
