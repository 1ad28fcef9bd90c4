//! What more threads of the host gain: launches of the suite on one of them and on several, in seconds, untimed or timed:
//! `cargo run --release -p wb-workloads --example threads -- [THREADS] [SIZE] [CORES] [WORKLOAD,…]`.
//! CORES is the number of simulated cores of a timed run, 0 of an untimed one. Only launches count, not inputs and references. Times are
//! those of a clock on the wall, so nothing else should run; the best of five rounds is taken.

use std::error::Error;
use std::num::NonZero;
use std::time::Instant;
use wb_sim::RunOptions;
use wb_workloads::{Marks, Simulation, Size, Workload};

const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let threads: NonZero<usize> =
        args.next().map_or(NonZero::new(2).ok_or("two"), |n| n.parse().map_err(|_| "THREADS is a number"))?;
    let size = Size::parse(&args.next().unwrap_or_else(|| "medium".into()))?;
    let cores: u32 = args.next().map_or(Ok(0), |n| n.parse())?;
    let wanted = args.next().unwrap_or_default();
    let chosen = |w: &&'static Workload| wanted.is_empty() || wanted.split(',').any(|name| name == w.name);
    println!("{:15} {:>10} {:>10} {:>6}", "seconds", 1, threads, "");
    let (mut log, mut count) = (0.0, 0);
    for w in wb_workloads::all().iter().filter(chosen) {
        let mut best = [f64::MAX; 2];
        for _ in 0..ROUNDS {
            for (best, threads) in best.iter_mut().zip([NonZero::<usize>::MIN, threads]) {
                *best = best.min(seconds(w, size, cores, threads)?);
            }
        }
        let gain = best[0] / best[1];
        (log, count) = (log + gain.ln(), count + 1);
        println!("{:15} {:10.4} {:10.4} {gain:6.2}", w.name, best[0], best[1]);
    }
    println!("{:15} {:21} {:6.2}", "geometric mean", "", (log / f64::from(count.max(1))).exp());
    Ok(())
}

fn seconds(
    w: &'static Workload,
    size: Size,
    cores: u32,
    threads: NonZero<usize>,
) -> Result<f64, Box<dyn Error>> {
    let timed = cores > 0;
    let set = wb_hw::parse_set(&format!("cores={}", cores.max(4)))?;
    let machine = wb_hw::preset("gcn3")?.with_overrides(&[set])?;
    let mut simulation = Simulation::new(w, size, machine, &Marks::None)?;
    let mut seconds = 0.0;
    while let Some(dispatch) = simulation.next_launch()? {
        let begin = Instant::now();
        simulation.run(
            &dispatch,
            RunOptions { timed, threads: threads.get(), ..RunOptions::default() },
            None,
        )?;
        seconds += begin.elapsed().as_secs_f64();
    }
    Ok(seconds)
}
