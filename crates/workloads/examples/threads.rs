//! What more threads of the host gain: launches of the suite on one of them and on several, in seconds, untimed or timed:
//! `cargo run --release -p wb-workloads --example threads -- [THREADS] [SIZE] [CORES] [WORKLOAD,…]`.
//! CORES is the number of simulated cores of a timed run, 0 of an untimed one. Only launches count, not inputs and references. Times are
//! those of a clock on the wall, so nothing else should run; the best of five rounds is taken.
//!
//! `host` is what the host itself gains: as many runs of one thread each, all at once, which share nothing. Cores that share caches or are
//! halves of one gain less than their number, and no program can do better on them.

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
    println!("{:15} {:>10} {:>10} {:>6} {:>6}", "seconds", 1, threads, "gain", "host");
    let (mut logs, mut count) = ([0.0, 0.0], 0);
    for w in wb_workloads::all().iter().filter(chosen) {
        let [mut one, mut several, mut beside] = [f64::MAX; 3];
        for _ in 0..ROUNDS {
            one = one.min(seconds(w, size, cores, NonZero::<usize>::MIN)?);
            several = several.min(seconds(w, size, cores, threads)?);
            beside = beside.min(all_at_once(w, size, cores, threads)?);
        }
        let gains = [one / several, one / beside * threads.get() as f64];
        logs.iter_mut().zip(gains).for_each(|(log, gain)| *log += gain.ln());
        count += 1;
        println!("{:15} {one:10.4} {several:10.4} {:6.2} {:6.2}", w.name, gains[0], gains[1]);
    }
    let [gain, host] = logs.map(|log: f64| (log / f64::from(count.max(1))).exp());
    println!("{:15} {:21} {gain:6.2} {host:6.2}", "geometric mean", "");
    Ok(())
}

/// So many runs of one thread each at once: the seconds of the slowest.
fn all_at_once(
    w: &'static Workload,
    size: Size,
    cores: u32,
    runs: NonZero<usize>,
) -> Result<f64, Box<dyn Error>> {
    let run = || seconds(w, size, cores, NonZero::<usize>::MIN).map_err(|error| error.to_string());
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..runs.get()).map(|_| scope.spawn(run)).collect();
        let all = all.into_iter().map(|run| run.join().unwrap_or_else(|_| Err("a run panicked".into())));
        Ok(all.collect::<Result<Vec<f64>, String>>()?.into_iter().fold(0.0, f64::max))
    })
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
