//! How a kernel is scheduled (SWAS section VI): a job under a front end, a fetch policy and an issue policy, and what the
//! oracles counted over its kernel.

mod error;
mod plan;
mod predict;
mod sequence;

pub use error::ScheduleError;
pub use plan::{Plan, Slot};
pub use predict::{Difference, Prediction, planned, predict};

use serde::Serialize;
use wb_hw::{FrontEndKind, Machine, Policy};
use wb_jobs::Job;
use wb_report::{Timetable, Turn};
use wb_sim::{Causes, Decision, Outcome, RunOptions};

/// Front end and policies to try a job with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub frontend: FrontEndKind,
    /// Of a decoupled front end; others have none.
    pub fetch: Policy,
    pub issue: Policy,
}

impl Choice {
    pub fn of(machine: &Machine) -> Choice {
        Choice {
            frontend: machine.frontend.kind,
            fetch: machine.frontend.policy,
            issue: machine.issue.policy,
        }
    }

    /// The nine pairs of fetch and issue policies of SWAS figure 4, and the three coordinated schedulers.
    pub fn swas() -> Vec<Choice> {
        const THREE: [Policy; 3] =
            [Policy::GreedyThenRoundRobin, Policy::GreedyThenOldest, Policy::LooseRoundRobin];
        let pair = |fetch, issue| Choice { frontend: FrontEndKind::Decoupled, fetch, issue };
        let nine = THREE.iter().flat_map(|&fetch| THREE.map(|issue| pair(fetch, issue)));
        let three = THREE.map(|p| Choice { frontend: FrontEndKind::Coordinated, fetch: p, issue: p });
        nine.chain(three).collect()
    }

    pub fn apply(&self, machine: &Machine) -> Machine {
        let mut machine = machine.clone();
        machine.frontend.kind = self.frontend;
        machine.frontend.policy = self.fetch;
        machine.issue.policy = self.issue;
        machine
    }
}

/// Cycles by cause; see [`Causes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ByCause {
    pub total: u64,
    pub miss: u64,
    pub branch: u64,
    pub synchronisation: u64,
    pub shifted: u64,
}

impl From<&Causes> for ByCause {
    fn from(c: &Causes) -> ByCause {
        ByCause {
            total: c.total(),
            miss: c.miss,
            branch: c.branch,
            synchronisation: c.synchronisation,
            shifted: c.shifted,
        }
    }
}

/// The metrics of SWAS section VI-A5; the fields and their names are stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Measured {
    /// Cycles in which a wave was in the kernel, and its instructions.
    pub cycles: u64,
    pub committed: u64,
    /// Instructions committed by threads per cycle; at most the lanes of a wave.
    pub thread_ipc: f64,
    pub nops: u64,
    pub fetch_misses: u64,
    pub taken_branches: u64,
    /// Fetched behind taken branches and thrown away.
    pub discarded: u64,
    pub discrepancies: ByCause,
    pub errors: ByCause,
    /// Errors per cycle and scheduler.
    pub error_rate: f64,
    /// Cycles of the whole run, start-up code included.
    pub run_cycles: u64,
}

impl Measured {
    /// What the oracles saw of a run that was watched.
    pub fn of(outcome: &Outcome) -> Option<Measured> {
        let s = outcome.schedule.as_ref()?;
        Some(Measured {
            cycles: s.cycles,
            committed: s.committed,
            thread_ipc: s.thread_ipc(),
            nops: s.nops,
            fetch_misses: s.misses,
            taken_branches: s.taken_branches,
            discarded: s.discarded,
            discrepancies: ByCause::from(&s.discrepancies),
            errors: ByCause::from(&s.errors),
            error_rate: s.error_rate(),
            run_cycles: outcome.cycles,
        })
    }

    /// As lines of text.
    pub fn table(&self) -> String {
        let causes = |c: &ByCause| {
            format!(
                "{} (miss {}, branch {}, synchronisation {}, shifted {})",
                c.total, c.miss, c.branch, c.synchronisation, c.shifted
            )
        };
        let rows = [
            ("kernel cycles", self.cycles.to_string()),
            ("committed", self.committed.to_string()),
            ("thread IPC", format!("{:.2}", self.thread_ipc)),
            ("NOPs", self.nops.to_string()),
            ("fetch misses", self.fetch_misses.to_string()),
            ("taken branches", self.taken_branches.to_string()),
            ("fetched in vain", self.discarded.to_string()),
            ("discrepancies", causes(&self.discrepancies)),
            ("errors", causes(&self.errors)),
            ("error rate", format!("{:.2} %", 100.0 * self.error_rate)),
        ];
        rows.iter().map(|(name, value)| format!("{name:<18} {value}\n")).collect()
    }
}

/// Runs `job` with `choice` and compares its scheduler with the oracles, over the kernel `kernel` (empty: see
/// [`Job::kernel_pc`]).
pub fn measure(job: &Job, choice: &Choice, kernel: &str) -> Result<Measured, ScheduleError> {
    let machine = choice.apply(&job.machine);
    let options = RunOptions { watch: Some(job.kernel_pc(kernel)?), ..RunOptions::default() };
    let outcome = job.run_on(&machine, options, None)?;
    Measured::of(&outcome).ok_or_else(|| ScheduleError::Unwatched)
}

/// What the first scheduler of the first core decided, to be drawn.
pub fn timetable(decisions: &[Decision]) -> Timetable {
    let first: Vec<&Decision> = decisions.iter().filter(|d| d.core == 0 && d.scheduler == 0).collect();
    let rows = first.iter().flat_map(|d| [d.slot, d.wanted]).flatten().max().map_or(0, |slot| slot + 1);
    let turn = |d: &&Decision| {
        let bad =
            if d.error.is_some() { wb_report::Difference::Error } else { wb_report::Difference::Discrepancy };
        let missed = d.wanted.filter(|_| d.discrepancy.is_some() || d.error.is_some());
        Turn { cycle: d.cycle, row: d.slot, nop: d.nop, missed: missed.map(|slot| (slot, bad)) }
    };
    let several = decisions.iter().any(|d| d.core > 0 || d.scheduler > 0);
    Timetable {
        title: if several { "scheduler 0 of core 0" } else { "who issues, cycle by cycle" }.to_owned(),
        rows: (0..rows).map(|slot| format!("slot {slot}")).collect(),
        turns: first.iter().map(turn).collect(),
    }
}
