//! PWS algorithm 2, Prune: cut the shorter side of every selected branch; and lemma 5.1, the time of a wave on what is left.
//! As printed, as the F column of figure 8 was really computed (which counts double), and on regions, for graphs with loops.

use super::select::{Cfg, Kind, select_regions};
use super::{PaperError, lemmas};
use crate::graph::{Count, EdgeId, Graph, Model, Region};
use crate::split::tree::Way;
use crate::split::{SplitError, Tree, longest, shape_of};

/// What Prune leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// `F[u]` for u = 1 … |V| + 1, at u; `F[0]` is not used.
    pub f: Vec<i128>,
    /// Edges cut, in the order of their sources.
    pub removed: Vec<(usize, usize)>,
}

impl Pruned {
    /// IPET of the pruned graph: without loops, its longest way.
    pub fn longest(&self, cfg: &Cfg) -> u64 {
        let mut time = vec![0u64; cfg.len() + 2];
        for u in (1..=cfg.len()).rev() {
            let kept = cfg.block(u).successors.iter().filter(|&&v| !self.removed.contains(&(u, v)));
            time[u] = cfg.block(u).time.saturating_add(kept.map(|&v| time[v]).max().unwrap_or(0));
        }
        time[1]
    }
}

/// Algorithm 2 as printed.
pub fn prune(cfg: &Cfg, selected: &[usize]) -> Pruned {
    run(cfg, selected, false)
}

/// The variant that gives the F column of figure 8: line 9, which takes what follows the serialisation block out of the first
/// side's time, is done for selected branches only. A branch that is not selected then counts its second side twice
/// (`F[13]` = 16 in the figure, 14 as printed), and the side it is in looks longer than it is (repair 1).
pub fn prune_like_figure_8(cfg: &Cfg, selected: &[usize]) -> Pruned {
    run(cfg, selected, true)
}

fn run(cfg: &Cfg, selected: &[usize], figure_8: bool) -> Pruned {
    let mut f = vec![0i128; cfg.len() + 2];
    let mut removed = Vec::new();
    for u in (1..=cfg.len()).rev() {
        let time = i128::from(cfg.block(u).time);
        let succ = cfg.succ_bb(u);
        match cfg.block(u).kind {
            Kind::Branch => {
                let (bsb, reconv) = (cfg.bsb(u), cfg.reconv(u));
                let splits = selected.contains(&u);
                if splits || !figure_8 {
                    f[succ] = f[succ] - f[bsb] + f[reconv];
                }
                if splits {
                    f[u] = f[succ].max(f[bsb]);
                    removed.push(if f[succ] < f[bsb] { (u, succ) } else { (bsb, cfg.succ_bb(bsb)) });
                } else {
                    f[u] = f[succ] + f[bsb] - f[reconv];
                }
                f[u] += time + i128::from(cfg.block(bsb).time);
            }
            Kind::Plain => f[u] = f[succ] + time,
            Kind::Serialise => f[u] = f[succ],
        }
    }
    removed.sort_unstable();
    Pruned { f, removed }
}

/// A model with the shorter side of the selected regions cut.
#[derive(Clone, Debug)]
pub struct PrunedModel {
    pub model: Model,
    /// Edges of the original model that were cut.
    pub removed: Vec<EdgeId>,
}

/// Algorithm 2 on regions: the same comparison of sides, by the region recursion, so that loops and uniform branches do
/// not matter. On the paper's graphs it cuts the same edges.
pub fn prune_regions(
    model: &Model,
    regions: &[Region],
    selected: &[usize],
) -> Result<PrunedModel, SplitError> {
    let tree = Tree::new(model, regions)?;
    let mut time = vec![0; tree.levels.len()];
    let mut removed = Vec::new();
    for (l, level) in tree.levels.iter().enumerate() {
        let of = |way| tree.cycles(l, way, |c| time[c]);
        time[l] = match level.region.filter(|r| selected.contains(r)) {
            None => of(Way::Serial)?,
            Some(r) => {
                let (first, second) = (of(Way::First)?, of(Way::Second)?);
                let cut = if first < second { &regions[r].first } else { &regions[r].second };
                removed.extend(cut);
                first.max(second)
            }
        };
    }
    removed.sort_unstable();
    removed.dedup();
    Ok(PrunedModel { model: without(model, &removed)?, removed })
}

/// A model without some edges (sorted) and without bounds of loops that are gone. Nodes keep their numbers, edges do not;
/// facts stay, because IPET uses them afterwards (repair 2).
pub(crate) fn without(model: &Model, removed: &[EdgeId]) -> Result<Model, SplitError> {
    crate::split::check_indices(model)?;
    let graph = Graph { edges: Vec::new(), ..model.graph.clone() };
    let mut pruned = Model { graph, bounds: model.bounds.clone(), facts: Vec::new() };
    let mut number = vec![None; model.graph.edges.len()];
    for (e, edge) in model.graph.edges.iter().enumerate() {
        if removed.binary_search(&e).is_err() {
            number[e] = Some(pruned.graph.edge(edge.from, edge.to, edge.cost));
        }
    }
    let shape = shape_of(&pruned)?;
    pruned.bounds.retain(|b| shape.heads_loop(b.header));
    pruned.facts = model.facts.clone();
    for fact in &mut pruned.facts {
        let still = |&(factor, count): &(i64, Count)| match count {
            Count::Node(v) => Some((factor, Count::Node(v))),
            Count::Edge(e) => number[e].map(|e| (factor, Count::Edge(e))),
        };
        fact.terms = fact.terms.iter().filter_map(still).collect();
    }
    Ok(pruned)
}

/// A wave under PWS, lemma 5.1.
#[derive(Clone, Debug)]
pub struct PwsWave {
    /// S_B, the regions that Select takes.
    pub selected: Vec<usize>,
    pub pruned: PrunedModel,
    /// IPET(C_out).
    pub ipet: u64,
    /// E_WF = IPET(C_out) + |S_B| (e_s + e_m).
    pub cycles: u64,
}

/// Select, Prune and lemma 5.1 for a model. `regions` are all divergent regions.
pub fn pws_wave(
    model: &Model,
    regions: &[Region],
    marked: &[bool],
    slots: u64,
    split_cost: u64,
    merge_cost: u64,
) -> Result<PwsWave, PaperError> {
    let selected = select_regions(&Tree::new(model, regions)?, marked, slots)?;
    let pruned = prune_regions(model, regions, &selected)?;
    let ipet = longest(&pruned.model)?;
    let cycles =
        lemmas::wave(ipet, selected.len() as u64, split_cost, merge_cost).ok_or(SplitError::TooLong)?;
    Ok(PwsWave { selected, pruned, ipet, cycles })
}
