//! Cycles of the suite on a lane-pc machine under every mechanism, and speed-ups over `simt-stack`:
//! `cargo run --release -p wb-workloads --example mechanisms -- [SIZE] [MACHINE] [MECHANISM,…]`.
//! Speeds are in time that the program computed, so that others on the computer change them little.

mod clock;

use clock::computed;
use std::error::Error;
use wb_hw::{InstructionSet, Mechanism};
use wb_sim::RunOptions;
use wb_workloads::{Marks, Simulation, Size};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let size = Size::parse(&args.next().unwrap_or_else(|| "tiny".into()))?;
    let preset = args.next().unwrap_or_else(|| "lanepc".into());
    let wanted = args.next().unwrap_or_default();
    let chosen = |m: &Mechanism| wanted.is_empty() || wanted.split(',').any(|w| w == m.name());
    let all: Vec<Mechanism> = Mechanism::of(InstructionSet::Riscv).filter(chosen).collect();
    let names: Vec<&str> = all.iter().map(|m| m.name()).collect();
    println!("{:15} {:>12} {}", "", "cycles", names.iter().map(|n| format!("{n:>12}")).collect::<String>());
    let mut logs = vec![0.0; all.len()];
    let mut seconds = vec![0.0; all.len()];
    let mut instructions = vec![0; all.len()];
    let mut rates = vec![0.0; all.len()];
    for w in wb_workloads::all() {
        let mut line = format!("{:15}", w.name);
        let mut base = 0;
        for (i, mechanism) in all.iter().enumerate() {
            let set = wb_hw::parse_set(&format!("divergence.mechanism={mechanism}"))?;
            let machine = wb_hw::preset(&preset)?.with_overrides(&[set])?;
            let mut simulation = Simulation::new(w, size, machine, &Marks::None)?;
            let begin = computed();
            let (mut cycles, mut issued) = (0, 0);
            while let Some(dispatch) = simulation.next_launch()? {
                let outcome = simulation.run(&dispatch, RunOptions::default(), None)?;
                cycles += outcome.cycles;
                issued += outcome.wave_instructions;
            }
            let took = (computed() - begin).as_secs_f64();
            seconds[i] += took;
            instructions[i] += issued;
            rates[i] += (issued as f64 / took / 1e6).ln();
            if i == 0 {
                base = cycles;
                line += &format!(" {cycles:12} ");
            }
            let gain = base as f64 / cycles as f64;
            logs[i] += gain.ln();
            line += &format!("{gain:12.3}");
        }
        println!("{line}");
    }
    let means = logs.iter().map(|l| format!("{:12.3}", (l / wb_workloads::all().len() as f64).exp()));
    println!("{:15} {:12} {}", "geometric mean", "", means.collect::<String>());
    println!(
        "{:15} {:12} {}",
        "seconds",
        "",
        seconds.iter().map(|s| format!("{s:12.1}")).collect::<String>()
    );
    let all_rates = instructions.iter().zip(&seconds).map(|(&n, s)| format!("{:12.2}", n as f64 / s / 1e6));
    println!("{:15} {:12} {}", "M instr/s", "", all_rates.collect::<String>());
    // Of all instructions a few workloads have most.
    let means = rates.iter().map(|l| format!("{:12.2}", (l / wb_workloads::all().len() as f64).exp()));
    println!("{:15} {:12} {}", "  mean", "", means.collect::<String>());
    Ok(())
}
