//! The suite under every mechanism for plain branches, on one machine: geometric means beside those that the papers print, each from a
//! simulator of its own (THESIS chapter 3). Why ours differ is measured, not guessed: what the issued instructions leave idle
//! ([`Idle`](super::idle::Idle)) is what a mechanism can win at most. THESIS Table 3.1 is derived from the mechanisms' properties.

use super::super::notebook::{Notebook, columns};
use super::super::verdict::{Published, Shape, Want};
use super::{Case, Cases, Scale, geometric_mean, mean, names};
use miette::Report;
use wb_hw::{InstructionSet, Mechanism, MechanismInfo};
use wb_report::{Axis, Chart, bars};
use wb_workloads::Size;

const LANES: &str = "an issue port of lanepc is idle most of the time, whatever the lanes do: if every issued instruction had all its lanes, the suite would gain no more than the ceiling of compaction below";
const SIDES: &str = "few branches of the suite have two sides with something to do at a time: if each of them took only half of its time, the suite would gain no more than the ceiling of two sides below";
const BLOCKS: &str = "a block waits at every branch, for longer than compaction gives back: the ceiling of compaction and the share of waits are below";
const TABLE: &str =
    "the document's column is that of SWI on top of SBI, which is sbi-swi here; swi alone has a SIMT stack";
const SUBWARPS: &str = "subwarps meet at convergence barriers, which are post-dominators here; the document leaves these two cells empty";

macro_rules! published_mean {
    ($name:literal, $number:literal, $why:expr) => {
        Published::number(
            concat!($name, ": geometric mean of the speed-up"),
            $number,
            0.02,
            Shape::None,
            $why,
        )
    };
}

pub const MECHANISMS: &[Published] = &[
    published_mean!("dws-meng", 1.13, SIDES),
    published_mean!("dpe", 1.15, SIDES),
    published_mean!("sbi-swi", 1.40, LANES),
    published_mean!("si", 1.063, SIDES),
    published_mean!("dwf", 1.207, LANES),
    published_mean!("lwm", 1.191, BLOCKS),
    published_mean!("tbc", 1.22, BLOCKS),
    published_mean!("vws", 1.35, LANES),
    published_mean!("multi-path", 1.32, SIDES),
    Published {
        quantity: "THESIS Table 3.1: dws-meng", says: "", want: Want::Text("✓ – – ✓ – –")
    },
    Published { quantity: "THESIS Table 3.1: dpe", says: "", want: Want::Text("✓ – – ✓ ✓ –") },
    Published { quantity: "THESIS Table 3.1: sbi", says: "", want: Want::Text("✓ ✓ – ✓ ✓ –") },
    Published {
        quantity: "THESIS Table 3.1: swi",
        says: "",
        want: Want::Other { printed: "✓ ✓ ✓ ✓ ✓ –", ours: "– – ✓ ✓ ✓ –", why: TABLE },
    },
    Published {
        quantity: "THESIS Table 3.1: sbi-swi", says: "SWI", want: Want::Text("✓ ✓ ✓ ✓ ✓ –")
    },
    Published {
        quantity: "THESIS Table 3.1: si",
        says: "",
        want: Want::Other {
            printed: "– – – – – ✓", ours: "– – – ✓ ✓ ✓", why: SUBWARPS
        },
    },
];

/// The six rows of THESIS Table 3.1 for a mechanism.
fn table_3_1(m: &MechanismInfo) -> String {
    let cells = [
        m.separate_entities,
        m.parallel,
        m.across_waves,
        m.reconvergence.at_some(),
        m.reconvergence.at_any(),
        m.two_level_scheduling,
    ];
    cells.map(|c| if c { "✓" } else { "–" }).join(" ")
}

fn all() -> Vec<Mechanism> {
    Mechanism::of(InstructionSet::Riscv).collect()
}

fn size(scale: Scale) -> Size {
    match scale {
        Scale::Tiny | Scale::Quick => Size::Tiny,
        Scale::Full => Size::Small,
    }
}

fn case(workload: &'static str, mechanism: Mechanism, size: Size) -> Case {
    Case { simds: 1, mechanism: mechanism.name(), contexts: 31, ..Case::new(workload, size, "lanepc") }
}

pub fn mechanisms_needs(scale: Scale) -> Vec<Case> {
    let of = |w| all().into_iter().map(move |m| case(w, m, size(scale)));
    names().flat_map(of).collect()
}

/// Speed-ups over `simt-stack`, and what limits them.
pub fn mechanisms(nb: &mut Notebook, cases: &Cases, scale: Scale) -> Result<(), Report> {
    let mechanisms = all();
    let mut rows = Vec::new();
    let mut gains: Vec<Vec<f64>> = vec![Vec::new(); mechanisms.len()];
    let (mut lanes, mut compaction, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    let mut waits = [Mechanism::Lwm, Mechanism::Tbc].map(|m| (m, 0, 0));
    for w in names() {
        let base = cases.get(&case(w, Mechanism::SimtStack, size(scale)))?;
        let idle = base.idle.clone().unwrap_or_default();
        let share = |cycles: f64| cycles / idle.core_cycles.max(1) as f64;
        let empty = share(idle.empty_slots());
        let split = cases.get(&case(w, Mechanism::MultiPath, size(scale)))?.idle.unwrap_or_default();
        let two_sided = split.split_cycles as f64 / split.core_cycles.max(1) as f64;
        lanes.push(base.lane_use);
        compaction.push(1.0 / (1.0 - empty));
        sides.push(1.0 + two_sided);
        for (m, waited, all) in &mut waits {
            let idle = cases.get(&case(w, *m, size(scale)))?.idle.unwrap_or_default();
            (*waited, *all) = (*waited + idle.merge_waits, *all + idle.wave_cycles);
        }
        let mut row = vec![w.to_owned(), base.cycles.to_string()];
        let shares =
            [base.lane_use, share(idle.issues as f64), empty, share(idle.divergent_waits as f64), two_sided];
        row.extend(shares.map(|v| format!("{v:.4}")));
        for (i, m) in mechanisms.iter().enumerate() {
            let gain = base.cycles as f64 / cases.get(&case(w, *m, size(scale)))?.cycles.max(1) as f64;
            gains[i].push(gain);
            row.push(format!("{gain:.4}"));
        }
        rows.push(row);
    }
    for (m, gains) in mechanisms.iter().zip(&gains) {
        nb.number(format!("{m}: geometric mean of the speed-up"), geometric_mean(gains), 3, "");
        let best = names().zip(gains).max_by(|a, b| a.1.total_cmp(b.1));
        nb.text(format!("{m}: best"), best.map_or(String::new(), |(w, g)| format!("{w} {g:.3}")));
    }
    nb.number("simt-stack: mean share of lanes that are active", mean(&lanes), 3, "");
    nb.number(
        "ceiling of compaction: every issued instruction with all lanes",
        geometric_mean(&compaction),
        3,
        "",
    );
    nb.number("ceiling of two sides: both at once wherever both run", geometric_mean(&sides), 3, "");
    for (m, waited, all) in waits {
        let share = 100.0 * waited as f64 / all.max(1) as f64;
        let what = "share of the time of waves in which a path waits for its block";
        nb.number(format!("{m}: {what}"), share, 1, " %");
    }
    for m in &mechanisms {
        nb.text(format!("THESIS Table 3.1: {m}"), table_3_1(&m.info()));
    }
    let mut head = columns("workload cycles lane_use issue_slots empty_slots divergent_waits two_sided");
    head.extend(mechanisms.iter().map(|m| format!("speedup_{m}")));
    nb.csv(".csv", &head, rows)?;
    let chart = Chart {
        title: format!(
            "speed-up over simt-stack on lanepc, geometric mean of the suite, {} size",
            size(scale)
        ),
        x_label: "mechanism".into(),
        y_label: "speed-up".into(),
        x: Axis::Categories(mechanisms.iter().map(|m| m.name().to_owned()).collect()),
        series: vec![("ours".into(), gains.iter().map(|g| geometric_mean(g)).collect())],
    };
    nb.chart("", &chart, bars)?;
    nb.note("machine lanepc; the papers have other machines, programs and sizes. DWF is the lane-aware variant (1.207; 1.225 with a crossbar), SBI with SWI is printed for irregular programs, VWS for divergent ones; multi-path is a harmonic mean");
    nb.note("ceilings are of the run under simt-stack. A lane that is idle in an issued instruction is an empty slot; so many full instructions could be saved. Two sides: cycles of a core in which one of its waves has several paths, from the run under multi-path; one after the other they take at most twice as long");
    nb.note("tdr is a transformation of sources, not a mechanism: docs/tdr.md");
    Ok(())
}
