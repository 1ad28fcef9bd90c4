//! A certificate against what it is about: code, graph, limits, machine, launches and times, as far as they are at hand
//! (docs/certificate.md, "With the program"). `wb-check` has verified the arithmetic before.

mod limits;
mod times;
mod ways;

use super::launched::Launched;
use super::launches;
use super::result::LaunchRow;
use super::runs::Runs;
use super::shape::{Shape, limit_name};
use super::source::hash;
use crate::error::{BoundError, refused};
use limits::Again;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use times::Measured;
use wb_check::binding::{self, Binding};
use wb_facts as facts;
use wb_hw::{InstructionSet, Machine, Needs};
use wb_isa::gcn3::isa::Gcn3;
use wb_jobs::object::{self, CompileOptions, ObjectFile};
use wb_jobs::{Job, JobSpec};
use wb_jobs::{ProgramRef, with_program};
use wb_objects::{gcn3_program, gcn3_setup};
use wb_sim::{Launch, RunOptions};
use wb_wcet::kernel::Seats;

/// What a certificate is compared with.
pub enum Against<'a> {
    /// A program file, and a machine if one is named.
    Program { file: &'a Path, spec: &'a JobSpec, machine: bool },
    /// Launches, with their program and machine.
    Launches(&'a Runs),
}

/// What was verified: true, false, or null where nothing could be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Verified {
    /// The checksum is that of the program's code.
    pub code: Option<bool>,
    /// The graph is that of the program's control flow.
    pub graph: Option<bool>,
    /// Proven limits were proven again; null if others were only said.
    pub limits: Option<bool>,
    pub machine: Option<bool>,
    /// Geometry, arguments and data are those of the launches; rounds were computed again.
    pub launch: Option<bool>,
    /// Times were measured again.
    pub times: Option<bool>,
    /// What does not agree.
    #[serde(skip)]
    pub errors: Vec<String>,
    /// What was not compared, and why.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Verified {
    /// Notes the result of one comparison.
    fn set(field: &mut Option<bool>, errors: &mut Vec<String>, what: &str, result: Result<bool, String>) {
        match result {
            Ok(true) => *field = field.or(Some(true)),
            Ok(false) => {}
            Err(e) => {
                *field = Some(false);
                errors.push(format!("{what}: {e}"));
            }
        }
    }

    /// Each part with its verdict.
    pub fn parts(&self) -> [(&'static str, Option<bool>); 6] {
        [
            ("code", self.code),
            ("graph", self.graph),
            ("limits", self.limits),
            ("machine", self.machine),
            ("launch", self.launch),
            ("times", self.times),
        ]
    }
}

fn equal(what: &str, listed: &str, found: &str) -> Result<bool, String> {
    if listed == found { Ok(true) } else { Err(format!("{what} is {found}, the certificate has {listed}")) }
}

/// Compares a certificate that `wb-check` accepts.
pub fn verify(report: &wb_check::Report, against: &Against) -> Result<Verified, BoundError> {
    let binding = report
        .binding
        .as_ref()
        .ok_or_else(|| refused!(Certificate, "the certificate is of a proof alone, of no program"))?;
    let mut verified = Verified::default();
    match against {
        Against::Program { file, spec, machine } => {
            alone(report, binding, file, spec, *machine, &mut verified)?;
        }
        Against::Launches(runs) => with_launches(report, binding, runs, &mut verified)?,
    }
    Ok(verified)
}

/// Code, graph and limits of a program that is loaded.
fn program(report: &wb_check::Report, binding: &Binding, program: ProgramRef, verified: &mut Verified) {
    let checksum = with_program!(program, p => facts::checksum(p, &facts::calls_of(p)));
    let isa = program.isa().name();
    let Verified { code, graph, limits, errors, notes, .. } = verified;
    Verified::set(code, errors, "code", equal("the ISA", &binding.code.isa, isa));
    Verified::set(code, errors, "code", equal("the checksum", &binding.code.checksum, &checksum));
    if *code == Some(false) {
        return;
    }
    let again = match Again::prove(program, binding) {
        Ok(again) => again,
        Err(e) => {
            *limits = Some(false);
            errors.push(format!("limits: {e}"));
            Again::default()
        }
    };
    let flow = with_program!(program, p => ways::check(p, report, binding, &again.never));
    let plain = binding.splits.is_empty() && binding.homogeneous.is_empty();
    // With splits, or sides left out, the graph is that of the program only if the machine makes them: see `machine`.
    Verified::set(graph, errors, "graph", flow.map(|()| plain));
    if !plain {
        notes.push("splits are counted on: the graph is verified with the machine".to_owned());
    }
    let said =
        |h: &binding::HomogeneousMask| format!("the mask at pc {} is homogeneous: said by the user", h.pc);
    notes.extend(binding.homogeneous.iter().map(said));
    notes.extend(report.fact_names.iter().map(|name| format!("the fact `{name}` is said by the user")));
    match again.limits(binding) {
        Ok(said) if said.is_empty() => *limits = limits.or(Some(true)),
        Ok(said) => notes.extend(said),
        Err(e) => {
            *limits = Some(false);
            errors.push(format!("limits: {e}"));
        }
    }
}

/// The machine as the kernel finds it, and splits that are counted on.
fn machine(report: &wb_check::Report, binding: &Binding, launched: &Launched, verified: &mut Verified) {
    let (listed, machine) = (&binding.machine, launched.machine);
    let Verified { machine: field, graph, errors, notes, .. } = verified;
    let found = hash(machine.to_toml().as_bytes());
    for (what, listed, found) in [
        ("the name", listed.name.as_str(), machine.name.as_str()),
        ("the mechanism", &listed.mechanism, machine.divergence.mechanism.name()),
        ("S", &listed.contexts.to_string(), &machine.split.contexts.to_string()),
        ("the number of lanes", &listed.lanes.to_string(), &machine.core.lanes.to_string()),
        ("the hash of all fields", &listed.hash, &found),
    ] {
        Verified::set(field, errors, "machine", equal(what, listed, found));
    }
    if *field == Some(false) || binding.splits.is_empty() && binding.homogeneous.is_empty() {
        return;
    }
    match times::splits(report, binding, launched) {
        Ok(None) => {
            *graph = graph.or(Some(true));
            notes.retain(|n| !n.starts_with("splits are counted on"));
        }
        Ok(Some(note)) => notes.push(note),
        Err(e) => {
            *graph = Some(false);
            errors.push(format!("splits: {e}"));
        }
    }
}

/// Seats and rounds of a shape on a machine.
fn seats(shape: &binding::Shape, needs: Needs, machine: &Machine) -> Result<bool, String> {
    let seats = Seats::of(machine, needs);
    let limit = limit_name(machine.occupancy(needs).limit);
    for (what, listed, found) in [
        ("cores", shape.cores, seats.cores),
        ("groups per core", shape.groups_per_core, seats.groups_per_core),
    ] {
        equal(what, &listed.to_string(), &found.to_string())?;
    }
    equal("what limits groups", &shape.limit, limit)
}

/// Only the program, and perhaps a machine.
fn alone(
    report: &wb_check::Report,
    binding: &Binding,
    file: &Path,
    spec: &JobSpec,
    with_machine: bool,
    verified: &mut Verified,
) -> Result<(), BoundError> {
    let bytes = object::read(file, &CompileOptions::default())?;
    let isa = spec.isa.or_else(|| wb_jobs::isa_of(file, &bytes));
    let spec = JobSpec { isa, ..spec.clone() };
    let name = file.display().to_string();
    let unlaunched = |program: ProgramRef, machine: &Machine, verified: &mut Verified| {
        let kernel = binding.code.kernel.as_str();
        let launched = Launched {
            kernel,
            file: &name,
            program,
            machine,
            launch: Launch::Boot,
            kernarg: &[],
            args: &[],
            number: 0,
            data: "",
            buffers: &[],
            touchable: Default::default(),
        };
        self::machine(report, binding, &launched, verified);
    };
    if spec.isa != Some(InstructionSet::Gcn3) {
        let job = Job::from_bytes(&name, &bytes, &spec)?;
        program(report, binding, job.program.borrow(), verified);
        if with_machine {
            unlaunched(job.program.borrow(), &job.machine, verified);
        }
        return Ok(());
    }
    let object = ObjectFile::marked(&name, &bytes, &spec.split)?.object;
    let wanted = if spec.kernel.is_empty() { &binding.code.kernel } else { &spec.kernel };
    Verified::set(
        &mut verified.code,
        &mut verified.errors,
        "code",
        equal("the kernel", &binding.code.kernel, wanted),
    );
    let kernel = object.kernel(&binding.code.kernel).ok_or_else(|| {
        refused!(
            Certificate,
            help = format!("kernels: {}", object.kernel_names()),
            "{name} has no kernel `{}`",
            binding.code.kernel
        )
    })?;
    let isa = Gcn3 { setup: gcn3_setup(kernel), ..Gcn3::default() };
    let loaded =
        gcn3_program(&object, kernel, isa, 0, &name, None).map_err(|e| refused!(Certificate, "{e}"))?;
    program(report, binding, ProgramRef::Gcn3(&loaded), verified);
    let machine = spec.machine()?;
    let machine = wb_device::provision(&machine, &loaded);
    if with_machine {
        unlaunched(ProgramRef::Gcn3(&loaded), &machine, verified);
    }
    for shape in binding.launches.iter().flat_map(|l| &l.shapes) {
        let d = &kernel.descriptor;
        let own = shape.vgprs == d.vgprs() && shape.sgprs == d.sgprs() && shape.lds_bytes >= kernel.lds_bytes;
        let registers =
            if own { Ok(false) } else { Err("registers or local memory are not the kernel's".to_owned()) };
        Verified::set(&mut verified.launch, &mut verified.errors, "launch", registers);
        if with_machine && verified.machine == Some(true) {
            let needs = Needs {
                waves_per_group: shape.waves_per_group,
                vgprs: shape.vgprs,
                sgprs: shape.sgprs,
                lds_bytes: shape.lds_bytes,
            };
            let found = seats(shape, needs, &machine).map(|_| false);
            Verified::set(&mut verified.launch, &mut verified.errors, "launch", found);
        }
    }
    Ok(())
}

/// Launches as they are, each run again.
fn with_launches(
    report: &wb_check::Report,
    binding: &Binding,
    runs: &Runs,
    verified: &mut Verified,
) -> Result<(), BoundError> {
    let mut rows: Vec<LaunchRow> = Vec::new();
    let mut measured: Option<Measured> = None;
    let again = binding.times.origin == "measured";
    runs.each(&mut |launched, go| {
        if launched.kernel != binding.code.kernel {
            go(RunOptions { timed: false, ..RunOptions::default() }, None)?;
            return Ok(());
        }
        if rows.is_empty() {
            program(report, binding, launched.program, verified);
            machine(report, binding, launched, verified);
        }
        launches::add(&mut rows, launched, 0);
        let good = verified.code != Some(false) && verified.graph != Some(false);
        if !again || !good {
            go(RunOptions { timed: false, ..RunOptions::default() }, None)?;
            return Ok(());
        }
        let measured = match &mut measured {
            Some(measured) => measured,
            none => none.insert(Measured::new(binding, launched)?),
        };
        measured.run(launched, go)
    })?;
    let Verified { code, launch, times, errors, notes, .. } = verified;
    if rows.is_empty() {
        let error = Err(format!("kernel {} is not launched", binding.code.kernel));
        Verified::set(code, errors, "code", error);
        return Ok(());
    }
    Verified::set(launch, errors, "launch", compare(binding, &rows));
    match measured.map(|m| m.compare(report, binding)) {
        Some(result) => Verified::set(times, errors, "times", result),
        None => notes.push(format!("times are {}: they cannot be measured again", binding.times.origin)),
    }
    Ok(())
}

/// How often something is launched, and its shapes with hashes of the data they found.
type Found<'a> = (u64, Vec<(&'a Shape, Vec<String>)>);

/// The launches of the certificate are those that were found.
fn compare(binding: &Binding, rows: &[LaunchRow]) -> Result<bool, String> {
    let mut found: BTreeMap<Vec<String>, Found> = BTreeMap::new();
    for row in rows {
        let mut key: Vec<String> = row.shapes.iter().map(|(s, _)| s.hash()).collect();
        key.sort();
        let entry = found.entry(key).or_default();
        entry.0 += 1;
        for (shape, data) in &row.shapes {
            match entry.1.iter_mut().find(|(s, _)| *s == shape) {
                Some((_, known)) => known.extend(data.iter().cloned()),
                None => entry.1.push((shape, data.clone())),
            }
        }
    }
    equal("the number of launches", &binding.launches.len().to_string(), &found.len().to_string())?;
    for launch in &binding.launches {
        let mut key: Vec<String> = launch.shapes.iter().map(|s| s.hash.clone()).collect();
        key.sort();
        let Some((count, shapes)) = found.get(&key) else {
            let known: Vec<String> = found.keys().flatten().cloned().collect();
            return Err(format!(
                "{} is not launched; geometry and arguments that are: {}",
                key.join(", "),
                known.join(", ")
            ));
        };
        equal("how often it is launched", &launch.count.to_string(), &count.to_string())?;
        for (shape, data) in shapes {
            let Some(listed) = launch.shapes.iter().find(|s| s.hash == shape.hash()) else { continue };
            equal("groups", &listed.groups.to_string(), &shape.groups.to_string())?;
            equal("cores", &listed.cores.to_string(), &shape.seats.cores.to_string())?;
            equal(
                "groups per core",
                &listed.groups_per_core.to_string(),
                &shape.seats.groups_per_core.to_string(),
            )?;
            equal("what limits groups", &listed.limit, shape.limit)?;
            let mut data = data.clone();
            data.sort();
            data.dedup();
            let mut own = listed.data.clone();
            own.sort();
            if binding.times.origin == "measured" && own != data {
                return Err(format!(
                    "the data are {}, the certificate has {}",
                    data.join(", "),
                    own.join(", ")
                ));
            }
        }
    }
    Ok(true)
}
