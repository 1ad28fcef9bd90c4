//! The engine: looks at a run before every instruction, decides whether it stops there, and lets the front end ask. A run cannot go
//! backwards, so that is a run from the beginning: either to a step that is known, or to the step of interest before now, which a
//! first run finds and a second one goes to.

use crate::breaks::{Breaks, Hit};
use crate::calls::Calls;
use crate::code::{Code, Place};
use crate::context::Context;
use crate::error::DebugError;
use crate::goal::{Focus, Go, Goal, Reason};
use crate::launch::LaunchInfo;
use crate::search::Search;
use crate::view::{Front, View, settle};
use std::ops::ControlFlow;
use wb_sim::{Did, Inspected, Inspector, SimError};

/// Instructions between two questions whether to pause: where every one is looked at, and where none is.
const POLL: u64 = 1 << 10;
const POLL_QUIET: u64 = 1 << 16;

/// What is done with the run.
pub(crate) enum Mode {
    Forward(Goal),
    /// On to a step of this launch, which is known; behind the last one, to its end.
    To(u64, Reason),
    /// On to `end`, remembering the last place of interest.
    Search(Search),
}

/// What becomes of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next launch, or nothing if there is none.
    Launch,
    /// The same launch again.
    Again,
    /// The launch before.
    Before,
    First,
    Quit,
}

/// Where a step began.
#[derive(Clone, Copy)]
struct Began {
    focus: Focus,
    place: Option<Place>,
    depth: usize,
    left: u64,
}

/// The state of a session with one front end.
pub struct Engine<'f> {
    front: &'f mut dyn Front,
    pub breaks: Breaks,
    pub(crate) focus: Focus,
    pub(crate) mode: Mode,
    pub(crate) next: Next,
    /// Launches that come after this one are entered without a stop.
    pub(crate) several: bool,
    calls: Calls,
    began: Option<Began>,
    /// What the last instruction did that asks for a stop.
    reached: Option<Reason>,
    met: Vec<(u32, Option<u32>)>,
    /// The wave that executed the last instruction, with its path.
    did: Option<(u32, usize)>,
    /// Breakpoints at this step have been dealt with.
    resumed: Option<u64>,
    poll_at: u64,
    /// Bytes that the program printed and the user has seen, and the launch.
    shown: (usize, usize),
    /// Steps that the launch had executed when it last stood still, for going on from there.
    pub(crate) position: u64,
    error: Option<DebugError>,
    /// The run has begun; the user has seen the end of the launch.
    pub(crate) asked: bool,
    pub(crate) seen_end: bool,
}

impl<'f> Engine<'f> {
    pub fn new(front: &'f mut dyn Front, stop_at_entry: bool) -> Engine<'f> {
        Engine {
            front,
            breaks: Breaks::default(),
            focus: Focus::default(),
            mode: if stop_at_entry { Mode::To(0, Reason::Entry) } else { Mode::Forward(Goal::Continue) },
            next: Next::Launch,
            several: false,
            calls: Calls::default(),
            began: None,
            reached: None,
            met: Vec::new(),
            did: None,
            resumed: None,
            poll_at: 0,
            shown: (0, 0),
            position: 0,
            error: None,
            asked: false,
            seen_end: false,
        }
    }

    /// Whether the launch that begins may stop before its end.
    pub(crate) fn may_stop(&self) -> bool {
        match self.mode {
            Mode::Forward(Goal::Continue) => !self.breaks.is_quiet(),
            Mode::Forward(_) | Mode::To(..) | Mode::Search(_) => true,
        }
    }

    /// Why the launch failed, if it did when it was last run to its end.
    pub fn failed(&self) -> Option<&DebugError> {
        self.error.as_ref()
    }

    /// A launch begins, perhaps again.
    pub(crate) fn enter(&mut self, code: &Code) {
        self.breaks.enter(code);
        self.calls.clear();
        self.next = Next::Launch;
        (self.asked, self.error) = (false, None);
        (self.reached, self.did, self.poll_at) = (None, None, 0);
        self.met.clear();
        self.resumed = None;
    }

    fn depth(&self, code: &Code, wave: u32, lane: u32, pc: wb_isa::Pc) -> usize {
        self.calls.of(wave, lane).len() + code.inline_depth(pc)
    }

    /// The run stands still: asks the front end, and does what it says.
    fn stop(&mut self, now: &dyn Inspected, info: &LaunchInfo, reason: Reason) -> ControlFlow<()> {
        self.show_printed(now, info);
        self.settle(now, &reason);
        if let Reason::Breakpoints(hits) = &reason {
            self.breaks.stopped(hits);
        }
        self.seen_end |= matches!(reason, Reason::Ended);
        let over = now.current().is_none() || matches!(reason, Reason::Failed(_));
        // Behind an instruction that failed is one step more, from which going back leads to it.
        let position = now.executed() + u64::from(matches!(reason, Reason::Failed(_)));
        self.position = now.executed();
        let mut go = self.ask(now, info, &reason);
        // It is there already.
        while let Go::Forward(Goal::Step(n)) | Go::Back(Goal::Step(n)) = go
            && n == position
            && !over
        {
            go = self.ask(now, info, &Reason::Step);
        }
        match go {
            Go::Quit => self.end(Next::Quit),
            Go::Restart => {
                self.mode = Mode::To(0, Reason::Entry);
                self.end(Next::First)
            }
            Go::Forward(Goal::Step(n)) if n >= position && !over => {
                self.mode = Mode::To(n, Reason::Step);
                ControlFlow::Continue(())
            }
            Go::Forward(Goal::Step(n)) | Go::Back(Goal::Step(n)) => {
                self.mode = Mode::To(n, Reason::Step);
                self.end(Next::Again)
            }
            // Nothing comes after a launch but the next one.
            Go::Forward(goal) if over => {
                self.mode = match goal {
                    Goal::Continue => Mode::Forward(goal),
                    _ => Mode::To(0, Reason::Entry),
                };
                self.end(Next::Launch)
            }
            Go::Forward(goal) => {
                self.begin(now, info, goal);
                ControlFlow::Continue(())
            }
            Go::Back(Goal::Launch) => {
                self.mode = Mode::To(0, Reason::Entry);
                self.end(if position == 0 { Next::Before } else { Next::Again })
            }
            Go::Back(goal) => {
                let depth = match Context::new(now, info, (self.focus.wave, self.focus.path), self.focus.lane)
                {
                    Ok(at) => self.depth(info.code, self.focus.wave, self.focus.lane, at.path.pc),
                    Err(_) => 0,
                };
                self.mode = Mode::Search(Search::new(goal, position, self.focus.wave, depth));
                self.end(Next::Again)
            }
        }
    }

    fn ask(&mut self, now: &dyn Inspected, info: &LaunchInfo, reason: &Reason) -> Go {
        let go = self.front.stopped(&mut View {
            now,
            info,
            breaks: &mut self.breaks,
            focus: &mut self.focus,
            calls: &self.calls,
            reason,
        });
        self.breaks.mark();
        go
    }

    fn end(&mut self, next: Next) -> ControlFlow<()> {
        self.next = next;
        ControlFlow::Break(())
    }

    /// Remembers where a step begins.
    fn begin(&mut self, now: &dyn Inspected, info: &LaunchInfo, goal: Goal) {
        let focus = self.focus;
        let at = now.path(focus.wave, focus.path);
        let place = at.and_then(|p| info.code.place(p.pc));
        let depth = at.map_or(0, |p| self.depth(info.code, focus.wave, focus.lane, p.pc));
        let left = if let Goal::Instructions(n) = goal { n.max(1) } else { 1 };
        self.began = Some(Began { focus, place, depth, left });
        self.resumed = Some(now.executed());
        self.poll_at = now.executed() + POLL;
        self.mode = Mode::Forward(goal);
    }

    /// Looks at what the stop is about.
    fn settle(&mut self, now: &dyn Inspected, reason: &Reason) {
        let wanted = match reason {
            Reason::Step | Reason::Failed(_) => now.wave(self.focus.wave).map(|w| w.wave),
            Reason::Barrier { wave } | Reason::Diverged { wave, .. } => Some(*wave),
            Reason::Breakpoints(_) => self.did.filter(|_| self.reached_after(reason)).map(|d| d.0),
            Reason::Entry | Reason::WaveEnded { .. } | Reason::Paused | Reason::Ended | Reason::Beginning => {
                None
            }
        };
        let wanted =
            if matches!(reason, Reason::Failed(_)) { now.current().map(|c| c.0).or(wanted) } else { wanted };
        let current = now.current();
        let Some(wave) = wanted.filter(|w| now.wave(*w).is_some()).or(current.map(|c| c.0)) else { return };
        let paths = now.paths(wave);
        let ran = self.did.filter(|d| d.0 == wave).map(|d| d.1);
        let kept = (self.focus.wave == wave).then_some(self.focus.path);
        let here = current.filter(|c| c.0 == wave).map(|c| c.1);
        let choices = match reason {
            Reason::Step => [kept, ran, here],
            Reason::Barrier { .. } | Reason::Diverged { .. } => [ran, here, kept],
            _ if wanted.is_some() => [ran, here, kept],
            _ => [here, ran, kept],
        };
        let path = choices.into_iter().flatten().find(|k| paths.iter().any(|p| p.path == *k));
        let Some(seen) = path.or(paths.first().map(|p| p.path)).and_then(|k| now.path(wave, k)) else {
            return;
        };
        self.focus = settle(self.focus, wave, seen.path, seen.active, seen.mask);
        if let Reason::Breakpoints(hits) = reason
            && let Some(lane) = hits.iter().find_map(|h| h.lane)
        {
            self.focus.lane = lane;
        }
    }

    /// Whether a breakpoint tells of the instruction that was executed, not of the one to come.
    fn reached_after(&self, reason: &Reason) -> bool {
        matches!(reason, Reason::Breakpoints(hits) if hits.iter().any(|h| !h.note.is_empty()))
    }

    fn show_printed(&mut self, now: &dyn Inspected, info: &LaunchInfo) {
        let text = now.printed();
        if self.shown.0 != info.number {
            if self.shown.0 > info.number {
                return;
            }
            self.shown = (info.number, 0);
        }
        if let Some(more) = text.get(self.shown.1..).filter(|t| !t.is_empty()) {
            self.front.printed(&String::from_utf8_lossy(more));
            self.shown.1 = text.len();
        }
    }

    /// Breakpoints that stop before the instruction that is due, and those that the last one met.
    fn hits(&mut self, now: &dyn Inspected, info: &LaunchInfo, current: (u32, usize)) -> Vec<Hit> {
        let mut hits = Vec::new();
        if !self.met.is_empty() {
            let met = std::mem::take(&mut self.met);
            // Conditions are about who did it, if it still exists.
            let by = self.did.filter(|d| now.path(d.0, d.1).is_some()).unwrap_or(current);
            if let Ok(at) = Context::new(now, info, by, 0) {
                hits.extend(met.into_iter().filter_map(|(id, lane)| self.breaks.confirm(id, lane, &at)));
            }
        }
        let here = now.path(current.0, current.1).is_some_and(|p| self.breaks.is_marked(p.pc));
        if (here || self.breaks.anywhere())
            && self.resumed != Some(now.executed())
            && let Ok(at) = Context::new(now, info, current, 0)
        {
            hits.extend(self.breaks.before(&at));
        }
        if self.breaks.watches()
            && let Ok(at) = Context::new(now, info, current, 0)
        {
            self.breaks.keep(&at);
        }
        hits
    }

    fn poll(&mut self, now: &dyn Inspected, info: &LaunchInfo) -> bool {
        self.show_printed(now, info);
        let reason = Reason::Step;
        let pause = self.front.poll(&mut View {
            now,
            info,
            breaks: &mut self.breaks,
            focus: &mut self.focus,
            calls: &self.calls,
            reason: &reason,
        });
        self.breaks.mark();
        pause
    }
}

/// The engine at one launch.
pub(crate) struct Watcher<'a, 'f> {
    pub engine: &'a mut Engine<'f>,
    pub info: &'a LaunchInfo<'a>,
}

impl Inspector for Watcher<'_, '_> {
    fn quiet_until(&self) -> u64 {
        if self.info.code.has_calls || self.engine.breaks.counts() {
            return 0;
        }
        match &self.engine.mode {
            // The last instruction before it is followed, so that it is known who executed it.
            Mode::To(step, _) => step.saturating_sub(1),
            Mode::Forward(Goal::Continue) if self.engine.breaks.is_quiet() => self.engine.poll_at,
            Mode::Forward(_) | Mode::Search(_) => 0,
        }
    }

    fn wants_accesses(&self) -> bool {
        self.engine.breaks.watches()
    }

    fn before(&mut self, now: &dyn Inspected) -> ControlFlow<()> {
        let (engine, info) = (&mut *self.engine, self.info);
        engine.asked = true;
        let Some(current) = now.current() else { return ControlFlow::Continue(()) };
        let step = now.executed();
        if step >= engine.poll_at {
            let quiet = engine.breaks.is_quiet();
            engine.poll_at = step + if quiet { POLL_QUIET } else { POLL };
            if engine.poll(now, info) {
                return engine.stop(now, info, Reason::Paused);
            }
        }
        let reached = engine.reached.take();
        match &mut engine.mode {
            Mode::To(to, reason) => {
                let (to, reason) = (*to, reason.clone());
                if engine.breaks.counts() {
                    // Hits are counted on the way.
                    engine.hits(now, info, current);
                }
                engine.met.clear();
                if step >= to { engine.stop(now, info, reason) } else { ControlFlow::Continue(()) }
            }
            Mode::Forward(_) => {
                let hits = engine.hits(now, info, current);
                match (hits.is_empty(), reached) {
                    (false, _) => engine.stop(now, info, Reason::Breakpoints(hits)),
                    (true, Some(reason)) => engine.stop(now, info, reason),
                    (true, None) => ControlFlow::Continue(()),
                }
            }
            Mode::Search(search) => {
                if step >= search.end {
                    return engine.found();
                }
                let wants_breaks = search.wants_breaks();
                let hits = if wants_breaks { engine.hits(now, info, current) } else { Vec::new() };
                let pc = now.path(current.0, current.1);
                let depth = pc.map_or(0, |p| {
                    let lane = p.mask.trailing_zeros() & 63;
                    engine.depth(info.code, current.0, lane, p.pc)
                });
                let place = pc.and_then(|p| info.code.place(p.pc));
                if let Mode::Search(search) = &mut engine.mode {
                    search.at(step, current, place, depth);
                    match (hits.is_empty(), reached) {
                        (false, _) => search.stop(step, Reason::Breakpoints(hits)),
                        (true, Some(reason)) => search.stop(step, reason),
                        (true, None) => {}
                    }
                }
                ControlFlow::Continue(())
            }
        }
    }

    fn after(&mut self, did: &Did) {
        let engine = &mut *self.engine;
        if self.info.code.has_calls {
            engine.calls.follow(self.info.code, did);
        }
        engine.did = Some((did.wave, did.path));
        engine.met = engine.breaks.after(did);
        engine.reached = match engine.mode {
            Mode::To(..) => None,
            Mode::Search(ref search) => happened(search.goal, did),
            Mode::Forward(goal) => happened(goal, did).or_else(|| engine.stepped(self.info.code, goal, did)),
        };
    }

    fn over(&mut self, now: &dyn Inspected, error: Option<&SimError>) {
        let (engine, info) = (&mut *self.engine, self.info);
        engine.asked = true;
        let step = now.executed();
        let error = error.map(|e| DebugError { message: e.message.clone(), hint: e.hint.clone() });
        engine.error.clone_from(&error);
        let ended = |engine: &mut Engine, error: Option<DebugError>| {
            let reason = error.map_or(Reason::Ended, Reason::Failed);
            let _ = engine.stop(now, info, reason);
        };
        match &engine.mode {
            // What is behind the last launch is seen once it is known to be the last.
            Mode::Forward(Goal::Continue | Goal::Launch) if engine.several && error.is_none() => {
                engine.show_printed(now, info);
                engine.position = step;
                engine.next = Next::Launch;
                if matches!(engine.mode, Mode::Forward(Goal::Launch)) {
                    engine.mode = Mode::To(0, Reason::Entry);
                }
            }
            Mode::Search(_) => _ = engine.found(),
            Mode::Forward(_) | Mode::To(..) => ended(engine, error),
        }
    }
}

impl Engine<'_> {
    /// A search has come to its end: to what it found, or to the beginning.
    fn found(&mut self) -> ControlFlow<()> {
        let Mode::Search(search) = &mut self.mode else { return ControlFlow::Continue(()) };
        let (found, wave) = (search.result(), search.wave);
        self.focus.wave = wave;
        match found {
            Some((step, reason)) => {
                self.mode = Mode::To(step, reason);
                self.end(Next::Again)
            }
            None => self.end(Next::Before),
        }
    }

    /// Whether an instruction completes a step of the wave in focus.
    fn stepped(&mut self, code: &Code, goal: Goal, did: &Did) -> Option<Reason> {
        let mut began = self.began?;
        let focus = began.focus;
        if did.wave != focus.wave {
            return None;
        }
        if did.ended {
            let waits = matches!(goal, Goal::Instructions(_) | Goal::Line { .. } | Goal::Finish);
            return waits.then_some(Reason::WaveEnded { wave: did.wave });
        }
        if did.path != focus.path {
            return None;
        }
        // The path has become part of another one, or waits for it.
        let Some(to) = did.to else {
            let gone = matches!(goal, Goal::Instructions(_) | Goal::Line { .. } | Goal::Finish);
            return gone.then_some(Reason::Step);
        };
        let lane =
            if did.mask >> (focus.lane & 63) & 1 == 1 { focus.lane } else { did.mask.trailing_zeros() & 63 };
        let depth = self.depth(code, did.wave, lane, to);
        let done = match goal {
            Goal::Instructions(_) => {
                began.left -= 1;
                self.began = Some(began);
                began.left == 0
            }
            Goal::Line { over } => {
                let place = code.place(to);
                let other = place.is_some() && place != began.place && did.then != 0;
                // Without lines, a step is an instruction.
                let unknown = began.place.is_none() && place.is_none();
                (other || unknown) && !(over && depth > began.depth)
            }
            Goal::Finish => depth < began.depth,
            Goal::Continue | Goal::Barrier { .. } | Goal::Diverge { .. } | Goal::Launch | Goal::Step(_) => {
                false
            }
        };
        done.then_some(Reason::Step)
    }
}

/// Whether an instruction did what is waited for, whoever executed it.
fn happened(goal: Goal, did: &Did) -> Option<Reason> {
    match goal {
        Goal::Barrier { wave } if did.barrier && wave.is_none_or(|w| w == did.wave) => {
            Some(Reason::Barrier { wave: did.wave })
        }
        Goal::Diverge { lane } => {
            let (on, off) = did.parted()?;
            let concerned = lane.is_none_or(|l| l < 64 && did.active >> l & 1 == 1);
            concerned.then_some(Reason::Diverged { wave: did.wave, on, off })
        }
        Goal::Barrier { .. }
        | Goal::Continue
        | Goal::Instructions(_)
        | Goal::Line { .. }
        | Goal::Finish
        | Goal::Launch
        | Goal::Step(_) => None,
    }
}
