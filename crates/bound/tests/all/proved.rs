//! Proved bounds: the model of a wave alone is the machine, cycle for cycle, and no run of random kernels on random machines takes
//! longer than was proved.

use std::collections::BTreeMap;
use wb_bound::proved::prove_launch;
use wb_bound::{Launched, Options};
use wb_isa::{Isa, Pc};
use wb_jobs::{AnyProgram, Job};
use wb_proved::{Access, Caches, Charges, Hardware, Local, Memory, Pipeline};
use wb_sim::RunOptions;
use wb_testgen::parallel::in_parallel;
use wb_testgen::random::times::{Style, times_job};
use wb_trace::{Event, Kind, Observer};

/// The instructions of a run with one wave, in order.
#[derive(Default)]
struct Path(Vec<Pc>);

impl Observer for Path {
    fn events(&mut self, events: &[Event]) {
        self.0.extend(events.iter().filter(|e| matches!(e.kind, Kind::Issue { .. })).map(|e| e.pc));
    }
}

/// What `Style::Plain` touches.
fn plain_accesses(job: &Job) -> BTreeMap<Pc, Access> {
    let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
    let mut found = BTreeMap::new();
    for (pc, op) in program.ops.iter().enumerate() {
        let class = program.isa.classes()[usize::from(op.class)];
        let local = match class {
            "lds" => Local::Always,
            "smem" | "flat" => Local::Never,
            _ => continue,
        };
        let text = program.text_at(pc as Pc);
        let stores = text.contains("store") || text.contains("atomic");
        found.insert(pc as Pc, Access { lines: 64, passes: 2, local, loads: !stores, stores, range: None });
    }
    found
}

#[test]
fn a_wave_alone_takes_what_the_model_says() {
    in_parallel(1500, |case| {
        let job = times_job(case, 0, Style::Plain)?;
        let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
        let Ok(hardware) = Hardware::new(&job.machine, program.isa.classes()) else { return Ok(()) };
        let accesses = plain_accesses(&job);
        let caches = Caches::new(program, &hardware, &accesses, &Memory::default());
        let charges = Charges::new(program, &hardware, &accesses, &caches, &|_| false).expect("charges");
        let mut path = Path::default();
        let cycles = job.run(RunOptions::default(), Some(&mut path)).expect("a run").cycles;
        let pipeline = Pipeline { program, hardware: &hardware, charges: &charges };
        let model = pipeline.time_of(&path.0);
        match model == cycles {
            true => Ok(()),
            false => Err(format!(
                "case {case}: {model} cycles, the machine takes {cycles}; {:?}",
                job.machine.frontend
            )),
        }
    });
}

/// A job as the proof sees it.
fn launched(job: &Job) -> Launched<'_> {
    Launched {
        kernel: job.program.borrow().kernel(),
        file: &job.file,
        program: job.program.borrow(),
        machine: &job.machine,
        launch: job.launch,
        kernarg: &job.kernarg,
        args: &job.args,
        number: 0,
        data: "",
        buffers: &[],
        touchable: job.memory().expect("memory").touchable(),
    }
}

#[test]
fn no_run_takes_longer_than_proved() {
    let ratios = std::sync::Mutex::new((0.0, 0, 0));
    in_parallel(1000, |case| {
        let job = times_job(case, 0, Style::Any)?;
        let found = match prove_launch(&launched(&job), &Options::default(), None) {
            Ok(found) => found.found,
            Err(_) => {
                ratios.lock().unwrap().2 += 1;
                return Ok(());
            }
        };
        for input in 0..2 {
            let job = times_job(case, input, Style::Any)?;
            let cycles = job.run(RunOptions::default(), None).expect("a run").cycles;
            if cycles > found.cycles {
                return Err(format!(
                    "case {case}, input {input}: {cycles} > {}, {:?}",
                    found.cycles, found.terms
                ));
            }
            let mut sum = ratios.lock().unwrap();
            sum.0 += found.cycles as f64 / cycles as f64;
            sum.1 += 1;
        }
        Ok(())
    });
    let (sum, count, refused) = ratios.into_inner().unwrap();
    println!("{count} runs, mean {:.3}, {refused} refused", sum / f64::from(count));
}
