//! What a user asks for: a program, a machine with changes, a launch.

use crate::args::ArgSpec;
use crate::error::{JobError, refused};
use crate::object::CompileOptions;
use crate::object::SplitSpec;
use wb_hw::{InstructionSet, Machine};

/// What to run and on what; everything has a default.
#[derive(Clone, Debug, Default)]
pub struct JobSpec {
    /// None: by the file's extension and content.
    pub isa: Option<InstructionSet>,
    /// Preset or machine file; empty = the ISA's own preset.
    pub machine: String,
    /// A machine that is ready, instead of a name.
    pub ready_machine: Option<Box<Machine>>,
    /// Machine fields to change, `core.waves=4`.
    pub sets: Vec<String>,
    /// HARP architecture string; empty = the machine's.
    pub arch: String,
    /// Registers per lane; 0 = as the machine says.
    pub registers: u32,
    /// GUPPY threads and group size; 0 = one wave, one group.
    pub grid: u32,
    pub group: u32,
    pub views: Vec<String>,
    pub samplers: Vec<String>,
    /// GCN3: kernel name (may be empty when there is one), sizes in work-items, arguments, extra local memory.
    pub kernel: String,
    pub grid3: [u32; 3],
    pub group3: [u32; 3],
    pub args: Vec<ArgSpec>,
    pub dynamic_lds: u32,
    /// Which run of several: added to the seed of every fill that has one.
    pub run: u32,
    /// GCN3: branches to mark for splitting before the run.
    pub split: SplitSpec,
    /// The run is checked ([`crate::Checks`]): sources are compiled so that more can be found.
    pub checked: bool,
}

impl JobSpec {
    /// The machine a job runs on, with what was set.
    pub fn machine(&self) -> Result<Machine, JobError> {
        let own = self.isa.map_or("", InstructionSet::preset);
        let name = if self.machine.is_empty() { own } else { &self.machine };
        let sets = self.sets.iter().map(|s| wb_hw::parse_set(s)).collect::<Result<Vec<_>, _>>()?;
        let machine = match &self.ready_machine {
            Some(machine) => (**machine).clone().with_overrides(&sets)?,
            None => wb_hw::load(name)?.with_overrides(&sets)?,
        };
        afford(&machine, machine.limits.memory)?;
        Ok(machine)
    }

    /// How sources are compiled: for the machine, if one is named.
    pub fn compile_options(&self) -> Result<CompileOptions, JobError> {
        if self.machine.is_empty() && self.ready_machine.is_none() {
            return Ok(CompileOptions { checked: self.checked, ..CompileOptions::default() });
        }
        Ok(CompileOptions { checked: self.checked, ..CompileOptions::for_machine(&self.machine()?) })
    }
}

/// Whether the host has room for that much memory of a machine: asked before it is taken, because then it is too late.
pub(crate) fn afford(machine: &Machine, bytes: u64) -> Result<(), JobError> {
    if wb_sim::affordable(bytes) {
        return Ok(());
    }
    Err(refused!(
        Memory,
        help = "make limits.memory smaller with --set, or the number of cores, waves and lanes",
        "this computer has no room for the {bytes} bytes of memory of the machine {}",
        machine.name
    ))
}
