//! Lists are walked, not counted: what is on the lists of `hw` runs where it says, and is in random programs and in the docs.

use std::collections::BTreeSet;
use wb_hw::{InstructionSet, Mechanism, Policy, Reconverge};
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;
use wb_testgen::random;

/// The smallest program of an instruction set.
fn program(isa: InstructionSet) -> &'static str {
    match isa {
        InstructionSet::Harp => ".perm x\n.entry\nmain: halt\n",
        InstructionSet::Guppy => "  ret\n",
        InstructionSet::Gcn3 => ".kernel k\n  s_endpgm\n",
        InstructionSet::Vortex => "_start:\n  li t0, 0\n  vx_tmc t0\n",
        InstructionSet::Riscv => "  ret\n",
    }
}

/// Every pair of instruction set and mechanism runs or is refused, as the list says.
#[test]
fn mechanisms_run_where_they_say() {
    for isa in InstructionSet::ALL {
        for mechanism in Mechanism::ALL {
            let sets = vec![format!("divergence.mechanism={mechanism}"), "limits.memory=1M".to_owned()];
            let spec = JobSpec { isa: Some(isa), sets, ..JobSpec::default() };
            let job = Job::from_source("k", program(isa), &spec).unwrap_or_else(|e| panic!("{isa}: {e}"));
            let run = job.run(RunOptions::default(), None);
            let wanted = mechanism.info().isas.contains(&isa);
            match run {
                Ok(_) => assert!(wanted, "{mechanism} runs on {isa}, its list says otherwise"),
                Err(e) => {
                    assert!(!wanted && e.to_string().contains("does not run on"), "{isa} {mechanism}: {e}")
                }
            }
        }
    }
}

#[test]
fn random_programs_have_every_mechanism_and_policy() {
    let mut tried: BTreeSet<Mechanism> = random::TARGETS.iter().map(|t| t.mechanism).collect();
    tried.extend(random::gcn3::WAYS.iter().map(|w| w.mechanism));
    tried.extend(random::gcn3::NEWER_WAYS.iter().map(|w| w.mechanism));
    let settings: BTreeSet<&str> = random::gcn3::WAYS
        .iter()
        .chain(&random::gcn3::NEWER_WAYS)
        .chain(&random::gcn3::MASK_WAYS)
        .map(|w| match w.reconverge {
            Reconverge::Default => "default",
            Reconverge::Never => "never",
            Reconverge::RegionEnd => "region-end",
            Reconverge::Anywhere => "anywhere",
            Reconverge::MaskStack => "mask-stack",
        })
        .collect();
    assert_eq!(settings.len(), 5, "{settings:?}");
    tried.extend(random::vortex::WAYS.iter().map(|w| w.0));
    tried.extend(random::riscv::mechanisms());
    assert_eq!(tried, Mechanism::ALL.into_iter().collect());
    for policy in Policy::ALL {
        assert!(
            Policy::ISSUE.contains(&policy) || Policy::FETCH.contains(&policy),
            "{policy:?} is never used"
        );
    }
}

#[test]
fn the_documentation_has_every_name() {
    let page = |name: &str| {
        let path = format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
    };
    let (mechanisms, architecture) = (page("mechanisms"), page("ARCHITECTURE"));
    let headings = mechanisms.lines().filter(|l| l.starts_with("## "));
    let words: BTreeSet<&str> = headings.flat_map(|l| l.split([' ', ',', ':'])).collect();
    for m in Mechanism::ALL {
        assert!(words.contains(m.name()), "docs/mechanisms.md has no section for {m}");
    }
    for p in Policy::ALL {
        assert!(mechanisms.contains(p.name()), "docs/mechanisms.md does not name {}", p.name());
    }
    for isa in InstructionSet::ALL {
        assert!(architecture.contains(isa.name()), "docs/ARCHITECTURE.md does not name {isa}");
        assert!(!page(isa.name()).is_empty());
    }
}
