//! Rates of timed runs: rates SIZE MACHINE[:MECHANISM] ROUNDS WORKLOAD,…

use std::time::Instant;
use std::error::Error;
use wb_sim::RunOptions;
use wb_workloads::{Marks, Simulation, Size};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let size = Size::parse(&args[0])?;
    let (preset, mechanism) = args[1].split_once(':').unwrap_or((&args[1], ""));
    let rounds: u32 = args[2].parse()?;
    let mut sets = Vec::new();
    if !mechanism.is_empty() {
        sets.push(wb_hw::parse_set(&format!("divergence.mechanism={mechanism}"))?);
    }
    let timed = std::env::var("UNTIMED").is_err();
    let (mut sum, mut n) = (0.0, 0);
    for w in wb_workloads::all().iter().filter(|w| args[3] == "all" || args[3].split(',').any(|a| a == w.name)) {
        let mut best = f64::MAX;
        let (mut cycles, mut issued) = (0, 0);
        for _ in 0..rounds {
            let machine = wb_hw::preset(preset)?.with_overrides(&sets)?;
            let mut simulation = Simulation::new(w, size, machine, &Marks::None)?;
            (cycles, issued) = (0, 0);
            let mut took = 0.0;
            while let Some(dispatch) = simulation.next_launch()? {
                let begin = Instant::now();
                let outcome = simulation.run(&dispatch, RunOptions { timed, ..RunOptions::default() }, None)?;
                took += begin.elapsed().as_secs_f64();
                cycles += outcome.cycles;
                issued += outcome.wave_instructions;
            }
            best = f64::min(best, took);
        }
        let rate = issued as f64 / best / 1e6;
        println!("{:15} {cycles:12} cycles {issued:10} instructions {rate:8.2} M/s", w.name);
        sum += rate.ln();
        n += 1;
    }
    println!("mean {:.2}", (sum / n as f64).exp());
    Ok(())
}
