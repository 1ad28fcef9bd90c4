//! What is known about the launch that is debugged, besides its code: buffers, arguments, local memory.

use crate::code::Code;
use crate::error::DebugError;
use wb_jobs::data::{Buffer, Element, Extent};
use wb_objects::codeobject::{ArgKind, KernelArg};
use wb_sim::Launch;

/// A launch.
pub struct LaunchInfo<'a> {
    /// Counted from 1.
    pub number: usize,
    /// Others may come after it.
    pub several: bool,
    pub code: &'a Code,
    pub machine: String,
    pub mechanism: String,
    pub launch: Launch,
    pub buffers: Vec<Buffer>,
    /// The argument segment, and what is in it.
    pub kernarg: Vec<u8>,
    pub args: Vec<KernelArg>,
    /// Finds what the launch itself does not list: positions of arguments, labels of programs.
    pub find: &'a dyn Fn(&str) -> Result<Buffer, DebugError>,
}

impl LaunchInfo<'_> {
    /// A buffer by its name, `arg0`, or a label; `NAME:COUNT:TYPE` says how to look at it.
    pub fn buffer(&self, what: &str) -> Result<Buffer, DebugError> {
        let name = what.split(':').next().unwrap_or("");
        match self.buffers.iter().find(|b| b.name == name) {
            Some(b) => {
                Buffer::select(what, |_| Ok((b.clone(), Extent::Exact))).map_err(|e| DebugError::from(&e))
            }
            None => (self.find)(what),
        }
    }

    /// Local memory of a group, in bytes.
    pub fn local_bytes(&self) -> u64 {
        match self.launch {
            Launch::Groups(groups) => groups.lds_bytes.into(),
            Launch::Boot | Launch::Cores { .. } | Launch::Grid { .. } => 0,
        }
    }

    pub fn private_bytes(&self) -> u64 {
        match self.launch {
            Launch::Groups(groups) => groups.scratch_per_wave,
            Launch::Boot | Launch::Cores { .. } | Launch::Grid { .. } => 0,
        }
    }

    /// Arguments that the user gave, with their bytes. Those without a name are called by their position.
    pub fn arguments(&self) -> impl Iterator<Item = (String, &KernelArg, &[u8])> {
        let shown = |a: &&KernelArg| !matches!(a.kind, ArgKind::Hidden(_));
        self.args.iter().filter(shown).enumerate().filter_map(|(i, a)| {
            let from = a.offset as usize;
            let bytes = self.kernarg.get(from..from.checked_add(a.size as usize)?)?;
            let name = if a.name.is_empty() { format!("arg{i}") } else { a.name.clone() };
            Some((name, a, bytes))
        })
    }

    /// What an argument is worth, as text.
    pub fn argument_text(&self, arg: &KernelArg, bytes: &[u8]) -> String {
        let word = |b: &[u8]| b.iter().rev().fold(0u64, |w, b| w << 8 | u64::from(*b));
        match (&arg.kind, type_of(arg)) {
            (ArgKind::Buffer, _) => {
                let addr = word(&bytes[..bytes.len().min(8)]);
                match self.buffers.iter().find(|b| b.addr == addr) {
                    Some(b) => format!(
                        "{addr:#x} (buffer {}, {} × {})",
                        b.name,
                        b.bytes / b.element.bytes(),
                        b.element.name()
                    ),
                    None => format!("{addr:#x}"),
                }
            }
            (_, Some(element)) => element.show(bytes),
            (_, None) => bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" "),
        }
    }
}

/// The type of an argument that is a number.
pub fn type_of(arg: &KernelArg) -> Option<Element> {
    let element = match arg.type_name.trim() {
        "char" | "signed char" => Element::Signed(1),
        "uchar" | "unsigned char" | "bool" => Element::Unsigned(1),
        "short" => Element::Signed(2),
        "ushort" | "unsigned short" => Element::Unsigned(2),
        "int" => Element::Signed(4),
        "uint" | "unsigned int" | "unsigned" => Element::Unsigned(4),
        "long" | "long long" => Element::Signed(8),
        "ulong" | "unsigned long" | "size_t" => Element::Unsigned(8),
        "half" => Element::F16,
        "float" => Element::F32,
        "double" => Element::F64,
        _ => match arg.size {
            1 | 2 | 4 | 8 => Element::Unsigned(arg.size),
            _ => return None,
        },
    };
    (element.bytes() == u64::from(arg.size)).then_some(element)
}
