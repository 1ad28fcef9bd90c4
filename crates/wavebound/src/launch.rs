//! Launches: what a kernel runs with, and on which machine.

use crate::element::{Number, buffer, value};
use crate::error::Error;
use crate::program_file::Program;
use wb_hw::{Machine, MarkStyle, Mechanism};
use wb_jobs::args::Argument;
use wb_jobs::object::SplitSpec;
use wb_jobs::{Job, JobSpec};

/// A launch on its way: arguments in the order of the kernel's parameters, sizes in work-items.
///
/// ```
/// # fn main() -> Result<(), wavebound::Error> {
/// use wavebound::{InstructionSet, Program, machine};
///
/// let text = ".kernel stop\n.arg buf x\n.arg u32 n\n  s_endpgm\n";
/// let program = Program::from_source(InstructionSet::Gcn3, "stop.s", text);
/// let job = program
///     .launch("stop")
///     .machine(machine("gcn3")?)
///     .threads(256, 64)
///     .buffer(&[0u32; 256])
///     .value(256u32)
///     .prepare()?;
/// assert!(job.run(Default::default(), None)?.cycles > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Launch<'p> {
    program: &'p Program,
    spec: JobSpec,
}

impl Program {
    /// Describes a launch of a kernel; the name may be empty where there is one kernel only.
    pub fn launch(&self, kernel: &str) -> Launch<'_> {
        let spec = JobSpec { isa: Some(self.isa), kernel: kernel.to_owned(), ..JobSpec::default() };
        Launch { program: self, spec }
    }
}

impl Launch<'_> {
    /// The machine; without one, the instruction set's own preset.
    #[must_use]
    pub fn machine(mut self, machine: Machine) -> Self {
        self.spec.ready_machine = Some(Box::new(machine));
        self
    }

    /// Changes a field of the machine, as `--set` does: `.set("core.waves=4")`.
    #[must_use]
    pub fn set(mut self, field: &str) -> Self {
        self.spec.sets.push(field.to_owned());
        self
    }

    /// A mechanism with so many split contexts.
    #[must_use]
    pub fn mechanism(self, mechanism: Mechanism, contexts: u32) -> Self {
        self.set(&format!("divergence.mechanism={mechanism}")).set(&format!("split.contexts={contexts}"))
    }

    /// `threads` work-items in groups of `group`.
    #[must_use]
    pub fn threads(self, threads: u32, group: u32) -> Self {
        self.grid([threads, 1, 1], [group, 1, 1])
    }

    /// Work-items and group size in three dimensions. GUPPY uses the first.
    #[must_use]
    pub fn grid(mut self, grid: [u32; 3], group: [u32; 3]) -> Self {
        (self.spec.grid3, self.spec.group3) = (grid, group);
        (self.spec.grid, self.spec.group) = (grid[0], group[0]);
        self
    }

    /// The next argument: a buffer that holds these numbers before the launch.
    #[must_use]
    pub fn buffer<T: Number>(self, data: &[T]) -> Self {
        self.argument(buffer(data))
    }

    /// The next argument: a number.
    #[must_use]
    pub fn value<T: Number>(self, number: T) -> Self {
        self.argument(value(number))
    }

    /// The next argument: so many bytes of local memory.
    #[must_use]
    pub fn local(self, bytes: u32) -> Self {
        self.argument(Argument::Local(bytes))
    }

    /// The next argument, as the command line has it: `buf:u32:256:random=7`, `f32:0.5`.
    #[must_use]
    pub fn text(mut self, argument: &str) -> Self {
        self.spec.args.push(argument.into());
        self
    }

    fn argument(mut self, argument: Argument) -> Self {
        self.spec.args.push(argument.into());
        self
    }

    /// A view of a GUPPY program: `u0=buf:u32:256`.
    #[must_use]
    pub fn view(mut self, view: &str) -> Self {
        self.spec.views.push(view.to_owned());
        self
    }

    /// Marks every divergent branch for splitting, as the mechanism reads it.
    #[must_use]
    pub fn split_everywhere(mut self, style: MarkStyle) -> Self {
        self.spec.split = SplitSpec { all: true, style, ..SplitSpec::default() };
        self
    }

    /// Marks branches for splitting: addresses, `FILE:LINE` or labels.
    #[must_use]
    pub fn split_at(mut self, places: &[&str], style: MarkStyle) -> Self {
        let at = places.iter().map(|&p| p.to_owned()).collect();
        self.spec.split = SplitSpec { at, all: false, style };
        self
    }

    /// Loads the program, places arguments, and checks everything: a job that can run many times, always the same.
    pub fn prepare(&self) -> Result<Job, Error> {
        Ok(Job::from_bytes(&self.program.name, &self.program.bytes, &self.spec)?)
    }
}
