//! Masks that a facts file calls homogeneous (THESIS 5.2.4): smaller bounds that hold, facts that runs refute, certificates
//! that list them; and random kernels whose lanes agree at some branches, against inputs for which they still do. If they
//! do not, the same search finds runs above the bound.

use crate::branches::{Numbers, kernel};
use wb_bound::{Against, BoundError, KernelBound, Options, Runs, analyse, verify};
use wb_device::{Arg, Device, Dispatch};
use wb_hw::FrontEndKind;
use wb_jobs::object::{ObjectFile, SplitSpec};
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;

const HALVES: &[u8] = include_bytes!("../../../../fixtures/gcn3/halves.s");

/// `halves` with 256 work-items in a group: those below `edge` take the first side.
fn halves(edge: u32, sets: &[&str], split: &[&str]) -> Job {
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        machine: "pws".into(),
        sets: sets.iter().map(|s| (*s).to_owned()).collect(),
        grid3: [256, 1, 1],
        group3: [256, 1, 1],
        args: vec!["buf:u32:256".into(), format!("u32:{edge}").as_str().into()],
        split: SplitSpec { at: split.iter().map(|s| (*s).to_owned()).collect(), ..SplitSpec::default() },
        ..JobSpec::default()
    };
    Job::from_bytes("halves.s", HALVES, &spec).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

fn edges(edges: &[u32], sets: &[&str]) -> Runs {
    Runs::Jobs(edges.iter().map(|&e| halves(e, sets, &[])).collect())
}

fn bounded(runs: &Runs, options: &Options) -> Result<KernelBound, BoundError> {
    Ok(analyse(runs, options, &mut |_, _| ())?.into_iter().next().expect("a kernel"))
}

fn bound(runs: &Runs, options: &Options) -> KernelBound {
    bounded(runs, options).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

/// A facts file for these branches of a kernel that was bounded without it.
fn facts(of: &KernelBound, branches: &[String]) -> Options {
    let mut text = format!("checksum = \"{}\"\n", of.inputs[0].1);
    for b in branches {
        text += &format!("[[homogeneous]]\n{b}\nwhy = \"waves are launched whole\"\n");
    }
    Options { facts: vec![("facts.toml".into(), text)], what_if: true, ..Options::default() }
}

fn at_if(of: &KernelBound) -> String {
    format!("at = \"pc {}\"", of.branches[0].branch.pc)
}

const ALIGNED: [u32; 5] = [0, 64, 128, 192, 256];
const PERFECT: [&str; 1] = ["frontend.kind=perfect"];

#[test]
fn the_longer_side_is_charged_instead_of_both_and_no_run_is_above() {
    for sets in [&PERFECT[..], &[]] {
        let runs = edges(&ALIGNED, sets);
        let plain = bound(&runs, &Options::default());
        let with = bound(&runs, &facts(&plain, &[at_if(&plain)]));
        println!("{} cycles with the fact, {} without, {} observed", with.bound, plain.bound, with.observed);
        assert!(with.bound < plain.bound, "{} is not below {}", with.bound, plain.bound);
        assert!(with.wave_bound_by_blocks < plain.wave_bound_by_blocks);
        for edge in ALIGNED {
            let run = halves(edge, sets, &[]).run(RunOptions::default(), None).expect("it runs");
            assert!(run.cycles <= with.bound, "{edge}: {} cycles, bound {}", run.cycles, with.bound);
        }
        let said = |list: &[String]| list.iter().any(|a| a.contains("is homogeneous"));
        assert!(said(&with.assumptions) && !said(&plain.assumptions), "{:?}", with.assumptions);
        assert!(with.branches[0].note.contains("every path takes one side"), "{}", with.branches[0].note);
        // The checker lists it, and what can be verified again is.
        let report = wb_check::check(&with.certificate).expect("a certificate");
        assert!(said(&report.assumptions), "{:?}", report.assumptions);
        let again = verify(&report, &Against::Launches(&runs)).expect("a comparison");
        assert_eq!(again.errors, Vec::<String>::new());
        assert_eq!((again.graph, again.machine, again.times), (Some(true), Some(true), Some(true)));
        // Other launches refute it there, too.
        let other = verify(&report, &Against::Launches(&edges(&[100], sets))).expect("a comparison");
        assert!(other.errors.iter().any(|e| e.contains("lanes for both sides")), "{:?}", other.errors);
        // A certificate that does not say it has places that exist twice, or no longer fits its digest.
        let bare = with.certificate.replace("\"homogeneous\":[", "\"homogenous\":[");
        assert!(wb_check::check(&bare).is_err());
    }
}

#[test]
fn a_wrong_fact_is_refuted() {
    let plain = bound(&edges(&[100], &PERFECT), &Options::default());
    let message = |edge: &[u32], fact: String| {
        bounded(&edges(edge, &PERFECT), &facts(&plain, &[fact])).err().map(|e| e.to_string())
    };
    let mixed = message(&[128, 100], at_if(&plain)).expect("a mixed mask");
    assert!(mixed.contains("lanes for both sides at cycle") && mixed.contains("wave 1"), "{mixed}");
    let side = |side: &str| format!("{}\nside = \"{side}\"", at_if(&plain));
    let wrong = message(&[128], side("first")).expect("two waves take the second side");
    assert!(wrong.contains("took the second side"), "{wrong}");
    let wrong = message(&[128], side("second")).expect("two waves take the first side");
    assert!(wrong.contains("took the first side"), "{wrong}");
    // Waves split where lanes disagree: the same.
    let sets = ["divergence.mechanism=pws", "split.contexts=1"];
    let branch = format!("{:#x}", plain.branches[0].branch.addr);
    let marked = |edge: u32| Runs::Jobs(vec![halves(edge, &sets, &[&branch])]);
    let known = bound(&marked(100), &Options::default());
    assert!(known.branches[0].sure, "it is marked");
    let split = bounded(&marked(100), &facts(&known, &[at_if(&known)])).expect_err("it splits");
    assert!(split.to_string().contains("is homogeneous"), "{split}");
    let whole = bound(&marked(128), &facts(&known, &[at_if(&known)]));
    assert!(!whole.branches[0].sure && whole.splits == 0, "a homogeneous branch takes no context");
}

#[test]
fn where_paths_meet_anywhere_nothing_follows() {
    let sets = ["divergence.mechanism=dws", "split.contexts=3"];
    let runs = edges(&[128], &sets);
    let plain = bound(&runs, &Options::default());
    let with = bound(&runs, &facts(&plain, &[at_if(&plain)]));
    assert_eq!(with.bound, plain.bound);
    assert!(!with.assumptions.iter().any(|a| a.contains("is homogeneous")));
}

#[test]
fn places_that_are_no_first_side_are_refused() {
    let plain = bound(&edges(&[128], &PERFECT), &Options::default());
    let message = |fact: &str| {
        let e = bounded(&edges(&[128], &PERFECT), &facts(&plain, &[fact.to_owned()])).expect_err("refused");
        format!("{:?}", miette::Report::new(e))
    };
    assert!(message("at = \"done\"").contains("not a branch on the mask"));
    assert!(message("at = \"other\"").contains("the branch in front of a second side"));
    assert!(message(&format!("{}\nside = \"left\"", at_if(&plain))).contains("side = \"left\""));
    let twice = bounded(&edges(&[128], &PERFECT), &facts(&plain, &[at_if(&plain), at_if(&plain)]));
    assert!(twice.is_err_and(|e| e.to_string().contains("twice")));
}

/// A random kernel, and the bits for which the lanes of its wave agree.
struct Case {
    source: String,
    machine: wb_hw::Machine,
    agreed: u32,
}

fn case(number: u64) -> Case {
    let mut numbers = Numbers(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut machine = wb_hw::preset("pws").expect("a preset");
    machine.cores = 1;
    let kinds = [FrontEndKind::Decoupled, FrontEndKind::Perfect];
    machine.frontend.kind = kinds[numbers.below(2) as usize];
    let agreed = numbers.below(1 << 32) as u32;
    let longest = [5, 12][numbers.below(2) as usize];
    let (source, _) = kernel(numbers, longest, 2, 6);
    Case { source, machine, agreed }
}

impl Case {
    fn job(&self, words: &[u32]) -> Job {
        let object = ObjectFile::from_bytes("k.s", self.source.as_bytes()).expect("it assembles");
        let mut device = Device::new(self.machine.clone());
        let module = device.place("k.s", object.object.clone(), object.source.clone()).expect("a module");
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let buffer = device.alloc(bytes.len() as u64).expect("memory");
        device.write(buffer, &bytes).expect("memory");
        let (grid, args) = ([64, 1, 1], vec![Arg::Buffer(buffer)]);
        let dispatch = Dispatch {
            kernel: String::new(),
            grid,
            group: grid,
            args,
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        Job::from_device(&mut device, &module, &dispatch, Vec::new()).expect("a job")
    }

    /// Words of a wave whose lanes agree in the bits of `agreed`, and disagree in the others or not.
    fn words(&self, numbers: &mut Numbers, agreed: u32) -> Vec<u32> {
        let (common, mixed) = (numbers.below(1 << 32) as u32, numbers.below(4) > 0);
        let mut word = || if mixed { numbers.below(1 << 32) as u32 } else { common };
        (0..64).map(|_| common & agreed | word() & !agreed).collect()
    }

    /// The bound without and with facts; none if the runs did not take every way.
    fn bounds(&self) -> Option<(KernelBound, KernelBound)> {
        let mut numbers = Numbers(3);
        let jobs = (0..20).map(|_| self.job(&self.words(&mut numbers, self.agreed))).collect();
        let runs = Runs::Jobs(jobs);
        let plain = bounded(&runs, &Options::default()).ok()?;
        // The branches test bits in the order of the program.
        let mut pcs: Vec<u32> = plain.branches.iter().map(|b| b.branch.pc).collect();
        pcs.sort_unstable();
        let agree = pcs.iter().enumerate().filter(|(bit, _)| self.agreed >> bit & 1 == 1);
        let list: Vec<String> = agree.map(|(_, pc)| format!("at = \"pc {pc}\"")).collect();
        let with = bound(&runs, &facts(&plain, &list));
        Some((plain, with))
    }

    fn longest(&self, agreed: u32, tries: u64) -> u64 {
        let mut numbers = Numbers(0xbad);
        let run =
            |words: Vec<u32>| self.job(&words).run(RunOptions::default(), None).expect("it runs").cycles;
        (0..tries).map(|_| run(self.words(&mut numbers, agreed))).max().unwrap_or(0)
    }
}

#[test]
fn no_run_with_homogeneous_masks_is_above_and_one_with_mixed_masks_is() {
    let cases = std::env::var("WAVEBOUND_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut bounded, mut smaller, mut looser, mut above, mut planted) = (0, 0, 0, Vec::new(), 0);
    for number in 0..cases {
        let case = case(number);
        let Some((plain, with)) = case.bounds() else { continue };
        bounded += 1;
        looser += u64::from(with.bound > plain.bound);
        smaller += u64::from(with.bound < plain.bound);
        let longest = case.longest(case.agreed, 16);
        if longest > with.bound {
            above.push(format!("case {number}: {longest} cycles, bound {}", with.bound));
        }
        // Planted: lanes disagree where the facts file says that they do not.
        planted += u64::from(with.bound < plain.bound && case.longest(0, 16) > with.bound);
    }
    println!(
        "{bounded} of {cases} bounded, {smaller} smaller, {looser} larger; with mixed masks {planted} runs are above"
    );
    assert_eq!(above, Vec::<String>::new());
    assert!(smaller >= cases / 20 && planted >= cases / 50, "{smaller} smaller, {planted} above");
}
