//! Untimed runs on several host threads: memory, statistics and errors are those of one thread, whatever the threads do.

use wb_hw::InstructionSet;
use wb_jobs::launch::{Launches, WorkloadSession, WorkloadSpec};
use wb_jobs::{Job, JobSpec};
use wb_sim::{Outcome, RunOptions};
use wb_trace::{Statistics, Stats};

fn untimed<'a>(threads: usize) -> RunOptions<'a> {
    RunOptions { timed: false, threads, ..RunOptions::default() }
}

/// What a workload leaves: contents of its buffers, statistics of every launch, and the most threads that one used.
fn play(name: &str, threads: usize) -> (Vec<Vec<u8>>, Vec<Stats>, u32) {
    let which = WorkloadSpec::new(name, "small").expect("a workload");
    let mut session = WorkloadSession::open(&which, &JobSpec::default()).expect("a session");
    let (mut all, mut most) = (Vec::new(), 1);
    while let Some(step) = session.next_step().expect("a step") {
        let mut statistics = Statistics::new();
        let outcome = session.run(&step, untimed(threads), Some(&mut statistics)).expect("a run");
        most = most.max(outcome.threads);
        all.push(statistics.stats());
    }
    let stage = session.stage();
    let read = |b: &wb_jobs::data::Buffer| stage.device.read(b.addr, b.bytes).expect("a buffer").to_vec();
    (stage.buffers.iter().map(read).collect(), all, most)
}

#[test]
fn the_suite_leaves_the_same_memory_and_statistics() {
    let mut used = 0;
    for workload in wb_workloads::all() {
        let one = play(workload.name, 1);
        assert_eq!(one.2, 1);
        for threads in [2, 3] {
            let several = play(workload.name, threads);
            assert!(one.0 == several.0, "{}: memory differs with {threads} threads", workload.name);
            assert!(one.1 == several.1, "{}: statistics differ with {threads} threads", workload.name);
            used += u32::from(several.2 > 1);
        }
    }
    assert!(used >= 8, "only {used} runs of the suite used several threads");
}

/// A kernel with 64 groups of 64 work-items. `body` finds the group in s6, the work-item in v0, the address of the work-item's
/// dword in v[2:3], and that of the first dword in s[4:5].
fn job(body: &str) -> Job {
    let source = format!(
        ".kernel shared\n.arg buf x\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_mov_b32 s6, s2\n  \
         s_lshl_b32 s7, s6, 8\n  v_lshlrev_b32 v1, 2, v0\n  v_add_u32 v1, vcc, s7, v1\n  s_waitcnt lgkmcnt(0)\n  \
         v_mov_b32 v3, s5\n  v_add_u32 v2, vcc, s4, v1\n  v_addc_u32 v3, vcc, 0, v3, vcc\n{body}\n  s_endpgm\n"
    );
    let spec = JobSpec {
        isa: Some(InstructionSet::Gcn3),
        sets: vec!["limits.cycles=100000".into()],
        grid3: [64 * 64, 1, 1],
        group3: [64, 1, 1],
        args: vec!["buf:u32:4096".into()],
        ..JobSpec::default()
    };
    Job::from_bytes("shared.s", source.as_bytes(), &spec)
        .unwrap_or_else(|e| panic!("{:?}\n{source}", miette::Report::new(e)))
}

/// How many threads ran the kernel; what it leaves, or its error, must be that of one thread.
fn compared(body: &str) -> u32 {
    let job = job(body);
    let run = |threads| {
        let ran: Result<Outcome, _> = job.run(untimed(threads), None);
        ran.map_err(|e| format!("{:?}", miette::Report::new(e)))
    };
    match (run(1), run(4)) {
        (Ok(one), Ok(several)) => {
            assert_eq!(one.threads, 1);
            assert!(one.memory.all() == several.memory.all(), "memory differs: {body}");
            assert_eq!(one.wave_instructions, several.wave_instructions);
            assert_eq!(one.lane_instructions, several.lane_instructions);
            several.threads
        }
        (Err(one), Err(several)) => {
            assert_eq!(one, several);
            1
        }
        (one, several) => panic!("{:?} and {:?}", one.err(), several.err()),
    }
}

#[test]
fn groups_that_keep_to_themselves_run_beside_each_other() {
    let own = "  v_mov_b32 v4, s6\n  flat_store_dword v[2:3], v4\n  flat_load_dword v5, v[2:3]\n  \
               s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_add_u32 v5, vcc, v5, v0\n  flat_store_dword v[2:3], v5";
    assert_eq!(compared(own), 4);
    // Bytes of one dword from two groups, and the same value from all groups to one place.
    let same = "  v_mov_b32 v4, 7\n  v_mov_b32 v6, s4\n  v_mov_b32 v7, s5\n  flat_store_dword v[6:7], v4";
    assert_eq!(compared(same), 4);
    let halves = "  v_add_u32 v2, vcc, 2, v2\n  v_addc_u32 v3, vcc, 0, v3, vcc\n  v_mov_b32 v4, s6\n  \
                  flat_store_short v[2:3], v4";
    assert_eq!(compared(halves), 4);
}

#[test]
fn groups_that_communicate_do_not() {
    let race = "  v_mov_b32 v4, s6\n  v_mov_b32 v6, s4\n  v_mov_b32 v7, s5\n  flat_store_dword v[6:7], v4";
    assert_eq!(compared(race), 1, "the last group wins, as on one thread");
    let atomic = "  v_mov_b32 v4, 1\n  v_mov_b32 v6, s4\n  v_mov_b32 v7, s5\n  flat_atomic_add v[6:7], v4";
    assert_eq!(compared(atomic), 1);
    let volatile =
        "  flat_load_dword v5, v[2:3] glc\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  flat_store_dword v[2:3], v5";
    assert_eq!(compared(volatile), 1);
}

#[test]
fn errors_are_those_of_one_thread() {
    // The group with number 41 goes astray.
    let fault = "  s_cmp_eq_u32 s6, 41\n  s_cbranch_scc0 on\n  v_mov_b32 v3, 0\n  v_mov_b32 v2, 0\non:\n  \
                 flat_store_dword v[2:3], v0";
    compared(fault);
    let endless = "  s_cmp_eq_u32 s6, 17\n  s_cbranch_scc0 on\nround:\n  s_branch round\non:\n  s_nop 0";
    compared(endless);
}

#[test]
fn a_run_can_be_stopped() {
    let job = job(
        "  s_mov_b32 s8, 0\nround:\n  s_add_u32 s8, s8, 1\n  s_cmp_lt_u32 s8, 30000\n  s_cbranch_scc1 round",
    );
    let mut machine = job.machine.clone();
    machine.limits.cycles = 1 << 60;
    let mut stop = |_| std::ops::ControlFlow::Break(());
    let options = RunOptions { progress: Some(&mut stop), ..untimed(2) };
    let error = job.run_on(&machine, options, None).expect_err("stopped");
    assert!(format!("{error}").contains("stopped after"), "{error}");
}
