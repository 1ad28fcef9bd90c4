//! What the tests share: plans from text, and sweeps of them.

use std::path::{Path, PathBuf};
use wb_sweep::data::{self, Written};
use wb_sweep::{Identities, Plan, Ran, RunOptions, Scope, Sweep};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn plan(text: &str) -> Plan {
    Plan::parse("plan.toml", text, Path::new("")).unwrap_or_else(|e| panic!("{e} {:?}", e.hint))
}

/// Message and hint.
pub fn refused(text: &str) -> String {
    let e = Plan::parse("plan.toml", text, Path::new("")).expect_err("refused");
    format!("{e} [{}]", e.hint.clone().unwrap_or_default())
}

/// The points as text.
pub fn points(plan: &Plan) -> Vec<String> {
    plan.places().map(|p| plan.describe(p)).collect()
}

pub fn prepare<'a>(plan: &'a Plan, store: &Path) -> Sweep<'a> {
    Sweep::prepare(plan, store, Scope::default(), &mut Identities::new(), &mut |_| ()).expect("prepared")
}

/// Runs a plan in threads and writes its data set.
pub fn sweep(plan: &Plan, store: &Path, out: &Path, jobs: usize) -> (Ran, Written) {
    let mut sweep = prepare(plan, store);
    let options = RunOptions { jobs, workers: None };
    let ran = sweep.run(&options, usize::MAX, &|_| (), &|| true).expect("run");
    (ran, data::write(&sweep, out).expect("written"))
}
