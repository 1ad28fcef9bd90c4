//! Proved bounds: the model of a wave alone is the machine, cycle for cycle, no run of random kernels on random machines takes longer than
//! was proved, every lemma is needed, and no number of a certificate can be changed.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use wb_bound::proved::{prove_launch, verify_proved};
use wb_bound::{Launched, Options, Runs, TraceFiles, bounds};
use wb_check::check_proved;
use wb_isa::{Isa, Pc};
use wb_jobs::object::SplitSpec;
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_proved::{Access, Caches, Charges, Fault, Hardware, Local, Memory, Pipeline, Splits};
use wb_sim::RunOptions;
use wb_testgen::parallel::in_parallel;
use wb_testgen::random::times::{LONGER, Style, times_job};
use wb_trace::{Event, Kind, Observer};

/// The instructions of a run with one wave, in order.
#[derive(Default)]
struct Path(Vec<Pc>);

impl Observer for Path {
    fn events(&mut self, events: &[Event]) {
        self.0.extend(events.iter().filter(|e| matches!(e.kind, Kind::Issue { .. })).map(|e| e.pc));
    }
}

/// What `Style::Plain` touches.
fn plain_accesses(job: &Job) -> BTreeMap<Pc, Access> {
    let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
    let mut found = BTreeMap::new();
    for (pc, op) in program.ops.iter().enumerate() {
        let class = program.isa.classes()[usize::from(op.class)];
        let local = match class {
            "lds" => Local::Always,
            "smem" | "flat" => Local::Never,
            _ => continue,
        };
        let text = program.text_at(pc as Pc);
        let stores = text.contains("store") || text.contains("atomic");
        found.insert(pc as Pc, Access { lines: 64, passes: 2, local, loads: !stores, stores, range: None });
    }
    found
}

#[test]
fn a_wave_alone_takes_what_the_model_says() {
    in_parallel(1800, |case| {
        let case = if case < 1500 { case } else { LONGER + case };
        let job = times_job(case, 0, Style::Plain)?;
        let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
        let Ok(hardware) = Hardware::new(&job.machine, program.isa.classes()) else { return Ok(()) };
        let accesses = plain_accesses(&job);
        let memory = Memory::default();
        let caches = Caches::new(program, &hardware, &accesses, &memory);
        let charges =
            Charges::new(program, &hardware, &accesses, &caches, &memory, &|_| false).expect("charges");
        let mut path = Path::default();
        let cycles = job.run(RunOptions::default(), Some(&mut path)).expect("a run").cycles;
        let pipeline =
            Pipeline { program, hardware: &hardware, charges: &charges, splits: &Splits::default() };
        let model = pipeline.time_of(&path.0);
        match model == cycles {
            true => Ok(()),
            false => Err(format!(
                "case {case}: {model} cycles, the machine takes {cycles}; {:?}",
                job.machine.frontend
            )),
        }
    });
}

fn launched(job: &Job) -> Launched<'_> {
    Launched::of(job).expect("memory")
}

/// The longest of a few runs, and whether it is within the proved bound; none if there is no proof.
fn within(case: u64, style: Style, without: Option<Fault>) -> Result<Option<(u64, u64)>, String> {
    let job = times_job(case, 0, style)?;
    let Ok(found) = prove_launch(&launched(&job), &Options::default(), without) else { return Ok(None) };
    let mut longest = 0;
    for input in 0..2 {
        let outcome = times_job(case, input, style)?.run(RunOptions::default(), None);
        longest = longest.max(outcome.map_err(|e| e.to_string())?.cycles);
    }
    Ok(Some((longest, found.found.cycles)))
}

/// Of so many cases no run takes longer than was proved; how many have a proof.
fn none_longer(first: u64, cases: u64, style: Style) -> u64 {
    let proved = AtomicU64::new(0);
    in_parallel(cases, |case| {
        let case = first + case;
        match within(case, style, None)? {
            Some((longest, bound)) if longest > bound => {
                return Err(format!("case {case}: {longest} > {bound}"));
            }
            Some(_) => _ = proved.fetch_add(1, Ordering::Relaxed),
            None => {}
        }
        Ok(())
    });
    proved.into_inner()
}

#[test]
fn no_run_takes_longer_than_proved() {
    assert!(none_longer(0, 2000, Style::Any) > 1200, "most machines have a proof");
    assert!(none_longer(LONGER, 400, Style::Any) > 240, "most machines have a proof");
}

/// Front ends fetch beyond the end of the code: where it ends with a line, the next line is a miss of its own. Long searches found
/// these cases.
#[test]
fn what_is_fetched_behind_the_end_counts() {
    for case in [31887, 84615, 85140, 95280] {
        let (longest, bound) = within(case, Style::Any, None).expect("runs").expect("a proof");
        assert!(longest <= bound, "case {case}: {longest} > {bound}");
    }
    for front in ["coordinated", "decoupled", "perfect"] {
        for length in 1..40 {
            let text = format!(".kernel k\n{}s_endpgm\n", "v_mov_b32 v1, 0\n".repeat(length));
            let sets = vec![format!("frontend.kind={front}"), "cores=1".into()];
            let spec = JobSpec {
                isa: Some(wb_hw::InstructionSet::Gcn3),
                grid3: [64, 1, 1],
                group3: [64, 1, 1],
                sets,
                ..JobSpec::default()
            };
            let job = Job::from_source("k.s", &text, &spec).expect("a job");
            let bound =
                prove_launch(&launched(&job), &Options::default(), None).expect("a proof").found.cycles;
            let cycles = job.run(RunOptions::default(), None).expect("a run").cycles;
            assert!(cycles <= bound, "{front}, {length} instructions: {cycles} > {bound}");
        }
    }
}

#[test]
fn no_run_with_splits_takes_longer_than_proved() {
    assert!(none_longer(0, 300, Style::Splits) > 120, "half of the machines have a proof");
    assert!(none_longer(0, 300, Style::Ends) > 60, "machines have a proof");
}

/// Cases of the search that show that a lemma is needed: without it a run takes longer than the bound says.
const FOUND: [(Fault, u64); 9] = [
    (Fault::Partition, 17),
    (Fault::Core, 494),
    (Fault::Machine, 121),
    (Fault::Latency, 107),
    (Fault::Draining, 29),
    (Fault::Cold, 29),
    (Fault::Evictions, 214),
    (Fault::Rounds, 6),
    (Fault::Conflicts, 183),
];

/// Kernels made for the lemmas that random ones need too seldom, with what is changed of the machine and the work-items of a group.
fn made() -> [(Fault, String, Vec<&'static str>, u32); 5] {
    let head = ".kernel k\n.arg buf a\n.arg buf b\n.lds 1024\ns_load_dwordx4 s[8:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n";
    // A scalar load of a line that a vector load, which has a longer way, is fetching.
    let late = format!(
        "{head}v_mov_b32 v2, s8\nv_mov_b32 v3, s9\nflat_load_dword v1, v[2:3]\ns_load_dword s12, s[8:9], 0x0\n\
         s_waitcnt lgkmcnt(1)\n{}s_endpgm\n",
        "s_add_u32 s12, s12, 1\n".repeat(200)
    );
    // What is fetched for nothing behind the jumps of other waves.
    let jumps = format!(
        "{head}s_movk_i32 s12, 0\nround:\ns_add_u32 s12, s12, 1\ns_cmp_lt_u32 s12, 100\ns_cbranch_scc1 round\n{}s_endpgm\n",
        "s_nop 0\n".repeat(24)
    );
    // One wave is slow before the first barrier, the other one behind it.
    let slow = "v_rcp_f32 v1, v1\n".repeat(60);
    let apart = format!(
        "{head}v_readfirstlane_b32 s12, v0\ns_cmp_lt_u32 s12, 64\ns_cbranch_scc0 other\n{slow}s_barrier\ns_barrier\ns_endpgm\n\
         other:\ns_barrier\n{slow}s_barrier\ns_endpgm\n"
    );
    // Two paths share the units; two branches inside two others, with one context for all.
    let shared = format!("{head}{}s_endpgm\n", sides(90, &"v_mov_b32 v1, v0\n".repeat(60)));
    let nested = format!("{head}{}s_endpgm\n", sides(90, &sides(94, &slow)));
    let splits = |units| vec!["frontend.kind=perfect", "divergence.mechanism=pws", "split.contexts=1", units];
    let long = vec!["frontend.kind=perfect", "memory.request_latency=300", "memory.response_latency=60"];
    let narrow = vec![
        "core.partitions=1",
        "core.waves=10",
        "frontend.buffer=16",
        "issue.width=4",
        "units.salu.count=0",
    ];
    [
        (Fault::UnderWay, late, long, 64),
        (Fault::Fetch, jumps, narrow, 640),
        (Fault::Pieces, apart, vec!["frontend.kind=perfect", "units.valu.interval=1"], 128),
        (Fault::Paths, shared, splits("split.units=shared"), 64),
        (Fault::Sure, nested, splits("split.units=extra"), 64),
    ]
}

/// An if with two sides that do the same for half of the lanes each, with registers of its own for the mask.
fn sides(save: u32, side: &str) -> String {
    let (saved, bit, id) = (format!("s[{save}:{}]", save + 1), 1 << (save - 90), save);
    let inner = |n: u32| side.replace("inner", &format!("inner{n}"));
    format!(
        "v_and_b32 v5, {bit}, v0\nv_cmp_ne_u32 vcc, 0, v5\ns_and_saveexec_b64 {saved}, vcc\ns_xor_b64 {saved}, exec, {saved}\n\
         s_cbranch_execz inner{id}\n{}inner{id}:\ns_or_saveexec_b64 {saved}, {saved}\ns_xor_b64 exec, exec, {saved}\n\
         s_cbranch_execz innerend{id}\n{}innerend{id}:\ns_or_b64 exec, exec, {saved}\n",
        inner(1),
        inner(2)
    )
}

/// A kernel made for a test, on a machine with changes.
fn made_job(text: &str, sets: &[&str], group: u32) -> Job {
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3: [group, 1, 1],
        group3: [group, 1, 1],
        args: vec!["buf:u32:64".into(), "buf:u32:64".into()],
        sets: sets.iter().map(|s| (*s).to_owned()).collect(),
        split: SplitSpec { all: sets.contains(&"divergence.mechanism=pws"), ..SplitSpec::default() },
        ..JobSpec::default()
    };
    Job::from_source("k.s", text, &spec).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

/// Permutations of lanes and the clock have a way to memory that they do not take: they cost their latency all the same.
#[test]
fn instructions_that_touch_nothing_take_time() {
    let chain = "ds_bpermute_b32 v1, v0, v1\ns_waitcnt lgkmcnt(0)\n".repeat(60);
    let text = format!(".kernel k\n.arg buf a\n.arg buf b\n{chain}s_memtime s[8:9]\ns_endpgm\n");
    let job = made_job(&text, &["frontend.kind=perfect", "units.lds.latency=9", "units.smem.latency=80"], 64);
    let cycles = job.run(RunOptions::default(), None).expect("a run").cycles;
    let bound = prove_launch(&launched(&job), &Options::default(), None).expect("a proof").found.cycles;
    assert_eq!(cycles, bound, "a wave alone without accesses");
    assert!(cycles > 60 * 9, "{cycles}");
}

#[test]
fn every_lemma_is_needed() {
    let shown = FOUND.iter().map(|f| f.0).chain(made().into_iter().map(|m| m.0));
    assert_eq!(shown.collect::<Vec<_>>().len(), Fault::ALL.len());
    for (fault, case) in FOUND {
        let (longest, bound) = within(case, Style::Any, Some(fault)).expect("a run").expect("a proof");
        assert!(longest > bound, "without {}: {longest} <= {bound} in case {case}", fault.name());
        let (longest, bound) = within(case, Style::Any, None).expect("a run").expect("a proof");
        assert!(longest <= bound, "{longest} > {bound} in case {case}");
    }
    for (fault, text, sets, group) in made() {
        let job = made_job(&text, &sets, group);
        let cycles = job.run(RunOptions::default(), None).expect("a run").cycles;
        let bound = |without| {
            prove_launch(&launched(&job), &Options::default(), without).expect("a proof").found.cycles
        };
        assert!(cycles <= bound(None), "{}: {cycles} > {}", fault.name(), bound(None));
        assert!(cycles > bound(Some(fault)), "without {}: {cycles} <= {}", fault.name(), bound(Some(fault)));
    }
}

/// A certificate whose fields were changed and whose digest was made to fit.
pub fn resealed(mut value: Value) -> String {
    value.as_object_mut().expect("an object").remove("digest");
    let body = serde_json::to_string(&value).expect("JSON");
    let body = body.strip_suffix('}').expect("an object");
    let digest = wb_check::digest(&format!("{body},\"digest\":\"\"}}")).expect("a digest");
    format!("{body},\"digest\":\"{digest}\"}}")
}

/// All numbers, flags and texts of a document, by path.
pub fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| leaves(v, &format!("{path}/{k}"), found)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), found))
        }
        _ => found.push(path.to_owned()),
    }
}

pub fn changed(value: &Value) -> Value {
    match value {
        Value::Bool(b) => Value::Bool(!b),
        Value::Number(n) => match n.as_u64() {
            Some(n) => Value::from(if n > 0 { n - 1 } else { 1 }),
            None => Value::from(n.as_i64().unwrap_or(0) + 1),
        },
        Value::String(s) => match s.parse::<i128>() {
            Ok(n) => Value::from((n + 1).to_string()),
            Err(_) => Value::from(format!("{s}x")),
        },
        other => other.clone(),
    }
}

#[test]
fn no_field_of_a_certificate_can_be_changed() {
    // The smallest kernel with barriers, several waves and a loop.
    let small = (0..400).filter_map(|c| {
        let job = times_job(c, 0, Style::Any).expect("a job");
        let found = prove_launch(&launched(&job), &Options::default(), None).ok()?.found;
        let fits = found.barriers > 0
            && found.geometry.waves_per_group > 1
            && !found.own_way.model.bounds.is_empty();
        fits.then_some((found.own_way.model.graph.edges.len(), c))
    });
    let (_, case) = small.min().expect("a case");
    let job = || times_job(case, 0, Style::Any).expect("a job");
    let options = Options { proved: true, ..Options::default() };
    let runs = || Runs::Jobs(vec![job()]);
    let found = bounds(&runs(), &options, TraceFiles::default(), &mut |_, _| {}).expect("a bound");
    let text = &found[0].certificate;
    let accepted = |text: &str| {
        let Ok(report) = check_proved(text) else { return false };
        let verified = verify_proved(text, &report, &runs(), &Options::default());
        verified.is_ok_and(|v| v.errors.is_empty())
    };
    assert!(accepted(text), "the certificate as it is");
    let value: Value = serde_json::from_str(text).expect("JSON");
    let mut paths = Vec::new();
    leaves(&value, "", &mut paths);
    paths.retain(|p| p != "/digest" && !p.starts_with("/assumptions"));
    assert!(paths.len() > 100, "{}", paths.len());
    // Multipliers may be larger than they need to be: the certificate then proves more than it claims, or is refused.
    for path in paths {
        let mut forged = value.clone();
        let place = forged.pointer_mut(&path).expect("a place");
        *place = changed(place);
        if forged == value {
            continue;
        }
        assert!(!accepted(&resealed(forged)), "{path} was changed");
    }
    let mut digest = text.clone();
    digest.truncate(text.len() - 4);
    digest.push_str("0\"}");
    assert!(check_proved(&digest).is_err());
}
