//! Wavebound tells how long a GPU kernel takes in the worst case, and makes that worst case shorter. This crate is
//! Wavebound as a library; the command `wavebound` is built on it and uses nothing that you cannot.
//!
//! Load a [`Program`], describe a [`Machine`], prepare a [`Launch`], and then run it, watch it, draw it or bound it:
//!
//! ```
//! use wavebound::{BoundOptions, InstructionSet, Program, RunOptions, bound_jobs, machine, read};
//!
//! # fn main() -> Result<(), wavebound::Error> {
//! // Every work-item stores its number times three.
//! let program = Program::from_source(
//!     InstructionSet::Gcn3,
//!     "triple.s",
//!     ".kernel triple
//!      .arg buf x
//!        s_load_dwordx2 s[4:5], s[0:1], 0x0
//!        v_lshlrev_b32 v1, 2, v0
//!        v_mul_u32_u24 v4, 3, v0
//!        s_waitcnt lgkmcnt(0)
//!        v_mov_b32 v3, s5
//!        v_add_u32 v2, vcc, s4, v1
//!        v_addc_u32 v3, vcc, 0, v3, vcc
//!        flat_store_dword v[2:3], v4
//!        s_endpgm
//!     ",
//! );
//! let job = program.launch("triple").machine(machine("gcn3")?).threads(64, 64).buffer(&[0u32; 64]).prepare()?;
//!
//! let outcome = job.run(RunOptions::default(), None)?;
//! assert_eq!(read::<u32>(&job, &outcome, "x")?[..4], [0, 3, 6, 9]);
//!
//! let bounds = bound_jobs(vec![job], &BoundOptions::default())?;
//! assert!(bounds[0].bound >= outcome.cycles);
//! # Ok(())
//! # }
//! ```
//!
//! The `examples/` folder has complete programs: run a kernel, compare mechanisms, write an observer, schedule with a policy
//! of your own, hold a kernel to a deadline.
//!
//! # What is behind it
//!
//! The types above cover most uses. The modules below are the rooms of the house, for everything else: machine descriptions
//! ([`hw`]), instruction sets ([`isa`]), object files ([`objects`]), programs and their graphs ([`program`]), flow facts and
//! proofs ([`facts`]), the simulator ([`sim`]), events and traces ([`trace`]), devices ([`device`]), jobs and launch files
//! ([`jobs`]), the benchmark suite ([`workloads`]), the analyser ([`wcet`]), bounds end to end ([`bound`]), certificates
//! ([`check`]), schedules ([`schedule`]), pictures and pages ([`report`]), sweeps over many points ([`sweep`]), checks of
//! running programs ([`sanitize`]), the debugger ([`debug`]), the viewer of traces ([`view`]), traces in the formats of other
//! tools ([`export`]), and files of users ([`files`]).

#![warn(missing_docs)]

mod element;
mod error;
mod launch;
mod program_file;

pub use element::Number;
pub use error::Error;
pub use launch::Launch;
pub use program_file::Program;

pub use wb_bound as bound;
pub use wb_check as check;
pub use wb_debug as debug;
pub use wb_device as device;
pub use wb_export as export;
pub use wb_facts as facts;
pub use wb_files as files;
pub use wb_hw as hw;
pub use wb_isa as isa;
pub use wb_jobs as jobs;
pub use wb_objects as objects;
pub use wb_program as program;
pub use wb_report as report;
pub use wb_sanitize as sanitize;
pub use wb_schedule as schedule;
pub use wb_sim as sim;
pub use wb_sweep as sweep;
pub use wb_trace as trace;
pub use wb_view as view;
pub use wb_wcet as wcet;
pub use wb_workloads as workloads;

pub use bound::{KernelBound, Options as BoundOptions};
pub use hw::{InstructionSet, Machine, MarkStyle, Mechanism, Policy};
pub use jobs::Job;
pub use sim::sched::{Policy as IssuePolicy, View as IssueView};
pub use sim::{Outcome, RunOptions};
pub use trace::{Event, Kind as EventKind, Observer, Observers, Statistics};

use std::path::Path;

/// A machine: the name of a preset (`wavebound machines list`) or a machine file.
pub fn machine(name: &str) -> Result<Machine, Error> {
    Ok(hw::load(name)?)
}

/// The numbers in a buffer after a run: the buffer of a parameter by its name, or `arg0` for the first.
pub fn read<T: Number>(job: &Job, outcome: &Outcome, buffer: &str) -> Result<Vec<T>, Error> {
    let buffer = job.find_buffer(buffer)?;
    let bytes = outcome.memory.read(buffer.addr, buffer.bytes).map_err(jobs::JobError::from)?;
    Ok(element::numbers(bytes))
}

/// Bounds the kernels of these jobs, each a launch with other inputs: how long they can take in the worst case, with what
/// that rests on.
pub fn bound_jobs(jobs: Vec<Job>, options: &BoundOptions) -> Result<Vec<KernelBound>, Error> {
    let runs = bound::Runs::Jobs(jobs);
    Ok(bound::hybrid(&runs, options, bound::TraceFiles::default(), &mut |_, _| ())?)
}

/// Runs a job and draws which lanes were on in which cycle, as PNG or SVG by the name of the file.
pub fn draw(job: &Job, path: impl AsRef<Path>) -> Result<Outcome, Error> {
    let mut history = report::History::new();
    let outcome = job.run(RunOptions::default(), Some(&mut history))?;
    report::draw(&history, &report::PictureOptions::default(), path.as_ref())?;
    Ok(outcome)
}
