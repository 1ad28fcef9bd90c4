//! What the product asks of an instruction set: which files are of it, how one becomes a run, how it is assembled and listed.
//! The answers are in `languages`. None has a default: an instruction set does not compile until each is given.

use crate::data::Buffer;
use crate::error::{JobError, refused};
use crate::known::Known;
use crate::spec::JobSpec;
use std::path::Path;
use wb_hw::{InstructionSet, Machine};
use wb_isa::{Isa, SourceFile};
use wb_objects::codeobject::KernelArg;
use wb_program::Program;
use wb_sim::{DeviceMemory, Launch};

/// An instruction set as the product sees it.
pub trait Language: Isa + Sized {
    /// How names of its files end, as messages list them.
    const FILES: &'static [&'static str];
    /// How names of its filetests end, and how comments start there.
    const ASSEMBLY: (&'static str, &'static str);
    /// How names of its object files end, and their first bytes where they are files of their own kind; ELF files say in
    /// their header what they are.
    const OBJECT: (&'static str, &'static [u8]);

    /// Whether a file is of it, by extension and contents.
    fn owns(extension: &str, bytes: &[u8]) -> bool;

    /// A file of it, and what a user said about the run, as something that runs.
    fn prepare(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Prepared<Self>, JobError>;

    /// The object file of a source. `arch` is HARP's.
    fn assemble(source: &SourceFile, arch: &str) -> Result<Assembled, JobError>;

    /// Instructions of an object file or a source, for people. Sources that it names are looked for beside `path`.
    fn list(path: &Path, bytes: &[u8], options: &ListingOptions) -> Result<String, JobError>;

    /// Bytes of a word.
    fn word(&self) -> u32;

    /// What a launch is given, as bytes.
    fn arguments(&self, kernarg: &[u8]) -> Vec<u8>;

    /// Labels of the program stand for places in memory.
    fn names_memory() -> bool;

    /// Device memory before anything is written to it; `init` is what will be.
    fn memory(program: &Program<Self>, machine: &Machine, init: &Init) -> Result<DeviceMemory, JobError>;
}

/// What is written to memory before a launch, by address.
pub type Init = [(u64, Vec<u8>)];

/// A program of a known instruction set with everything a run needs; [`crate::Job`] is one of any.
pub struct Prepared<I: Isa> {
    pub program: Program<I>,
    pub machine: Machine,
    pub launch: Launch,
    pub buffers: Vec<Buffer>,
    pub kernarg: Vec<u8>,
    pub args: Vec<KernelArg>,
    pub init: Vec<(u64, Vec<u8>)>,
    /// Buffers by the position of their argument.
    pub positions: Vec<(String, usize)>,
    /// What a checker should know.
    pub known: Known,
}

impl<I: Isa> Prepared<I> {
    /// A program that reads nothing but itself.
    pub fn new(program: Program<I>, machine: Machine, launch: Launch) -> Prepared<I> {
        Prepared {
            program,
            machine,
            launch,
            buffers: Vec::new(),
            kernarg: Vec::new(),
            args: Vec::new(),
            init: Vec::new(),
            positions: Vec::new(),
            known: Known::default(),
        }
    }
}

/// An object file, and what is in it, in words.
pub struct Assembled {
    pub bytes: Vec<u8>,
    pub what: String,
}

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct ListingOptions {
    /// GCN3: only this kernel; empty = all code.
    pub kernel: String,
    /// GCN3: leave out source lines.
    pub no_source: bool,
    /// Only text that assembles again, without addresses and encodings.
    pub assembly: bool,
    /// HARP: the architecture of a source.
    pub arch: String,
}

/// `with_isa!(isa, I => expression)`: the expression with `I` as the type of whichever instruction set it is.
#[macro_export]
macro_rules! with_isa {
    ($isa:expr, $i:ident => $body:expr) => {
        $crate::isas!([$crate::match_isa] $isa, $i, $body)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! match_isa {
    (($set:expr, $i:ident, $body:expr) $($isa:ident: $type:ty,)*) => {
        match $set {
            $($crate::InstructionSet::$isa => {
                type $i = $type;
                $body
            })*
        }
    };
}

/// Instruction set of a file by extension, and by content where `.s` may be HARP or GCN3.
pub fn isa_of(path: &Path, bytes: &[u8]) -> Option<InstructionSet> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    InstructionSet::ALL.into_iter().find(|&isa| with_isa!(isa, I => I::owns(extension, bytes)))
}

/// The instruction set that is given, or that the file is for.
pub fn required_isa(
    path: &Path,
    bytes: &[u8],
    given: Option<InstructionSet>,
) -> Result<InstructionSet, JobError> {
    given.or_else(|| isa_of(path, bytes)).ok_or_else(|| {
        let files = InstructionSet::ALL.into_iter().flat_map(|isa| with_isa!(isa, I => I::FILES));
        let files: Vec<String> = files.map(|e| format!(".{e}")).collect();
        let help = format!("use --isa {}, or the extensions {}", InstructionSet::choices(), files.join(" "));
        refused!(Program, help = help, "cannot tell the ISA of {}", path.display())
    })
}

/// The instruction set whose object files start like this one, where they have a kind of their own.
pub fn isa_by_magic(bytes: &[u8]) -> Option<InstructionSet> {
    InstructionSet::ALL.into_iter().find(|&isa| {
        let magic = with_isa!(isa, I => I::OBJECT.1);
        !magic.is_empty() && bytes.starts_with(magic)
    })
}

/// Source text of a program.
pub(crate) fn source_file(name: &str, bytes: &[u8]) -> Result<SourceFile, JobError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        refused!(
            Program,
            help = "object files start with HARP or GUPY; anything else is read as UTF-8 source text",
            "{name} is not text: {e}"
        )
    })?;
    Ok(SourceFile::new(name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_their_instruction_set() {
        let riscv = {
            let mut elf = b"\x7fELF\x01\x01\x01".to_vec();
            elf.resize(52, 0);
            (elf[16], elf[18]) = (2, 243);
            elf
        };
        let of = |name: &str, bytes: &[u8]| isa_of(Path::new(name), bytes);
        for (name, isa) in [
            ("a.harp", InstructionSet::Harp),
            ("a.hof", InstructionSet::Harp),
            ("a.guppy", InstructionSet::Guppy),
            ("a.gup", InstructionSet::Guppy),
            ("a.gupm", InstructionSet::Guppy),
            ("a.co", InstructionSet::Gcn3),
            ("a.bundle", InstructionSet::Gcn3),
            ("a.cl", InstructionSet::Gcn3),
            ("a.vx", InstructionSet::Vortex),
            ("a.rv", InstructionSet::Riscv),
        ] {
            assert_eq!(of(name, b""), Some(isa), "{name}");
        }
        assert_eq!(of("a.s", b"main: halt\n"), Some(InstructionSet::Harp));
        assert_eq!(of("a.s", b"  .kernel k\n"), Some(InstructionSet::Gcn3));
        assert_eq!(of("a.elf", b"\x7fELF"), Some(InstructionSet::Gcn3));
        assert_eq!(of("a.co", &riscv), Some(InstructionSet::Vortex));
        assert_eq!(of("a.txt", b"HARP"), None);
        assert_eq!(isa_by_magic(b"HARP.."), Some(InstructionSet::Harp));
        assert_eq!(isa_by_magic(b"\x7fELF"), None);
    }

    #[test]
    fn what_cannot_be_told_is_refused_with_all_choices() {
        let Err(JobError::Refused(refusal)) = required_isa(Path::new("a.txt"), b"", None) else {
            panic!("a text file is no program");
        };
        let help = "use --isa harp, guppy, gcn3, vortex or riscv, or the extensions .harp .s .hof .guppy .gupm .co .hsaco .cl .hip .vx .elf .rv";
        assert_eq!(refusal.help.as_deref(), Some(help));
    }
}
