//! A device whose launches are checked from the beginning.

use crate::options::Sanitize;
use miette::{Report, miette};
use wavebound::device::Device;
use wavebound::sanitize::{Checker, Options, Suppressions};

/// A device that is checked has a checker from the beginning.
pub(crate) fn prepare(device: &mut Device, wanted: &Sanitize) -> Result<(), Report> {
    let options = Options { in_step: wanted.in_step, ..Options::default() };
    let mut checker = Checker::new(options, device.memory().origin());
    checker.reports.suppressions = Suppressions::parse(&wanted.suppressions)
        .map_err(|why| miette!(help = "see docs/sanitizer.md", "the file of suppressions: {why}"))?;
    device.check(checker, None);
    Ok(())
}
