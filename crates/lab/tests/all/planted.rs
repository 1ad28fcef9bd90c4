//! The corpus of planted errors as programs: its right kernels run to their end as they are.

use wb_lab::planted::{Place, cases, launch};

#[test]
fn every_right_kernel_of_the_corpus_runs() {
    let place = Place::temporary().unwrap_or_else(|e| panic!("{e}"));
    let clean = cases().unwrap_or_else(|e| panic!("{e}")).into_iter().filter(|c| c.planted.is_none());
    for case in clean {
        launch(&case, &place).unwrap_or_else(|e| panic!("{}: {:?}", case.name, miette::Report::new(e)));
    }
}
