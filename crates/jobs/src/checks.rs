//! Checked runs of jobs and launches ([`wb_sanitize`]): the checker knows the buffers by name, and the host looks at all of them in the
//! end.

use crate::error::JobError;
use crate::job::Job;
use crate::launch::Stage;
use wb_sanitize::{Block, Checker, Options, Suppressions};
use wb_sim::{Outcome, RunOptions};
use wb_trace::Observer;

/// What is checked, and what is not to be reported.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    pub options: Options,
    pub suppressions: Suppressions,
}

impl Checks {
    /// A checker for memory that begins at `origin`.
    pub fn checker(&self, origin: u64) -> Checker {
        let mut checker = Checker::new(self.options.clone(), origin);
        checker.reports.suppressions = self.suppressions.clone();
        checker
    }
}

impl Job {
    /// Runs with checks, untimed; the checker comes back with the memory of the outcome.
    pub fn run_checked(
        &self,
        checks: &Checks,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, JobError> {
        let mut memory = self.memory()?;
        let mut checker = checks.checker(memory.origin());
        if self.known.blocks {
            for (at, bytes) in self.initial() {
                checker.allocated(at, Block { bytes: bytes.len() as u64, ..Block::default() });
                let own = self.buffers.iter().find(|b| b.addr == at);
                match own {
                    Some(buffer) => checker.name(at, &buffer.name, None),
                    None => checker.internal(at),
                }
                if !self.known.unwritten.contains(&at) {
                    checker.written(at, bytes.len() as u64);
                }
            }
        }
        checker.kernel = self.known.kernel.clone();
        memory.checker = Some(Box::new(checker));
        let options = RunOptions { timed: false, ..options };
        let program = self.program.borrow();
        let mut outcome = program.runnable().run(&self.machine, self.launch, memory, options, observer)?;
        if let Some(checker) = &mut outcome.memory.checker {
            checker.host_reads_all();
        }
        Ok(outcome)
    }
}

impl Stage {
    /// Launches are checked from now on.
    pub fn check(&mut self, checks: &Checks) {
        let checker = checks.checker(self.device.memory().origin());
        self.device.check(checker, Some(&self.module));
        for buffer in &self.buffers {
            if let Some(checker) = self.device.checker() {
                checker.name(buffer.addr, &buffer.name, None);
                if self.unwritten.contains(&buffer.addr) {
                    checker.unwritten(buffer.addr, buffer.bytes);
                }
            }
        }
    }

    /// The host looks at all buffers.
    pub fn checked(&mut self) -> Option<&mut Checker> {
        let checker = self.device.checker()?;
        checker.host_reads_all();
        Some(checker)
    }
}
