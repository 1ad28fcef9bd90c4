//! How fast code of each generation of GCN runs here, untimed, one thread: wave-instructions per second for each workload, these
//! against gfx803, and the speed of the whole workload against gfx803: later compilers need fewer instructions, each of which does more.
//! `cargo run --release -p wb-workloads --example generations -- [SIZE] [ROUNDS] [WORKLOAD,…]`.
//! Only launches count, not inputs and references. Times are those that the thread computed; the best of all rounds is taken.

mod clock;

use clock::computed;
use std::error::Error;
use wb_sim::RunOptions;
use wb_workloads::{Marks, Simulation, Size, Workload};

const MACHINES: [&str; 4] = ["gcn3", "vega", "mi200", "mi300"];

/// A workload runs again until its launches have taken that many seconds.
const LEAST: f64 = 0.2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let size = Size::parse(&args.next().unwrap_or_else(|| "medium".into()))?;
    let rounds: u32 = args.next().map_or(Ok(5), |n| n.parse())?;
    let wanted = args.next().unwrap_or_default();
    let chosen = |w: &&'static Workload| wanted.is_empty() || wanted.split(',').any(|name| name == w.name);
    println!("{:15} {}", "M instr/s", MACHINES.map(|m| format!("{m:>24}")).concat());
    let mut logs = [[0.0; 2]; MACHINES.len()];
    let all: Vec<&'static Workload> = wb_workloads::all().iter().filter(chosen).collect();
    for &w in &all {
        let mut best = [Speed::default(); MACHINES.len()];
        // Rounds are interleaved, so that a busy moment of the computer does not hit one machine alone.
        for _ in 0..rounds {
            for (best, machine) in best.iter_mut().zip(MACHINES) {
                let new = speed(w, size, machine)?;
                *best = if new.runs > best.runs { new } else { *best };
            }
        }
        let cells = best.iter().zip(&mut logs).map(|(speed, logs)| {
            let [instructions, runs] = [speed.instructions / best[0].instructions, speed.runs / best[0].runs];
            *logs = [logs[0] + instructions.ln(), logs[1] + runs.ln()];
            format!("{:10.2} ({instructions:5.2} {runs:5.2})", speed.instructions / 1e6)
        });
        println!("{:15} {}", w.name, cells.collect::<String>());
    }
    let means = logs.map(|logs| {
        let [instructions, runs] = logs.map(|l| (l / all.len() as f64).exp());
        format!("{:10} ({instructions:5.2} {runs:5.2})", "")
    });
    println!("{:15} {}", "geometric mean", means.concat());
    Ok(())
}

/// Wave-instructions and whole workloads per second.
#[derive(Clone, Copy, Default)]
struct Speed {
    instructions: f64,
    runs: f64,
}

fn speed(w: &'static Workload, size: Size, preset: &str) -> Result<Speed, Box<dyn Error>> {
    let machine = wb_hw::preset(preset)?.with_overrides(&[wb_hw::parse_set("cores=4")?])?;
    let (mut seconds, mut instructions, mut runs) = (0.0, 0, 0);
    while seconds < LEAST {
        let mut simulation = Simulation::new(w, size, machine.clone(), &Marks::None)?;
        while let Some(dispatch) = simulation.next_launch()? {
            let begin = computed();
            let options = RunOptions { timed: false, ..RunOptions::default() };
            instructions += simulation.run(&dispatch, options, None)?.wave_instructions;
            seconds += (computed() - begin).as_secs_f64();
        }
        runs += 1;
    }
    Ok(Speed { instructions: instructions as f64 / seconds, runs: f64::from(runs) / seconds })
}
