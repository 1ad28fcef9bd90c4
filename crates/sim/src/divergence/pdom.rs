//! The PDOM document's stack (docs/harp.md, second join rule). One level per split instead of the document's
//! one sibling counter per warp, so that nesting works; a split that guards a loop ("EXIT loop split" when
//! no lane stays) is told from an if by the control-flow graph (design choice: the document is silent).

use super::mechanism::{Change, Context, Divergence, Refusal, plain, push, unsupported};
use wb_hw::{Machine, Mechanism};
use wb_isa::{Flow, FlowKind, Mask, Pc};
use wb_trace::{Kind, MaskCause};

#[derive(Debug)]
pub struct Pdom {
    depth: usize,
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    split: Pc,
    /// The parent's lanes and where its mask came from.
    parent: Mask,
    origin: Pc,
    /// Opened by a loop split: closed by the loop's exit, not by joins.
    is_loop: bool,
    /// The false side: where it starts and its lanes, until it runs.
    pending: Option<(Pc, Mask)>,
}

impl Pdom {
    pub fn new(machine: &Machine) -> Self {
        Pdom { depth: machine.limits.stack_depth as usize, levels: Vec::new() }
    }

    fn split(&mut self, taken: Mask, cx: &mut Context) -> Result<Change, Refusal> {
        let (at, map) = (cx.at, cx.map);
        let jump = at.next;
        if !matches!(map.kind.get(jump as usize), Some(FlowKind::Branch(_))) {
            return Err(Refusal::Malformed("split is not followed by a predicated jump"));
        }
        let after_jump = map.next[jump as usize];
        let other = at.mask & !taken;
        cx.notes.add(|| Kind::Split { taken, other });
        let is_loop = map.loop_split[at.pc as usize];
        if is_loop && taken == 0 {
            return Ok(self.exit_loop(cx));
        }
        if is_loop && other == 0 {
            return Ok(Change::on(at, jump));
        }
        let mut level = Level { split: at.pc, parent: at.mask, origin: at.origin, is_loop, pending: None };
        let diverged = Some(MaskCause::Diverge);
        let change = if taken == 0 {
            Change::on(at, after_jump)
        } else if other == 0 {
            Change::on(at, jump)
        } else {
            level.pending = Some((after_jump, other));
            cx.notes.add(|| Kind::PathNew { at: after_jump, lanes: other });
            Change::Continue { pc: jump, mask: taken, origin: at.pc, cause: diverged }
        };
        push(&mut self.levels, self.depth, level)?;
        Ok(change)
    }

    /// No lane stays in the loop: its levels go, all lanes that left it meet behind the jump.
    fn exit_loop(&mut self, cx: &mut Context) -> Change {
        let at = cx.at;
        let (mut mask, mut origin) = (at.mask, at.origin);
        while let Some(level) = self.levels.pop_if(|l| l.is_loop && l.split == at.pc) {
            (mask, origin) = (level.parent, level.origin);
        }
        cx.notes.add(|| Kind::PathMerge { lanes: mask & !at.mask });
        Change::Continue { pc: at.next, mask, origin, cause: Some(MaskCause::LoopExit) }
    }

    fn join(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        let Some(level) = self.levels.last_mut() else {
            return Err(Refusal::Malformed("join without a split"));
        };
        if level.is_loop {
            return Err(Refusal::Malformed("join inside a loop whose split is still open"));
        }
        if let Some((pc, mask)) = level.pending.take() {
            return Ok(Change::Continue { pc, mask, origin: level.split, cause: Some(MaskCause::Switch) });
        }
        let (mask, origin) = (level.parent, level.origin);
        self.levels.pop();
        let cause = (mask != at.mask).then_some(MaskCause::Reconverge);
        if cause.is_some() {
            cx.notes.add(|| Kind::PathMerge { lanes: mask & !at.mask });
        }
        Ok(Change::Continue { pc: at.next, mask, origin, cause })
    }
}

impl Divergence for Pdom {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        match flow {
            Flow::Branch { .. } => Err(Refusal::Divergent),
            Flow::Split { taken } => self.split(taken, cx),
            Flow::Join => self.join(cx),
            Flow::Exit { .. } => {
                *cx.live = 0;
                Ok(Change::End)
            }
            _ => Err(unsupported(flow, Mechanism::Pdom)),
        }
    }

    fn depth(&self) -> usize {
        // The document's entries: a level holds two until its first side has joined.
        self.levels.iter().map(|l| 1 + usize::from(l.pending.is_some())).sum()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        for level in &self.levels {
            if let Some((_, mask)) = level.pending {
                each(mask);
            }
        }
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        for level in &self.levels {
            each(level.parent);
        }
    }
}
