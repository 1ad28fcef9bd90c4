//! One launch on several host threads must be that on one, cycle for cycle and byte for byte: kernels without atomic operations on
//! words that groups share, on machines with several cores and all kinds of caches. Some kernels read what threads of other groups
//! write, which shows an order that host threads do not keep: these have to run on one after all.

use super::super::setup::mix;
use super::super::{SCRATCH, SLOT};
use super::ast::{Kernel, Segment, Stmt};
use super::differential::Launched;
use super::emit;
use super::setup::Setup;
use std::fmt::Write;
use wb_hw::{AfterMiss, FrontEndKind, Machine, Mechanism, MemorySplits, Unresolved, WritePolicy};
use wb_jobs::object::ObjectFile;

/// What a case that passed did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// It ran on several threads, untimed and timed.
    pub untimed: bool,
    pub timed: bool,
    /// Groups depend on each other.
    pub races: bool,
    pub wave_instructions: u64,
}

/// Case `n` of a kernel.
pub fn check_threads(kernel: &Kernel, n: u64) -> Result<Beside, String> {
    let setup = Setup::number(n % Setup::COUNT);
    let pick = |what: u64, of: u64| mix(n ^ what << 48) % of;
    let races = pick(1, 4) == 0;
    let machine = machine(&setup, &pick);
    let groups = 2 + pick(2, 30) as u32;
    let count = (setup.group() * groups - pick(3, setup.group().into()) as u32).max(1);
    let apart = Kernel { segments: segments(&kernel.segments) };
    let mut source = emit::source(&apart, &setup);
    if races {
        let near = 1 + pick(4, u64::from(setup.group()) * 3);
        source = source.replace("s_endpgm", &format!("{}s_endpgm", neighbour(near, count)));
    }
    let threads = 2 + pick(5, 3) as usize;
    let fails = |what: String| format!("case {n}: {what}\n\non {machine:?}\n\n{source}");
    let object = ObjectFile::from_bytes("random.s", source.as_bytes())
        .map_err(|e| fails(format!("{:?}", miette::Report::new(e))))?;
    let mut done = Beside { races, ..Beside::default() };
    for timed in [false, true] {
        let run = |threads: usize| {
            let launched = Launched::sized(&object, count, &setup, machine.clone(), timed)?;
            launched.run_on(threads)
        };
        let (one, several) = (run(1).map_err(&fails)?, run(threads).map_err(&fails)?);
        let told = |o: &wb_sim::Outcome| (o.cycles, o.wave_instructions, o.lane_instructions, o.waves);
        if told(&one.0) != told(&several.0) {
            let (one, several) = (told(&one.0), told(&several.0));
            return Err(fails(format!("timed {timed}: {several:?} on {threads} threads, {one:?} on one")));
        }
        if one.1 != several.1 {
            return Err(fails(format!("timed {timed}: other memory on {threads} threads")));
        }
        let beside = several.0.threads > 1;
        if timed {
            (done.timed, done.wave_instructions) = (beside, one.0.wave_instructions);
        } else {
            done.untimed = beside;
        }
    }
    Ok(done)
}

/// The word that another thread leaves at the end, as it is now, becomes one of the thread's own.
fn neighbour(near: u64, count: u32) -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments| {
        let _ = writeln!(text, "{line}\n  ");
    };
    line(format_args!("v_add_u32 v12, vcc, {near}, v1"));
    line(format_args!("v_min_u32 v12, {}, v12", count - 1));
    line(format_args!("v_mul_u32_u24 v12, {}, v12", 4 * SLOT));
    line(format_args!("v_add_u32 v12, vcc, {}, v12", 4 * SCRATCH));
    line(format_args!("v_mov_b32 v13, s7"));
    line(format_args!("v_add_u32 v12, vcc, s6, v12"));
    line(format_args!("v_addc_u32 v13, vcc, 0, v13, vcc"));
    line(format_args!("flat_load_dword v14, v[12:13]"));
    line(format_args!("v_add_u32 v12, vcc, {}, v2", 4 * (SCRATCH + 1)));
    line(format_args!("v_addc_u32 v13, vcc, 0, v3, vcc"));
    line(format_args!("s_waitcnt vmcnt(0) lgkmcnt(0)"));
    line(format_args!("flat_store_dword v[12:13], v14"));
    text
}

/// Without what groups share.
fn segments(list: &[Segment]) -> Vec<Segment> {
    let segment = |segment: &Segment| match segment {
        Segment::Body(body) => Segment::Body(block(body)),
        Segment::Exchange { var, with } => Segment::Exchange { var: *var, with: *with },
        Segment::Repeat(times, inner) => Segment::Repeat(*times, segments(inner)),
        Segment::Uniform(bit, inner) => Segment::Uniform(*bit, segments(inner)),
    };
    list.iter().map(segment).collect()
}

fn block(body: &[Stmt]) -> Vec<Stmt> {
    let stmt = |stmt: &Stmt| match stmt.clone() {
        Stmt::Atomic(..) => None,
        Stmt::Store { slot, value, .. } => Some(Stmt::Store { slot, value, atomic: false }),
        Stmt::If { cond, yes, no, shape } => Some(Stmt::If { cond, yes: block(&yes), no: block(&no), shape }),
        Stmt::Loop { form, count, mask, shape, body } => {
            Some(Stmt::Loop { form, count, mask, shape, body: block(&body) })
        }
        other @ (Stmt::Assign(..) | Stmt::Select(..) | Stmt::Break(_)) => Some(other),
    };
    body.iter().filter_map(stmt).collect()
}

/// Several cores, caches of all kinds.
fn machine(setup: &Setup, pick: &impl Fn(u64, u64) -> u64) -> Machine {
    let mut m = setup.machine();
    m.divergence.mechanism = Mechanism::ExecMask;
    m.divergence.reconverge = Default::default();
    m.divergence.memory = MemorySplits::Never;
    m.split.contexts = 0;
    m.limits.cycles = 500_000_000;
    m.cores = 2 + pick(10, 8) as u32;
    m.frontend.kind = if pick(11, 4) == 0 { FrontEndKind::Perfect } else { FrontEndKind::Decoupled };
    m.frontend.after_miss = if pick(12, 2) == 0 { AfterMiss::Wait } else { AfterMiss::GoOn };
    m.frontend.requests = [0, 0, 1, 2][pick(13, 4) as usize];
    m.frontend.resolution = [0, 0, 0, 2][pick(14, 4) as usize];
    m.frontend.unresolved =
        [Unresolved::GoOn, Unresolved::GoOn, Unresolved::Wait, Unresolved::Stall][pick(15, 4) as usize];
    m.memory.request_latency = [0, 5, 50][pick(16, 3) as usize];
    m.memory.response_latency = [0, 5, 50][pick(17, 3) as usize];
    m.dram.bandwidth = [0, 8, 64][pick(18, 3) as usize];
    (m.dram.banks, m.dram.row_bytes, m.dram.row_hit_latency) =
        if pick(19, 2) == 0 { (0, 0, 0) } else { (4, 256, 20) };
    let last_of = if pick(9, 4) == 0 { 4 } else { 0 };
    for (i, cache) in m.caches.iter_mut().enumerate() {
        let pick = |what: u64, of: u64| pick(20 + 10 * i as u64 + what, of);
        let last = cache.next == "dram";
        let first_of = if pick(6, 8) == 0 { last_of } else { [1, 1, 2][pick(0, 3) as usize] };
        cache.shared_by = if last { last_of } else { first_of };
        cache.ways = [1, 2, 4][pick(1, 3) as usize];
        cache.size = cache.line * cache.ways * [1, 2, 16][pick(2, 3) as usize];
        cache.ports = [0, 1, 2][pick(3, 3) as usize];
        cache.latency = [1, 3, 17][pick(4, 3) as usize].max(if last { 4 } else { 0 });
        cache.write = if pick(5, 6) == 0 { WritePolicy::Free } else { WritePolicy::Through };
    }
    m
}
