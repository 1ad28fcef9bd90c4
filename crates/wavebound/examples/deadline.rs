//! Holds a kernel to a deadline: bounds it, and looks for the places to split that make the bound smaller.

use wavebound::bound::{CodePlace, Effort, Runs, best_places};
use wavebound::jobs::JobError;
use wavebound::{
    BoundOptions, Error, InstructionSet, Job, MarkStyle, Mechanism, Program, bound_jobs, machine,
};

const DEADLINE: u64 = 700;

/// Lanes below 20 do one thing, the others another.
fn program() -> Program {
    let one = "  v_mul_lo_u32 v2, v2, v0\n".repeat(12);
    let other = "  v_mul_lo_u32 v2, v2, v2\n".repeat(10);
    let text = format!(
        ".kernel job
.arg buf x
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 3
  v_cmp_gt_u32 vcc, 20, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz ELSE
{one}ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
{other}END:
  s_or_b64 exec, exec, s[6:7]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s5
  v_add_u32 v3, vcc, s4, v1
  v_addc_u32 v4, vcc, 0, v4, vcc
  flat_store_dword v[3:4], v2
  s_endpgm
"
    );
    Program::from_source(InstructionSet::Gcn3, "job.s", &text)
}

/// The launch with these places marked for splitting.
fn job(program: &Program, places: &[CodePlace], contexts: u32) -> Result<Job, Error> {
    let mechanism = if contexts == 0 { Mechanism::ExecMask } else { Mechanism::Pws };
    let at: Vec<String> = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    program
        .launch("job")
        .machine(machine("pws")?)
        .mechanism(mechanism, contexts)
        .threads(64, 64)
        .buffer(&[0u32; 64])
        .split_at(&at, MarkStyle::Pws)
        .prepare()
}

fn main() -> miette::Result<()> {
    let program = program();
    let options = BoundOptions::default();
    let without = bound_jobs(vec![job(&program, &[], 0)?], &options)?;
    println!("without splitting: {} cycles at most, {} seen", without[0].bound, without[0].observed);

    let marked = |places: &[CodePlace], contexts: u32| {
        let job = job(&program, places, contexts).map_err(JobError::stopped)?;
        Ok((Runs::Jobs(vec![job]), BoundOptions::default()))
    };
    let best =
        best_places(&marked, &|_| Vec::new(), 1, Effort::GUIDE, &mut |_, _| ()).map_err(Error::from)?;
    let chosen = best.best.map_or(&[][..], |i| &best.candidates[i].places);
    let with = bound_jobs(vec![job(&program, chosen, 1)?], &options)?;
    for place in chosen {
        println!("split at {} ({:#x})", place.source, place.addr);
    }
    println!("with one context:  {} cycles at most, {} seen", with[0].bound, with[0].observed);
    assert!(with[0].bound <= without[0].bound);
    println!("deadline of {DEADLINE} cycles: {}", if with[0].bound <= DEADLINE { "met" } else { "missed" });
    Ok(())
}
