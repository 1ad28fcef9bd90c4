//! A loaded program of any instruction set. What is said once for all of them says [`with_program!`]; the list is in
//! `wb_isa`.

use crate::language::Language;
use wb_hw::InstructionSet;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::{Pc, SourceFile};
use wb_program::{Program, Segment};
use wb_sim::Runnable;

macro_rules! programs {
    (() $($isa:ident: $type:ty,)*) => {
        /// A program of one of the instruction sets.
        pub enum AnyProgram {
            $($isa(Program<$type>),)*
        }

        /// The same, borrowed.
        #[derive(Clone, Copy)]
        pub enum ProgramRef<'a> {
            $($isa(&'a Program<$type>),)*
        }

        impl AnyProgram {
            pub fn borrow(&self) -> ProgramRef<'_> {
                match self {
                    $(AnyProgram::$isa(p) => ProgramRef::$isa(p),)*
                }
            }
        }

        $(impl From<Program<$type>> for AnyProgram {
            fn from(program: Program<$type>) -> AnyProgram {
                AnyProgram::$isa(program)
            }
        })*

        impl ProgramRef<'_> {
            pub fn isa(self) -> InstructionSet {
                match self {
                    $(ProgramRef::$isa(_) => InstructionSet::$isa,)*
                }
            }
        }
    };
}

wb_isa::isas!([programs]);

/// `with_program!(program, p => expression)`: the expression with `p` as a `&Program<I>`, for whichever instruction set `I`
/// the [`ProgramRef`] is of.
#[macro_export]
macro_rules! with_program {
    ($program:expr, $p:ident => $body:expr) => {
        $crate::isas!([$crate::match_program] $program, $p, $body)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! match_program {
    (($program:expr, $p:ident, $body:expr) $($isa:ident: $type:ty,)*) => {
        match $program {
            $($crate::ProgramRef::$isa($p) => $body,)*
        }
    };
}

/// Labels with their addresses, and the parts of the program.
type MemoryNames<'a> = (&'a [(String, u64)], &'a [Segment]);

impl<'a> ProgramRef<'a> {
    /// The program, if it is one for GCN3: only those have marks for splitting and proofs about their loops.
    pub fn gcn3(self) -> Option<&'a Program<Gcn3>> {
        if let ProgramRef::Gcn3(p) = self { Some(p) } else { None }
    }

    /// What a launch is given, as bytes: most programs read it from memory.
    pub fn arguments(self, kernarg: &[u8]) -> Vec<u8> {
        with_program!(self, p => p.isa.arguments(kernarg))
    }

    /// Bytes of a word.
    pub fn word(self) -> u32 {
        with_program!(self, p => p.isa.word())
    }

    /// Labels that stand for places in memory, and what memory holds there.
    pub(crate) fn memory_names(self) -> Option<MemoryNames<'a>> {
        fn names<I: Language>(p: &Program<I>) -> Option<MemoryNames<'_>> {
            I::names_memory().then_some((p.symbols.as_slice(), p.segments.as_slice()))
        }
        with_program!(self, p => names(p))
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
