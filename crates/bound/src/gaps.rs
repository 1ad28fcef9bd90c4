//! The error about ways that no run took: which branch, what decides it, and which inputs would go there.

use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use wb_isa::{NO_PC, Pc};
use wb_wcet::measure::Gap;

/// Gaps that are named; the others are counted.
const SHOWN: usize = 8;

const HELP: &str = "run inputs that go there: `--runs N` with random fills (`--arg buf:u32:256:random=1`, `uniform=LOW..HIGH`), other \
scalar arguments, or more launches in a launch file. If that way cannot be taken: `--unmeasured exclude` leaves it out (status observed), \
`--unmeasured CYCLES` charges what such a way takes at most";

pub fn error(kernel: &AnalysedKernel, gaps: &[Gap]) -> BoundError {
    let mut lines: Vec<String> = gaps.iter().take(SHOWN).map(|g| line(kernel, g)).collect();
    if gaps.len() > SHOWN {
        lines.push(format!("  and {} more", gaps.len() - SHOWN));
    }
    refused!(
        Coverage,
        help = HELP,
        "kernel {}: no run took {} way{}, so nothing is known about the time there:\n{}",
        kernel.name,
        gaps.len(),
        if gaps.len() == 1 { "" } else { "s" },
        lines.join("\n")
    )
}

fn line(kernel: &AnalysedKernel, gap: &Gap) -> String {
    let text = text(kernel, gap.from);
    let to = if gap.to == NO_PC { "the end".into() } else { kernel.place(gap.to).to_string() };
    let line = format!("  from {} `{text}` to {to}", kernel.place(gap.from));
    match needed(kernel, gap) {
        Some(needed) => format!("{line}\n    taken only if {needed}"),
        None => line,
    }
}

fn text(kernel: &AnalysedKernel, pc: Pc) -> &str {
    kernel.code.get(&pc).map_or("", |c| c.1.as_str())
}

/// What must be true for the branch to go there.
fn needed(kernel: &AnalysedKernel, gap: &Gap) -> Option<String> {
    let branch = text(kernel, gap.from);
    let next = kernel.code.range(gap.from + 1..).next().map(|(&pc, _)| pc);
    let jumps = next != Some(gap.to);
    let name = branch.split_whitespace().next()?;
    let deciding = |what: &[&str]| decided_by(kernel, gap.from, what);
    match name {
        "s_cbranch_execz" | "s_cbranch_execnz" => {
            let none = (name == "s_cbranch_execz") == jumps;
            let lanes =
                if none { "no lane of a wave goes into the side" } else { "some lane goes into the side" };
            let by = deciding(&["s_and_saveexec", "s_or_saveexec", "s_andn2", "s_and_b64 exec", "v_cmp"]);
            Some(by.map_or(lanes.to_owned(), |by| format!("{lanes} ({by})")))
        }
        "s_cbranch_scc0" | "s_cbranch_scc1" => {
            let holds = (name == "s_cbranch_scc1") == jumps;
            let by = deciding(&["s_cmp", "s_bitcmp", "s_and_b", "s_or_b", "s_andn2", "s_add", "s_sub"])?;
            Some(format!("{by} {}", if holds { "holds" } else { "does not hold" }))
        }
        "s_cbranch_vccz" | "s_cbranch_vccnz" => {
            let none = (name == "s_cbranch_vccz") == jumps;
            let by =
                deciding(&["v_cmp", "s_and_b64 vcc", "s_or_b64 vcc", "s_andn2_b64 vcc", "s_mov_b64 vcc"])?;
            Some(format!("{by} {}", if none { "holds for no lane" } else { "holds for a lane" }))
        }
        _ => None,
    }
}

/// The last of such instructions before the branch, in its block.
fn decided_by(kernel: &AnalysedKernel, branch: Pc, what: &[&str]) -> Option<String> {
    let block = kernel.blocks.values().find(|b| b.last == branch)?;
    let before = block.pcs.iter().rev().skip(1).copied();
    let of = |pc: &Pc| what.iter().any(|w| text(kernel, *pc).starts_with(w));
    let pc = before.into_iter().find(of)?;
    Some(format!("`{}` at {}", text(kernel, pc), kernel.place(pc)))
}
