//! THESIS 5.2.4: the graphs that the parent and the child of a split run (figure 5.4 b and c), the times of a wave's paths
//! with them, and equations 5.1 to 5.5 as functions of plain numbers, with the two start delays of Betts and Donaldson
//! (THESIS 3.3.2).

use super::PaperError;
use super::prune::without;
use super::select::select_regions;
use crate::graph::{Graph, LoopBound, Model, NodeId, Region};
use crate::split::{Shape, Tree, check_regions, longest, name, shape_of};
use std::collections::BTreeMap;

/// What the two paths of a wave run after a split.
#[derive(Clone, Debug)]
pub struct PerPath {
    /// The whole graph without the second side (figure 5.4 b).
    pub parent: Model,
    /// From the branch on, without the first side (figure 5.4 c).
    pub child: Model,
    /// What the thesis does not say about this case.
    pub notes: Vec<String>,
}

/// Figure 5.4 for one split.
pub fn per_path(model: &Model, region: &Region) -> Result<PerPath, PaperError> {
    check_regions(model, std::slice::from_ref(region))?;
    let shape = shape_of(model)?;
    let mut notes = Vec::new();
    if !shape.loops_around(region.branch).is_empty() {
        let branch = name(model, region.branch);
        notes.push(format!(
            "`{branch}` is in a loop: the parent is taken to skip the second side in every round, which holds for lanes that decide the same each time"
        ));
    }
    let parent = without(model, &sorted(&region.second))?;
    let child = without(&from_branch(model, &shape, region.branch, &region.first)?, &[])?;
    Ok(PerPath { parent, child, notes })
}

fn sorted(edges: &[usize]) -> Vec<usize> {
    let mut edges = edges.to_vec();
    edges.sort_unstable();
    edges
}

/// What is left to run from a node on. Of each loop around it, the rest of the round that is under way comes once, then the
/// loop, entered anew and with one round less. A node therefore exists once for each number of loops (from outside)
/// whose round of the start is still under way.
fn from_branch(model: &Model, shape: &Shape, start: NodeId, cut: &[usize]) -> Result<Model, PaperError> {
    let graph = &model.graph;
    let out = graph.outgoing();
    // Outermost first.
    let mut around = shape.loops_around(start);
    around.reverse();
    let depth_of = |v: NodeId| shape.loops_around(v).iter().filter(|h| around.contains(h)).count();
    let max: BTreeMap<NodeId, u64> = model.bounds.iter().map(|b| (b.header, b.max)).collect();
    let mut left = Model::default();
    let mut at: BTreeMap<(NodeId, usize), NodeId> = BTreeMap::new();
    let mut todo = vec![(start, around.len())];
    let add = |graph: &mut Graph, v: NodeId, state: usize| {
        let node = &model.graph.nodes[v];
        let fresh = state < around.len();
        let name = if fresh { format!("{}.{state}", node.name) } else { node.name.clone() };
        graph.node(name, node.cost)
    };
    at.insert((start, around.len()), add(&mut left.graph, start, around.len()));
    while let Some((v, state)) = todo.pop() {
        let from = at[&(v, state)];
        for &e in out[v].iter().filter(|e| !cut.contains(e)) {
            let to = graph.edges[e].to;
            // Going round loop j (counted from 1) begins a new round of it and of all loops inside.
            let begun = around.iter().position(|&h| h == to).filter(|&j| shape.is_back(e) && j < state);
            let state = begun.unwrap_or(state.min(depth_of(to)));
            let id = match at.get(&(to, state)) {
                Some(&id) => id,
                None => {
                    let id = add(&mut left.graph, to, state);
                    at.insert((to, state), id);
                    todo.push((to, state));
                    id
                }
            };
            left.graph.edge(from, id, graph.edges[e].cost);
        }
    }
    for (&(v, state), &id) in &at {
        if v == graph.exit {
            left.graph.exit = id;
        }
        if let Some(&max) = max.get(&v) {
            let mine = around.iter().position(|&h| h == v);
            let max = if mine == Some(state) { max.saturating_sub(1) } else { max };
            left.bounds.push(LoopBound { header: id, max });
        }
    }
    Ok(left)
}

/// One path of a wave: j = 0 is the parent of all, others are children.
#[derive(Clone, Debug)]
pub struct ThesisPath {
    /// The region at which it was split off.
    pub from: Option<usize>,
    /// L_w of its graph.
    pub cycles: u64,
}

/// The paths of a wave that splits at the first S marked branches (theorem 5.2.2): the parent takes the first side at each,
/// the child of a branch the second side there and, as the parent, the first side of those that follow. That a child
/// finds no context for those, because they are taken, the theorem does not see (repair 8).
pub fn thesis_paths(
    model: &Model,
    regions: &[Region],
    marked: &[bool],
    slots: u64,
) -> Result<Vec<ThesisPath>, PaperError> {
    let tree = Tree::new(model, regions)?;
    // In wave execution order; Select with room for everything sorts them.
    let mut split = select_regions(&tree, marked, u64::MAX)?;
    split.truncate(usize::try_from(slots).unwrap_or(usize::MAX));
    let shape = shape_of(model)?;
    let seconds = |but: Option<usize>| {
        let others = split.iter().filter(|&&r| Some(r) != but);
        sorted(&others.flat_map(|&r| regions[r].second.iter().copied()).collect::<Vec<_>>())
    };
    let cycles = longest(&without(model, &seconds(None))?)?;
    let mut paths = vec![ThesisPath { from: None, cycles }];
    for &r in &split {
        let mut cut = seconds(Some(r));
        cut.extend(&regions[r].first);
        let child = from_branch(model, &shape, regions[r].branch, &cut)?;
        paths.push(ThesisPath { from: Some(r), cycles: longest(&without(&child, &[])?)? });
    }
    Ok(paths)
}

/// When a path starts in its batch (δ) and how long it runs (L_w).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTime {
    pub start: u64,
    pub cycles: u64,
}

/// Section 5.1: W = min(W_HW, W_kernel).
pub fn waves(hardware: u64, kernel: u64) -> u64 {
    hardware.min(kernel)
}

/// Equation 5.1: B = ⌈G / ⌊W · T_WF / T_WG⌋⌉. `None` = no group fits.
pub fn batches(groups: u64, waves: u64, wave_lanes: u64, group_lanes: u64) -> Option<u64> {
    let at_once = waves.checked_mul(wave_lanes)?.checked_div(group_lanes)?;
    (at_once > 0).then(|| groups.div_ceil(at_once))
}

/// Equation 5.2: L_kernel = B (L + D).
pub fn kernel(batches: u64, wave: u64, delay: u64) -> Option<u64> {
    wave.checked_add(delay)?.checked_mul(batches)
}

/// Equation 5.3: L + D = max over waves i and paths j of δ_i^j + L_i^j.
pub fn batch_parallel(waves: &[Vec<PathTime>]) -> Option<u64> {
    let ends = waves.iter().flatten().map(|p| p.start.checked_add(p.cycles));
    ends.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// The batch of equation 5.5: max over i and j of δ_i^j + Σ_j L_i^j, the paths of a wave one after the other.
pub fn batch_serial(waves: &[Vec<PathTime>]) -> Option<u64> {
    let mut worst = None;
    for paths in waves {
        let sum = paths.iter().try_fold(0u64, |sum, p| sum.checked_add(p.cycles))?;
        for p in paths {
            worst = worst.max(Some(p.start.checked_add(sum)?));
        }
    }
    worst
}

/// Betts and Donaldson's *dynamic* start delay, as THESIS 3.3.2 reports it: the time from the start of the kernel to the
/// first instruction of the last wave, added to the worst wave. Waves that start d apart make it L + n d.
pub fn betts_dynamic(waves: &[Vec<PathTime>]) -> Option<u64> {
    let all = || waves.iter().flatten();
    let (last, worst) = (all().map(|p| p.start).max()?, all().map(|p| p.cycles).max()?);
    last.checked_add(worst)
}

/// Their *hybrid* start delay: batches of groups as in equation 5.1, and in each the delay between two starts, scaled by the
/// number of waves (THESIS 5.2.4): B (L + n d). The worse of the two, but it knows how the kernel is launched.
pub fn betts_hybrid(batches: u64, wave: u64, waves: u64, delay: u64) -> Option<u64> {
    kernel(batches, wave, waves.checked_mul(delay)?)
}
