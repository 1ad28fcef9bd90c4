//! Exact bounds: leaks of every kind are seen, kernels without one are exact, no contents change their time, and neither wrong
//! labellings nor changed certificates get past the checker.

use crate::case::{Case, In, Launch, Step};
use crate::cases;
use serde_json::Value;
use wb_bound::exact::{ExactCertificate, examine, verify_exact, witnessed};
use wb_bound::{Options, Runs};
use wb_device::{Arg, Device, Dispatch};
use wb_facts::taint::{TaintRefused, TaintRule, TimeUse, label, label_without, recheck};
use wb_jobs::data::{Buffer, Element};
use wb_jobs::launch::{Launches, WorkloadSession, WorkloadSpec};
use wb_jobs::{AnyProgram, Job, JobSpec};
use wb_sim::RunOptions;
use wb_testgen::parallel::in_parallel;
use wb_testgen::random::contents::contents_job;
use wb_testgen::random::loops::Noise;

/// A kernel in assembly on 64 words to read and 64 to write.
fn job(text: &str) -> Job {
    let spec = JobSpec {
        isa: Some(wb_hw::InstructionSet::Gcn3),
        grid3: [64, 1, 1],
        group3: [64, 1, 1],
        args: vec!["buf:u32:64:random=1".into(), "buf:u32:64".into()],
        ..JobSpec::default()
    };
    Job::from_source("k.s", text, &spec).unwrap_or_else(|e| panic!("{:?}\n{text}", miette::Report::new(e)))
}

/// A kernel with a buffer to read (s[8:9]) and one to write (s[10:11]); v1 is loaded from the first, v[2:3] is the address of the
/// lane's word in the second.
fn kernel(body: &str) -> Job {
    let text = format!(
        ".kernel k\n.arg buf a\n.arg buf b\n.lds 1024\n\
         s_load_dwordx4 s[8:11], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n s_mov_b32 m0, -1\n\
         v_lshlrev_b32 v4, 2, v0\n v_add_u32 v2, vcc, s8, v4\n v_mov_b32 v3, s9\n\
         flat_load_dword v1, v[2:3]\n s_waitcnt vmcnt(0) lgkmcnt(0)\n v_and_b32 v1, 63, v1\n\
         v_add_u32 v2, vcc, s10, v4\n v_mov_b32 v3, s11\n{body}\n\
         s_mov_b64 exec, -1\n flat_store_dword v[2:3], v1\n s_endpgm\n"
    );
    job(&text)
}

/// What contents decide in a kernel, as instruction and kind.
fn leaks(body: &str) -> Vec<(String, TimeUse)> {
    let job = kernel(body);
    let (_, witness) = witnessed(&job).unwrap_or_else(|e| panic!("{:?}\n{body}", miette::Report::new(e)));
    let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
    let found = label(program, &witness).expect("labels");
    if found.uses.is_empty() {
        recheck(program, &witness, &found.labelling).unwrap_or_else(|e| panic!("{e}\n{body}"));
    }
    let name = |pc: u32| program.text_at(pc).split_whitespace().next().unwrap_or_default().to_owned();
    found.uses.iter().map(|u| (name(u.pc), u.what)).collect()
}

#[test]
fn every_kind_of_leak_is_seen() {
    use TimeUse::{Address, Branch, Lanes, LocalAddress, Mode};
    let cases: &[(&str, &str, TimeUse)] = &[
        (
            "v_readfirstlane_b32 s12, v1\n s_cmp_lt_u32 s12, 9\n s_cbranch_scc1 out\n s_nop 0\nout:",
            "s_cbranch_scc1",
            Branch,
        ),
        ("v_cmp_lt_u32 vcc, 9, v1\n s_cbranch_vccz out\n s_nop 0\nout:", "s_cbranch_vccz", Branch),
        (
            "v_cmp_lt_u32 vcc, 9, v1\n s_and_saveexec_b64 s[12:13], vcc\n s_cbranch_execz out\n s_nop 0\nout:",
            "s_cbranch_execz",
            Branch,
        ),
        ("v_cmpx_lt_u32 vcc, 9, v1\n flat_load_dword v5, v[2:3]", "flat_load_dword", Lanes),
        (
            "v_cmp_lt_u32 vcc, 9, v1\n s_and_saveexec_b64 s[12:13], vcc\n flat_store_dword v[2:3], v0",
            "flat_store_dword",
            Lanes,
        ),
        (
            "v_lshlrev_b32 v5, 2, v1\n v_add_u32 v5, vcc, s10, v5\n v_mov_b32 v6, s11\n flat_load_dword v7, v[5:6]",
            "flat_load_dword",
            Address,
        ),
        ("v_lshlrev_b32 v5, 2, v1\n ds_read_b32 v5, v5", "ds_read_b32", LocalAddress),
        (
            "v_mov_b32 v5, 1\n flat_atomic_add v5, v[2:3], v5 glc\n s_waitcnt vmcnt(0) lgkmcnt(0)\n v_and_b32 v5, 60, v5\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        // Through local memory, other lanes, a select, a carry, the status register, a lane of a register.
        (
            "ds_write_b32 v4, v1\n s_waitcnt lgkmcnt(0)\n ds_read_b32 v5, v4\n s_waitcnt lgkmcnt(0)\n v_lshlrev_b32 v5, 2, v5\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        (
            "v_mov_b32_dpp v5, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        (
            "ds_swizzle_b32 v5, v1 offset:0x101f\n s_waitcnt lgkmcnt(0)\n v_lshlrev_b32 v5, 2, v5\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        (
            "v_cmp_lt_u32 vcc, 9, v1\n v_cndmask_b32 v5, 0, v4, vcc\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        (
            "v_sub_u32 v5, vcc, v1, v0\n v_addc_u32 v5, vcc, v0, v0, vcc\n v_lshlrev_b32 v5, 2, v5\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        (
            "v_cmp_lt_u32 vcc, 9, v1\n s_getreg_b32 s12, hwreg(HW_REG_STATUS, 0, 16)\n s_cmp_lt_u32 s12, 99\n s_cbranch_scc1 out\n s_nop 0\nout:",
            "s_cbranch_scc1",
            Branch,
        ),
        (
            "v_readlane_b32 s12, v1, 3\n s_lshl_b32 s12, s12, 2\n s_load_dword s13, s[8:9], s12",
            "s_load_dword",
            Address,
        ),
        (
            "v_readlane_b32 s12, v1, 3\n v_writelane_b32 v5, s12, 7\n v_lshlrev_b32 v5, 2, v5\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        // A lane that only some contents switch on gets another value.
        (
            "v_mov_b32 v5, 0\n v_cmp_lt_u32 vcc, 9, v1\n s_and_saveexec_b64 s[12:13], vcc\n v_mov_b32 v5, 8\n s_mov_b64 exec, s[12:13]\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        // Lanes that are off keep what they had, and come back.
        (
            "v_lshlrev_b32 v5, 2, v1\n v_cmp_lt_u32 vcc, v0, 32\n s_and_saveexec_b64 s[12:13], vcc\n v_mov_b32 v5, 8\n s_mov_b64 exec, s[12:13]\n ds_read_b32 v6, v5",
            "ds_read_b32",
            LocalAddress,
        ),
        ("v_readfirstlane_b32 s12, v1\n s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s12", "s_setreg_b32", Mode),
        (
            "v_cmp_lt_u32 s[12:13], 9, v1\n s_bcnt1_i32_b64 s14, s[12:13]\n s_and_b32 s14, s14, 60\n s_load_dword s13, s[8:9], s14",
            "s_load_dword",
            Address,
        ),
        (
            "s_load_dword s12, s[8:9], 0x0\n s_waitcnt lgkmcnt(0)\n s_cmp_lt_u32 s12, 99\n s_cbranch_scc1 out\n s_nop 0\nout:",
            "s_cbranch_scc1",
            Branch,
        ),
    ];
    for (body, at, what) in cases {
        let found = leaks(body);
        assert!(found.contains(&((*at).to_owned(), *what)), "{body}\n{found:?}");
    }
}

#[test]
fn kernels_without_a_leak_are_exact() {
    let cases = [
        "",
        // Contents in arithmetic, selects, stored values.
        "v_mul_lo_u32 v5, v1, v1\n v_cmp_lt_u32 vcc, 9, v1\n v_cndmask_b32 v1, v5, v0, vcc\n ds_write_b32 v4, v1\n s_waitcnt lgkmcnt(0)\n ds_read_b32 v1, v4\n s_waitcnt lgkmcnt(0)",
        // Lanes that contents switch off are on again afterwards: one side, both sides, and in a register of its own.
        "v_cmp_lt_u32 vcc, 9, v1\n s_and_saveexec_b64 s[12:13], vcc\n v_add_u32 v1, vcc, v1, v1\n s_or_b64 exec, exec, s[12:13]\n ds_read_b32 v5, v4",
        "v_cmp_lt_u32 vcc, 9, v1\n s_and_saveexec_b64 s[12:13], vcc\n s_xor_b64 s[12:13], exec, s[12:13]\n v_mov_b32 v1, 1\n s_or_saveexec_b64 s[12:13], s[12:13]\n s_xor_b64 exec, exec, s[12:13]\n v_mov_b32 v1, 2\n s_or_b64 exec, exec, s[12:13]\n ds_read_b32 v5, v4",
        // Lanes that are off hold something else, but do not take part.
        "v_lshlrev_b32 v5, 2, v1\n v_cmp_lt_u32 vcc, v0, 32\n s_and_saveexec_b64 s[12:13], vcc\n v_mov_b32 v5, 8\n ds_read_b32 v6, v5\n s_waitcnt lgkmcnt(0)\n s_mov_b64 exec, s[12:13]",
        // A register of an address that held contents before.
        "v_mov_b32 v5, v1\n v_lshlrev_b32 v5, 2, v0\n ds_read_b32 v6, v5",
        // Each side of a branch over lanes computes its own address.
        "v_lshlrev_b32 v5, 2, v1\n v_cmp_lt_u32 vcc, v0, 32\n s_and_saveexec_b64 s[12:13], vcc\n s_xor_b64 s[14:15], exec, s[12:13]\n s_cbranch_execz other\n v_mov_b32 v5, 8\nother:\n s_andn2_saveexec_b64 s[14:15], s[14:15]\n s_cbranch_execz both\n v_mov_b32 v5, 12\nboth:\n s_or_b64 exec, exec, s[14:15]\n ds_read_b32 v6, v5",
        // Loops that the launch counts, time, and values that came from the arguments.
        "s_movk_i32 s12, 5\nagain:\n s_sub_u32 s12, s12, 1\n v_add_u32 v1, vcc, v1, v1\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 again\n s_memtime s[14:15]",
    ];
    for body in cases {
        assert_eq!(leaks(body), [], "{body}");
    }
}

fn noise_bytes(count: u64, seed: u64) -> Vec<u8> {
    let mut noise = Noise::new(seed);
    let kind = noise.below(3);
    (0..count.div_ceil(4))
        .flat_map(|i| {
            let word = match kind {
                0 => noise.below(1 << 32) as u32,
                1 => noise.number(),
                _ => (noise.below(2000) as f32 / 7.0 - i as f32).to_bits(),
            };
            word.to_le_bytes()
        })
        .take(count as usize)
        .collect()
}

/// Runs an exact launch with other contents in every buffer that is not fixed.
fn runs_the_same(name: &str, job: &mut Job, buffers: &[Buffer], cycles: u64, times: u64) {
    for i in 0..times {
        for (n, buffer) in buffers.iter().enumerate() {
            job.set_contents(buffer, &noise_bytes(buffer.bytes, i << 8 | n as u64));
        }
        let other = job.run(RunOptions::default(), None);
        let other = other.unwrap_or_else(|e| panic!("{name}: {:?}", miette::Report::new(e))).cycles;
        assert_eq!(other, cycles, "{name} with contents {i}");
    }
}

/// The launches of a workload, those with the same geometry and arguments once, as jobs with their buffers.
pub fn launches(which: &WorkloadSpec, spec: &JobSpec) -> Vec<(String, Job, Vec<Buffer>)> {
    let mut session = WorkloadSession::open_input(which, spec, 0).expect("a workload");
    let mut all: Vec<(String, Job, Vec<Buffer>)> = Vec::new();
    while let Some(step) = session.next_step().expect("a launch") {
        let stage = session.stage_mut();
        let module = stage.module.clone();
        let buffers = stage.buffers.clone();
        let job = Job::from_device(&mut stage.device, &module, &step.dispatch, Vec::new()).expect("a job");
        let kernel = step.dispatch.kernel.clone();
        if all.iter().filter(|(k, ..)| *k == kernel).count() < 2 {
            all.push((kernel, job, buffers));
        }
        let go = session.with_prepared(&step, &mut |_, _, go| {
            go(RunOptions { timed: false, ..RunOptions::default() }, None).map(|_| ())
        });
        go.expect("a run");
    }
    all
}

/// Eight workloads are exact as a whole, and a hundred other contents take every exact launch the same time.
#[test]
fn workloads_take_the_same_time_with_other_contents() {
    let mut whole = Vec::new();
    for workload in wb_workloads::all() {
        let which = WorkloadSpec::new(workload.name, "tiny").expect("a workload");
        let spec = JobSpec::default();
        let runs = Runs::Workload { which: which.clone(), spec: Box::new(spec.clone()) };
        let found = examine(&runs, &Options::default(), &mut |_, _| ()).expect("examined");
        if found.iter().all(|k| k.row.holds) {
            whole.push(workload.name);
        }
        for (kernel, mut job, buffers) in launches(&which, &spec) {
            if found.iter().any(|k| k.kernel == kernel && k.row.holds) {
                let cycles = job.run(RunOptions::default(), None).expect("a run").cycles;
                runs_the_same(&kernel, &mut job, &buffers, cycles, 100);
            }
        }
    }
    for name in ["backprop", "dwt2d", "gaussian", "hotspot", "kmeans", "lud", "nn", "nw", "pathfinder"] {
        assert!(whole.contains(&name), "{name} is not exact: {whole:?}");
    }
}

pub fn fixture(case: &Case, object: &[u8], l: &Launch) -> (Job, Vec<Buffer>) {
    let mut device = Device::new(wb_hw::load("gcn3").expect("machine"));
    let module = device.load(case.file, object).expect("code object");
    let mut buffers = Vec::new();
    for data in &case.buffers {
        let bytes = data.bytes();
        let addr = device.alloc(bytes.len() as u64).expect("memory");
        device.write(addr, &bytes).expect("memory");
        buffers.push(Buffer { name: String::new(), addr, bytes: bytes.len() as u64, element: Element::U32 });
    }
    let arg = |a: &In| match a {
        In::Buffer(i) => Arg::Buffer(buffers[*i].addr),
        In::Value(bytes) => Arg::Value(bytes.clone()),
        In::Local(bytes) => Arg::Local(*bytes),
    };
    let args = l.args.iter().map(arg).collect();
    let dispatch = Dispatch {
        kernel: l.kernel.into(),
        grid: l.grid,
        group: l.group,
        args,
        dynamic_lds: 0,
        opencl: Default::default(),
    };
    (Job::from_device(&mut device, &module, &dispatch, Vec::new()).expect("a launch"), buffers)
}

/// The fixtures of the device's tests: private memory, calls, atomics, every kind of flow that compilers make.
#[test]
fn fixtures_take_the_same_time_with_other_contents() {
    let (mut exact, mut all) = (0, 0);
    for case in cases::all() {
        let path = format!("{}/../../fixtures/gcn3/{}.O2.co", env!("CARGO_MANIFEST_DIR"), case.file);
        let object = std::fs::read(path).expect("fixture");
        for launch in case.steps.iter().flat_map(|step| match step {
            Step::Run(l) => std::slice::from_ref(l),
            Step::While { launches, .. } => launches,
        }) {
            let (mut job, buffers) = fixture(&case, &object, launch);
            // Two fixtures are there to fail.
            let Ok((cycles, witness)) = witnessed(&job) else { continue };
            let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
            all += 1;
            let Ok(found) = label(program, &witness) else { continue };
            if !found.uses.is_empty() {
                continue;
            }
            exact += 1;
            let what = format!("{} {}", case.file, launch.kernel);
            recheck(program, &witness, &found.labelling).unwrap_or_else(|e| panic!("{what}: {e}"));
            runs_the_same(&what, &mut job, &buffers, cycles, 20);
        }
    }
    println!("{exact} of {all} launches are exact");
    assert!(exact * 3 > all, "{exact} of {all} launches are exact");
}

/// Contents switch lanes off and on again; the launch decides a branch.
fn masked() -> Runs {
    let text = ".kernel k\n.arg buf a\n.arg buf b\ns_load_dwordx4 s[8:11], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n\
                v_lshlrev_b32 v4, 2, v0\n v_add_u32 v2, vcc, s8, v4\n v_mov_b32 v3, s9\n flat_load_dword v1, v[2:3]\n\
                s_waitcnt vmcnt(0) lgkmcnt(0)\n v_cmp_lt_u32 vcc, 9, v1\n s_and_saveexec_b64 s[12:13], vcc\n\
                v_mov_b32 v1, 3\n s_or_b64 exec, exec, s[12:13]\n s_cmp_lt_u32 s2, 9\n s_cbranch_scc0 out\n\
                v_add_u32 v2, vcc, s10, v4\n v_mov_b32 v3, s11\n flat_store_dword v[2:3], v1\nout:\n s_endpgm\n";
    Runs::Jobs(vec![job(text)])
}

/// Every leaf of a document, as a path.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(k, v)| leaves(v, &format!("{path}/{k}"), out)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), out))
        }
        _ => out.push(path.to_owned()),
    }
}

/// Every field of a certificate changed once is refused, unless it only says that more may differ.
#[test]
fn changed_certificates_are_refused() {
    let runs = masked();
    let found = examine(&runs, &Options::default(), &mut |_, _| ()).expect("examined");
    assert!(found[0].row.holds, "{:?}", found[0].row);
    let document = serde_json::to_value(ExactCertificate::of(&found[0])).expect("JSON");
    let valid = |document: &Value| {
        ExactCertificate::read(&document.to_string())
            .and_then(|c| verify_exact(&c, &runs).map_err(|e| e.to_string()))
            .is_ok_and(|v| v.errors.is_empty())
    };
    assert!(valid(&document));
    let mut all = Vec::new();
    leaves(&document, "", &mut all);
    assert!(all.len() > 40, "{}", all.len());
    let mut accepted = Vec::new();
    for path in &all {
        let mut changed = document.clone();
        let leaf = changed.pointer_mut(path).expect("a leaf");
        *leaf = match &*leaf {
            Value::Number(n) => Value::from(n.as_u64().expect("a number") + 1),
            Value::String(s) => Value::from(format!("{s}x")),
            Value::Bool(b) => Value::from(!b),
            other => panic!("{other}"),
        };
        if valid(&changed) {
            accepted.push(path.clone());
        }
    }
    // That local or private memory may differ, or another register, is less than was shown, and still enough.
    let harmless = |p: &&String| {
        ["/local", "/private", "/scc"].iter().any(|end| p.ends_with(end))
            || p.contains("/vectors/")
            || p.contains("/scalars/")
    };
    let harmful: Vec<&String> = accepted.iter().filter(|p| !harmless(p)).collect();
    assert!(harmful.is_empty(), "{harmful:?}");
}

/// With a rule left out, some random kernel gets a labelling that says too little: the checker refuses all of those.
#[test]
fn the_checker_refuses_labellings_made_without_a_rule() {
    let (mut refused, mut crowded) = ([0; TaintRule::ALL.len()], 0);
    for case in 0..500 {
        let job = contents_job(case, 0).expect("a job");
        let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
        let (_, witness) = witnessed(&job).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let honest = label(program, &witness).expect("labels");
        if honest.uses.is_empty() {
            match recheck(program, &witness, &honest.labelling) {
                Ok(()) => {}
                Err(TaintRefused::Crowded { .. }) => crowded += 1,
                Err(e) => panic!("case {case}: {e}"),
            }
            continue;
        }
        for (rule, count) in TaintRule::ALL.into_iter().zip(&mut refused) {
            let forged = label_without(program, &witness, Some(rule)).expect("labels");
            if forged.uses.is_empty() {
                assert!(recheck(program, &witness, &forged.labelling).is_err(), "{rule:?}, case {case}");
                *count += 1;
            }
        }
    }
    assert!(refused.iter().all(|&n| n > 0), "forged labellings of each rule: {refused:?}");
    assert!(crowded < 5, "{crowded} labellings are too much for the checker");
}

/// The search in small; `wavebound campaign --exact` does it at length.
#[test]
fn no_contents_change_the_time_of_exact_random_kernels() {
    in_parallel(300, |case| {
        let job = contents_job(case, 0)?;
        let AnyProgram::Gcn3(program) = &job.program else { return Err("GCN3".into()) };
        let (cycles, witness) = witnessed(&job).map_err(|e| format!("{:?}", miette::Report::new(e)))?;
        if !label(program, &witness).map_err(|e| e.to_string())?.uses.is_empty() {
            return Ok(());
        }
        for input in 1..6 {
            let run = contents_job(case, input)?.run(RunOptions::default(), None);
            let other = run.map_err(|e| format!("{:?}", miette::Report::new(e)))?.cycles;
            if other != cycles {
                return Err(format!("case {case}: {cycles} cycles, with contents {input} {other}"));
            }
        }
        Ok(())
    });
}

/// More masks that may differ than cases are told apart for: what may differ is not forgotten with them, by prover nor checker.
#[test]
fn many_masks_hide_no_leak() {
    for count in 1..=10 {
        let pair = |i: usize| format!("s[{}:{}]", 20 + 2 * i, 21 + 2 * i);
        let mut body = String::new();
        for i in 0..count {
            body += &format!("v_cmp_lt_u32 {}, {}, v1\n", pair(i), 5 + i);
        }
        body += &format!("s_and_saveexec_b64 s[60:61], {}\n", pair(count - 1));
        body += "flat_load_dword v5, v[2:3]\n s_waitcnt vmcnt(0) lgkmcnt(0)\n s_mov_b64 exec, s[60:61]\n";
        // All of them are read again.
        for i in 0..count {
            body += &format!("v_cndmask_b32 v6, v6, v1, {}\n", pair(i));
        }
        let job = kernel(&body);
        let (_, witness) = witnessed(&job).unwrap_or_else(|e| panic!("{:?}\n{body}", miette::Report::new(e)));
        let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
        let found = label(program, &witness).expect("labels");
        assert!(found.uses.iter().any(|u| u.what == TimeUse::Lanes), "{count} masks: {:?}", found.uses);
        assert!(recheck(program, &witness, &found.labelling).is_err(), "{count} masks");
    }
}

/// Kernels with more cases of masks than are told apart: what may differ is not forgotten with them.
#[test]
fn too_many_cases_hide_no_difference() {
    let case = 10185;
    let job = contents_job(case, 0).expect("a job");
    let AnyProgram::Gcn3(program) = &job.program else { panic!("GCN3") };
    let (_, witness) = witnessed(&job).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let honest = label(program, &witness).expect("labels");
    assert!(honest.uses.is_empty(), "its time is the same for all contents: {:?}", honest.uses);
    recheck(program, &witness, &honest.labelling).unwrap_or_else(|e| panic!("case {case}: {e}"));
}
