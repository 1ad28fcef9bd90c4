//! What a front end knows of a program that stays in its instruction cache once it is there: where an instruction leads, and which lines
//! have been found there. Then nobody has to ask the cache again.

use std::sync::Arc;
use wb_isa::{NO_PC, Pc};

/// Where the instruction after each pc is, and the line of the pc, counted from the first one of the program.
#[derive(Clone, Copy, Debug)]
struct Spot {
    next: Pc,
    line: u32,
}

#[derive(Clone, Debug)]
pub struct Code {
    spots: Arc<[Spot]>,
    /// By line, whether an instruction of it that is requested now is through the cache as soon as any can be. A line that was, is.
    at_hand: Vec<bool>,
    /// By pc, whether as many instructions from it on as a queue has room for were found at hand.
    sure: Vec<bool>,
}

impl Code {
    /// `next`: by pc, the next one in program order; `line`: the line of the cache that has it.
    pub fn new(next: &[Pc], line: impl Fn(Pc) -> u64) -> Code {
        let first = if next.is_empty() { 0 } else { line(0) };
        let spot = |(pc, &next): (usize, &Pc)| Spot { next, line: (line(pc as Pc) - first) as u32 };
        let spots: Arc<[Spot]> = next.iter().enumerate().map(spot).collect();
        let lines = spots.last().map_or(0, |last| last.line as usize + 1);
        let sure = vec![false; spots.len()];
        Code { spots, at_hand: vec![false; lines], sure }
    }

    /// The pc that is requested after `pc`.
    #[inline(always)]
    pub fn next(&self, pc: Pc) -> Pc {
        self.spots.get(pc as usize).map_or(NO_PC, |spot| spot.next)
    }

    /// The line of `pc` was found at hand.
    #[inline(always)]
    pub fn found(&mut self, pc: Pc) {
        if let Some(spot) = self.spots.get(pc as usize)
            && let Some(at_hand) = self.at_hand.get_mut(spot.line as usize)
        {
            *at_hand = true;
        }
    }

    /// The pc that is requested after `pc`, if `pc` is at hand.
    #[inline(always)]
    pub fn next_at_hand(&self, pc: Pc) -> Option<Pc> {
        let spot = self.spots.get(pc as usize)?;
        let at_hand = *self.at_hand.get(spot.line as usize)?;
        at_hand.then_some(spot.next)
    }

    /// Whether the next `count` instructions from `pc` on are at hand, or as many as there are. `most`: the largest count that is asked for.
    #[inline(always)]
    pub fn are_at_hand(&mut self, pc: Pc, count: u32, most: u32) -> bool {
        self.sure.get(pc as usize).is_some_and(|sure| *sure) || self.find(pc, count, most)
    }

    #[inline(never)]
    fn find(&mut self, pc: Pc, count: u32, most: u32) -> bool {
        let mut at = pc;
        for number in 0..most {
            if at == NO_PC {
                break;
            }
            match self.next_at_hand(at) {
                Some(next) => at = next,
                None => return number >= count,
            }
        }
        if let Some(sure) = self.sure.get_mut(pc as usize) {
            *sure = true;
        }
        true
    }
}
