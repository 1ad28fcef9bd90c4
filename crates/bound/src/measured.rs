//! A kernel with what was measured of it: what every step of the analysis takes from the one before.

use crate::composed::ComposedKernel;
use crate::kernel::AnalysedKernel;
use crate::result::LaunchRow;
use crate::source::Source;
use std::collections::BTreeSet;
use wb_isa::Pc;
use wb_wcet::measure::{Measured, Times};
use wb_wcet::wave::WaveBound;

/// A kernel and what was measured of it.
pub(crate) struct MeasuredKernel {
    pub kernel: AnalysedKernel,
    pub times: Times,
    pub launches: Vec<LaunchRow>,
    pub source: Source,
    /// Bounds by own time and waits.
    pub composed: ComposedKernel,
}

/// What the first measurement showed.
pub(crate) struct FirstMeasurement {
    pub measured_kernel: MeasuredKernel,
    /// Branches whose split can be counted on.
    pub sure: BTreeSet<Pc>,
    /// The wave's bound with a segment for every block, which assumes least about how times go together.
    pub bound: WaveBound,
    pub measured: Measured,
}
