//! `bench --operations`: what each vector operation, access and exchange of lanes costs in an untimed run, alone in a loop of a
//! kernel. An operation is slow if it takes more than [`LIMIT`] times as long as v_add_f32.

use super::work::{Run, Work, timed_run};
use miette::Report;
use wb_hw::InstructionSet;
use wb_isa::gcn3::{Op, disassemble, sample};
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;

/// What everything is compared with.
pub const UNIT: &str = "v_add_f32";
/// Nothing that compilers emit should take longer than this many of them.
pub const LIMIT: f64 = 4.0;

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    pub name: String,
    pub nanoseconds: f64,
    /// Of the time of [`UNIT`].
    pub ratio: f64,
}

/// Forms of vector instructions, and what is no vector ALU: names and instructions. v0, v4 and v8 hold numbers, v20 and v21
/// offsets in local memory, 4 and 16 bytes apart, v[22:23] and v[28:29] such addresses, v24 lanes times four, v25 and v[30:31] the same
/// 8 bytes apart, v18 and v[32:33] for all lanes, v19 and v[34:35] for each another one in no order, v[36:37] a private address
/// and v38 private offsets, some of them the same, s[0:3] private memory, s[24:27] a buffer, s[12:13] the arguments, s4 and s5 numbers.
const OTHERS: &[(&str, &str)] = &[
    ("v_add_f32 scalar", "v_add_f32 v12, s4, v4"),
    ("v_add_f32 constant", "v_add_f32 v12, 1.0, v4"),
    ("v_add_f32 modified", "v_add_f32 v12, -v0, |v4|"),
    ("v_add_f32 omod", "v_add_f32 v12, v0, v4 mul:2"),
    ("v_add_f32 clamp", "v_add_f32 v12, v0, v4 clamp"),
    ("v_add_u32 scalar", "v_add_u32 v12, vcc, s4, v4"),
    ("v_lshlrev_b32 constant", "v_lshlrev_b32 v12, 2, v4"),
    ("v_cmp_gt_i32 scalar", "v_cmp_gt_i32 vcc, s4, v4"),
    (
        "sdwa byte",
        "v_and_b32_sdwa v12, v0, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
    ),
    (
        "sdwa preserve",
        "v_add_u16_sdwa v12, v0, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1",
    ),
    ("dpp row_shr", "v_add_f32_dpp v12, v0, v4 row_shr:1 row_mask:0xf bank_mask:0xf"),
    ("dpp quad_perm", "v_mov_b32_dpp v12, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"),
    ("dpp row_bcast", "v_add_u32_dpp v12, vcc, v0, v4 row_bcast:15 row_mask:0xa bank_mask:0xf"),
    ("v_readlane_b32", "v_readlane_b32 s6, v0, 5"),
    ("v_readfirstlane_b32", "v_readfirstlane_b32 s6, v0"),
    ("v_writelane_b32", "v_writelane_b32 v12, s4, 5"),
    ("ds_read_b32", "ds_read_b32 v12, v20"),
    ("ds_read_b64", "ds_read_b64 v[12:13], v21"),
    ("ds_read_b128", "ds_read_b128 v[12:15], v21"),
    ("ds_read_b32 same", "ds_read_b32 v12, v18"),
    ("ds_read_b32 scattered", "ds_read_b32 v12, v19"),
    ("ds_read_b64 near", "ds_read_b64 v[12:13], v25"),
    ("ds_read2_b32", "ds_read2_b32 v[12:13], v20 offset1:1"),
    ("ds_read2_b64", "ds_read2_b64 v[12:15], v21 offset1:1"),
    ("ds_read2st64_b32", "ds_read2st64_b32 v[12:13], v20 offset1:1"),
    ("ds_read_u8", "ds_read_u8 v12, v20"),
    ("ds_read_i16", "ds_read_i16 v12, v20"),
    ("ds_write_b32", "ds_write_b32 v20, v0"),
    ("ds_write_b32 scattered", "ds_write_b32 v19, v0"),
    ("ds_write_b64 near", "ds_write_b64 v25, v[0:1]"),
    ("ds_write_b64", "ds_write_b64 v21, v[0:1]"),
    ("ds_write_b128", "ds_write_b128 v21, v[0:3]"),
    ("ds_write2_b32", "ds_write2_b32 v20, v0, v4 offset1:1"),
    ("ds_write2_b64", "ds_write2_b64 v21, v[0:1], v[4:5] offset1:1"),
    ("ds_write2st64_b32", "ds_write2st64_b32 v20, v0, v4 offset1:1"),
    ("ds_write_b8", "ds_write_b8 v20, v0"),
    ("ds_write_b16", "ds_write_b16 v20, v0"),
    ("ds_add_u32", "ds_add_u32 v20, v0"),
    ("ds_add_rtn_u32", "ds_add_rtn_u32 v12, v20, v0"),
    ("ds_add_u64", "ds_add_u64 v21, v[0:1]"),
    ("ds_add_u64 near", "ds_add_u64 v25, v[0:1]"),
    ("ds_add_u32 same", "ds_add_u32 v18, v0"),
    ("ds_or_b32", "ds_or_b32 v20, v0"),
    ("ds_add_f32", "ds_add_f32 v20, v0"),
    ("ds_inc_rtn_u32", "ds_inc_rtn_u32 v12, v20, v0"),
    ("ds_wrxchg_rtn_b32", "ds_wrxchg_rtn_b32 v12, v20, v0"),
    ("ds_max_i32", "ds_max_i32 v20, v0"),
    ("ds_cmpst_rtn_b32", "ds_cmpst_rtn_b32 v12, v20, v0, v4"),
    ("ds_bpermute_b32", "ds_bpermute_b32 v12, v24, v0"),
    ("ds_permute_b32", "ds_permute_b32 v12, v24, v0"),
    ("ds_swizzle_b32", "ds_swizzle_b32 v12, v0 offset:swizzle(BROADCAST,4,2)"),
    ("flat_load_dword", "flat_load_dword v12, v[22:23]"),
    ("flat_load_dwordx2", "flat_load_dwordx2 v[12:13], v[28:29]"),
    ("flat_load_dwordx4", "flat_load_dwordx4 v[12:15], v[28:29]"),
    ("flat_load_dword same", "flat_load_dword v12, v[32:33]"),
    ("flat_load_dword scattered", "flat_load_dword v12, v[34:35]"),
    ("flat_load_dwordx2 near", "flat_load_dwordx2 v[12:13], v[30:31]"),
    ("flat_load_dwordx3", "flat_load_dwordx3 v[12:14], v[28:29]"),
    ("flat_load_ubyte", "flat_load_ubyte v12, v[22:23]"),
    ("flat_load_sshort", "flat_load_sshort v12, v[22:23]"),
    ("flat_store_dword", "flat_store_dword v[22:23], v0"),
    ("flat_store_dwordx2", "flat_store_dwordx2 v[28:29], v[0:1]"),
    ("flat_store_dwordx4", "flat_store_dwordx4 v[28:29], v[0:3]"),
    ("flat_store_dword scattered", "flat_store_dword v[34:35], v0"),
    ("flat_store_dwordx2 near", "flat_store_dwordx2 v[30:31], v[0:1]"),
    ("flat_store_dwordx3", "flat_store_dwordx3 v[28:29], v[0:2]"),
    ("flat_store_byte", "flat_store_byte v[22:23], v0"),
    ("flat_store_short", "flat_store_short v[22:23], v0"),
    ("flat_atomic_add", "flat_atomic_add v[22:23], v0"),
    ("flat_atomic_add glc", "flat_atomic_add v12, v[22:23], v0 glc"),
    ("flat_atomic_add_x2", "flat_atomic_add_x2 v[28:29], v[0:1]"),
    ("flat_atomic_add_x2 near", "flat_atomic_add_x2 v[30:31], v[0:1]"),
    ("flat_atomic_add same", "flat_atomic_add v[32:33], v0"),
    ("flat_atomic_umax", "flat_atomic_umax v[22:23], v0"),
    ("flat_atomic_swap", "flat_atomic_swap v12, v[22:23], v0 glc"),
    ("buffer_load_dword", "buffer_load_dword v12, v20, s[24:27], 0 offen"),
    ("buffer_store_dword", "buffer_store_dword v0, v20, s[24:27], 0 offen"),
    ("flat_atomic_cmpswap", "flat_atomic_cmpswap v12, v[22:23], v[0:1] glc"),
    ("buffer_load_dword private", "buffer_load_dword v12, off, s[0:3], 0 offset:8"),
    ("buffer_load_dword offen", "buffer_load_dword v12, v36, s[0:3], 0 offen"),
    ("buffer_load_dwordx2 offen", "buffer_load_dwordx2 v[12:13], v36, s[0:3], 0 offen"),
    ("buffer_load_dwordx3 private", "buffer_load_dwordx3 v[12:14], off, s[0:3], 0 offset:8"),
    ("buffer_load_dwordx4 private", "buffer_load_dwordx4 v[12:15], off, s[0:3], 0 offset:16"),
    ("buffer_load_dwordx4 offen", "buffer_load_dwordx4 v[12:15], v36, s[0:3], 0 offen"),
    ("buffer_load_dword offen scattered", "buffer_load_dword v12, v38, s[0:3], 0 offen"),
    ("buffer_store_dword offen scattered", "buffer_store_dword v0, v38, s[0:3], 0 offen"),
    ("buffer_load_ubyte private", "buffer_load_ubyte v12, off, s[0:3], 0 offset:5"),
    ("buffer_load_sshort offen", "buffer_load_sshort v12, v36, s[0:3], 0 offen"),
    ("buffer_store_dword private", "buffer_store_dword v0, off, s[0:3], 0 offset:8"),
    ("buffer_store_dword offen", "buffer_store_dword v0, v36, s[0:3], 0 offen"),
    ("buffer_store_dwordx2 offen", "buffer_store_dwordx2 v[0:1], v36, s[0:3], 0 offen"),
    ("buffer_store_dwordx4 private", "buffer_store_dwordx4 v[0:3], off, s[0:3], 0 offset:16"),
    ("buffer_store_dwordx4 offen", "buffer_store_dwordx4 v[0:3], v36, s[0:3], 0 offen"),
    ("buffer_store_byte offen", "buffer_store_byte v0, v36, s[0:3], 0 offen"),
    ("buffer_store_short private", "buffer_store_short v0, off, s[0:3], 0 offset:6"),
    ("flat_load_dword private", "flat_load_dword v12, v[36:37]"),
    ("flat_load_dwordx2 private", "flat_load_dwordx2 v[12:13], v[36:37]"),
    ("flat_load_ubyte private", "flat_load_ubyte v12, v[36:37]"),
    ("flat_store_dword private", "flat_store_dword v[36:37], v0"),
    ("flat_store_dwordx2 private", "flat_store_dwordx2 v[36:37], v[0:1]"),
    ("s_load_dword", "s_load_dword s6, s[12:13], 0x0"),
    ("s_load_dwordx4", "s_load_dwordx4 s[8:11], s[14:15], 0x0"),
    ("s_load_dwordx16", "s_load_dwordx16 s[36:51], s[14:15], 0x0"),
    ("s_buffer_load_dwordx4", "s_buffer_load_dwordx4 s[8:11], s[24:27], 0x0"),
    ("s_add_u32", "s_add_u32 s6, s4, s5"),
    ("s_and_b64", "s_and_b64 s[6:7], s[4:5], exec"),
    ("s_nop", "s_nop 0"),
];

/// Private memory: its buffer is in s[0:3] then, the arguments in s[4:5], the wave's part in s9.
const PRIVATE: &str = "
.amdhsa_private_segment_fixed_size 64
.amdhsa_user_sgpr_private_segment_buffer 1
.amdhsa_system_sgpr_private_segment_wavefront_offset 1
  s_add_u32 s0, s0, s9
  s_addc_u32 s1, s1, 0
  s_mov_b64 s[12:13], s[4:5]
";
/// Most operations go without, because it takes time to clear it.
const PLAIN: &str = "  s_mov_b64 s[12:13], s[0:1]\n";

/// Numbers in the sources; a float, and above it the upper half of a double.
const PRELUDE: &str = "
  s_mov_b32 m0, -1
  s_load_dwordx2 s[14:15], s[12:13], 0x0
  v_lshlrev_b32 v24, 2, v0
  v_lshlrev_b32 v20, 2, v0
  v_lshlrev_b32 v21, 4, v0
  v_lshlrev_b32 v25, 3, v0
  v_mov_b32 v18, 0
  v_mul_u32_u24 v19, 37, v0
  v_and_b32 v19, 63, v19
  v_lshlrev_b32 v19, 2, v19
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v23, s15
  v_add_u32 v22, vcc, s14, v20
  v_addc_u32 v23, vcc, 0, v23, vcc
  v_mov_b32 v29, s15
  v_add_u32 v28, vcc, s14, v21
  v_addc_u32 v29, vcc, 0, v29, vcc
  v_mov_b32 v31, s15
  v_add_u32 v30, vcc, s14, v25
  v_addc_u32 v31, vcc, 0, v31, vcc
  v_mov_b32 v32, s14
  v_mov_b32 v33, s15
  v_mov_b32 v35, s15
  v_add_u32 v34, vcc, s14, v19
  v_addc_u32 v35, vcc, 0, v35, vcc
  v_mov_b32 v36, 16
  v_and_b32 v38, 28, v20
  v_mov_b32 v37, 2
  s_mov_b32 s24, s14
  s_and_b32 s25, s15, 0xffff
  s_movk_i32 s26, 4096
  s_mov_b32 s27, 0x27000
  v_cvt_f32_u32 v0, v0
  v_mul_f32 v0, 0x3ebd70a4, v0
  v_add_f32 v4, 1.0, v0
  v_add_f32 v8, 2.0, v0
  v_add_f32 v0, 0.5, v0
  v_cvt_f64_f32 v[26:27], v0
  v_mov_b32 v1, v27
  v_mov_b32 v5, v27
  v_mov_b32 v9, v27
  s_mov_b32 s4, 0x40200000
  s_mov_b32 s5, 3
  s_mov_b64 vcc, 0
";

/// Copies in the loop, and how often it goes round.
const COPIES: usize = 60;
const ROUNDS: u32 = 400;

/// Names and instructions of everything that is measured: the operation that is the unit first.
fn all() -> Vec<(String, String)> {
    let vector = Op::all().filter_map(|op| Some((op.name().to_owned(), disassemble(&sample(op)?))));
    let others = OTHERS.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
    let (unit, rest): (Vec<_>, Vec<_>) = vector.chain(others).partition(|(name, _)| name == UNIT);
    unit.into_iter().chain(rest).collect()
}

fn prepare(text: &str) -> Result<Job, Report> {
    let body = format!("  {text}\n").repeat(COPIES);
    let start = if text.contains("s[0:3]") || text.contains("v[36:37]") { PRIVATE } else { PLAIN };
    let source = format!(
        ".kernel k\n.lds 4096\n.arg buf x\n{start}{PRELUDE}  s_movk_i32 s20, {ROUNDS}\nAGAIN:\n{body}  s_sub_u32 s20, s20, 1\n  \
         s_cmp_lg_u32 s20, 0\n  s_cbranch_scc1 AGAIN\n  s_endpgm\n"
    );
    let spec = JobSpec {
        isa: Some(InstructionSet::Gcn3),
        machine: super::kernels::MACHINE.into(),
        sets: vec!["limits.memory=2M".into()],
        grid3: [64, 1, 1],
        group3: [64, 1, 1],
        args: vec!["buf:u32:1024:const=1".to_owned().into()],
        ..JobSpec::default()
    };
    Ok(Job::from_source("operation.s", &source, &spec)?)
}

fn run(job: &Job) -> Result<Run, Report> {
    timed_run(|| Ok(Work::of(&job.run(RunOptions { timed: false, ..RunOptions::default() }, None)?)))
}

/// Measures the operations whose names contain `filter`, each for about `seconds`.
pub fn operations(
    filter: &str,
    seconds: f64,
    mut done: impl FnMut(&Operation),
) -> Result<Vec<Operation>, Report> {
    let mut found = Vec::new();
    let mut unit = 0.0;
    for (name, text) in all().into_iter().filter(|(name, _)| name == UNIT || name.contains(filter)) {
        let job = prepare(&text)?;
        let best = super::best_of(seconds, || run(&job))?;
        let nanoseconds = best.seconds * 1e9 / best.work.wave_instructions as f64;
        if name == UNIT {
            unit = nanoseconds;
        }
        let operation = Operation { name, nanoseconds, ratio: nanoseconds / unit };
        done(&operation);
        found.push(operation);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything on the list can be assembled and runs without a trap.
    #[test]
    fn every_operation_runs() {
        let all = all();
        assert!(all.len() > 300 && all[0].0 == UNIT, "{}", all.len());
        for (name, text) in all {
            let job = prepare(&text).unwrap_or_else(|e| panic!("{name}: {text}: {e:?}"));
            run(&job).unwrap_or_else(|e| panic!("{name}: {text}: {e:?}"));
        }
    }
}
