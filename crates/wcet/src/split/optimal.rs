//! Where to split: the least worst case over all sets of regions that S contexts suffice for, which THESIS and PWS leave as
//! future work. A dynamic programme over the region tree, exact, O(n · S²); and for each region what its split is worth.

use super::contexts::Needs;
use super::tree::{On, Tree, Way};
use super::{SplitError, name};
use crate::graph::{Model, Region};

/// The best set of regions to split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The longest chain through the wave's paths.
    pub cycles: u64,
    /// Regions to split, by number.
    pub chosen: Vec<usize>,
    /// The least worst case with 0, 1, … S contexts; at most one more than there are regions, the rest is the same.
    pub by_contexts: Vec<u64>,
}

/// What a level costs at best with each number of contexts, and how.
struct Best {
    cycles: Vec<u64>,
    /// Splits made in it.
    splits: Vec<u64>,
    /// Contexts for the first side, if it splits.
    give: Vec<Option<usize>>,
}

/// The best regions among `regions` to split with `slots` contexts (S), paths merging at joins. For a region R and b
/// contexts: unsplit, the longest way from branch to join with the regions inside at b (in sequence, so each may use all of
/// them); split, the best division b1 + b2 = b - 1 of the larger of its sides, and the costs. Facts of the model are not
/// used: they could only lower the result.
pub fn optimal(model: &Model, regions: &[Region], slots: u32) -> Result<Placement, SplitError> {
    let tree = Tree::new(model, regions)?;
    let slots = (slots as usize).min(regions.len());
    let on = tree.sides();
    let mut best: Vec<Best> = Vec::with_capacity(tree.levels.len());
    for l in 0..tree.levels.len() {
        let found = level(&tree, l, slots, &best, &on)?;
        best.push(found);
    }
    let root = &best[tree.root()];
    let (cycles, by_contexts) = (root.cycles[slots], root.cycles.clone());
    Ok(Placement { cycles, chosen: choose(&tree, &best, &on, slots), by_contexts })
}

/// Contexts a child gets when its parent is split and gives `b` to the side in question. In code that both sides run (no
/// compiler we know puts a region there) it gets none: one set of regions must do for both.
fn given(on: On, b: usize) -> usize {
    if on == On::Both { 0 } else { b }
}

fn level(tree: &Tree<'_>, l: usize, slots: usize, best: &[Best], on: &[On]) -> Result<Best, SplitError> {
    let this = &tree.levels[l];
    let same = this.children.is_empty();
    let mut found = Best { cycles: Vec::new(), splits: Vec::new(), give: vec![None; slots + 1] };
    let per_context = |way: Way, count: usize| -> Result<Vec<u64>, SplitError> {
        let mut all: Vec<u64> = Vec::with_capacity(count);
        for b in 0..count {
            // Without regions inside, contexts change nothing.
            let cycles = match all.first() {
                Some(&first) if same => first,
                _ => {
                    let at = |c: usize| if way == Way::Serial { b } else { given(on[c], b) };
                    tree.cycles(l, way, |c| best[c].cycles[at(c)])?
                }
            };
            all.push(cycles);
        }
        Ok(all)
    };
    found.cycles = per_context(Way::Serial, slots + 1)?;
    for b in 0..=slots {
        found.splits.push(this.children.iter().map(|&c| best[c].splits[b]).sum());
    }
    let Some(region) = this.region.map(|r| &tree.regions[r]) else { return Ok(found) };
    let costs = region.split_cost.checked_add(region.merge_cost).ok_or(SplitError::TooLong)?;
    let (first, second) = (per_context(Way::First, slots)?, per_context(Way::Second, slots)?);
    let splits_at = |side: On, b: usize| -> u64 {
        this.children.iter().filter(|&&c| on[c] == side).map(|&c| best[c].splits[b]).sum()
    };
    let many = |side: On| -> Vec<u64> { (0..slots).map(|b| splits_at(side, b)).collect() };
    let (in_first, in_second) = (many(On::First), many(On::Second));
    for b in 1..=slots {
        for b1 in 0..b {
            let b2 = b - 1 - b1;
            let cycles = first[b1].max(second[b2]).checked_add(costs).ok_or(SplitError::TooLong)?;
            let splits = 1 + in_first[b1] + in_second[b2];
            if (cycles, splits) < (found.cycles[b], found.splits[b]) {
                (found.cycles[b], found.splits[b]) = (cycles, splits);
                found.give[b] = Some(b1);
            }
        }
    }
    Ok(found)
}

/// Follows the decisions from the whole graph inwards.
fn choose(tree: &Tree<'_>, best: &[Best], on: &[On], slots: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut todo = vec![(tree.root(), slots)];
    while let Some((l, b)) = todo.pop() {
        let level = &tree.levels[l];
        match best[l].give[b] {
            None => todo.extend(level.children.iter().map(|&c| (c, b))),
            Some(b1) => {
                chosen.extend(level.region);
                let b2 = b - 1 - b1;
                todo.extend(level.children.iter().map(|&c| {
                    let b = if on[c] == On::Second { b2 } else { b1 };
                    (c, if matches!(on[c], On::Both | On::Neither) { 0 } else { b })
                }));
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

/// What the split of one region is worth, everything else as chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub region: usize,
    /// Name of its branch.
    pub branch: String,
    /// The bound if it splits, and if it does not.
    pub with: u64,
    pub without: u64,
    /// With it, S contexts still suffice for every split.
    pub fits: bool,
}

/// For each region that can be reached: the bound with and without its split, other regions split as in `chosen`.
pub fn what_if(
    model: &Model,
    regions: &[Region],
    chosen: &[usize],
    slots: u32,
) -> Result<Vec<WhatIf>, SplitError> {
    let tree = Tree::new(model, regions)?;
    let mut split = vec![false; regions.len()];
    for &r in chosen {
        let count = regions.len();
        *split.get_mut(r).ok_or(SplitError::NoSuch { what: "region", index: r, count })? = true;
    }
    let mut now = vec![0; tree.levels.len()];
    for l in 0..tree.levels.len() {
        let splits = tree.levels[l].region.is_some_and(|r| split[r]);
        now[l] = value(&tree, l, splits, &now)?;
    }
    let mut needs = Needs::new(&tree, |r| split[r])?;
    let mut answers = Vec::new();
    for (r, region) in regions.iter().enumerate() {
        let Some(l) = tree.level_of[r] else { continue };
        let as_is = now[tree.root()];
        let other = flipped(&tree, l, &split, &mut now)?;
        let (with, without) = if split[r] { (as_is, other) } else { (other, as_is) };
        let fits = fits(&tree, l, &split, &mut needs, slots)?;
        answers.push(WhatIf { region: r, branch: name(model, region.branch), with, without, fits });
    }
    Ok(answers)
}

fn value(tree: &Tree<'_>, l: usize, splits: bool, now: &[u64]) -> Result<u64, SplitError> {
    let of = |way| tree.cycles(l, way, |c| now[c]);
    match tree.levels[l].region.filter(|_| splits) {
        None => of(Way::Serial),
        Some(r) => {
            let region = &tree.regions[r];
            let sides = of(Way::First)?.max(of(Way::Second)?);
            let sum = sides.checked_add(region.split_cost).and_then(|s| s.checked_add(region.merge_cost));
            sum.ok_or(SplitError::TooLong)
        }
    }
}

/// The bound if level `start` decided otherwise: only what is around it changes, and often not far up.
fn flipped(tree: &Tree<'_>, start: usize, split: &[bool], now: &mut [u64]) -> Result<u64, SplitError> {
    let mut before = Vec::new();
    let mut at = Some(start);
    while let Some(l) = at {
        let splits = tree.levels[l].region.is_some_and(|r| split[r]) != (l == start);
        let new = value(tree, l, splits, now)?;
        if new == now[l] {
            break;
        }
        before.push((l, std::mem::replace(&mut now[l], new)));
        at = tree.levels[l].parent;
    }
    let bound = now[tree.root()];
    for (l, old) in before {
        now[l] = old;
    }
    Ok(bound)
}

/// Whether `slots` contexts suffice when level `start` splits too.
fn fits(
    tree: &Tree<'_>,
    start: usize,
    split: &[bool],
    needs: &mut Needs,
    slots: u32,
) -> Result<bool, SplitError> {
    let mut before = Vec::new();
    let mut at = Some(start);
    while let Some(l) = at {
        let splits = l == start || tree.levels[l].region.is_some_and(|r| split[r]);
        let old = needs.update(tree, l, splits)?;
        before.push((l, old));
        at = tree.levels[l].parent.filter(|_| old != needs.level[l]);
    }
    let need = needs.level[tree.root()];
    for (l, old) in before {
        needs.level[l] = old;
    }
    Ok(need <= u64::from(slots))
}
