//! Bounds of kernels, end to end: runs that can be repeated, their measurement, the analysis and its reports
//! (issue of the analyser: from a kernel binary to a certified number).

mod analyse;
mod assumptions;
mod best;
pub mod campaign;
mod html;
mod kernel;
mod paper;
mod parts;
mod result;
mod runs;
mod text;
mod what_if;

pub use analyse::{Options, Progress, analyse};
pub use best::{Best, best_splits};
pub use html::{About, html, shown_command};
pub use result::{
    BlockRow, BranchRow, CoverageRow, FlowRow, KernelBound, LaunchRow, LoopRow, PaperRow, Place, SourceLine,
    SourceRow, Status, StepRow,
};
pub use runs::{Launched, ProgramRef, Runs};

use kernel::Kernel;
use wb_wcet::wave::WaveBound;

/// The certificate of a wave's bound, with what it is about.
fn certificate(kernel: &Kernel, bound: &WaveBound) -> String {
    let mut certificate = bound.certificate.clone();
    let about = [
        ("kernel", kernel.name.clone()),
        ("program", kernel.file.clone()),
        ("checksum", kernel.checksum.clone()),
        ("machine", kernel.machine.name.clone()),
        ("mechanism", kernel.machine.divergence.mechanism.clone()),
        ("contexts", kernel.machine.split.contexts.to_string()),
        ("times", "longest measured of each segment".to_owned()),
    ];
    certificate.about.extend(about.map(|(k, v)| (k.to_owned(), v)));
    certificate.to_json().unwrap_or_default()
}
