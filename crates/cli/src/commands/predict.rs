//! `wavebound predict`: the schedule that follows from each wave's own instructions, against the simulated one.

use super::target::Target;
use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use std::process::ExitCode;
use wavebound::schedule::{Prediction, predict};

#[derive(Args)]
pub struct PredictArgs {
    #[command(flatten)]
    target: Target,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

impl Printed for Prediction {
    const NAME: &'static str = "predict";
}

pub fn main(args: PredictArgs) -> CommandResult {
    let mut target = args.target;
    // Where schedules can be predicted, unless another machine or front end is asked for.
    if target.machine.machine.is_none() {
        target.how.machine.machine = Some("vortex-swas-fixed".into());
    }
    if target.machine.frontend.is_none() {
        target.how.machine.frontend = Some("coordinated".into());
    }
    let job = target.job()?;
    let p = predict(&job)?;
    let code = if p.equal { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if args.json {
        print_json(&p)?;
        return Ok(code);
    }
    print_line(&format!(
        "{} on {}, {} front end, issue {}: {} waves, {} instructions, {} NOPs",
        target.file().display(),
        job.machine.name,
        target.machine.frontend.as_deref().unwrap_or_default(),
        job.machine.issue.policy.name(),
        p.waves,
        p.instructions,
        p.nops
    ));
    print_line(&format!("predicted {} cycles, simulated {}", p.predicted_cycles, p.simulated_cycles));
    for reason in &p.outside {
        print_line(&format!("outside what is predicted exactly: {reason}"));
    }
    match &p.first {
        None if p.equal => print_line("equal, cycle for cycle"),
        None => print_line("the same instructions in the same cycles, but the end differs"),
        Some(d) => {
            print_line(&format!(
                "{} cycles differ, the first is cycle {} of core {}",
                p.different_cycles, d.cycle, d.core
            ));
            print_line(&format!("  predicted {}", d.predicted));
            print_line(&format!("  simulated {}", d.simulated));
            print_line(&format!("  because {}", d.cause));
        }
    }
    Ok(code)
}
