//! The identity of a result: a hash of everything that determines it, so that equal points are run once, ever, whoever asks and
//! however it is spelled. That is the program's bytes, the whole machine, the launch, what is measured, and the version of the
//! simulator.

use crate::error::SweepError;
use crate::measure::Measure;
use crate::point::{Point, Target};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use wb_hw::{InstructionSet, Machine};
use wb_jobs::launch::LaunchInputs;
use wb_jobs::object::CompileOptions;
use wb_jobs::{JobError, JobSpec, object, required_isa};
use xxhash_rust::xxh3::xxh3_128;

/// The version of the simulator: of the package, and a hash of the sources that decide results.
pub const SIMULATOR: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("WAVEBOUND_SOURCES"));

/// A hash of everything that determines a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u128);

/// The different identities that a sweep needs, each with a number. Sorted: 16 bytes for each, and found by bisection.
#[derive(Clone, Debug, Default)]
pub struct Ids(Arc<[Id]>);

impl Ids {
    pub fn new(mut all: Vec<Id>) -> Ids {
        all.sort_unstable();
        all.dedup();
        Ids(all.into())
    }

    pub fn number(&self, id: Id) -> Option<usize> {
        self.0.binary_search(&id).ok()
    }

    pub fn get(&self, number: usize) -> Option<Id> {
        self.0.get(number).copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Id {
    pub fn parse(text: &str) -> Option<Id> {
        let plain = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        plain.then(|| u128::from_str_radix(text, 16).ok().map(Id)).flatten()
    }

    fn of(bytes: &[u8]) -> Id {
        Id(xxh3_128(bytes))
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Id::parse(&text).ok_or_else(|| serde::de::Error::custom("not an id"))
    }
}

/// Entries of a table of what is known; beyond that it starts over, so that memory stays flat.
const KEPT: usize = 1 << 14;

/// A program that was read: its hash, its instruction set, and the files it came from.
#[derive(Clone)]
struct Read {
    hash: Id,
    isa: Option<InstructionSet>,
    files: Arc<[Watched]>,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
pub struct Watched {
    path: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
}

impl Watched {
    fn new(path: &Path) -> Watched {
        let meta = std::fs::metadata(path).ok();
        let modified = meta.as_ref().and_then(|m| m.modified().ok());
        Watched { path: path.to_owned(), modified, length: meta.map_or(0, |m| m.len()) }
    }

    /// The file is another one by now.
    pub fn changed(&self) -> bool {
        let now = Watched::new(&self.path);
        (now.modified, now.length) != (self.modified, self.length)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Works out identities. It reads every program once.
#[derive(Default)]
pub struct Identities {
    version: Option<String>,
    machines: HashMap<String, Id>,
    programs: HashMap<String, Read>,
    launches: HashMap<String, (Arc<LaunchInputs>, Read)>,
    data: HashMap<String, Id>,
}

/// Why a point has no identity.
#[derive(Debug)]
pub enum Unknown {
    /// There is no such machine.
    Machine(Box<JobError>),
    Other(SweepError),
}

impl From<JobError> for Unknown {
    fn from(e: JobError) -> Unknown {
        match e {
            JobError::Machine(_) => Unknown::Machine(Box::new(e)),
            e => Unknown::Other(e.into()),
        }
    }
}

/// A point's part of the identity, before what is measured.
#[derive(Clone)]
pub struct PointId {
    id: Id,
    /// The same if the input does not matter.
    without_seed: Id,
    /// The files it was read from.
    pub files: Arc<[Watched]>,
}

impl PointId {
    pub fn with(&self, target: &Target, measure: &Measure) -> Id {
        let id = if measure.depends_on_seed(target) { self.id } else { self.without_seed };
        let measure = serde_json::to_string(measure).unwrap_or_default();
        Id::of(format!("{id} {measure}").as_bytes())
    }
}

impl Identities {
    pub fn new() -> Identities {
        Identities::default()
    }

    /// For tests: as if this were another version.
    pub fn of_version(version: &str) -> Identities {
        Identities { version: Some(version.to_owned()), ..Identities::default() }
    }

    pub fn point(&mut self, point: &Point) -> Result<PointId, Unknown> {
        let version = self.version.clone().unwrap_or_else(|| SIMULATOR.to_owned());
        let spec = point.spec();
        let (machine, target, files) = match &point.target {
            Target::Workload { name, size, .. } => {
                let which = point.workload().ok_or_else(|| {
                    Unknown::Other(SweepError::Column { name: name.clone(), help: "workloads".to_owned() })
                })?;
                let (id, machine) = self.machine(&spec, InstructionSet::Gcn3, |spec| which.machine(spec))?;
                // The code as it is marked for this machine: mechanisms that read no marks run the same program.
                let machine = match machine {
                    Some(machine) => machine,
                    None => which.machine(&spec)?,
                };
                let marks = which.marks(&machine, &spec.split);
                let key = format!("{name} {} {marks:?}", machine.arch);
                let hash = match self.programs.get(&key) {
                    Some(read) => read.hash,
                    None => {
                        let hash =
                            Id::of(&which.workload.object(&machine.arch, &marks).map_err(JobError::from)?);
                        self.keep(key, Read { hash, isa: None, files: Arc::new([]) });
                        hash
                    }
                };
                (id, json!(["workload", name, size, hash]), Arc::from([]))
            }
            Target::Launch { path } => {
                let (inputs, read) = self.launch(path)?;
                let key = format!("{path}\n{}\n{}", spec.machine, spec.sets.join("\n"));
                let id = match self.machines.get(&key) {
                    Some(id) => *id,
                    None => {
                        let id = machine_id(inputs.machine(&spec)?);
                        self.keep_machine(key, id);
                        id
                    }
                };
                (id, json!(["launch", read.hash, splits(&spec)]), read.files)
            }
            Target::Program(p) => {
                let read = self.program(&p.path, &p.isa)?;
                let isa = read.isa.unwrap_or(InstructionSet::Gcn3);
                let of = |spec: &JobSpec| JobSpec { isa: Some(isa), ..spec.clone() }.machine();
                let (id, _) = self.machine(&spec, isa, of)?;
                let mut files: Vec<Watched> = read.files.to_vec();
                let mut arguments = Vec::new();
                for text in p.args.iter().chain(&p.views) {
                    arguments.push(self.argument(text, &mut files)?);
                }
                let launch = json!([
                    "program",
                    isa.name(),
                    read.hash,
                    p.arch,
                    p.kernel,
                    spec.grid,
                    spec.group,
                    spec.grid3,
                    spec.group3,
                    arguments,
                    p.args.len(),
                    p.samplers,
                    p.registers,
                    p.dynamic_lds,
                    splits(&spec),
                ]);
                (id, launch, files.into())
            }
            Target::Hip { path, args, files } => {
                let of =
                    |spec: &JobSpec| JobSpec { isa: Some(InstructionSet::Gcn3), ..spec.clone() }.machine();
                let (id, _) = self.machine(&spec, InstructionSet::Gcn3, of)?;
                let mut watched = Vec::new();
                let mut hashes = Vec::new();
                for file in std::iter::once(path).chain(files) {
                    hashes.push(self.file(file, &mut watched)?);
                }
                (id, json!(["hip", hashes, args, splits(&spec)]), watched.into())
            }
        };
        let with =
            |seed: u32| Id::of(json!(["sweep-1", version, machine, target, seed]).to_string().as_bytes());
        Ok(PointId { id: with(point.seed), without_seed: with(0), files })
    }

    /// The hash of a machine, and the machine if it had to be made.
    fn machine(
        &mut self,
        spec: &JobSpec,
        isa: InstructionSet,
        make: impl Fn(&JobSpec) -> Result<Machine, JobError>,
    ) -> Result<(Id, Option<Machine>), JobError> {
        let key = format!("{isa}\n{}\n{}", spec.machine, spec.sets.join("\n"));
        if let Some(id) = self.machines.get(&key) {
            return Ok((*id, None));
        }
        let machine = make(spec)?;
        let id = machine_id(machine.clone());
        self.keep_machine(key, id);
        Ok((id, Some(machine)))
    }

    fn keep_machine(&mut self, key: String, id: Id) {
        if self.machines.len() >= KEPT {
            self.machines.clear();
        }
        self.machines.insert(key, id);
    }

    fn keep(&mut self, key: String, read: Read) {
        if self.programs.len() >= KEPT {
            self.programs.clear();
        }
        self.programs.insert(key, read);
    }

    fn program(&mut self, path: &str, isa: &str) -> Result<Read, JobError> {
        let key = format!("{isa}:{path}");
        if let Some(read) = self.programs.get(&key) {
            return Ok(read.clone());
        }
        let watched = Watched::new(Path::new(path));
        let bytes = object::read(Path::new(path), &CompileOptions::default())?;
        let isa = required_isa(Path::new(path), &bytes, InstructionSet::parse(isa))?;
        let read = Read { hash: Id::of(&bytes), isa: Some(isa), files: Arc::new([watched]) };
        self.keep(key, read.clone());
        Ok(read)
    }

    fn launch(&mut self, path: &str) -> Result<(Arc<LaunchInputs>, Read), JobError> {
        if let Some((inputs, read)) = self.launches.get(path) {
            return Ok((inputs.clone(), read.clone()));
        }
        let mut files = vec![Watched::new(Path::new(path))];
        let inputs = LaunchInputs::read(Path::new(path))?;
        files.push(Watched::new(&inputs.object));
        let mut parts = vec![Id::of(inputs.text.as_bytes()), Id::of(&inputs.program)];
        for file in &inputs.data {
            parts.push(self.file(&file.display().to_string(), &mut files)?);
        }
        let read = Read { hash: Id::of(json!(parts).to_string().as_bytes()), isa: None, files: files.into() };
        let inputs = Arc::new(inputs);
        if self.launches.len() >= KEPT {
            self.launches.clear();
        }
        self.launches.insert(path.to_owned(), (inputs.clone(), read.clone()));
        Ok((inputs, read))
    }

    /// The hash of a file.
    fn file(&mut self, path: &str, watched: &mut Vec<Watched>) -> Result<Id, JobError> {
        watched.push(Watched::new(Path::new(path)));
        if let Some(id) = self.data.get(path) {
            return Ok(*id);
        }
        let id = Id::of(&wb_files::read(Path::new(path), wb_files::Kind::Data)?);
        if self.data.len() >= KEPT {
            self.data.clear();
        }
        self.data.insert(path.to_owned(), id);
        Ok(id)
    }

    /// An argument; of a file its contents.
    fn argument(&mut self, text: &str, watched: &mut Vec<Watched>) -> Result<String, JobError> {
        match text.rsplit_once(':') {
            Some((before, file)) if text.contains("buf:") && wb_jobs::args::is_data_file(file) => {
                Ok(format!("{before}:{}", self.file(file, watched)?))
            }
            _ => Ok(text.to_owned()),
        }
    }
}

fn splits(spec: &JobSpec) -> serde_json::Value {
    match spec.split.is_empty() {
        true => json!(null),
        false => json!([spec.split.at, spec.split.all, spec.split.style.name()]),
    }
}

/// Every field but those that only people read.
fn machine_id(mut machine: Machine) -> Id {
    machine.name.clear();
    machine.description.clear();
    Id::of(machine.to_toml().as_bytes())
}
