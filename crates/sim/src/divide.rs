//! What mechanisms ask beyond control flow: whether paths that wait for each other agree, whether the program's execution mask is back
//! (THESIS 4.3.4), and paths that divide because some of their lanes wait for memory (DWS as published).

use crate::divergence::{Change, Context, Notes, PathView, Standing};
use crate::error::SimError;
use crate::exec::{Effect, Exec};
use crate::wave::{Path, PathChange, Wave};
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, NO_PC};
use wb_trace::{Kind, MaskCause};

impl<I: Isa> Exec<'_, I> {
    /// Paths that wait where path `id` stands and disagree with it about a scalar that both wrote.
    pub(crate) fn disagree<X>(&self, wave: &Wave<I, X>, id: usize) -> u64 {
        let pc = wave.paths[id].path.pc;
        let needed = self.program.needed(pc);
        bits(wave.parked)
            .filter(|&j| j as usize != id && wave.paths[j as usize].path.pc == pc)
            .filter(|&j| {
                // The one with the smaller number goes on, as where they merge.
                let (into, from) = (id.min(j as usize), id.max(j as usize));
                self.scalars_to_take(wave, into, from, &needed).is_err()
            })
            .fold(0, |all, j| all | 1 << j)
    }

    /// A path stands where a sibling stands: they may go on as one.
    pub(crate) fn meet<X>(
        &self,
        wave: &mut Wave<I, X>,
        view: PathView,
        clock: u64,
        notes: &mut Notes,
    ) -> Result<Option<Change>, Box<SimError>> {
        let here = |&j: &usize| j != view.id && wave.paths[j].path.pc == view.pc;
        let Some(other) = bits(wave.standing()).map(|j| j as usize).find(here) else { return Ok(None) };
        // A value only one of them wrote may be that of another round of a loop: not where they just happen to meet.
        let needed = self.program.needed(view.pc);
        let (here, there) = (&wave.paths[view.id].regs, &wave.paths[other].regs);
        if !self.program.isa.differ(here, there, &needed).is_empty() {
            return Ok(None);
        }
        let free = self.free(wave);
        let map = &self.program.flow;
        let mut cx = Context { at: view, live: &mut wave.live, map, notes, free, clock, disagree: 0 };
        let mut change = wave.divergence.meet(other, &mut cx);
        if let Some(Change::Merge(merge)) = &mut change
            && merge.mask == 0
        {
            merge.mask = view.mask | wave.paths[other].path.mask;
        }
        Ok(change)
    }

    /// The base execution mask of the path has changed: tells the mechanism, and which waiting paths it cannot become one with. A value
    /// that only one of them wrote may be that of another round of a loop, so here it counts as a disagreement.
    pub(crate) fn restored<X>(
        &self,
        wave: &mut Wave<I, X>,
        view: PathView,
        clock: u64,
        notes: &mut Notes,
    ) -> Option<Change> {
        let base = self.program.isa.base_mask(&wave.paths[view.id].base.registers);
        let needed = self.program.needed(view.pc);
        let disagree = bits(wave.parked & !(1 << view.id))
            .filter(|&j| {
                let (here, there) = (&wave.paths[view.id], &wave.paths[j as usize]);
                there.path.pc != view.pc
                    || !self.program.isa.differ(&here.regs, &there.regs, &needed).is_empty()
            })
            .fold(0, |all, j| all | 1 << j);
        let (free, map) = (self.free(wave), &self.program.flow);
        let mut cx = Context { at: view, live: &mut wave.live, map, notes, free, clock, disagree };
        wave.divergence.restored(base, &mut cx)
    }

    /// The mechanism says which of the paths that could run do. Where that has changed, the machine follows.
    pub(crate) fn hold<X>(&self, wave: &mut Wave<I, X>) {
        if !wave.is_split() && wave.held == 0 || !wave.divergence.holds() {
            return;
        }
        let mut paths = [Standing { id: 0, pc: NO_PC }; 64];
        let mut count = 0;
        for id in bits(wave.standing()).map(|id| id as usize) {
            paths[count] = Standing { id, pc: wave.paths[id].path.pc };
            count += 1;
        }
        let mut held = 0;
        if count > 1 {
            held = wave.divergence.held(&paths[..count]) & wave.standing();
            if held == wave.standing() {
                held &= held - 1;
            }
        }
        for id in bits(held & !wave.held).map(|id| id as usize) {
            wave.changes.push(PathChange::Parked { id });
        }
        for id in bits(wave.held & !held & wave.standing()).map(|id| id as usize) {
            wave.changes.push(PathChange::Woken { id });
        }
        wave.held = held;
    }

    /// Path `k` has executed: paths that wait for nobody who could come go on. Returns what becomes of `k`.
    pub(crate) fn give_up<X>(&self, wave: &mut Wave<I, X>, k: usize, effect: Effect) -> Effect {
        let arrives = u64::from(matches!(effect, Effect::Barrier { .. })) << k;
        let stands = wave.parked | wave.at_barrier | arrives;
        let woken = wave.divergence.give_up(stands, wave.live);
        wave.parked &= !woken;
        let mut effect = effect;
        for id in bits(woken).map(|id| id as usize) {
            let came = wave.changes.iter().position(|c| *c == PathChange::Parked { id });
            match came {
                // It does not even begin to wait.
                Some(place) => {
                    wave.changes.remove(place);
                    effect = Effect::Continue;
                }
                None => wave.changes.push(PathChange::Woken { id }),
            }
        }
        effect
    }

    /// Lanes `hits` of path `k` have the data that the others wait for until cycle `until`: the mechanism may let them go on by
    /// themselves. Returns the number of the new path, which has the other lanes.
    pub(crate) fn divide<X: Clone>(
        &self,
        wave: &mut Wave<I, X>,
        k: usize,
        hits: Mask,
        (clock, until): (u64, u64),
        notes: &mut Notes,
    ) -> Result<Option<usize>, Box<SimError>> {
        let Path { pc, mask, origin, from, .. } = wave.paths[k].path;
        let view = PathView { pc, next: pc, mask, origin, id: k };
        let (free, map) = (self.free(wave), &self.program.flow);
        let mut cx = Context { at: view, live: &mut wave.live, map, notes, free, clock, disagree: 0 };
        let answer = wave.divergence.divide(hits, until, self.program.ahead(), &mut cx);
        let Some(Change::Split { keep, new, id, origin }) = answer else { return Ok(None) };
        self.split(wave, k, keep, new, id, origin, from)?;
        if notes.on {
            notes.list.push(Kind::PathNew { at: new.0, lanes: new.1 });
            let (new, live) = (keep.1, wave.live);
            notes.list.push(Kind::Mask { new, live, origin, cause: MaskCause::Diverge });
        }
        wave.depth = wave.divergence.depth();
        wave.max_depth = wave.max_depth.max(wave.depth);
        Ok(Some(id))
    }
}
