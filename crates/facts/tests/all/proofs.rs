//! Loops that were once proven wrongly, each with what is true of it: the counter and its test do not fit, another lane keeps
//! the loop going, lanes come back, masks say less than they seem to. And loops whose exit goes through a mask.

use wb_facts::{Inferred, Known, infer_gcn3};
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::codeobject::{CodeObject, from_assembly};
use wb_objects::{gcn3_program, gcn3_setup};
use wb_program::Program;

const NONE: [u64; 0] = [];

/// A kernel with arguments n and m and its launch's knowledge of them.
fn infer(body: &str, n: u32, m: u32) -> Inferred {
    let text = format!(
        ".kernel k\n.arg u32 n\n.arg u32 m\n.arg buf data\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_load_dwordx2 s[6:7], \
         s[0:1], 0x8\n  s_waitcnt lgkmcnt(0)\n  s_load_dword s16, s[6:7], 0x0\n  s_waitcnt lgkmcnt(0)\n{body}  s_endpgm\n"
    );
    let program = program(&text);
    let bytes: Vec<u8> = [n, m, 0x1000, 0].iter().flat_map(|w| w.to_le_bytes()).collect();
    let known = Known { kernarg: Some(&bytes), group: [64, 1, 1], grid: [64, 1, 1], ..Known::default() };
    let found = infer_gcn3(&program, &known);
    assert!(found.refused.is_empty(), "prover and checker disagree: {:?}\n{text}", found.refused);
    found
}

fn program(text: &str) -> Program<Gcn3> {
    let source = SourceFile::new("k.s", text);
    let assembly = wb_isa::gcn3::assemble(&source).unwrap_or_else(|e| panic!("{e:?}"));
    let object = CodeObject::parse(&from_assembly(&assembly, "k.s").expect("an object")).expect("an object");
    let kernel = object.kernel("k").expect("the kernel");
    let isa = Gcn3 { setup: gcn3_setup(kernel), ..Gcn3::default() };
    gcn3_program(&object, kernel, isa, 0, "k.s", Some(source)).expect("a program")
}

fn limits(body: &str, n: u32, m: u32) -> Vec<u64> {
    infer(body, n, m).loops.iter().map(|l| l.max).collect()
}

#[test]
fn a_test_that_does_not_fit_the_step_limits_nothing() {
    // do { tile = i >> 6; i++; } while (tile < n): 64 · n rounds, and not n.
    let shifted = "  s_mov_b32 s10, 0\nl:\n  s_lshr_b32 s11, s10, 6\n  s_add_u32 s10, s10, 1\n  s_cmp_lt_u32 s11, s4\n  \
                   s_cbranch_scc1 l\n";
    assert_eq!(limits(shifted, 32, 0), NONE, "i >> 6 with i++");
    // x + 5 with x >>= 1: x becomes 0, and 5 > 3 for ever.
    let halved = "  s_mov_b32 s10, 0x100\nl:\n  s_add_u32 s11, s10, 5\n  s_lshr_b32 s10, s10, 1\n  s_cmp_gt_u32 s11, 3\n  \
                  s_cbranch_scc1 l\n";
    assert_eq!(limits(halved, 0, 0), NONE, "x + 5 with x >>= 1");
    // The same test with a step that fits.
    let both = "  s_mov_b32 s10, 0x100\nl:\n  s_lshr_b32 s11, s10, 2\n  s_lshr_b32 s10, s10, 1\n  s_cmp_gt_u32 s11, 3\n  \
                s_cbranch_scc1 l\n";
    assert_eq!(limits(both, 0, 0), [5], "0x40 0x20 0x10 8 4 pass, 2 fails");
}

#[test]
fn a_scaled_test_counts_scaled_steps() {
    // i << 2 with i++: 0, 4, 8, 12 pass for n = 15, 16 fails.
    let scaled = "  s_mov_b32 s10, 0\nl:\n  s_lshl_b32 s11, s10, 2\n  s_add_u32 s10, s10, 1\n  s_cmp_lt_u32 s11, s4\n  \
                  s_cbranch_scc1 l\n";
    assert_eq!(limits(scaled, 15, 0), [4]);
    // Where the product wraps there is no limit: 2³⁰ · 4 is 0.
    assert_eq!(limits(scaled, u32::MAX, 0), NONE);
}

#[test]
fn another_lane_may_keep_the_loop_going() {
    // A scalar counter against lane ids: after a few rounds it differs from all lanes, for ever.
    let ballot =
        "  s_mov_b32 s10, 0\nl:\n  s_add_u32 s10, s10, 1\n  v_cmp_ne_u32 vcc, s10, v0\n  s_cbranch_vccnz l\n";
    assert_eq!(limits(ballot, 0, 0), NONE);
    // A limit of all lanes alike is met.
    let alike =
        ballot.replace("v0\n", "v1\n").replace("s_mov_b32 s10, 0", "s_mov_b32 s10, 0\n  v_mov_b32 v1, 9");
    assert_eq!(limits(&alike, 0, 0), [8]);
}

#[test]
fn lanes_that_come_back_are_not_forgotten() {
    // Lanes 0 to 7 start; the others come on in the first round, with what they hold.
    let grows = "  v_mov_b32 v1, v0\n  v_cmp_gt_u32 vcc, 8, v0\n  s_mov_b64 s[20:21], exec\n  s_mov_b64 s[30:31], exec\n  \
                 s_and_b64 exec, exec, vcc\nl:\n  s_mov_b64 exec, s[20:21]\n  v_subrev_u32 v1, vcc, 1, v1\n  \
                 v_cmp_lt_i32 vcc, 0, v1\n  s_and_b64 s[20:21], exec, vcc\n  s_and_b64 exec, exec, vcc\n  s_cbranch_execnz l\n";
    for limit in limits(grows, 0, 0) {
        assert!(limit >= 62, "lane 63 counts down from 63: {limit}");
    }
}

#[test]
fn an_inverted_mask_says_nothing_about_lanes_that_are_off() {
    // Lanes that are off have a zero in the comparison and a one in its inverse: the branch is taken although s16 < 5 holds.
    let inverted = "  v_mov_b32 v1, s16\n  v_cmp_gt_u32 vcc, 8, v0\n  s_and_b64 exec, exec, vcc\n  v_mov_b32 v2, s16\n  \
                    v_cmp_gt_u32 vcc, 5, v2\n  s_cmp_lt_u32 s16, 5\n  s_cbranch_scc0 out\n  v_mov_b32 v3, 5\n  \
                    v_cmp_lt_u32 vcc, s16, v3\n  s_not_b64 vcc, vcc\n  s_cbranch_vccnz taken\n  s_nop 0\ntaken:\n  s_nop 1\nout:\n";
    assert!(infer(inverted, 0, 0).never.is_empty());
}

#[test]
fn the_last_round_may_leave_through_a_mask() {
    // for (i = 0; i < n; i++) { …; if (i == n − 1) break; … } as clang writes it: the exit is a mask of all or nothing.
    let clang = "  s_add_i32 s12, s4, -1\n  s_mov_b32 s10, 0\nl:\n  s_cmp_eq_u32 s10, s12\n  s_mov_b64 s[20:21], -1\n  \
                 s_cbranch_scc1 skip\n  s_add_i32 s10, s10, 1\n  s_mov_b64 s[20:21], 0\nskip:\n  s_and_b64 vcc, exec, s[20:21]\n  \
                 s_cbranch_vccz l\n";
    assert_eq!(limits(clang, 16, 0), [15]);
}

#[test]
fn branches_on_arguments_are_decided() {
    let guarded = "  s_cmp_lt_i32 s4, 1\n  s_cbranch_scc1 out\n  s_nop 0\nout:\n";
    let never = infer(guarded, 5, 0).never;
    assert_eq!(never.len(), 1, "{never:?}");
    assert!(never[0].why.contains("s4 is 5"), "{}", never[0].why);
    // Kept as a mask, through v_cndmask and back, as clang does before a loop.
    let kept = "  s_cmp_gt_i32 s4, 0\n  s_cselect_b64 s[20:21], -1, 0\n  v_cndmask_b32 v2, 0, 1, s[20:21]\n  \
                v_cmp_ne_u32 s[20:21], 1, v2\n  v_mov_b32 v2, v0\n  s_and_b64 vcc, exec, s[20:21]\n  s_cbranch_vccnz out\n  \
                s_nop 0\nout:\n";
    assert_eq!(infer(kept, 5, 0).never.len(), 1);
    assert_eq!(infer(kept, 0, 0).never.len(), 0, "then the mask is not known to be empty");
}
