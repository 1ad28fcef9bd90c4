//! One program on one machine: what the interpreter says must be what the untimed and the timed run leave
//! in memory, byte for byte, with the mask invariants asserted after every instruction.

use super::interpret::{interpret, table};
use super::setup::Case;
use super::{SLOT, TABLE};
use wb_hw::InstructionSet;
use wb_hw::{FrontEndKind, Machine};
use wb_isa::guppy::{self, Bindings, Guppy, View};
use wb_isa::{AsmError, NO_PC, SourceFile, harp};
use wb_program::{guppy_program, harp_program};
use wb_sim::{DeviceMemory, Launch, Outcome, RunOptions, Runnable};
use wb_trace::HashObserver;

/// Where GUPPY's table stands in memory; its results follow.
const TABLE_AT: u64 = 0x100;

/// How much to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thorough {
    /// Memory of both runs.
    No,
    /// Also: two observed timed runs, one that looks at every cycle and one unobserved agree in every cycle and event.
    Yes,
}

/// What a case that passed did.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    pub threads: u32,
    pub wave_instructions: u64,
    pub cycles: u64,
    /// Entries the divergence stack had at most.
    pub depth: usize,
}

/// What is wrong, with the source that shows it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub what: String,
    pub source: String,
}

struct Ready {
    program: Box<dyn Runnable>,
    machine: Machine,
    launch: Launch,
    /// Memory before the run, and as it must be after it.
    before: DeviceMemory,
    after: DeviceMemory,
}

/// Runs a case every way there is; an error describes the first difference.
pub fn check(case: &Case, thorough: Thorough) -> Result<Checked, Failure> {
    let source = case.source();
    check_source(case, &source, thorough).map_err(|what| Failure { what, source })
}

fn check_source(case: &Case, source: &str, thorough: Thorough) -> Result<Checked, String> {
    let ready = prepare(case, source)?;
    let untimed = ready.run(false, None)?;
    ready.compare(case, "untimed", &untimed)?;
    let timed = ready.run(true, None)?;
    ready.compare(case, "timed", &timed)?;
    if let Some(s) = timed.schedule.filter(|s| s.errors.total() > 0) {
        return Err(format!("the coordinated scheduler makes errors: {:?}", s.errors));
    }
    if timed.wave_instructions != untimed.wave_instructions
        || timed.lane_instructions != untimed.lane_instructions
    {
        return Err(format!(
            "instructions differ: untimed {} (lanes {}), timed {} (lanes {})",
            untimed.wave_instructions,
            untimed.lane_instructions,
            timed.wave_instructions,
            timed.lane_instructions
        ));
    }
    if thorough == Thorough::Yes {
        let mut hashes = [HashObserver::new(), HashObserver::new(), HashObserver::new()];
        for (i, hash) in hashes.iter_mut().enumerate() {
            let observed = if i == 2 { ready.run_every_cycle(hash)? } else { ready.run(true, Some(hash))? };
            if observed.cycles != timed.cycles {
                return Err(format!("{} cycles unobserved, {} observed", timed.cycles, observed.cycles));
            }
            if observed.memory.all() != timed.memory.all() {
                return Err("an observed run leaves other memory".into());
            }
        }
        let [first, second, every] = hashes.map(|h| h.hash());
        if first != second {
            return Err(format!("two equal runs have the event hashes {first:016x} and {second:016x}"));
        }
        if first != every {
            return Err(format!("events {first:016x}, but {every:016x} if every cycle is looked at"));
        }
    }
    Ok(Checked {
        threads: case.setup.threads(),
        wave_instructions: timed.wave_instructions,
        cycles: timed.cycles,
        depth: timed.max_stack_depth,
    })
}

impl Ready {
    fn coordinated(&self) -> bool {
        self.machine.frontend.kind == FrontEndKind::Coordinated
    }

    fn run(&self, timed: bool, hash: Option<&mut HashObserver>) -> Result<Outcome, String> {
        let watch = (timed && hash.is_none() && self.coordinated()).then_some(NO_PC);
        let options = RunOptions { timed, check: true, watch, ..RunOptions::default() };
        let observer = hash.map(|h| h as &mut dyn wb_trace::Observer);
        self.program
            .run(&self.machine, self.launch, self.before.clone(), options, observer)
            .map_err(|e| format!("the {} run fails: {e}", if timed { "timed" } else { "untimed" }))
    }

    /// The timed run without skipping what cannot change.
    fn run_every_cycle(&self, hash: &mut HashObserver) -> Result<Outcome, String> {
        let options = RunOptions { timed: true, check: true, every_cycle: true, ..RunOptions::default() };
        self.program
            .run(&self.machine, self.launch, self.before.clone(), options, Some(hash))
            .map_err(|e| format!("the run that looks at every cycle fails: {e}"))
    }

    fn compare(&self, case: &Case, which: &str, outcome: &Outcome) -> Result<(), String> {
        let (want, got) = (self.after.all(), outcome.memory.all());
        if want == got {
            return Ok(());
        }
        let bytes = case.setup.word().bytes as usize;
        let at = want.iter().zip(got).position(|(w, g)| w != g).unwrap_or(0) / bytes * bytes;
        let word = |m: &[u8]| m[at..at + bytes].iter().rev().fold(0u64, |w, &b| w << 8 | u64::from(b));
        let wrong = want.chunks(bytes).zip(got.chunks(bytes)).filter(|(w, g)| w != g).count();
        Err(format!(
            "{which} memory differs in {wrong} word(s), first at {at:#x}: expected {:#x}, got {:#x}{}",
            word(want),
            word(got),
            self.place(case, at as u64, bytes as u64),
        ))
    }

    fn place(&self, case: &Case, at: u64, bytes: u64) -> String {
        let end = TABLE_AT + TABLE as u64 * 4;
        if case.setup.target.isa() == InstructionSet::Guppy && at >= end {
            let word = (at - end) / bytes;
            return format!(" (thread {}, word {})", word / SLOT as u64, word % SLOT as u64);
        }
        String::new()
    }
}

fn prepare(case: &Case, source: &str) -> Result<Ready, String> {
    let machine = case.setup.machine();
    let launch = case.setup.launch();
    let file = SourceFile::new("random", source);
    let mut before = DeviceMemory::new(machine.limits.memory);
    let assembly = |errors: Vec<AsmError>| {
        let all: Vec<String> =
            errors.iter().map(|e| format!("line {}: {e}", file.line_column(e.span.offset()).0)).collect();
        format!("does not assemble: {}", all.join("; "))
    };
    let mut after = before.clone();
    let (program, out): (Box<dyn Runnable>, u64) = if case.setup.target.isa() == InstructionSet::Harp {
        let arch = machine.arch.parse()?;
        let image = harp::assemble_program(&file, &arch).map_err(assembly)?;
        let program = harp_program(&image, "random", None).map_err(|e| e.to_string())?;
        let out = program.symbols.iter().find(|s| s.0 == "out").ok_or("no label `out`")?.1;
        after.load(&program.segments, &program.text).map_err(|e| e.to_string())?;
        (Box::new(program), out)
    } else {
        let module = guppy::assemble(&file).map_err(assembly)?;
        let words: Vec<u8> =
            table(case.setup.word()).iter().flat_map(|&w| (w as u32).to_le_bytes()).collect();
        let out = TABLE_AT + words.len() as u64;
        let input = View::Buffer { base: TABLE_AT, bytes: words.len() as u64 };
        let slots = View::Buffer { base: out, bytes: u64::from(case.setup.threads()) * 4 * SLOT as u64 };
        let bindings = Bindings {
            t: vec![Some(input), Some(slots.clone())],
            u: vec![Some(slots)],
            ..Bindings::default()
        };
        before.write(TABLE_AT, &words).map_err(|e| e.to_string())?;
        after.write(TABLE_AT, &words).map_err(|e| e.to_string())?;
        let isa = Guppy::new(machine.core.registers, bindings);
        (Box::new(guppy_program(module, isa, "random", None).map_err(|e| e.to_string())?), out)
    };
    let (word, bytes) = (case.setup.word(), case.setup.word().bytes as usize);
    let input = table(word);
    let mut slots = Vec::new();
    for thread in 0..case.setup.threads() {
        for value in interpret(&case.ast, word, &input, thread.into()) {
            slots.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }
    after.write(out, &slots).map_err(|e| e.to_string())?;
    Ok(Ready { program, machine, launch, before, after })
}
