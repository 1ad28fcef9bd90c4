//! Bound of one wave: which splits are sure to happen, the graph in which they take one side only, its longest way
//! with a certificate, and what each edge of the plan adds to it.

use crate::graph::{Model, NodeId, Region};
use crate::ipet::{self, Certificate, IpetError};
use crate::measure::{Measured, Plan};
use crate::split::{self, Guarantee, Mode, Reconvergence, SplitError, Tree};
use std::collections::BTreeSet;
use thiserror::Error;
use wb_isa::Pc;

/// How the machine splits waves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// S, contexts of a wave besides its own.
    pub contexts: u32,
    pub reconvergence: Reconvergence,
    /// Branches whose split can be counted on if a context is free.
    pub sure: BTreeSet<Pc>,
    /// Others take contexts too, at places that are not known: nothing can be counted on.
    pub unknown: bool,
}

impl Splitting {
    pub fn none() -> Splitting {
        Splitting { contexts: 0, reconvergence: Reconvergence::AtJoin, sure: BTreeSet::new(), unknown: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WaveError {
    #[error(transparent)]
    Ipet(#[from] IpetError),
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(
        "two ways to compute the bound disagree: {structural} and {recursion} cycles; please report this"
    )]
    Disagree { structural: u64, recursion: u64 },
}

/// What a part of the worst way costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Edge of the plan.
    pub edge: usize,
    /// Times it is taken, cycles each time.
    pub count: u64,
    pub cycles: u64,
}

/// The bound of a wave and where it comes from.
#[derive(Clone, Debug)]
pub struct WaveBound {
    pub cycles: u64,
    /// Edges of the worst way, in the order of the graph.
    pub shares: Vec<Share>,
    /// Regions of the plan that are sure to split, and those of which a path takes one side because its lanes agree.
    pub split: Vec<usize>,
    pub homogeneous: Vec<usize>,
    pub certificate: Certificate,
    /// The graph that was bounded, splits written out.
    pub model: Model,
    /// Node and edge of the plan that each of its nodes and edges comes from.
    pub node_origin: Vec<NodeId>,
    pub edge_origin: Vec<usize>,
}

/// Regions (of [`Measured::regions`]) whose split can be counted on.
pub fn guaranteed(plan: &Plan, measured: &Measured, splitting: &Splitting) -> Result<Vec<usize>, SplitError> {
    if splitting.contexts == 0 || splitting.unknown {
        return Ok(Vec::new());
    }
    let known: BTreeSet<Pc> = plan.regions.iter().map(|r| r.branch).collect();
    if !splitting.sure.is_subset(&known) {
        return Ok(Vec::new());
    }
    let mut list = among(plan, measured, &splitting.sure);
    loop {
        let regions: Vec<Region> = list.iter().map(|&i| measured.regions[i].1.clone()).collect();
        match sure_splits(&measured.model, &regions, splitting) {
            Ok(sure) => return Ok(sure.into_iter().map(|k| list[k]).collect()),
            // Lanes never disagreed there: it is as good as not marked.
            Err(SplitError::NoSide { branch, .. }) => {
                let before = list.len();
                let name = |i: &usize| &measured.model.graph.nodes[measured.regions[*i].1.branch].name;
                list.retain(|i| *name(i) != branch);
                if list.len() == before {
                    return Ok(Vec::new());
                }
            }
            // Flow that does not keep to the regions: nothing can be counted on.
            Err(
                SplitError::Leaves { .. }
                | SplitError::Overlap { .. }
                | SplitError::Entered { .. }
                | SplitError::Side { .. },
            ) => return Ok(Vec::new()),
            Err(other) => return Err(other),
        }
    }
}

/// Regions (of [`Measured::regions`]) among `branches` whose mask is homogeneous and that have two sides of which one can
/// be left out; paths meet at the joins of regions only. Others are as if nothing was said of them.
pub fn homogeneous(
    plan: &Plan,
    measured: &Measured,
    splitting: &Splitting,
    branches: &BTreeSet<Pc>,
) -> Vec<usize> {
    let marked: BTreeSet<Pc> = splitting.sure.difference(branches).copied().collect();
    let mut regions: Vec<Region> =
        among(plan, measured, &marked).iter().map(|&i| measured.regions[i].1.clone()).collect();
    let mut found = Vec::new();
    for i in among(plan, measured, branches) {
        let (r, region) = &measured.regions[i];
        regions.push(region.clone());
        if plan.regions[*r].other.is_some() && Tree::new(&measured.model, &regions).is_ok() {
            found.push(i);
        } else {
            regions.pop();
        }
    }
    found
}

/// Of all regions that may split, those that surely find a context, by number.
pub fn sure_splits(
    model: &Model,
    regions: &[Region],
    splitting: &Splitting,
) -> Result<Vec<usize>, SplitError> {
    let tree = Tree::new(model, regions)?;
    let marked = vec![true; regions.len()];
    let contexts = split::contexts(&tree, &marked, splitting.contexts, splitting.reconvergence)?;
    Ok((0..regions.len()).filter(|&k| contexts.guarantee[k] == Guarantee::Always).collect())
}

/// The regions (of [`Measured::regions`]) with these branches that are in the graph as such; the others are part of a
/// segment, which was measured with their splits in it.
pub fn among(plan: &Plan, measured: &Measured, sure: &BTreeSet<Pc>) -> Vec<usize> {
    (0..measured.regions.len())
        .filter(|&i| sure.contains(&plan.regions[measured.regions[i].0].branch))
        .filter(|&i| is_whole(measured, &measured.regions[i].1))
        .collect()
}

/// Its branch was reached and both ends are there.
fn is_whole(measured: &Measured, region: &Region) -> bool {
    let edges = &measured.model.graph.edges;
    let reached = |n: NodeId| edges.iter().any(|e| e.to == n);
    reached(region.branch) && reached(region.join)
}

/// The bound of a wave of which the regions `sure` (of [`Measured::regions`]) split, and whose paths take one side of the
/// regions `homogeneous`.
pub fn bound(measured: &Measured, sure: &[usize], homogeneous: &[usize]) -> Result<WaveBound, WaveError> {
    let sure: Vec<usize> = sure.iter().copied().filter(|i| !homogeneous.contains(i)).collect();
    let all = || sure.iter().chain(homogeneous);
    let regions: Vec<Region> = all().map(|&i| measured.regions[i].1.clone()).collect();
    let mut modes = vec![Mode::Split; sure.len()];
    modes.resize(regions.len(), Mode::Homogeneous);
    let expanded = split::expand_modes(&measured.model, &regions, &modes)?;
    let solved = ipet::bound(&expanded.model)?;
    if expanded.model.facts.is_empty() {
        let recursion = split::longest(&expanded.model)?;
        if recursion != solved.cycles {
            return Err(WaveError::Disagree { structural: solved.cycles, recursion });
        }
    }
    let mut counts = vec![0u64; measured.model.graph.edges.len()];
    for (e, &count) in solved.edges.iter().enumerate() {
        counts[expanded.edge_origin[e]] += count;
    }
    let shares = (0..counts.len()).filter(|&e| counts[e] > 0).map(|e| Share {
        edge: measured.edge_of[e],
        count: counts[e],
        cycles: measured.model.graph.edges[e].cost,
    });
    Ok(WaveBound {
        cycles: solved.cycles,
        shares: shares.collect(),
        split: sure.iter().map(|&i| measured.regions[i].0).collect(),
        homogeneous: homogeneous.iter().map(|&i| measured.regions[i].0).collect(),
        certificate: solved.certificate,
        model: expanded.model,
        node_origin: expanded.node_origin,
        edge_origin: expanded.edge_origin.iter().map(|&e| measured.edge_of[e]).collect(),
    })
}
