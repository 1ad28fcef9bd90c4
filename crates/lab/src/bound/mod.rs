//! Bounds of kernels, end to end: runs that can be repeated, their measurement, the analysis and its reports
//! (issue of the analyser: from a kernel binary to a certified number).

mod analyse;
mod assumptions;
pub mod campaign;
mod explore;
mod gaps;
mod html;
mod kernel;
mod launches;
mod limits;
mod optimal;
mod paper;
mod parts;
mod points;
mod report;
mod result;
mod rows;
mod rows_parquet;
mod runs;
mod source;
mod table;
mod text;
mod trace;
mod what_if;

pub use analyse::{Files, Options, Progress, analyse, analyse_with};
pub use explore::{Candidate, Failed, Marked};
pub use html::{About, html, shown_command};
pub use optimal::{Best, Effort, Proof, best_places};
pub use points::{KernelPoints, PointRow, list_points};
pub use result::{
    BlockRow, BranchRow, CoverageRow, FlowRow, KernelBound, LaunchRow, LoopRow, NeverRow, PaperRow, Place,
    SourceLine, SourceRow, Status, StepRow,
};
pub use rows::{TraceFile, TraceWriter, beside};
pub use runs::{Launched, ProgramRef, Replay, Runs};
pub use table::{TimesTable, analyse_table, times_template};

use kernel::Kernel;
use source::Source;
use wb_wcet::wave::WaveBound;

/// The certificate of a wave's bound, with what it is about.
fn certificate(kernel: &Kernel, bound: &WaveBound, source: &Source) -> String {
    let mut certificate = bound.certificate.clone();
    let about = [
        ("kernel", kernel.name.clone()),
        ("program", kernel.file.clone()),
        ("checksum", kernel.checksum.clone()),
        ("machine", kernel.machine.name.clone()),
        ("mechanism", kernel.machine.divergence.mechanism.clone()),
        ("contexts", kernel.machine.split.contexts.to_string()),
        ("times", source.meaning().to_owned()),
    ];
    certificate.about.extend(about.map(|(k, v)| (k.to_owned(), v)));
    // The graph does not have them; who reads the certificate must know why.
    for (i, n) in kernel.never_rows().iter().enumerate() {
        let way = format!("{} → {}: {}", n.from, n.to, n.why);
        certificate.about.insert(format!("never taken {}", i + 1), way);
    }
    certificate.to_json().unwrap_or_default()
}
