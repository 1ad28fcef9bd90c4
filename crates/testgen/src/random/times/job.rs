//! The kernels of the search as jobs: machines of all kinds, launches of few and many groups, contents that decide much or little.

use super::super::loops::Noise;
use super::super::policies::policy;
use super::{Style, WORDS, times_kernel};
use wb_hw::{
    AfterMiss, Dispatch, FrontEndKind, Machine, Mechanism, Policy, Port, Reconverge, SplitChoice, SplitUnits,
    WritePolicy,
};
use wb_jobs::args::{ArgSpec, Argument};
use wb_jobs::data::{Array, Element};
use wb_jobs::object::SplitSpec;
use wb_jobs::{Job, JobSpec};
use wb_sim::Launch;

/// The kernel of a case on its machine, with one of the contents.
pub fn times_job(case: u64, input: u64, style: Style) -> Result<Job, String> {
    changed_job(case, input, style, |text| text)
}

/// The same with results that are outstanding when somebody waits for more than registers, branches or ends: long operations stand
/// before and behind such instructions.
pub fn late_job(case: u64, input: u64, style: Style) -> Result<Job, String> {
    changed_job(case, input, style, |text| with_late_results(case, style, &text))
}

/// Operations of which most take longer than one cycle, on values that decide nothing in a kernel of [`Style::Plain`].
const LONG: [&str; 9] = [
    "v_xor_b32 v12, v13, v14",
    "v_not_b32 v13, v15",
    // More registers than an issue port keeps of an instruction, one of which is just being written.
    "v_cmp_lt_i32 s[64:65], v9, v10\ns_load_dwordx16 s[64:79], s[6:7], 0x0",
    "v_sqrt_f32 v9, v10",
    "v_rcp_f32 v11, v9",
    "v_mul_lo_u32 v10, v9, v11",
    "v_xor_b32 v9, v11, v10",
    "v_mul_hi_u32 v11, v11, v9",
    "v_fma_f32 v10, v9, v10, v11",
];

fn with_late_results(case: u64, style: Style, text: &str) -> String {
    let mut noise = Noise::new(case ^ 0x1a7e);
    let mut out = String::new();
    let mut some = |out: &mut String| {
        for _ in 0..noise.pick(&[0, 1, 1, 2, 3]) {
            let long = noise.pick(&LONG);
            // Sides of a branch that splits waves leave scalars alone.
            if !(style.splits() && long.contains("s64")) {
                out.push_str(long);
                out.push('\n');
            }
        }
    };
    // Behind the first wait the arguments are there.
    let mut begun = false;
    for line in text.lines() {
        let waits = ["s_waitcnt", "s_barrier", "s_cbranch", "s_branch", "s_endpgm"];
        let here = begun && waits.iter().any(|name| line.trim_start().starts_with(name));
        begun |= line.contains("s_waitcnt");
        if here && line.contains("s_endpgm") {
            // Nothing but registers is outstanding.
            out.push_str("s_waitcnt vmcnt(0) lgkmcnt(0)\n");
        }
        if here {
            some(&mut out);
        }
        out.push_str(line);
        out.push('\n');
        if here && !line.contains("s_endpgm") {
            some(&mut out);
        }
    }
    out
}

fn changed_job(
    case: u64,
    input: u64,
    style: Style,
    change: impl FnOnce(String) -> String,
) -> Result<Job, String> {
    let mut noise = Noise::new(case ^ 0x6e0);
    let (group, groups) = match style {
        Style::Plain => (64, 1),
        Style::Any | Style::Splits | Style::Ends => {
            (noise.pick(&[64, 64, 128, 192, 256, 100]), noise.pick(&[1, 2, 3, 5, 8, 17, 40]))
        }
    };
    let text = change(times_kernel(case, style, group));
    let args = times_contents(case, input).map(buffer).to_vec();
    let machine = match style {
        Style::Plain => plain_machine(case),
        Style::Any => times_machine(case),
        Style::Splits | Style::Ends => splits_machine(case),
    };
    let split = match style {
        Style::Plain | Style::Any => SplitSpec::default(),
        Style::Splits | Style::Ends => marks(&machine, &text, &mut noise),
    };
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3: [group * groups, 1, 1],
        group3: [group, 1, 1],
        args,
        ready_machine: Some(Box::new(machine)),
        split,
        ..JobSpec::default()
    };
    Job::from_source("times.s", &text, &spec).map_err(|e| format!("{:?}", miette::Report::new(e)))
}

/// The words of a case's two buffers.
fn times_contents(case: u64, input: u64) -> [Vec<u8>; 2] {
    let words = |salt: u64| -> Vec<u8> {
        let mut noise = Noise::new(case ^ input.wrapping_mul(0x9e37_79b9) ^ salt << 50);
        let kind = noise.below(6);
        let same = noise.number();
        let word = |noise: &mut Noise, i: u32| match kind {
            0 => same,
            1 => i,
            2 => noise.below(64) as u32,
            3 => noise.below(1 << 32) as u32,
            4 => i * 32,
            _ => noise.number(),
        };
        (0..WORDS).flat_map(|i| word(&mut noise, i).to_le_bytes()).collect()
    };
    [words(1), words(2)]
}

/// A case without splits as files: names with their contents, among them a script that runs and bounds it.
pub fn times_files(case: u64, input: u64) -> Result<Vec<(String, Vec<u8>)>, String> {
    let style = Style::Any;
    let job = times_job(case, input, style)?;
    let (grid, group) = match job.launch {
        Launch::Groups(g) => (g.grid[0], g.group[0]),
        _ => return Err("no groups".into()),
    };
    let [a, b] = times_contents(case, input).map(|bytes| array(bytes).to_npy());
    let launch = format!("--grid {grid} --group {group} --arg buf:u32:a.npy --arg buf:u32:b.npy");
    let script = format!(
        "# case {case}, contents {input}\n\
         wavebound run kernel.s --machine machine.toml {launch}\n\
         wavebound wcet kernel.s --proved --machine machine.toml {launch}\n"
    );
    Ok(vec![
        ("kernel.s".into(), times_kernel(case, style, group).into_bytes()),
        ("machine.toml".into(), job.machine.to_toml().into_bytes()),
        ("a.npy".into(), a),
        ("b.npy".into(), b),
        ("run.sh".into(), script.into_bytes()),
    ])
}

/// All branches, or some of them.
fn marks(machine: &Machine, text: &str, noise: &mut Noise) -> SplitSpec {
    let style = machine.divergence.mechanism.info().marks.unwrap_or_default();
    let branches = text.lines().enumerate().filter(|(_, line)| line.contains("s_cbranch_exec"));
    let at: Vec<String> = branches.map(|(i, _)| format!("times.s:{}", i + 1)).collect();
    if noise.one_in(2) || at.is_empty() {
        return SplitSpec { at: Vec::new(), all: true, style };
    }
    let mut some = at.clone();
    some.retain(|_| noise.one_in(2));
    SplitSpec { at: if some.is_empty() { at } else { some }, all: false, style }
}

/// Any machine, with a mechanism that splits.
fn splits_machine(case: u64) -> Machine {
    let mut m = times_machine(case);
    let mut noise = Noise::new(case ^ 0x5b11);
    let d = &mut m.divergence;
    d.mechanism = noise.pick(&[Mechanism::Pws, Mechanism::Pws, Mechanism::Thesis, Mechanism::Dws]);
    d.choice = noise.pick(&[SplitChoice::Marked, SplitChoice::Marked, SplitChoice::Opportunistic]);
    d.reconverge = noise.pick(&[
        Reconverge::Default,
        Reconverge::RegionEnd,
        Reconverge::RegionEnd,
        Reconverge::Anywhere,
    ]);
    m.split.contexts = noise.pick(&[1, 1, 2, 3, 7]);
    m.split.units = noise.pick(&[SplitUnits::Extra, SplitUnits::Extra, SplitUnits::Shared]);
    m.split.split_cycles = noise.pick(&[0, 1, 1, 8]);
    m.split.merge_cycles = noise.pick(&[0, 1, 1, 8]);
    m
}

fn array(bytes: Vec<u8>) -> Array {
    Array { element: Element::U32, shape: vec![bytes.len() as u64 / 4], bytes }
}

fn buffer(bytes: Vec<u8>) -> ArgSpec {
    ArgSpec::Ready(Argument::Buffer(array(bytes)))
}

fn base(case: u64) -> (Machine, Noise) {
    let noise = Noise::new(case ^ 0x3ac);
    let mut m = wb_hw::preset("gcn3").expect("a preset");
    m.limits.memory = 4 << 20;
    m.limits.cycles = 20_000_000;
    (m, noise)
}

/// Latencies, intervals and the front end.
fn pipeline(m: &mut Machine, noise: &mut Noise) {
    let wait = |noise: &mut Noise| 1 + noise.below(9) as u32;
    for unit in &mut m.units {
        if noise.one_in(2) {
            unit.latency = wait(noise);
        }
        for latency in unit.latencies.values_mut() {
            *latency = wait(noise) * 3;
        }
        if noise.one_in(3) {
            unit.interval = 1 + noise.below(6) as u32;
        }
        if noise.one_in(6) {
            unit.lanes = 16;
        }
    }
    m.frontend.kind = noise.pick(&[
        FrontEndKind::Perfect,
        FrontEndKind::Decoupled,
        FrontEndKind::Decoupled,
        FrontEndKind::Coordinated,
    ]);
    m.frontend.buffer = noise.pick(&[1, 2, 3, 8, 16]);
    m.frontend.fetch_latency = noise.below(4) as u32;
    m.frontend.decode_latency = noise.below(4) as u32;
    m.frontend.branch_penalty = noise.pick(&[0, 0, 1, 5]);
    m.frontend.after_miss = noise.pick(&[AfterMiss::GoOn, AfterMiss::Wait]);
    m.memory.lds_latency = noise.below(12) as u32;
    m.memory.request_latency = noise.below(70) as u32;
    m.memory.response_latency = noise.below(70) as u32;
    m.dram.latency = noise.pick(&[1, 30, 100, 333]);
}

/// In cases from here on some classes keep their units longer than others.
pub const LONGER: u64 = 1 << 40;

fn longer(m: &mut Machine, case: u64) {
    if case < LONGER {
        return;
    }
    let mut noise = Noise::new(case ^ 0x7e1);
    for unit in m.units.iter_mut().filter(|u| u.port == Port::None) {
        for class in &unit.classes {
            if noise.one_in(4) {
                unit.intervals.insert(class.clone(), unit.interval + noise.below(12) as u32);
            }
        }
    }
}

/// Without caches and limits of bandwidth.
fn plain_machine(case: u64) -> Machine {
    let (mut m, mut noise) = base(case);
    pipeline(&mut m, &mut noise);
    longer(&mut m, case);
    m.dram.bandwidth = 0;
    m.memory.data = "dram".into();
    m.memory.scalar = "dram".into();
    m.memory.instruction = "none".into();
    m.caches.clear();
    m
}

/// Everything varies.
pub fn times_machine(case: u64) -> Machine {
    let (mut m, mut noise) = base(case);
    if noise.one_in(5) {
        // As it is.
        return m;
    }
    pipeline(&mut m, &mut noise);
    longer(&mut m, case);
    m.cores = noise.pick(&[1, 1, 2, 3, 4]);
    m.core.partitions = noise.pick(&[1, 2, 4]);
    m.core.waves = m.core.partitions * noise.pick(&[2, 4, 10]);
    m.dispatch = noise.pick(&[Dispatch::Fill, Dispatch::RoundRobin]);
    m.issue.policy = policy(&Policy::ISSUE, case, &mut noise);
    m.issue.width = if m.issue.policy == Policy::OwnerDispatch { 1 } else { noise.pick(&[1, 1, 1, 2]) };
    m.frontend.policy = policy(&Policy::FETCH, case, &mut noise);
    m.frontend.ports = noise.pick(&[1, 1, 1, 2]);
    m.dram.bandwidth = noise.pick(&[0, 8, 24, 64, 100]);
    for unit in &mut m.units {
        if unit.count > 0 && noise.one_in(6) {
            unit.count = 2;
        }
    }
    for cache in &mut m.caches {
        if noise.one_in(2) {
            cache.size = cache.line * cache.ways.max(1) * noise.pick(&[1, 2, 4, 64]);
        }
        cache.ports = noise.pick(&[0, 1, 1, 2, 3]);
        cache.latency = 1 + noise.below(20) as u32;
        if noise.one_in(5) {
            cache.write = WritePolicy::Free;
        }
        if cache.name == "tcp" && noise.one_in(4) {
            cache.shared_by = 2;
        }
    }
    match noise.below(6) {
        0 => m.memory.data = "dram".into(),
        1 => m.memory.scalar = "tcp".into(),
        2 => m.memory.instruction = "none".into(),
        _ => {}
    }
    m
}
