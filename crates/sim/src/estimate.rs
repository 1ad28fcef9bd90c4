//! What a run by sample is asked and answers (`sample.rs`).

/// What to sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Part of the groups that is timed.
    pub fraction: f64,
    pub seed: u64,
}

/// Cycles of a launch, estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    pub cycles: f64,
    /// Half of the interval: the 95 % confidence of what batches differ by, what each of them still changed by while it was timed,
    /// and three percent for what batches cannot show.
    pub plus_minus: f64,
    /// Batches that were timed, and groups in each of them.
    pub batches: u32,
    pub groups: u32,
    /// Of all groups, those that were timed.
    pub timed: f64,
    pub seed: u64,
}

/// When waves ended, and when the last one started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub ends: Vec<u64>,
    pub last_start: u64,
}
