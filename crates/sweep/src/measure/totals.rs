//! What runs add up to, and why there may be no result.

use super::{Outcome, Status};
use crate::value::Value;
use wb_bound::BoundError;
use wb_jobs::{JobError, Part, Refusal};
use wb_sim::Outcome as Ran;

/// Why there is no result.
pub(super) enum Failure {
    Job(JobError),
    Bound(BoundError),
    Text(String),
}

impl From<JobError> for Failure {
    fn from(e: JobError) -> Failure {
        Failure::Job(e)
    }
}

impl From<BoundError> for Failure {
    fn from(e: BoundError) -> Failure {
        Failure::Bound(e)
    }
}

impl Failure {
    pub fn outcome(self) -> Outcome {
        match self {
            Failure::Job(e @ JobError::Refused(Refusal { part: Part::Memory, .. })) => {
                Outcome::failed(Status::Memory, e.chain())
            }
            Failure::Job(e) => Outcome::failed(Status::Failed, e.chain()),
            Failure::Bound(e) => Outcome::failed(Status::Failed, e.to_string()),
            Failure::Text(text) => Outcome::failed(Status::Failed, text),
        }
    }
}

/// Totals of all launches.
#[derive(Default)]
pub(super) struct Totals {
    pub launches: u64,
    pub cycles: u64,
    pub waves: u64,
    pub wave_instructions: u64,
    pub lane_instructions: u64,
    pub nops: u64,
}

impl Totals {
    pub fn add(&mut self, o: &Ran) {
        self.launches += 1;
        self.cycles += o.cycles;
        self.waves += u64::from(o.waves);
        self.wave_instructions += o.wave_instructions;
        self.lane_instructions += o.lane_instructions;
        self.nops += o.nops;
    }

    /// In the order of the columns.
    pub fn values(&self) -> Vec<Value> {
        let all = [
            self.cycles,
            self.launches,
            self.waves,
            self.wave_instructions,
            self.lane_instructions,
            self.nops,
        ];
        all.into_iter().map(Value::from).collect()
    }
}
