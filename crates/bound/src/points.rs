//! The places to instrument, for those who measure with something else than this simulator.

use crate::error::BoundError;
use crate::kernel::AnalysedKernel;
use crate::result::CodePlace;
use crate::runs::Runs;
use serde::Serialize;
use std::fmt::Write;
use wb_isa::{NO_PC, Pc};
use wb_wcet::measure::Points;

/// A place where time is taken.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PointRow {
    pub place: CodePlace,
    /// The instruction there.
    pub text: String,
    /// Why: `entry`, `loop header`, …
    pub why: Vec<String>,
    /// A trace without it is refused.
    pub needed: bool,
}

/// The points of a kernel, by address.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct KernelPoints {
    pub kernel: String,
    pub file: String,
    pub checksum: String,
    pub points: Vec<PointRow>,
}

/// Points of every kernel that is launched; nothing runs.
pub fn list_points(runs: &Runs) -> Result<Vec<KernelPoints>, BoundError> {
    let mut found: Vec<KernelPoints> = Vec::new();
    runs.each(&mut |launched, _| {
        if !found.iter().any(|k| k.kernel == launched.kernel) {
            found.push(points(&AnalysedKernel::new(launched, &Points::Blocks, None)?));
        }
        Ok(())
    })?;
    Ok(found)
}

fn points(kernel: &AnalysedKernel) -> KernelPoints {
    let mut pcs: Vec<Pc> = kernel.plan.nodes.iter().copied().filter(|&pc| pc != NO_PC).collect();
    pcs.sort_unstable();
    let row = |pc: Pc| {
        let header = kernel.plan.loops.iter().any(|l| l.header == pc);
        let mut why = Vec::new();
        if pc == kernel.entry {
            why.push("entry".to_owned());
        }
        if header {
            why.push("loop header".to_owned());
        }
        if kernel.branches.iter().any(|b| b.0 == pc) {
            why.push("divergent branch".to_owned());
        }
        for (branch, _) in kernel.branches.iter().filter(|b| b.1 == pc) {
            why.push(format!("lanes of {:#x} meet", kernel.place(*branch).addr));
        }
        if why.is_empty() {
            why.push("block".to_owned());
        }
        let text = kernel.code.get(&pc).map_or(String::new(), |c| c.1.clone());
        PointRow { place: kernel.place(pc), text, why, needed: header }
    };
    KernelPoints {
        kernel: kernel.name.clone(),
        file: kernel.file.clone(),
        checksum: kernel.checksum.clone(),
        points: pcs.into_iter().map(row).collect(),
    }
}

impl KernelPoints {
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "kernel {} of {}: {} points", self.kernel, self.file, self.points.len());
        let _ = writeln!(out, "  checksum {}", self.checksum);
        for p in &self.points {
            let needed = if p.needed { "needed" } else { "" };
            let source =
                if p.place.source.is_empty() { String::new() } else { format!("  ({})", p.place.source) };
            let _ = writeln!(
                out,
                "  {:<10} pc {:<6} {needed:<7} {:<28} {}{source}",
                format!("{:#x}", p.place.addr),
                p.place.pc,
                p.why.join(", "),
                p.text
            );
        }
        out
    }
}
