//! Travels in time: wherever a run was, and whichever way it went there, its state is the one of stepping there from the beginning.
//! Random kernels under every splitting mechanism, and programs of every instruction set.

use super::common::every_isa;
use wb_debug::{Engine, Front, Go, Goal, Reason, Target, View};
use wb_jobs::Job;
use wb_sim::RunOptions;
use wb_testgen::random::gcn3;

/// Steps whose states are compared.
const STEPS: u64 = 300;

const ZEROS: [u8; 4096] = [0; 4096];

fn mix(hash: &mut u64, value: u64) {
    *hash = (*hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
}

/// Everything that can be seen of a run, in one number.
fn state(view: &View) -> u64 {
    let mut hash = 0;
    mix(&mut hash, view.now.executed());
    if let Some((wave, path)) = view.now.current() {
        mix(&mut hash, u64::from(wave) << 8 | path as u64);
    }
    for w in view.now.waves() {
        for value in
            [u64::from(w.wave), u64::from(w.group), w.live, w.issued, w.depth as u64, u64::from(w.at_barrier)]
        {
            mix(&mut hash, value);
        }
        for p in view.now.paths(w.wave) {
            for value in [p.path as u64, u64::from(p.pc), u64::from(p.from), p.mask, p.active] {
                mix(&mut hash, value);
            }
            for lane in 0..view.code().lanes {
                for (_, value) in view.now.registers(w.wave, p.path, lane) {
                    mix(&mut hash, value);
                }
            }
        }
    }
    // Most of memory is untouched.
    for (i, chunk) in view.now.memory().all().chunks(4096).enumerate() {
        if *chunk != ZEROS[..chunk.len()] {
            mix(&mut hash, i as u64);
            for word in chunk.chunks(8) {
                mix(&mut hash, word.iter().fold(0, |w, b| w << 8 | u64::from(*b)));
            }
        }
    }
    for byte in view.now.printed() {
        mix(&mut hash, byte.into());
    }
    hash
}

/// What was seen at a step: the state, whose instruction came next, and its pc.
struct Seen {
    state: u64,
    next: Option<(u32, u32)>,
}

/// Walks through the first steps one by one, then jumps about and compares.
struct Walker {
    seen: Vec<Seen>,
    recording: bool,
    jumps: u64,
    random: u64,
    /// Where the last jump must have led, if that is known exactly.
    expected: Option<u64>,
    /// The end of the run: instructions and memory.
    end: Option<(u64, Vec<u8>)>,
    compared: u64,
}

impl Walker {
    fn number(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) % below.max(1)
    }

    fn jump(&mut self, view: &View) -> Go {
        let at = view.now.executed();
        let known = self.seen.len() as u64;
        let wave = view.focus.wave;
        // Steps before now at which the wave in focus executed.
        let own: Vec<u64> =
            (0..at.min(known)).filter(|s| self.seen[*s as usize].next.is_some_and(|n| n.0 == wave)).collect();
        match self.number(4) {
            0 if at < known && !own.is_empty() => {
                let count = 1 + self.number(own.len() as u64);
                self.expected = Some(own[own.len() - count as usize]);
                Go::Back(Goal::Instructions(count))
            }
            1 => {
                let to = self.number(at + 1).min(known - 1);
                self.expected = Some(to);
                Go::Back(Goal::Step(to))
            }
            _ => {
                let to = self.number(known);
                self.expected = Some(to);
                Go::Forward(Goal::Step(to))
            }
        }
    }
}

impl Front for Walker {
    fn stopped(&mut self, view: &mut View) -> Go {
        let at = view.now.executed();
        let over = matches!(view.reason, Reason::Ended | Reason::Failed(_));
        if self.recording {
            let next = view.now.current().filter(|_| !over);
            let next = next.and_then(|(w, p)| Some((w, view.now.path(w, p)?.pc)));
            assert_eq!(at, self.seen.len() as u64, "steps are told one by one");
            self.seen.push(Seen { state: state(view), next });
            if over {
                self.end = Some((at, view.now.memory().all().to_vec()));
            } else if at < STEPS {
                return Go::Forward(Goal::Step(at + 1));
            }
            self.recording = false;
        } else if self.end.is_none() && over {
            self.end = Some((at, view.now.memory().all().to_vec()));
        } else {
            assert_eq!(Some(at), self.expected.or(Some(at)), "a jump leads where it should");
            assert_eq!(state(view), self.seen[at as usize].state, "the state at step {at}");
            self.compared += 1;
        }
        if self.compared >= self.jumps {
            return match self.end {
                Some(_) => Go::Quit,
                None => Go::Forward(Goal::Continue),
            };
        }
        self.jump(view)
    }

    fn poll(&mut self, _view: &mut View) -> bool {
        false
    }

    fn printed(&mut self, _text: &str) {}
}

/// Walks, and compares the end with that of a plain run.
fn walk(job: Job, jumps: u64, random: u64) -> Walker {
    let plain = job.run(RunOptions { timed: false, ..RunOptions::default() }, None).expect("runs");
    let mut walker =
        Walker { seen: Vec::new(), recording: true, jumps, random, expected: None, end: None, compared: 0 };
    Target::Job(Box::new(job)).debug(&mut Engine::new(&mut walker, true)).expect("runs");
    let (instructions, memory) = walker.end.take().expect("it has come to its end");
    assert_eq!(instructions, plain.wave_instructions);
    assert!(memory == plain.memory.all(), "memory is that of a plain run");
    assert_eq!(walker.compared, jumps);
    walker
}

#[test]
fn random_kernels_under_every_mechanism() {
    let cases = std::env::var("WAVEBOUND_DEBUG_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    let mut split = 0;
    for case in 0..cases {
        let number = case * (gcn3::Setup::COUNT / cases.max(1)).max(1) + case;
        let setup = gcn3::Setup::number(number);
        let numbers: Vec<u16> =
            (0..200u64).map(|i| (wb_testgen::random::mix(number << 16 ^ i)) as u16).collect();
        let Ok(job) = gcn3::job(&gcn3::generate(&numbers), &setup, 0) else { continue };
        let walker = walk(job, 8, number);
        let differ = walker.seen.windows(2).filter(|w| w[0].state != w[1].state).count();
        assert_eq!(differ + 1, walker.seen.len(), "every step changes the state");
        split += u64::from(walker.seen.len() as u64 > 50);
    }
    assert!(split * 2 > cases, "only {split} of {cases} kernels were long enough");
}

#[test]
fn programs_of_every_instruction_set() {
    for (_, job) in every_isa() {
        walk(job, 12, 5);
    }
}
