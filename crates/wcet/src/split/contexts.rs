//! Which splits surely find a context. PWS 4.2 counts marked branches, THESIS theorem 5.2.2 takes the first S of them; both
//! are too simple (repairs 8 and 9): what counts is how many contexts can be held when a branch is reached.

use super::SplitError;
use super::longest::{Most, Product};
use super::tree::{LinkKind, Tree, Way};

/// When a context becomes free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconvergence {
    /// Paths merge at the join (PWS, THESIS with reconvergence).
    AtJoin,
    /// Paths run to the end of the kernel (THESIS).
    Never,
}

/// What happens when a wave with lanes for both sides reaches a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// It splits.
    Always,
    /// It splits if a context is free then.
    Maybe,
    /// It does not split: the region is not marked, or there are no contexts.
    Never,
}

/// Contexts of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contexts {
    /// For each region.
    pub guarantee: Vec<Guarantee>,
    /// Contexts that let every marked region split, always; saturates.
    pub need: u64,
    /// Contexts that are really held at a time: what re-provisioning has to leave (repair 9).
    pub used: u64,
}

/// Which of the `marked` regions surely split on a machine with `slots` contexts (S) per wave.
pub fn contexts(
    tree: &Tree<'_>,
    marked: &[bool],
    slots: u32,
    reconvergence: Reconvergence,
) -> Result<Contexts, SplitError> {
    if marked.len() != tree.regions.len() {
        return Err(SplitError::Count { given: marked.len(), regions: tree.regions.len() });
    }
    let slots = u64::from(slots);
    let (need, mut guarantee) = match reconvergence {
        Reconvergence::AtJoin => with_joins(tree, marked, slots)?,
        Reconvergence::Never => without_joins(tree, marked, slots)?,
    };
    if slots == 0 {
        guarantee.fill(Guarantee::Never);
    }
    Ok(Contexts { guarantee, need, used: need.min(slots) })
}

/// Contexts a kernel holds at a time, for re-provisioning instead of |S_B| in PWS equation 2: two splits in sequence use
/// one context, so |S_B| may exceed S although fewer contexts are in use.
pub fn contexts_used(
    tree: &Tree<'_>,
    marked: &[bool],
    slots: u32,
    reconvergence: Reconvergence,
) -> Result<u64, SplitError> {
    Ok(contexts(tree, marked, slots, reconvergence)?.used)
}

/// Contexts that each level may hold at a time, and each side of each region. A context is free again at the join, so
/// what comes in sequence, also round a loop, needs the most of its parts; a region that does not split runs its sides in sequence;
/// one that splits holds one context for itself while both sides run at once.
pub(crate) struct Needs {
    pub level: Vec<u64>,
    pub first: Vec<u64>,
    pub second: Vec<u64>,
}

impl Needs {
    pub fn new(tree: &Tree<'_>, split: impl Fn(usize) -> bool) -> Result<Needs, SplitError> {
        let count = tree.levels.len();
        let mut needs = Needs { level: vec![0; count], first: vec![0; count], second: vec![0; count] };
        for l in 0..count {
            needs.update(tree, l, tree.levels[l].region.is_some_and(&split))?;
        }
        Ok(needs)
    }

    /// Counts one level anew from what is inside it; returns what it needed before.
    pub fn update(&mut self, tree: &Tree<'_>, l: usize, splits: bool) -> Result<u64, SplitError> {
        let of = |way| {
            let link = |kind| match kind {
                LinkKind::Edge(_) => 0,
                LinkKind::Child(c) => self.level[c],
            };
            tree.longest::<Most>(l, way, |_| 0, link)
        };
        let new = if tree.levels[l].children.is_empty() {
            u64::from(splits)
        } else if splits {
            let (first, second) = (of(Way::First)?, of(Way::Second)?);
            (self.first[l], self.second[l]) = (first, second);
            first.saturating_add(second).saturating_add(1)
        } else {
            of(Way::Serial)?
        };
        Ok(std::mem::replace(&mut self.level[l], new))
    }
}

/// A region surely splits if one context is left when everything else holds what it can. Others that run at the same
/// time are, for each marked region around: its own context and all that its other side may hold. Regions before have given
/// back theirs, regions inside come later, and where a region around does not split, its other side does not run.
fn with_joins(tree: &Tree<'_>, marked: &[bool], slots: u64) -> Result<(u64, Vec<Guarantee>), SplitError> {
    let needs = Needs::new(tree, |r| marked[r])?;
    let mut others = vec![0u64; tree.levels.len()];
    let mut guarantee = vec![Guarantee::Never; marked.len()];
    for (l, level) in tree.levels.iter().enumerate().rev() {
        let splits = level.region.is_some_and(|r| marked[r]);
        if let Some(r) = level.region.filter(|_| splits) {
            guarantee[r] = if others[l] < slots { Guarantee::Always } else { Guarantee::Maybe };
        }
        if level.children.is_empty() {
            continue;
        }
        let sides = splits.then(|| (level.on_way(Way::First), level.on_way(Way::Second)));
        for link in &level.links {
            let LinkKind::Child(c) = link.kind else { continue };
            let beside = match &sides {
                None => 0,
                Some((first, second)) => {
                    // In code that both sides run, the worse of both.
                    let if_first = if first[link.from] { needs.second[l] } else { 0 };
                    let if_second = if second[link.from] { needs.first[l] } else { 0 };
                    if_first.max(if_second).saturating_add(1)
                }
            };
            others[c] = others[l].saturating_add(beside);
        }
    }
    Ok((needs.level[tree.root()], guarantee))
}

/// Without reconvergence a split lasts to the end, so paths multiply (repair 8): each path that exists reaches the next
/// marked branch and may split there. m marked branches in sequence make 2^m paths and take 2^m - 1 contexts; a region that
/// splits has the paths of both sides together; a loop is a sequence of max + 1 rounds.
/// If S contexts are enough for all of that, every split finds one. Otherwise contexts go to who comes first, which depends on timing,
/// and only a branch is sure that no way reaches after a marked branch (itself included): then there is one path and no
/// context is taken.
fn without_joins(tree: &Tree<'_>, marked: &[bool], slots: u64) -> Result<(u64, Vec<Guarantee>), SplitError> {
    let mut paths = vec![1u64; tree.levels.len()];
    for (l, level) in tree.levels.iter().enumerate() {
        let of = |way| {
            let link = |kind| match kind {
                LinkKind::Edge(_) => 1,
                LinkKind::Child(c) => paths[c],
            };
            tree.longest::<Product>(l, way, |_| 1, link)
        };
        paths[l] = if level.region.is_some_and(|r| marked[r]) {
            of(Way::First)?.saturating_add(of(Way::Second)?)
        } else {
            of(Way::Serial)?
        };
    }
    let need = paths[tree.root()] - 1;
    let later = after_marked(tree, marked);
    let mut guarantee = vec![Guarantee::Never; marked.len()];
    for r in (0..marked.len()).filter(|&r| marked[r] && tree.level_of[r].is_some()) {
        let sure = need <= slots || !later[tree.regions[r].branch];
        guarantee[r] = if sure { Guarantee::Always } else { Guarantee::Maybe };
    }
    Ok((need, guarantee))
}

/// Nodes that some way reaches after a marked branch.
fn after_marked(tree: &Tree<'_>, marked: &[bool]) -> Vec<bool> {
    let graph = &tree.model.graph;
    let out = graph.outgoing();
    let mut seen = vec![false; graph.nodes.len()];
    let starts = (0..marked.len()).filter(|&r| marked[r] && tree.level_of[r].is_some());
    let mut todo: Vec<usize> = starts.map(|r| tree.regions[r].branch).collect();
    while let Some(v) = todo.pop() {
        for &e in &out[v] {
            let to = graph.edges[e].to;
            if !std::mem::replace(&mut seen[to], true) {
                todo.push(to);
            }
        }
    }
    seen
}
