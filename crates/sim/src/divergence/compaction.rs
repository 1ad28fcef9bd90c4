//! Thread block compaction (mechanisms 14; Fung and Aamodt, HPCA 2011) and large warps (mechanisms 13; Narasiman et al., MICRO 2011), for one
//! wave of a [block](super::block). Under `tbc` the block is a group, and its warps run by themselves between branches. Under `lwm` it is
//! `divergence.rows` waves of a group that execute every instruction together: the next one waits until all sub-warps have issued this
//! one. Both wait at every conditional branch and at every jump through a register for the whole block (design choice: hardware cannot know
//! that a branch is uniform, and both papers leave jumps through registers open).

use super::block::Block;
use super::mechanism::{Change, Context, Divergence, Refusal, TakeOver, Together, Waves, plain, unsupported};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wb_hw::{Machine, Mechanism};
use wb_isa::{Flow, FlowKind, Mask, Pc};
use wb_trace::{Kind, MaskCause};

/// One wave of a block.
#[derive(Debug)]
pub(super) struct Compaction {
    mechanism: Mechanism,
    block: Arc<Mutex<Block>>,
    row: usize,
    /// The decision that the wave's paths follow.
    seen: u64,
}

/// The blocks that waves join as they start, the waves of a group one after the other.
#[derive(Debug, Default)]
pub struct Blocks {
    last: Option<Arc<Mutex<Block>>>,
    number: u64,
}

impl Blocks {
    /// The mechanism of a wave that shares a stack with others of its group; none for mechanisms in which waves do not.
    pub fn join(
        &mut self,
        machine: &Machine,
        wave_in_group: u32,
        live: Mask,
        partition: usize,
    ) -> Option<Box<dyn Divergence>> {
        let mechanism = machine.divergence.mechanism;
        let first = match mechanism {
            Mechanism::Tbc => wave_in_group == 0,
            Mechanism::Lwm => wave_in_group.is_multiple_of(machine.divergence.rows),
            _ => return None,
        };
        if first || self.last.is_none() {
            self.number += 1;
            self.last = Some(Arc::new(Mutex::new(new_block(machine, self.number))));
        }
        let block = Arc::clone(self.last.as_ref()?);
        let row = lock(&block).join(live, partition);
        Some(Box::new(Compaction { mechanism, block, row, seen: 0 }))
    }
}

fn new_block(machine: &Machine, number: u64) -> Block {
    let contexts = if machine.splits() { machine.split.contexts } else { 0 };
    Block::new(number, machine.limits.stack_depth, contexts, machine.divergence.first)
}

/// Nobody panics with a block in hand; if somebody did, its state is as good as it was.
fn lock(block: &Mutex<Block>) -> MutexGuard<'_, Block> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Compaction {
    /// What there is to know without waves.
    pub fn alone(machine: &Machine) -> Compaction {
        let block = Arc::new(Mutex::new(new_block(machine, 0)));
        Compaction { mechanism: machine.divergence.mechanism, block, row: 0, seen: 0 }
    }

    fn exit(&mut self, lanes: Mask, cx: &mut Context) -> Result<Change, Refusal> {
        *cx.live &= !lanes;
        let at = cx.at;
        let (left, live, others) = lock(&self.block).exit(self.row, at.id, lanes, cx)?;
        Ok(match (left, live) {
            (0, 0) => Change::End,
            (0, _) if others => Change::Leave { wake: None },
            // The lanes of the wave that are left wait for the block.
            (0, mask) => {
                Change::Continue { pc: at.pc, mask, origin: at.origin, cause: Some(MaskCause::Exit) }
            }
            (mask, _) => {
                Change::Continue { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) }
            }
        })
    }
}

impl Divergence for Compaction {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        let waits = matches!(cx.map.kind[at.pc as usize], FlowKind::Branch(_) | FlowKind::Indirect { .. });
        let to = match flow {
            Flow::Exit { lanes } => return self.exit(lanes, cx),
            Flow::Next if waits => [(at.next, at.mask), (at.next, 0)],
            Flow::Jump(pc) if waits => [(pc, at.mask), (at.next, 0)],
            Flow::Branch { taken, target } => {
                let other = at.mask & !taken;
                cx.notes.add(|| Kind::Split { taken, other });
                [(target, taken), (at.next, other)]
            }
            _ => return plain(at, flow).ok_or_else(|| unsupported(flow, self.mechanism)),
        };
        lock(&self.block).branch(self.row, at.id, to, cx)?;
        Ok(Change::Park { pc: at.next })
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        let mut block = lock(&self.block);
        if !block.is_idle(self.row) && block.serial == self.seen {
            block.arrive(self.row, cx.at.id, cx)?;
        }
        Ok(Change::Park { pc: cx.at.pc })
    }

    fn watch(&self, _id: usize) -> Pc {
        lock(&self.block).watch(self.row)
    }

    fn may_diverge(&self) -> bool {
        true
    }

    fn forks(&self) -> bool {
        true
    }

    fn waits_at_branches(&self) -> bool {
        true
    }

    fn decided(&self) -> bool {
        lock(&self.block).serial != self.seen
    }

    fn take_over(&mut self) -> TakeOver {
        let block = lock(&self.block);
        self.seen = block.serial;
        block.take_over(self.row)
    }

    fn warp(&self, id: usize) -> u64 {
        lock(&self.block).warp(self.row, id)
    }

    fn together(&self) -> Together {
        let waves = Waves::Warp { in_step: self.mechanism == Mechanism::Lwm };
        Together::Fused { most: 64, waves, slice: 1 }
    }

    fn depth(&self) -> usize {
        lock(&self.block).depth()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        let block = lock(&self.block);
        if block.serial == self.seen && !block.is_idle(self.row) {
            block.set_aside(self.row, true, each);
        }
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        let block = lock(&self.block);
        if block.serial == self.seen {
            block.set_aside(self.row, false, each);
        } else {
            // The wave has not taken its paths over yet.
            each(Mask::MAX);
        }
    }
}
