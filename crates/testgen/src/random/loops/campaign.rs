//! The search as a campaign: many cases on all cores, in assembly or compiled from OpenCL C, with a side condition of the
//! prover left out if one wants to see it found.

use super::opencl::opencl;
use super::search::{Tried, try_assembly, try_opencl};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use wb_facts::{Inferred, Known, SideCondition, infer_gcn3, infer_unchecked};
use wb_isa::gcn3::isa::Gcn3;
use wb_jobs::object::{CompileOptions, Compiler};
use wb_program::Program;

/// What to search.
#[derive(Clone, Debug)]
pub struct Search {
    pub cases: Range<u64>,
    /// Contents of memory each case is run with.
    pub inputs: u64,
    pub threads: usize,
    /// Leave this side condition out, and do not check the proofs.
    pub without: Option<SideCondition>,
    /// OpenCL C instead of assembly.
    pub opencl: bool,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub sum: Tried,
    /// Cases with a wrong proof, in order, with what is wrong.
    pub wrong: Vec<(u64, Vec<String>)>,
    /// Proofs that the checker refused: a fault of the prover or of the checker, but not a wrong result.
    pub refused: u64,
    pub cases: u64,
}

/// Kernels of one OpenCL file.
const TOGETHER: u64 = 25;

/// Runs a search; `progress` is told of cases that are done.
pub fn search(what: &Search, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, String> {
    let piece = if what.opencl { TOGETHER } else { 16 };
    let compiler = if what.opencl {
        Some(Compiler::find().map_err(|e| format!("{:?}", miette::Report::new(e)))?)
    } else {
        None
    };
    let next = AtomicU64::new(what.cases.start);
    let refused = AtomicU64::new(0);
    let prover = |program: &Program<Gcn3>, known: &Known| -> Inferred {
        let known = Known { without: what.without, ..known.clone() };
        if what.without.is_some() {
            return infer_unchecked(program, &known);
        }
        let found = infer_gcn3(program, &known);
        refused.fetch_add(u64::from(!found.refused.is_empty()), Ordering::Relaxed);
        found
    };
    let outcome = Mutex::new(Outcome::default());
    let failed: Mutex<Option<String>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..what.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(piece, Ordering::Relaxed);
                    let cases = first..(first + piece).min(what.cases.end);
                    let over = failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
                    if cases.is_empty() || over {
                        return;
                    }
                    let count = cases.end - cases.start;
                    let tried = match &compiler {
                        Some(compiler) => compiled(compiler, cases, what.inputs, &prover),
                        None => cases.map(|c| Ok((c, try_assembly(c, what.inputs, &prover)?))).collect(),
                    };
                    match tried {
                        Ok(all) => {
                            let mut sum = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                            for (case, one) in all {
                                if !one.wrong.is_empty() {
                                    sum.wrong.push((case, one.wrong.clone()));
                                }
                                sum.sum.add(one);
                            }
                            sum.cases += count;
                        }
                        Err(e) => *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(e),
                    }
                    progress(count);
                }
            });
        }
    });
    if let Some(e) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    let mut outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.wrong.sort_by_key(|w| w.0);
    outcome.refused = refused.into_inner();
    Ok(outcome)
}

/// Cases compiled together, at a level of optimisation that depends on the first.
fn compiled(
    compiler: &Compiler,
    cases: Range<u64>,
    inputs: u64,
    prover: super::Prover,
) -> Result<Vec<(u64, Tried)>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = folder.path().join(format!("loops{}.cl", cases.start));
    std::fs::write(&source, opencl(cases.clone())).map_err(|e| e.to_string())?;
    let level = (cases.start / TOGETHER % 4) as u8;
    // Random C warns a lot.
    let extra = vec!["-w".to_owned()];
    let options = CompileOptions { level, default_flow: level == 3, extra, ..CompileOptions::default() };
    let object = compiler.object(&source, &options).map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    try_opencl(&object, cases, inputs, prover)
}
