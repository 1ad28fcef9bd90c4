//! What each divergent branch does to the bound of a wave, and what a split there would do where there is none yet.
//! A split that was never run is an estimate: its costs are those of the machine, and skipping a side that no run
//! skipped takes the mean time of an instruction.

use crate::measured::FirstMeasurement;
use crate::options::Options;
use crate::result::BranchRow;
use std::collections::BTreeSet;
use wb_wcet::measure::Measured;
use wb_wcet::wave::{self, Splitting};

const ESTIMATE: &str = "an estimate until it is measured";

/// Divergent branches: marked or not, counted on or not, and what the bound (with a segment for every block) would be
/// otherwise.
pub fn branches(first: &FirstMeasurement, options: &Options) -> Vec<BranchRow> {
    let (kernel, measured) = (&first.measured_kernel.kernel, &first.measured);
    let sure = wave::among(&kernel.plan, measured, &first.sure);
    let one_sided = kernel.one_sided(measured);
    let skipping = kernel.plan.with_skips(measured.clone(), &first.measured_kernel.times);
    let mut rows = Vec::new();
    for (i, (r, _)) in measured.regions.iter().enumerate() {
        let region = &kernel.plan.regions[*r];
        let is_sure = sure.contains(&i);
        let marked = kernel.splitting.sure.contains(&region.branch);
        let mut row = BranchRow {
            branch: kernel.place(region.branch),
            markable: region.markable,
            marked,
            sure: is_sure,
            with: is_sure.then_some(first.bound.cycles),
            without: None,
            note: String::new(),
        };
        if options.what_if && is_sure {
            let rest: Vec<usize> = sure.iter().copied().filter(|&s| s != i).collect();
            row.without = wave::bound(measured, &rest, &one_sided).ok().map(|b| b.cycles);
        } else if kernel.homogeneous().contains(&region.branch) {
            row.note = match one_sided.contains(&i) {
                true => {
                    let rest: Vec<usize> = one_sided.iter().copied().filter(|&o| o != i).collect();
                    one_side(first, wave::bound(measured, &sure, &rest).ok().map(|b| b.cycles))
                }
                false => {
                    "homogeneous, but nothing to gain: it has one side, or is part of a segment".to_owned()
                }
            };
        } else if options.what_if && !marked && region.markable {
            (row.with, row.note) = added(first, &skipping, i);
            row.without = row.with.map(|_| first.bound.cycles);
        }
        rows.push(row);
    }
    rows
}

/// What the fact brings at a branch with a homogeneous mask.
fn one_side(first: &FirstMeasurement, without: Option<u64>) -> String {
    let without = without.map_or(String::new(), |cycles| {
        format!("; by blocks, wave bound {} instead of {cycles}", first.bound.cycles)
    });
    format!("homogeneous: every path takes one side{without}")
}

/// The bound if region `i` were split too, and what to know about it.
fn added(first: &FirstMeasurement, skipping: &Measured, i: usize) -> (Option<u64>, String) {
    let (kernel, splitting) =
        (&first.measured_kernel.kernel, first.measured_kernel.kernel.counted_splitting());
    let none = |why: &str| (None, why.to_owned());
    if splitting.contexts == 0 {
        return none("");
    }
    if splitting.unknown {
        return none("where waves split is not known, no split could be counted on");
    }
    let branch = kernel.plan.regions[skipping.regions[i].0].branch;
    let mut sure: BTreeSet<_> = splitting.sure.clone();
    sure.insert(branch);
    let more = Splitting { sure, ..splitting.clone() };
    let mut model = skipping.clone();
    let region = &mut model.regions[i].1;
    region.split_cost = kernel.machine.split.split_cycles.into();
    region.merge_cost = kernel.machine.split.merge_cycles.into();
    match wave::guaranteed(&kernel.plan, &model, &more) {
        Ok(list) if list.contains(&i) => match wave::bound(&model, &list, &kernel.one_sided(&model)) {
            Ok(bound) => (Some(bound.cycles), ESTIMATE.to_owned()),
            Err(error) => (None, error.to_string()),
        },
        Ok(_) => none("a context would not be sure to be free, or its lanes never part"),
        Err(error) => (None, error.to_string()),
    }
}
