//! Convergence barriers (mechanisms 17, after what is published of Volta): a branch makes a barrier of its lanes at its immediate
//! post-dominator, where they wait for each other or for those that have ended. One path of a wave runs at a time; it yields where it
//! waits or ends, and after a number of backward branches (`divergence.quantum`), so that paths that spin do not keep others from running
//! (design choice: NVIDIA says that threads make progress, not how).

use super::forking::Rules;
use super::forks::Forks;
use super::mechanism::Standing;
use wb_hw::{Machine, Mechanism};

#[derive(Debug)]
pub(super) struct ConvBarrier {
    quantum: u32,
    /// The path that runs, and how often it has gone round since it does.
    runs: usize,
    rounds: u32,
}

impl ConvBarrier {
    pub fn new(machine: &Machine) -> ConvBarrier {
        ConvBarrier { quantum: machine.divergence.quantum, runs: 0, rounds: 0 }
    }
}

impl Rules for ConvBarrier {
    fn mechanism(&self) -> Mechanism {
        Mechanism::ConvBarrier
    }

    fn holds(&self) -> bool {
        true
    }

    fn went_round(&mut self, id: usize) {
        if id == self.runs {
            self.rounds += 1;
        }
    }

    fn held(&mut self, _forks: &Forks, paths: &[Standing]) -> u64 {
        let stays = paths.iter().any(|p| p.id == self.runs) && self.rounds < self.quantum;
        if !stays {
            // The next one by number, so that everybody has a turn.
            let later = paths.iter().find(|p| p.id > self.runs).or(paths.first());
            (self.runs, self.rounds) = (later.map_or(0, |p| p.id), 0);
        }
        paths.iter().filter(|p| p.id != self.runs).fold(0, |m, p| m | 1 << p.id)
    }
}
