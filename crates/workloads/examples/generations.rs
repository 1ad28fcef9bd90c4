//! How fast code of each generation of GCN runs here, untimed, one thread: wave-instructions per second for each workload, and
//! against gfx803: `cargo run --release -p wb-workloads --example generations -- [SIZE] [ROUNDS]
//! [WORKLOAD,…]`.
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
    println!("{:15} {}", "M instr/s", MACHINES.map(|m| format!("{m:>18}")).concat());
    let mut logs = [0.0; MACHINES.len()];
    let all: Vec<&'static Workload> = wb_workloads::all().iter().filter(chosen).collect();
    for &w in &all {
        let mut best = [0f64; MACHINES.len()];
        // Rounds are interleaved, so that a busy moment of the computer does not hit one machine alone.
        for _ in 0..rounds {
            for (best, machine) in best.iter_mut().zip(MACHINES) {
                *best = best.max(rate(w, size, machine)?);
            }
        }
        let cells = best.iter().zip(&mut logs).map(|(rate, log)| {
            *log += (rate / best[0]).ln();
            format!("{rate:10.2} ({:5.2})", rate / best[0])
        });
        println!("{:15} {}", w.name, cells.collect::<String>());
    }
    let means = logs.map(|l| format!("{:10} ({:5.2})", "", (l / all.len() as f64).exp()));
    println!("{:15} {}", "geometric mean", means.concat());
    Ok(())
}

/// Millions of wave-instructions per second.
fn rate(w: &'static Workload, size: Size, preset: &str) -> Result<f64, Box<dyn Error>> {
    let machine = wb_hw::preset(preset)?.with_overrides(&[wb_hw::parse_set("cores=4")?])?;
    let (mut seconds, mut instructions) = (0.0, 0);
    while seconds < LEAST {
        let mut simulation = Simulation::new(w, size, machine.clone(), &Marks::None)?;
        while let Some(dispatch) = simulation.next_launch()? {
            let begin = computed();
            let options = RunOptions { timed: false, ..RunOptions::default() };
            instructions += simulation.run(&dispatch, options, None)?.wave_instructions;
            seconds += (computed() - begin).as_secs_f64();
        }
    }
    Ok(instructions as f64 / seconds / 1e6)
}
