//! Verifies a certificate of a hybrid bound by own time and waits: everything is measured and bounded again, and must be the same.

use crate::analyse::analyse;
use crate::error::BoundError;
use crate::options::Options;
use crate::runs::Runs;
use crate::verify::Verified;
use serde_json::Value;
use wb_check::HybridReport;
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
        verified.errors.push(format!("kernel {} is not launched", report.kernel));
        return Ok(verified);
    };
    let here: Value = serde_json::from_str(&kernel.composed.certificate).unwrap_or_default();
    let listed: Value = serde_json::from_str(text).unwrap_or_default();
    let mut errors = Vec::new();
    let mut same = |field: &str| {
        let equal = here.get(field).is_some() && here.get(field) == listed.get(field);
        if !equal {
            errors.push(format!("`{field}` is not what the launches give"));
        }
        equal
    };
    verified.code = Some(same("checksum"));
    verified.machine = Some(same("machine"));
    let terms = same("terms");
    (verified.graph, verified.limits) = (Some(terms), Some(terms));
    let launches = |v: &Value| -> Vec<Value> {
        let list = v.get("launches").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|l| l.get("launch").cloned()).collect()
    };
    verified.launch = Some(launches(&here) == launches(&listed));
    verified.times = Some(same("launches") && terms);
    if let Some(why) = &kernel.composed.why_not {
        errors.push(why.clone());
    }
    verified.errors = errors;
    Ok(verified)
}
