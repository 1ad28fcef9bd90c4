//! Verifies a certificate of a hybrid bound by own time and waits. With the launches everything is measured and bounded again, and must
//! be the same; with a program alone its code is compared, and the machine if one is named.

use crate::analyse::analyse;
use crate::error::{BoundError, refused};
use crate::options::Options;
use crate::runs::Runs;
use crate::source::hash;
use crate::verify::Verified;
use serde_json::Value;
use std::path::Path;
use wb_check::HybridReport;
use wb_isa::gcn3::isa::Gcn3;
use wb_jobs::JobSpec;
use wb_jobs::object::{self, CompileOptions, ObjectFile};
use wb_objects::{gcn3_program, gcn3_setup};
use wb_wcet::measure::Unmeasured;

/// Compares a certificate that [`wb_check::check_hybrid`] has accepted with the launches.
pub fn verify_hybrid(
    text: &str,
    report: &HybridReport,
    runs: &Runs,
    options: &Options,
) -> Result<Verified, BoundError> {
    let options = Options {
        // Neither changes a bound by own time and waits that needs none of them.
        unmeasured: Unmeasured::Exclude,
        facts_from_trace: options.facts_from_trace || report.status == "observed",
        ..options.clone()
    };
    let mut verified = Verified::default();
    let found = analyse(runs, &options, &mut |_, _| ())?;
    let Some(kernel) = found.iter().find(|k| k.kernel == report.kernel) else {
        verified.launch = Some(false);
        verified.errors.push(format!("launch: kernel {} is not launched", report.kernel));
        return Ok(verified);
    };
    let here: Value = serde_json::from_str(&kernel.composed.certificate).unwrap_or_default();
    let listed: Value = serde_json::from_str(text).unwrap_or_default();
    let mut errors = Vec::new();
    let mut same = |part: &str, field: &str| {
        let equal = here.get(field).is_some() && here.get(field) == listed.get(field);
        if !equal {
            errors.push(format!("{part}: `{field}` is not what the launches give"));
        }
        equal
    };
    verified.code = Some(same("code", "checksum"));
    verified.machine = Some(same("machine", "machine"));
    let launches = |v: &Value| -> Vec<Value> {
        let list = v.get("launches").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|l| l.get("launch").cloned()).collect()
    };
    let launched = launches(&here) == launches(&listed);
    verified.launch = Some(launched);
    let terms = same("times", "terms");
    (verified.graph, verified.limits) = (Some(terms), Some(terms));
    let part = if launched { "times" } else { "launch" };
    verified.times = Some(same(part, "launches") && same("times", "inputs") && terms);
    if let Some(why) = &kernel.composed.why_not {
        errors.push(why.clone());
    }
    verified.errors = errors;
    Ok(verified)
}

/// Compares it with a code object, and with a machine if `with_machine`.
pub fn verify_hybrid_code(
    report: &HybridReport,
    file: &Path,
    spec: &JobSpec,
    with_machine: bool,
) -> Result<Verified, BoundError> {
    let mut verified = Verified::default();
    let (name, bytes) = (file.display().to_string(), object::read(file, &CompileOptions::default())?);
    let object = ObjectFile::marked(&name, &bytes, &spec.split)?.object;
    let kernel = object.kernel(&report.kernel).ok_or_else(|| {
        refused!(
            Certificate,
            help = format!("kernels: {}", object.kernel_names()),
            "{name} has no kernel `{}`",
            report.kernel
        )
    })?;
    let isa = Gcn3 { setup: gcn3_setup(kernel), ..Gcn3::default() };
    let program =
        gcn3_program(&object, kernel, isa, 0, &name, None).map_err(|e| refused!(Certificate, "{e}"))?;
    let checksum = wb_facts::checksum(&program, &wb_facts::calls_of(&program));
    let mut compare = |what: &str, here: &str, there: &str| {
        if here != there {
            verified.errors.push(format!("{what} is {here}, the certificate has {there}"));
        }
        Some(here == there)
    };
    verified.code = compare("code: the checksum", &checksum, &report.checksum);
    if with_machine {
        let machine = wb_device::provision(&spec.machine()?, &program);
        let there = format!("{} {}", report.machine.0, report.machine.1);
        let here = format!("{} {}", machine.name, hash(machine.to_toml().as_bytes()));
        verified.machine = compare("machine: name and hash of all fields", &here, &there);
    }
    Ok(verified)
}
