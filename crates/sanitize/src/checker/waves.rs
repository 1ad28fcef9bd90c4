//! Waves, barriers, and what an instruction does to registers.

use super::{Checker, Start, Wave, origin, source};
use crate::kind::Kind;
use crate::order::{Clocks, Group, join};
use crate::report::{Other, Who};
use crate::shadow::Stamp;
use wb_isa::Mask;
use wb_isa::marks::{Found, Marks, Origin};

impl Checker {
    pub fn start(&mut self, start: Start) {
        let number = self.first_wave + start.wave;
        self.next_wave = self.next_wave.max(number + 1);
        let n = start.wave as usize;
        if n >= self.who.len() {
            self.who.resize(n + 1, (0, 0));
        }
        self.who[n] = (start.group, start.index);
        let fresh = !self.groups.contains_key(&start.group);
        if fresh && !start.local.is_empty() {
            self.shadow.define(start.local.start, start.local.end - start.local.start, false);
            self.shadow.forget(start.local.start, start.local.end - start.local.start);
        }
        if !start.private.is_empty() {
            self.shadow.define(start.private.start, start.private.end - start.private.start, false);
        }
        let group =
            self.groups.entry(start.group).or_insert_with(|| Group { first: number, ..Group::default() });
        let index = number.saturating_sub(group.first) as usize;
        group.start(index);
        if start.slot >= self.waves.len() {
            self.waves.resize_with(start.slot + 1, || None);
        }
        self.waves[start.slot] = Some(Box::new(Wave {
            number,
            group: start.group,
            index,
            local: start.local,
            private: start.private,
            marks: start.marks,
            learnt: Clocks::new(),
            pending: Clocks::new(),
        }));
    }

    /// Origin of what registers hold when a wave starts.
    pub fn from_registers(&self, pc: u32) -> Origin {
        origin(source::REGISTER, self.place_id(pc))
    }

    pub fn end(&mut self, slot: usize) {
        let Some(wave) = self.waves.get_mut(slot).and_then(Option::take) else { return };
        let Some(group) = self.groups.get_mut(&wave.group) else { return };
        group.ended[wave.index] = true;
        // Others wait for it at a barrier that it will never reach.
        let waiting = group.waits.iter().copied().find(|place| *place != 0);
        if let Some(place) = waiting {
            let who = Who { lane: 0, ..self.who(Stamp::new(wave.number, 0, 0, false)) };
            let message = "a wave of the group ends without reaching this barrier".to_owned();
            self.report(Kind::BarrierDivergence, place, (1, None), message, who, |_| None);
        }
        if self.groups.get(&wave.group).is_some_and(|group| group.ended.iter().all(|ended| *ended)) {
            self.groups.remove(&wave.group);
        }
    }

    /// A wave arrives at a barrier with some of its lanes.
    pub fn arrives(&mut self, slot: usize, pc: u32, active: Mask, live: Mask) {
        (self.slot, self.pc) = (slot, pc);
        let place = self.place_id(pc);
        if active & live != live {
            let lane = Marks::first(live & !active);
            let message = format!(
                "{} of {} work-items of the wave do not reach the barrier",
                (live & !active).count_ones(),
                live.count_ones()
            );
            let who = self.now(lane);
            self.report(Kind::BarrierDivergence, place, (0, None), message, who, |_| None);
        }
        let Some(wave) = self.waves.get(slot).and_then(Option::as_ref) else { return };
        let Some(group) = self.groups.get_mut(&wave.group) else { return };
        let (index, number) = (wave.index, wave.group);
        let different = group.waits.iter().copied().find(|other| *other != 0 && *other != place);
        let early = group.ended.iter().any(|ended| *ended);
        group.waits[index] = place;
        if let Some(other) = different {
            let who = self.now(0);
            let message = "waves of one group wait at different barriers".to_owned();
            self.report(Kind::BarrierDivergence, place, (other, None), message, who, |c| {
                Some(Other { what: "the other barrier".to_owned(), place: c.place(other), who: None })
            });
        }
        if early {
            let who = self.now(0);
            let message = format!("a wave of group {number} has ended without reaching this barrier");
            self.report(Kind::BarrierDivergence, place, (1, None), message, who, |_| None);
        }
    }

    /// The group of the wave in this slot goes on behind its barrier.
    pub fn released(&mut self, slot: usize) {
        let Some(wave) = self.waves.get(slot).and_then(Option::as_ref) else { return };
        let number = wave.group;
        let mut learnt = Clocks::new();
        for wave in self.waves.iter().flatten().filter(|w| w.group == number) {
            join(&mut learnt, &wave.learnt);
        }
        if let Some(group) = self.groups.get_mut(&number) {
            join(&mut group.learnt, &learnt);
            group.meet();
        }
    }

    /// The instruction at `pc` of the wave in `slot` runs next. Its marks.
    #[inline]
    pub fn begins(&mut self, slot: usize, pc: u32) -> Option<&mut Marks> {
        (self.slot, self.pc) = (slot, pc);
        self.rows.clear();
        self.singles.clear();
        self.waves.get_mut(slot)?.as_mut().map(|wave| &mut wave.marks)
    }

    /// The instruction runs once more, without a lane: what it accessed does not count.
    pub fn again(&mut self) {
        self.rows.clear();
        self.singles.clear();
    }

    /// What a lane that is off gives, from here.
    pub fn lane_off_at(&self, pc: u32) -> Origin {
        origin(source::LANE_OFF, self.place_id(pc))
    }

    /// What following the instruction has found.
    pub fn found(&mut self) {
        let Some(Some(wave)) = self.waves.get_mut(self.slot) else { return };
        let found = std::mem::take(&mut wave.marks.found);
        let place = self.place_id(self.pc);
        let library = self.code().library.get(self.pc as usize).copied().unwrap_or(false);
        for one in found {
            match one {
                Found::LaneOff { .. } | Found::Divergent { .. } if library => {}
                Found::Branch { lanes, origin } => self.undefined(lanes, origin, "a branch"),
                Found::Address { lanes, origin } => self.undefined(lanes, origin, "an address"),
                Found::LaneOff { lane, other } => {
                    let message = format!("the value of lane {other}, which is off, is read");
                    let who = self.now(lane);
                    self.report(Kind::InactiveLane, place, (0, None), message, who, |_| None);
                }
                Found::Divergent { lane, other } => {
                    let message =
                        format!("lanes {lane} and {other} disagree about the value that is taken for all");
                    let who = self.now(lane);
                    self.report(Kind::DivergentReadfirstlane, place, (0, None), message, who, |_| None);
                }
                Found::Division { lanes } => {
                    let message = "an integer is divided by zero".to_owned();
                    let who = self.now(Marks::first(lanes));
                    self.report(Kind::DivisionByZero, place, (0, None), message, who, |_| None);
                }
            }
        }
    }

    fn undefined(&mut self, lanes: Mask, from: Origin, what: &str) {
        let place = self.place_id(self.pc);
        let who = self.now(Marks::first(lanes));
        self.depends(place, from, None, what, who);
    }

    /// A fault of local or private memory, which the instruction set found.
    pub fn fault(&mut self, slot: usize, (pc, lane): (u32, u32), what: &str) {
        (self.slot, self.pc) = (slot, pc);
        let who = self.now(lane);
        self.report(Kind::OutOfBounds, self.place_id(pc), (0, None), what.to_owned(), who, |_| None);
    }
}
