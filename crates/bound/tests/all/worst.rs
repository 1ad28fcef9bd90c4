//! The search for the input that takes longest: it gets there, stays in its range, and is the same again.

use std::cell::RefCell;
use std::time::Duration;
use wb_bound::worst::{Effort, Ranged, Searched, Subject, search};
use wb_jobs::{Job, JobSpec};

/// Every lane goes round as often as its word says, at most 63 times: the longest takes 63 rounds in some lane.
const ROUNDS: &str = ".kernel k\n.arg buf a\n.arg buf b\n\
    s_load_dwordx4 s[8:11], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n v_lshlrev_b32 v4, 2, v0\n\
    v_add_u32 v2, vcc, s8, v4\n v_mov_b32 v3, s9\n flat_load_dword v1, v[2:3]\n s_waitcnt vmcnt(0) lgkmcnt(0)\n\
    v_and_b32 v1, 63, v1\n v_mov_b32 v5, 0\n\
    again:\n v_cmp_lt_u32 vcc, v5, v1\n s_and_b64 exec, exec, vcc\n s_cbranch_execz out\n\
    v_add_u32 v5, vcc, 1, v5\n s_branch again\nout:\n s_endpgm\n";

fn subject(fill: &str) -> Subject {
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3: [64, 1, 1],
        group3: [64, 1, 1],
        args: vec![fill.into(), "buf:u32:64".into()],
        ..JobSpec::default()
    };
    let job =
        Job::from_source("k.s", ROUNDS, &spec).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    Subject::Job(Box::new(RefCell::new(job)))
}

fn searched(fill: &str, ranges: &[Ranged], seed: u64, tries: u64) -> Searched {
    let effort = Effort { seed, tries, time: Duration::from_secs(600) };
    search(&subject(fill), ranges, &effort, &mut |_, _| ())
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

#[test]
fn the_longest_input_is_found_and_found_again() {
    let longest = searched("buf:u32:64:const=63", &[], 1, 0).start;
    let wide = [Ranged { buffer: "a".into(), low: 0.0, high: 63.0 }];
    let first = searched("buf:u32:64:uniform=0..4,1", &wide, 1, 300);
    assert!(first.start < longest);
    assert_eq!(first.worst.cycles, longest, "{first:?}");
    let again = searched("buf:u32:64:uniform=0..4,1", &wide, 1, 300);
    assert_eq!((first.worst.contents, first.steps), (again.worst.contents, again.steps));
}

#[test]
fn contents_stay_in_the_range_they_have_at_first() {
    let most = searched("buf:u32:64:const=3", &[], 1, 0).start;
    let found = searched("buf:u32:64:uniform=0..4,1", &[], 2, 200);
    assert_eq!(found.worst.cycles, most, "no element goes above 3");
    assert_eq!(found.failed, 0);
    let same = searched("buf:u32:64:const=3", &[], 2, 200);
    assert_eq!((same.tries, same.worst.cycles), (0, most), "nothing to change");
}
