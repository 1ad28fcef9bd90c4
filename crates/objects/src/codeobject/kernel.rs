//! A kernel of a code object, whatever its version.

use super::descriptor::Descriptor;

/// A kernel and how to launch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    /// Address of its code.
    pub entry: u64,
    pub descriptor: Descriptor,
    /// Bytes of the argument segment, hidden arguments included.
    pub kernarg_size: u32,
    pub args: Vec<KernelArg>,
    pub lds_bytes: u32,
    pub scratch_bytes: u32,
    /// Code object version 2 to 5.
    pub version: u8,
    pub attributes: Attributes,
}

/// What the source says about a kernel, for hosts that ask (OpenCL).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The only size of a group that is allowed, and the one to expect.
    pub required_group: Option<[u32; 3]>,
    pub group_hint: Option<[u32; 3]>,
    /// A type, for `vec_type_hint`.
    pub vector_hint: String,
    /// Most work-items of a group; 0: not said.
    pub largest_group: u32,
    /// Version of its language; empty: not said.
    pub language: Vec<u32>,
}

/// Bytes in front of code whose arguments stand in registers: what machines that cannot do that would run.
const WITHOUT_PRELOADING: u64 = 256;

impl Kernel {
    /// Address of the first instruction that the machine executes.
    pub fn start(&self) -> u64 {
        match self.descriptor.preloaded() {
            (_, 0) => self.entry,
            _ => self.entry.wrapping_add(WITHOUT_PRELOADING),
        }
    }
}

/// What an argument slot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Passed by value.
    Value,
    /// Address of a buffer.
    Buffer,
    /// Offset of dynamically sized LDS (OpenCL `__local` argument).
    DynamicLds,
    /// Filled in by the runtime, by name (`hidden_global_offset_x`, …).
    Hidden(String),
    /// Images, samplers, pipes, queues: not supported by launches yet.
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelArg {
    pub name: String,
    pub type_name: String,
    pub offset: u32,
    pub size: u32,
    pub kind: ArgKind,
    pub qualifiers: Qualifiers,
}

/// How the source qualifies an argument, for hosts that ask (OpenCL).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qualifiers {
    /// `global`, `constant`, `local`; empty for values.
    pub address_space: String,
    /// Of images: `read_only`, …
    pub access: String,
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
}
