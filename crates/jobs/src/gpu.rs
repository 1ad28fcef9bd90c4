//! Which GPU a code object is for, and whether a machine is one. Code for another GPU would run here, but no GPU would run it.

use crate::error::{JobError, refused};
use crate::spec::{JobSpec, afford};
use wb_hw::{InstructionSet, Machine};
use wb_isa::gcn3::{GFX8, Gcn, Generation, generation};
use wb_objects::codeobject::CodeObject;

/// The preset that code runs on where nobody names a machine.
pub(crate) fn preset(object: &CodeObject) -> &'static str {
    if object.isa != InstructionSet::Gcn3 {
        return object.isa.preset();
    }
    match object.generation().gcn {
        Gcn::Gfx8 => InstructionSet::Gcn3.preset(),
        Gcn::Gfx900 | Gcn::Gfx906 | Gcn::Gfx908 => "vega",
        Gcn::Gfx90a => "mi200",
        Gcn::Gfx940 => "mi300",
    }
}

/// The generation that a machine is of.
fn of(machine: &Machine) -> &'static Generation {
    generation::of_name(&machine.arch).map_or(&GFX8, |found| found.0)
}

/// The machine that a job names, or the one for its code.
pub(crate) fn machine(name: &str, object: &CodeObject, spec: &JobSpec) -> Result<Machine, JobError> {
    if !spec.machine.is_empty() || spec.ready_machine.is_some() {
        let machine = spec.machine()?;
        check(name, object, &machine)?;
        return Ok(machine);
    }
    let sets = spec.sets.iter().map(|s| wb_hw::parse_set(s)).collect::<Result<Vec<_>, _>>()?;
    let machine = suited(object, wb_hw::load(preset(object))?).with_overrides(&sets)?;
    afford(&machine, machine.limits.memory)?;
    check(name, object, &machine)?;
    Ok(machine)
}

/// A preset as the GPU that the code is for, where there is none of just that generation.
pub(crate) fn suited(object: &CodeObject, mut machine: Machine) -> Machine {
    let differs = object.isa == InstructionSet::Gcn3 && of(&machine).gcn != object.generation().gcn;
    if differs {
        object.generation().usual.name.clone_into(&mut machine.arch);
    }
    machine
}

/// An error if the code is for another GPU than the machine is.
pub(crate) fn check(name: &str, object: &CodeObject, machine: &Machine) -> Result<(), JobError> {
    let gcn3 = object.isa == InstructionSet::Gcn3 && machine.isa == InstructionSet::Gcn3;
    let (code, gpu) = match gcn3 {
        true => (object.generation(), of(machine)),
        false => return Ok(()),
    };
    if code.gcn == gpu.gcn {
        return Ok(());
    }
    let help = format!(
        "run it with --machine {}, or compile it for {}; --set arch={} makes a machine of your own such a GPU",
        preset(object),
        gpu.usual.name,
        code.usual.name,
    );
    Err(refused!(
        Program,
        help = help,
        "{name} is code for {}, and the machine {} is a {}",
        code.target_names(),
        machine.name,
        gpu.usual.name
    ))
}
