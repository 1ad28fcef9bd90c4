//! Random counted loops in GCN3 assembly, of scalars and of lanes, with every comparison, step and sign: the proven limit
//! is never less than what really happens, and for loops without wrap-around it is exact or one more.

use wb_facts::{Known, LoopFact, infer_gcn3};
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_sim::RunOptions;
use wb_testgen::random::loops::Rounds;

/// Splitmix64.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn flip(&mut self) -> bool {
        self.next() >> 40 & 1 == 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rel {
    Lt,
    Le,
    Gt,
    Ge,
    Ne,
}

impl Rel {
    fn holds(self, signed: bool, x: u32, y: u32) -> bool {
        let o = if signed { (x as i32).cmp(&(y as i32)) } else { x.cmp(&y) };
        match self {
            Rel::Lt => o.is_lt(),
            Rel::Le => o.is_le(),
            Rel::Gt => o.is_gt(),
            Rel::Ge => o.is_ge(),
            Rel::Ne => o.is_ne(),
        }
    }

    fn name(self, scalar: bool) -> &'static str {
        match self {
            Rel::Lt => "lt",
            Rel::Le => "le",
            Rel::Gt => "gt",
            Rel::Ge => "ge",
            Rel::Ne if scalar => "lg",
            Rel::Ne => "ne",
        }
    }

    fn not_name(self) -> &'static str {
        match self {
            Rel::Lt => "ge",
            Rel::Le => "gt",
            Rel::Gt => "le",
            Rel::Ge => "lt",
            Rel::Ne => "eq",
        }
    }

    /// `a rel b` as `b rel a`.
    fn swapped(name: &str) -> &str {
        match name {
            "lt" => "gt",
            "le" => "ge",
            "gt" => "lt",
            "ge" => "le",
            same => same,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Add(i32),
    Left(u32),
    Right(u32),
}

impl Step {
    fn apply(self, x: u32) -> u32 {
        match self {
            Step::Add(n) => x.wrapping_add(n as u32),
            Step::Left(n) => x << n,
            Step::Right(n) => x >> n,
        }
    }
}

/// A loop that goes on while `x rel limit`.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// Counts in a vector register, from `start + (lane << spread)`.
    lanes: bool,
    spread: u32,
    start: u32,
    step: Step,
    rel: Rel,
    signed: bool,
    limit: u32,
    /// The limit is a kernel argument, or else a constant.
    argument: bool,
    /// Tested before the step, or else after it.
    first: bool,
}

const LANES: u32 = 40;

impl Counted {
    /// How often it goes round; none if too often.
    fn rounds(&self) -> Option<u64> {
        let lane = |lane: u32| {
            let mut x = self.start.wrapping_add(lane << self.spread);
            for n in 0..1500 {
                let tested = if self.first { x } else { self.step.apply(x) };
                if !self.rel.holds(self.signed, tested, self.limit) {
                    return Some(n);
                }
                x = self.step.apply(x);
            }
            None
        };
        let lanes = if self.lanes { LANES } else { 1 };
        (0..lanes).map(lane).try_fold(0, |most, n| Some(most.max(n?)))
    }

    fn assembly(&self) -> String {
        let ty = if self.signed || self.rel == Rel::Ne && self.start & 1 == 1 { "i32" } else { "u32" };
        let limit = match self.argument {
            true => "  s_load_dword s4, s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n".to_owned(),
            false => format!("  s_mov_b32 s4, {:#x}\n", self.limit),
        };
        let head = format!(".kernel k\n.arg i32 n\n{limit}");
        let (go, leave) = (self.rel.name(!self.lanes), self.rel.not_name());
        if !self.lanes {
            let step = match self.step {
                Step::Add(n) if n % 2 == 0 => format!("s_addk_i32 s5, {n}"),
                Step::Add(n) if n < 0 => format!("s_sub_i32 s5, s5, {}", -n),
                Step::Add(n) => format!("s_add_u32 s5, s5, {n}"),
                Step::Left(n) => format!("s_lshl_b32 s5, s5, {n}"),
                Step::Right(n) => format!("s_lshr_b32 s5, s5, {n}"),
            };
            let start = format!("  s_mov_b32 s5, {:#x}\n", self.start);
            let body = match self.first {
                true => format!(
                    "again:\n  s_cmp_{leave}_{ty} s5, s4\n  s_cbranch_scc1 done\n  {step}\n  s_branch again\ndone:\n"
                ),
                false => format!("again:\n  {step}\n  s_cmp_{go}_{ty} s5, s4\n  s_cbranch_scc1 again\n"),
            };
            return format!("{head}{start}{body}  s_endpgm\n");
        }
        let step = match self.step {
            Step::Add(n) if n < 0 => format!("v_subrev_u32 v1, vcc, {}, v1", -n),
            Step::Add(n) => format!("v_add_u32 v1, vcc, {n}, v1"),
            Step::Left(n) => format!("v_lshlrev_b32 v1, {n}, v1"),
            Step::Right(n) => format!("v_lshrrev_b32 v1, {n}, v1"),
        };
        let start = format!(
            "  v_lshlrev_b32 v1, {}, v0\n  v_add_u32 v1, vcc, {:#x}, v1\n  s_mov_b64 s[6:7], 0\n",
            self.spread, self.start
        );
        let (go, leave) = (Rel::swapped(go), Rel::swapped(leave));
        let body = match self.first {
            true => format!(
                "again:\n  v_cmp_{go}_{ty} vcc, s4, v1\n  s_and_b64 exec, exec, vcc\n  s_cbranch_execz done\n  {step}\n  \
                 s_branch again\ndone:\n"
            ),
            false => format!(
                "again:\n  {step}\n  v_cmp_{leave}_{ty} vcc, s4, v1\n  s_or_b64 s[6:7], vcc, s[6:7]\n  \
                 s_andn2_b64 exec, exec, s[6:7]\n  s_cbranch_execnz again\n"
            ),
        };
        format!("{head}{start}{body}  s_endpgm\n")
    }
}

/// Runs it: what is proven and how often it went round.
fn run(source: &str, limit: u32) -> (Vec<LoopFact>, Vec<u64>) {
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3: [2 * LANES, 1, 1],
        group3: [LANES, 1, 1],
        args: vec![format!("u32:{limit}").into()],
        ..JobSpec::default()
    };
    let job = Job::from_source("k.s", &source.replace(".arg i32", ".arg u32"), &spec).expect("a kernel");
    let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
    let facts = infer_gcn3(program, &Known::launch(program, &job.kernarg, &job.args)).loops;
    let mut seen = Rounds::new(program, false);
    job.run(RunOptions { timed: false, ..RunOptions::default() }, Some(&mut seen)).expect("a run");
    for fact in &facts {
        let most = seen.most.get(&fact.header).copied().unwrap_or(0);
        assert!(most <= fact.max, "went round {most} times, proven {}: {}\n{source}", fact.max, fact.why);
    }
    (facts, seen.most.into_values().collect())
}

/// Without wrap-around: the value moves towards the limit and both are small.
fn simple(noise: &mut Noise) -> Counted {
    let lanes = noise.flip();
    let signed = noise.flip();
    let base = if signed { noise.below(400) as i32 - 200 } else { noise.below(200) as i32 + 300 };
    let distance = noise.below(260) as i32;
    let by = 1 + noise.below(7) as i32;
    let shift = 1 + noise.below(2) as u32;
    let mut c = Counted {
        lanes,
        spread: noise.below(3) as u32,
        start: base as u32,
        step: Step::Add(by),
        rel: if noise.flip() { Rel::Lt } else { Rel::Le },
        signed,
        limit: (base + distance) as u32,
        argument: noise.flip(),
        first: noise.flip(),
    };
    match noise.below(5) {
        0 | 1 => {}
        2 => {
            c.step = Step::Add(-by);
            c.rel = if noise.flip() { Rel::Gt } else { Rel::Ge };
            c.limit = (base - distance) as u32;
        }
        3 if !lanes => {
            // At least one step before the limit, which it meets.
            c.rel = Rel::Ne;
            let steps = 1 + noise.below(200) as i32;
            c.step = Step::Add(if noise.flip() { by } else { -by });
            let Step::Add(by) = c.step else { return c };
            c.limit = (base + by * steps) as u32;
            // Without sign the way may not lead through zero.
            if !signed && by < 0 {
                c.limit = c.limit.wrapping_add(2000);
                c.start = c.start.wrapping_add(2000);
            }
        }
        3 => {}
        _ if noise.flip() => {
            c.step = Step::Right(shift);
            c.start = noise.below(1 << 20) as u32;
            (c.rel, c.limit) = (Rel::Gt, noise.below(9) as u32);
        }
        _ => {
            c.step = Step::Left(shift);
            c.start = 1 + noise.below(50) as u32;
            (c.rel, c.limit) = (Rel::Lt, noise.below(1 << 20) as u32);
        }
    }
    c
}

/// Anything, near the ends of the number lines too.
fn wild(noise: &mut Noise) -> Counted {
    let bases = [0u32, 3, 100, 0x7fff_ffc0, 0x8000_0000, 0xffff_ff80, u32::MAX];
    let mut value = || bases[noise.below(7) as usize].wrapping_add(noise.below(200) as u32).wrapping_sub(60);
    let (start, limit) = (value(), value());
    let step = match noise.below(4) {
        0 => Step::Left(1 + noise.below(3) as u32),
        1 => Step::Right(1 + noise.below(3) as u32),
        _ => Step::Add(noise.below(60) as i32 - 30),
    };
    Counted {
        lanes: noise.flip(),
        spread: noise.below(6) as u32,
        start,
        step,
        rel: [Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge, Rel::Ne][noise.below(5) as usize],
        signed: noise.flip(),
        limit,
        argument: noise.flip(),
        first: noise.flip(),
    }
}

#[test]
fn simple_loops_are_proven_exactly() {
    let mut noise = Noise(1);
    let (mut done, mut exact) = (0, 0);
    while done < 600 {
        let c = simple(&mut noise);
        let Some(rounds) = c.rounds() else { continue };
        let source = c.assembly();
        let (facts, seen) = run(&source, c.limit);
        assert_eq!(seen, [rounds], "the reference agrees\n{c:?}\n{source}");
        let fact = facts.first().unwrap_or_else(|| panic!("not proven: {c:?}\n{source}"));
        assert!(fact.max <= rounds + 1, "{} instead of {rounds}: {}\n{c:?}\n{source}", fact.max, fact.why);
        exact += u32::from(fact.max == rounds);
        done += 1;
    }
    assert!(exact > 560, "only {exact} of {done} are exact");
}

#[test]
fn any_loop_goes_round_as_often_as_proven_at_most() {
    let mut noise = Noise(2);
    let (mut done, mut proven) = (0, 0);
    while done < 500 {
        let c = wild(&mut noise);
        if c.rounds().is_none() {
            // It wraps, or never ends: there must be no small limit.
            let spec = JobSpec {
                isa: Some(wb_hw::InstructionSet::Gcn3),
                args: vec![format!("u32:{}", c.limit).into()],
                ..JobSpec::default()
            };
            let spec = JobSpec { grid3: [LANES, 1, 1], group3: [LANES, 1, 1], ..spec };
            let source = c.assembly().replace(".arg i32", ".arg u32");
            let job = Job::from_source("k.s", &source, &spec).expect("a kernel");
            let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
            let facts = infer_gcn3(program, &Known::launch(program, &job.kernarg, &job.args)).loops;
            assert!(facts.iter().all(|f| f.max >= 1500), "{facts:?}\n{c:?}\n{source}");
            continue;
        }
        let (facts, _) = run(&c.assembly(), c.limit);
        proven += facts.len();
        done += 1;
    }
    assert!(proven > 150, "only {proven} of {done} are proven");
    println!("{proven} of {done} proven");
}

/// A counter that only moves in some rounds, a mask that lets lanes come back, a step in a branch: no limit follows.
#[test]
fn what_does_not_follow_is_not_proven() {
    let head = ".kernel k\n.arg u32 n\n  s_load_dword s4, s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_mov_b32 s5, 0\n  \
                s_mov_b32 s8, 0\n  v_mov_b32 v1, 0\n  s_mov_b64 s[6:7], exec\n";
    let bodies = [
        // The step is skipped when s8 is odd.
        "again:\n  s_add_i32 s8, s8, 1\n  s_bitcmp1_b32 s8, 0\n  s_cbranch_scc1 skip\n  s_add_i32 s5, s5, 1\nskip:\n  \
         s_cmp_lt_i32 s5, s4\n  s_cbranch_scc1 again\n",
        // Half of the lanes count, all of them decide.
        "again:\n  v_and_b32 v2, 1, v0\n  v_cmp_eq_u32 vcc, 0, v2\n  s_and_saveexec_b64 s[6:7], vcc\n  \
         v_add_u32 v1, vcc, 1, v1\n  s_or_b64 exec, exec, s[6:7]\n  v_cmp_gt_u32 vcc, s4, v1\n  s_and_b64 exec, exec, vcc\n  \
         s_cbranch_execnz again\n",
        // Lanes that left are switched on again each round.
        "again:\n  s_mov_b64 exec, s[6:7]\n  v_add_u32 v1, vcc, 1, v1\n  v_cmp_gt_u32 vcc, s4, v1\n  \
         s_and_b64 exec, exec, vcc\n  s_cbranch_execnz again\n",
        // A lane that is off is set back from outside.
        "again:\n  v_add_u32 v1, vcc, 1, v1\n  v_cmp_ne_u32 vcc, 0, v0\n  s_and_saveexec_b64 s[10:11], vcc\n  \
         v_writelane_b32 v1, s8, 0\n  s_or_b64 exec, exec, s[10:11]\n  v_cmp_gt_u32 vcc, s4, v1\n  \
         s_and_b64 exec, exec, vcc\n  s_cbranch_execnz again\n",
        // The limit moves with the counter.
        "again:\n  s_add_i32 s5, s5, 1\n  s_add_i32 s4, s4, 1\n  s_cmp_lt_i32 s5, s4\n  s_cbranch_scc1 again\n",
        // The counter is set back.
        "again:\n  s_add_i32 s5, s5, 1\n  s_cmp_eq_u32 s5, 7\n  s_cmov_b32 s5, s8\n  s_cmp_lt_i32 s5, s4\n  \
         s_cbranch_scc1 again\n",
        // Another way round without the test.
        "again:\n  s_add_i32 s5, s5, 1\n  s_add_i32 s8, s8, 1\n  s_bitcmp1_b32 s8, 3\n  s_cbranch_scc1 again\n  \
         s_cmp_lt_i32 s5, s4\n  s_cbranch_scc1 again\n",
        // The memory decides.
        "  s_load_dwordx2 s[10:11], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\nagain:\n  s_load_dword s12, s[10:11], 0x0\n  \
         s_waitcnt lgkmcnt(0)\n  s_cmp_lg_u32 s12, 0\n  s_cbranch_scc1 again\n",
    ];
    for body in bodies {
        let source = format!("{head}{body}  s_endpgm\n");
        let spec = JobSpec {
            isa: Some(wb_hw::InstructionSet::Gcn3),
            grid3: [64, 1, 1],
            group3: [64, 1, 1],
            args: vec!["u32:20".into()],
            ..JobSpec::default()
        };
        let job = Job::from_source("k.s", &source, &spec).expect("a kernel");
        let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
        let facts = infer_gcn3(program, &Known::launch(program, &job.kernarg, &job.args)).loops;
        assert!(facts.is_empty(), "{facts:?}\n{source}");
    }
}
