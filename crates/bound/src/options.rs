//! What the user wants to know, what to accept, and who hears how far the work is.

use wb_wcet::measure::Unmeasured;

/// What the user wants to know, and what to accept.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Facts files: name and text.
    pub facts: Vec<(String, String)>,
    /// Take limits of loops that have no other from the runs.
    pub facts_from_trace: bool,
    pub unmeasured: Unmeasured,
    /// Take THESIS 5.2.4 at its word: to skip a side costs nothing. Not sound; to compare with.
    pub free_skips: bool,
    /// Keep a point at every divergent branch, as THESIS does, even where fewer would do.
    pub all_points: bool,
    /// Find out what each split brings.
    pub what_if: bool,
    /// Source files that are not beside the program: name and text.
    pub sources: Vec<(String, String)>,
    /// Buffers whose contents are part of the launch, by name or as `arg2`: for exact bounds.
    pub fixed: Vec<String>,
    /// Measured times only: do not look for exact or proved bounds.
    pub hybrid: bool,
    /// Of hybrid bounds those by segments only.
    pub segments: bool,
    /// Proved bounds only: nothing is measured, and what has no proof is an error.
    pub proved: bool,
    /// What to type for more inputs, for the warning about too few.
    pub more_inputs: String,
}

/// Tells how far the work is: what is being done, launches so far.
pub type Progress<'a> = &'a mut dyn FnMut(&str, usize);

/// The facts file for a kernel: the one that names it, or the only one.
pub(crate) fn facts_for<'a>(options: &'a Options, kernel: &str) -> Option<(&'a str, &'a str)> {
    let names = |text: &str| text.parse::<toml::Table>().ok()?.get("kernel")?.as_str().map(str::to_owned);
    let own = options.facts.iter().find(|(_, text)| names(text).as_deref() == Some(kernel));
    let open = || options.facts.iter().find(|(_, text)| names(text).is_none());
    own.or_else(open).map(|(name, text)| (name.as_str(), text.as_str()))
}
