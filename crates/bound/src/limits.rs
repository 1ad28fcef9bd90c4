//! The limit of every loop of a kernel: from the facts file, from proofs, or seen in the runs; and what to write where
//! there is none (docs/facts.md).

use crate::error::{BoundError, refused};
use crate::measured::MeasuredKernel;
use crate::options::Options;
use crate::source::Source;
use wb_facts::{LoopFact, Origin};

/// The limit of every loop of the kernel that was entered, or an error that says what to write.
pub(crate) fn limits(
    measured_kernel: &MeasuredKernel,
    options: &Options,
) -> Result<Vec<LoopFact>, BoundError> {
    let kernel = &measured_kernel.kernel;
    let given = matches!(measured_kernel.source, Source::Table { .. });
    let mut known = kernel.facts.clone();
    known.add(kernel.proved.clone().unwrap_or_default());
    let mut limits = Vec::new();
    let mut missing = Vec::new();
    for (l, seen) in kernel.plan.loops.iter().zip(&measured_kernel.times.rounds) {
        match (known.bound(l.header), seen) {
            (Some(fact), Some((_, most)))
                if fact.origin == Origin::Proved && kernel.machine.mixes_rounds() =>
            {
                limits.push(LoopFact {
                    max: fact.max.max(*most),
                    origin: Origin::Observed,
                    why: format!(
                        "{}; but that is for each lane, and paths in different rounds can merge: seen {most}, not proven",
                        fact.why
                    ),
                    ..fact.clone()
                });
            }
            (Some(fact), Some((_, most))) if *most > fact.max => {
                return Err(refused!(
                    Contradiction,
                    help = "correct the limit; the loop is counted by how often it goes back to its header",
                    "the loop at {} goes round at most {} times ({}: {}), but a run went round {most} times",
                    kernel.place(l.header),
                    fact.max,
                    fact.origin.name(),
                    fact.why
                ));
            }
            (Some(fact), _) => limits.push(fact.clone()),
            (None, Some((_, most))) if options.facts_from_trace => limits.push(LoopFact {
                header: l.header,
                max: *most,
                origin: Origin::Observed,
                why: format!(
                    "seen in {} measured launches of {} waves; not proven",
                    measured_kernel.times.runs, measured_kernel.times.waves
                ),
            }),
            (None, Some(_)) => missing.push(l.header),
            (None, None) if given => missing.push(l.header),
            // Never entered: its edges are a gap, or accepted.
            (None, None) => {}
        }
    }
    if missing.is_empty() {
        return Ok(limits);
    }
    let lines: Vec<String> = missing
        .iter()
        .map(|&pc| {
            format!("[[loop]]\nat = \"{:#x}\"  # {}\nmax = …", kernel.place(pc).addr, kernel.place(pc))
        })
        .collect();
    let places: Vec<String> = missing.iter().map(|&pc| kernel.place(pc).to_string()).collect();
    Err(refused!(
        Limit,
        help = format!(
            "write a facts file with\n\nkernel = \"{}\"\nchecksum = \"{}\"\n{}\n\n(`wavebound facts` writes it for you) and give it with --facts{}",
            kernel.name,
            kernel.checksum,
            lines.join("\n"),
            if given { "" } else { "; --facts-from-trace takes what the runs do, marked observed" }
        ),
        "kernel {}: no limit is known for the loop{} at {}",
        kernel.name,
        if missing.len() == 1 { "" } else { "s" },
        places.join(", ")
    ))
}
