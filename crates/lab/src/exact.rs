//! The search for wrong exact bounds: random kernels, what is shown about their time, and runs with other contents, whose time
//! must then be the same (docs/exact.md, "The search").

use crate::search::over;
use std::ops::Range;
use wb_bound::exact::witnessed;
use wb_facts::taint::{TaintRefused, TaintRule, label_without, recheck};
use wb_jobs::AnyProgram;
use wb_sim::RunOptions;
use wb_testgen::random::contents::{contents_job, contents_kernel};

/// What to search.
#[derive(Clone, Debug)]
pub struct ExactSearch {
    pub cases: Range<u64>,
    /// Contents that each kernel runs with.
    pub contents: u64,
    pub threads: usize,
    /// Leave this rule out, and do not check the labellings.
    pub without: Option<TaintRule>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct ExactFound {
    pub cases: u64,
    /// Kernels whose time was shown to be the same for all contents.
    pub exact: u64,
    /// Of the others, those whose time did differ.
    pub differ: u64,
    /// Labellings that the checker refused: a fault of one of the two, but not a wrong bound.
    pub refused: Vec<(u64, String)>,
    /// Cases whose time differs although it was shown not to.
    pub wrong: Vec<(u64, String)>,
}

/// Runs a search; `progress` is told of every case.
pub fn search(what: &ExactSearch, progress: &(dyn Fn() + Sync)) -> Result<ExactFound, String> {
    let look = |case| one(case, what).map_err(|e| format!("{e}\n{}", contents_kernel(case)));
    let add = |sum: &mut ExactFound, one: ExactFound| {
        sum.cases += 1;
        sum.exact += one.exact;
        sum.differ += one.differ;
        sum.refused.extend(one.refused);
        sum.wrong.extend(one.wrong);
    };
    let mut found = over(what.cases.clone(), what.threads, look, add, progress)?;
    found.wrong.sort();
    found.refused.sort();
    Ok(found)
}

/// One kernel with several contents.
fn one(case: u64, what: &ExactSearch) -> Result<ExactFound, String> {
    let first = contents_job(case, 0)?;
    let AnyProgram::Gcn3(program) = &first.program else { return Err("not GCN3".into()) };
    let (cycles, witness) = witnessed(&first).map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let labelled = label_without(program, &witness, what.without).map_err(|e| e.to_string())?;
    let mut found = ExactFound::default();
    let mut shown = labelled.uses.is_empty();
    if shown && what.without.is_none() {
        match recheck(program, &witness, &labelled.labelling) {
            Ok(()) => {}
            // The checker says itself that it does not follow so much.
            Err(TaintRefused::Crowded { .. }) => shown = false,
            Err(why) => {
                found.refused.push((case, why.to_string()));
                shown = false;
            }
        }
    }
    found.exact = u64::from(shown);
    for input in 1..what.contents.max(2) {
        let run = contents_job(case, input)?.run(RunOptions::default(), None);
        let other = run.map_err(|e| format!("{:?}", miette::Report::new(e)))?.cycles;
        if other != cycles {
            match shown {
                true => found.wrong.push((case, format!("{cycles} cycles, with contents {input} {other}"))),
                false => found.differ = 1,
            }
            break;
        }
    }
    Ok(found)
}
