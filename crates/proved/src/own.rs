//! Own time: for every edge of the control-flow graph the cycles that a wave alone takes at most from entering its first block to
//! entering the second, from a fixpoint of pipeline states (docs/proved-bounds.md, lemma 2).

use crate::pipeline::{Pipeline, State};
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::Isa;

/// Times that a state may grow at a block before the analysis gives up.
const PATIENCE: usize = 20_000;

/// Cycles from block to block (`None`: to the end of the wave, drained).
pub type EdgeTimes = BTreeMap<(usize, Option<usize>), u64>;

/// Own times of the blocks that can be reached.
pub fn own_times<I: Isa>(
    pipeline: &Pipeline<I>,
    blocks: &BTreeSet<usize>,
    entry: usize,
) -> Result<EdgeTimes, Refusal> {
    let cfg = &pipeline.program.cfg;
    let mut before: BTreeMap<usize, State> = BTreeMap::from([(entry, pipeline.start())]);
    let mut work = BTreeSet::from([entry]);
    let mut times = EdgeTimes::new();
    let mut steps = 0;
    while let Some(b) = work.pop_first() {
        steps += 1;
        if steps > PATIENCE + 64 * blocks.len() {
            return Err(Refusal::Program {
                what: "the states of its pipeline do not settle".into(),
                help: "please report this",
            });
        }
        let Some(state) = before.get(&b).cloned() else { continue };
        let pcs = cfg.pcs(b, &pipeline.program.flow);
        let (last, inner) = (cfg.blocks[b].last, &pcs[..pcs.len() - 1]);
        let mut state = state;
        let mut time = 0;
        for &pc in inner {
            time += pipeline.step(pc, true, &mut state);
        }
        let next = pipeline.program.flow.next[last as usize];
        if cfg.blocks[b].succs.is_empty() {
            let mut after = state.clone();
            let end = time + pipeline.step(last, true, &mut after) + pipeline.drain(&after);
            times.insert((b, None), end);
        }
        for &s in &cfg.blocks[b].succs {
            let mut after = state.clone();
            let straight = cfg.blocks[s].first == next;
            let taken = time + pipeline.step(last, straight, &mut after);
            times.insert((b, Some(s)), taken);
            let grew = match before.get_mut(&s) {
                Some(known) => known.join(&after),
                None => {
                    before.insert(s, after);
                    true
                }
            };
            if grew {
                work.insert(s);
            }
        }
    }
    Ok(times)
}
