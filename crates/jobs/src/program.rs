//! A loaded program of any instruction set. This is the one place that lists them: everything else says [`with_program!`]
//! and is written once.

use wb_hw::InstructionSet;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::guppy::Guppy;
use wb_isa::harp::Harp;
use wb_isa::vortex::Vortex;
use wb_isa::{Pc, SourceFile};
use wb_program::Program;
use wb_sim::Runnable;

/// A program of one of the instruction sets.
pub enum AnyProgram {
    Harp(Program<Harp>),
    Guppy(Program<Guppy>),
    Gcn3(Program<Gcn3>),
    Vortex(Program<Vortex>),
}

/// The same, borrowed.
#[derive(Clone, Copy)]
pub enum ProgramRef<'a> {
    Harp(&'a Program<Harp>),
    Guppy(&'a Program<Guppy>),
    Gcn3(&'a Program<Gcn3>),
    Vortex(&'a Program<Vortex>),
}

/// `with_program!(program, p => expression)`: the expression with `p` as a `&Program<I>`, for whichever instruction set `I`
/// the [`ProgramRef`] is of.
#[macro_export]
macro_rules! with_program {
    ($program:expr, $p:ident => $body:expr) => {
        match $program {
            $crate::ProgramRef::Harp($p) => $body,
            $crate::ProgramRef::Guppy($p) => $body,
            $crate::ProgramRef::Gcn3($p) => $body,
            $crate::ProgramRef::Vortex($p) => $body,
        }
    };
}

impl AnyProgram {
    pub fn borrow(&self) -> ProgramRef<'_> {
        match self {
            AnyProgram::Harp(p) => ProgramRef::Harp(p),
            AnyProgram::Guppy(p) => ProgramRef::Guppy(p),
            AnyProgram::Gcn3(p) => ProgramRef::Gcn3(p),
            AnyProgram::Vortex(p) => ProgramRef::Vortex(p),
        }
    }
}

impl<'a> ProgramRef<'a> {
    pub fn isa(self) -> InstructionSet {
        match self {
            ProgramRef::Harp(_) => InstructionSet::Harp,
            ProgramRef::Guppy(_) => InstructionSet::Guppy,
            ProgramRef::Gcn3(_) => InstructionSet::Gcn3,
            ProgramRef::Vortex(_) => InstructionSet::Vortex,
        }
    }

    /// The program, if it is one for GCN3: only those have marks for splitting and proofs about their loops.
    pub fn gcn3(self) -> Option<&'a Program<Gcn3>> {
        match self {
            ProgramRef::Gcn3(p) => Some(p),
            ProgramRef::Harp(_) | ProgramRef::Guppy(_) | ProgramRef::Vortex(_) => None,
        }
    }

    /// What a launch is given, as bytes: most programs read it from memory.
    pub fn arguments(self, kernarg: &[u8]) -> Vec<u8> {
        match self {
            ProgramRef::Guppy(p) => format!("{:?}", p.isa.bindings).into_bytes(),
            ProgramRef::Harp(_) | ProgramRef::Gcn3(_) | ProgramRef::Vortex(_) => kernarg.to_vec(),
        }
    }

    /// Bytes of a word.
    pub fn word(self) -> u32 {
        match self {
            ProgramRef::Harp(p) => p.isa.arch.bytes,
            ProgramRef::Guppy(_) | ProgramRef::Gcn3(_) | ProgramRef::Vortex(_) => 4,
        }
    }

    /// As something that runs.
    pub fn runnable(self) -> &'a dyn Runnable {
        with_program!(self, p => p)
    }

    /// The text it was assembled from.
    pub fn source(self) -> Option<&'a SourceFile> {
        with_program!(self, p => p.source.as_ref())
    }

    /// Address as linked and text of an instruction.
    pub fn instruction(self, pc: Pc) -> (u64, String) {
        with_program!(self, p => (p.linked(pc), p.text_at(pc)))
    }

    /// File and line that an instruction came from.
    pub fn source_line(self, pc: Pc) -> Option<(&'a str, u32)> {
        with_program!(self, p => p.source_line(pc))
    }

    /// The kernel's name; a program that is its own kernel is called like its file.
    pub fn kernel(self) -> &'a str {
        let (kernel, name) = with_program!(self, p => (p.kernel.as_str(), p.name.as_str()));
        if kernel.is_empty() { last_part(name) } else { kernel }
    }
}

/// The last part of a path: reports do not say where a file was.
pub fn last_part(path: &str) -> &str {
    std::path::Path::new(path).file_name().and_then(|n| n.to_str()).unwrap_or(path)
}
