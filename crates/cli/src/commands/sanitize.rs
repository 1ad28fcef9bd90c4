//! `--sanitize`: options of a checked run, and how its reports are told.

use super::{print, print_line};
use clap::Args;
use miette::miette;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use wavebound::jobs::Checks;
use wavebound::sanitize::{Options, Report, Reports, Suppressions};
use wb_host::Sanitize;

#[derive(Args, Clone, Default)]
pub struct SanitizeArgs {
    /// Check the program while it runs, untimed: accesses out of bounds, values nobody wrote, races, barriers that not all
    /// reach, and more (docs/sanitizer.md); exit code 1 if something is found
    #[arg(long)]
    pub sanitize: bool,
    /// A file of reports that are known and not wanted: a kind and a place on each line
    #[arg(long, value_name = "FILE", requires = "sanitize")]
    pub suppressions: Option<PathBuf>,
    /// Lanes of a wave run in step: what one lane does before another one is no race (wave-synchronous programs)
    #[arg(long, requires = "sanitize")]
    pub in_step: bool,
    /// Lanes of a wave do not run in step, also in HIP programs, for which it is taken for granted otherwise
    #[arg(long, requires = "sanitize", conflicts_with = "in_step")]
    pub lanes_apart: bool,
}

impl SanitizeArgs {
    /// What to check, if anything.
    pub fn checks(&self) -> miette::Result<Option<Checks>> {
        let options = Options { in_step: self.in_step, ..Options::default() };
        let (_, suppressions) = self.read()?;
        Ok(self.sanitize.then_some(Checks { options, suppressions }))
    }

    /// The same for the library that programs load. `in_step`: lanes are, unless somebody says that they are not.
    pub fn for_library(&self, in_step: bool) -> miette::Result<Option<Sanitize>> {
        let (suppressions, _) = self.read()?;
        let in_step = self.in_step || in_step && !self.lanes_apart;
        Ok(self.sanitize.then_some(Sanitize { in_step, suppressions }))
    }

    /// The file of suppressions: its text, and what it says.
    fn read(&self) -> miette::Result<(String, Suppressions)> {
        let Some(path) = &self.suppressions else { return Ok(Default::default()) };
        let text = wavebound::files::read_text(path, wavebound::files::Kind::Description)?;
        let read = Suppressions::parse(&text).map_err(|why| {
            let help = "a line is: KIND FILE:LINE, KIND kernel:NAME, or KIND *";
            miette!(help = help, "{}: {why}", path.display())
        })?;
        Ok((text, read))
    }
}

/// What a checked run found, as JSON.
#[derive(Serialize, schemars::JsonSchema)]
pub struct SanitizeJson {
    reports: Vec<Report>,
    /// Reports that each line of the file of suppressions took out.
    suppressed: BTreeMap<usize, u64>,
    /// Different places that were not kept.
    left_out: u64,
}

impl From<&Reports> for SanitizeJson {
    fn from(reports: &Reports) -> SanitizeJson {
        SanitizeJson {
            reports: reports.all().to_vec(),
            suppressed: reports.suppressed.clone(),
            left_out: reports.left_out,
        }
    }
}

/// The reports as text.
pub fn tell(reports: &Reports) {
    for report in reports.all() {
        print(&format!("{report}\n"));
    }
    let hidden: u64 = reports.suppressed.values().sum();
    print_line(&summary(reports.all().len(), reports.left_out, hidden));
}

/// How many reports there are, how many places too many, and how many reports nobody wanted.
pub fn summary(reports: usize, left_out: u64, hidden: u64) -> String {
    let mut line = match reports {
        0 => "sanitizer: nothing found".to_owned(),
        1 => "sanitizer: 1 report".to_owned(),
        n => format!("sanitizer: {n} reports"),
    };
    if left_out > 0 {
        line += &format!(", {left_out} more places were left out");
    }
    if hidden > 0 {
        line += &format!(", {hidden} suppressed");
    }
    line
}
