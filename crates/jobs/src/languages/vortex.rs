//! Vortex programs as a user gives them: an ELF executable or assembly, with arguments in a block that `mscratch` points
//! to. The memory map is that of docs/vortex.md.

use crate::args::{self, ArgSpec, FORMS};
use crate::data::{Buffer, Element};
use crate::error::AsmErrors;
use crate::error::{JobError, refused};
use crate::language::{Assembled, Init, Language, ListingOptions, Prepared};
use crate::spec::{JobSpec, afford};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::vortex::{Inst, LOCAL, LOCAL_PLACE, LOCAL_STRIDE, TEXT, Target, Vortex, assemble_at, text};
use wb_objects::{RiscvImage, has_kernels, vortex_program};
use wb_program::Program;
use wb_sim::{DeviceMemory, Launch};

/// Arguments and buffers start here; everything below is out of bounds.
pub const USER_DATA: u64 = 0x1_0000;
/// Stack of a hart; stacks grow down from local memory.
const STACK: u64 = 8 << 10;
/// Memory behind the program's last byte, for what it allocates itself.
const HEAP: u64 = 1 << 20;
/// Buffers start at multiples of this.
const ALIGN: u64 = 256;

impl Language for Vortex {
    const FILES: &'static [&'static str] = &["vx", "elf"];
    const ASSEMBLY: (&'static str, &'static str) = ("vx", "#");
    const OBJECT: (&'static str, &'static [u8]) = ("elf", b"");

    fn owns(extension: &str, bytes: &[u8]) -> bool {
        extension == "vx" || RiscvImage::is_riscv(bytes) && !has_kernels(bytes)
    }

    fn prepare(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Prepared<Vortex>, JobError> {
        let machine = spec.machine()?;
        let (image, source) = image(name, bytes)?;
        let mut memory = Arguments { next: USER_DATA, limit: machine.limits.memory, ..Arguments::default() };
        let init = memory.place(&spec.args)?;
        let isa = Vortex {
            base: 0,
            cores: machine.cores,
            waves: machine.core.waves,
            args: USER_DATA as u32,
            local_bytes: machine.core.lds_bytes,
        };
        let program = vortex_program(&image, isa, name, source)?;
        let launch = Launch::Cores { count: machine.cores };
        Ok(Prepared { buffers: memory.buffers, init, ..Prepared::new(program, machine, launch) })
    }

    fn assemble(source: &SourceFile, _arch: &str) -> Result<Assembled, JobError> {
        let (image, _) = image(&source.name, source.text.as_bytes())?;
        Ok(Assembled { bytes: image.to_elf(), what: format!("{} instructions", image.words().count()) })
    }

    fn list(path: &Path, bytes: &[u8], options: &ListingOptions) -> Result<String, JobError> {
        listing(&path.display().to_string(), bytes, options.assembly)
    }

    fn word(&self) -> u32 {
        4
    }

    fn arguments(&self, kernarg: &[u8]) -> Vec<u8> {
        kernarg.to_vec()
    }

    fn names_memory() -> bool {
        true
    }

    fn memory(program: &Program<Vortex>, machine: &Machine, _: &Init) -> Result<DeviceMemory, JobError> {
        memory(program, machine)
    }
}

/// An executable, or assembly with its source.
pub fn image(name: &str, bytes: &[u8]) -> Result<(RiscvImage, Option<SourceFile>), JobError> {
    image_at(name, bytes, TEXT)
}

/// The same; assembly starts at an address.
pub(super) fn image_at(
    name: &str,
    bytes: &[u8],
    base: u32,
) -> Result<(RiscvImage, Option<SourceFile>), JobError> {
    let help = "a Vortex program is an ELF32 executable for rv32imaf (scripts/build-vortex.sh shows how to compile one) \
                or assembly";
    if bytes.starts_with(b"\x7fELF") {
        let image = RiscvImage::from_elf(bytes).map_err(|e| refused!(Program, help = help, "{name}: {e}"))?;
        return Ok((image, None));
    }
    let source = std::str::from_utf8(bytes)
        .map_err(|_| refused!(Program, help = help, "{name} is neither an ELF file nor text"))?;
    let source = SourceFile::new(name, source);
    let image = assemble_at(&source, base).map_err(|e| AsmErrors::new(name, e))?;
    Ok((RiscvImage::from_assembly(&image, name), Some(source)))
}

/// The ranges of addresses that exist.
pub fn memory(program: &Program<Vortex>, machine: &Machine) -> Result<DeviceMemory, JobError> {
    let harts = u64::from(machine.cores) * u64::from(machine.core.waves) * u64::from(machine.core.lanes);
    let top = u64::from(LOCAL);
    let start = program.segments.iter().map(|s| s.addr).min().unwrap_or(0);
    let end = program.segments.iter().map(|s| s.addr + s.bytes.len() as u64).max().unwrap_or(0);
    let mut ranges: Vec<Range<u64>> = vec![
        0..machine.limits.memory.min(top),
        start..(end + HEAP).next_multiple_of(4096).min(top),
        top.saturating_sub(harts * STACK)..top,
    ];
    ranges.extend((0..u64::from(machine.cores)).map(|core| {
        let start = LOCAL_PLACE + core * LOCAL_STRIDE;
        start..start + u64::from(machine.core.lds_bytes)
    }));
    afford(machine, ranges.iter().map(|r| r.end - r.start).sum())?;
    let mut memory = DeviceMemory::sparse(&ranges);
    memory.forbid_below(USER_DATA);
    Ok(memory)
}

/// The block of arguments and the buffers behind it.
#[derive(Default)]
struct Arguments {
    next: u64,
    limit: u64,
    buffers: Vec<Buffer>,
}

impl Arguments {
    /// Every argument at a multiple of its element's size, buffers as addresses.
    fn place(&mut self, args: &[ArgSpec]) -> Result<Vec<(u64, Vec<u8>)>, JobError> {
        let mut parsed = Vec::new();
        for (i, text) in args.iter().enumerate() {
            parsed.push(argument(text, format!("arg{i}"))?);
        }
        let mut offsets = Vec::new();
        let mut size = 0u64;
        for arg in &parsed {
            let (bytes, align) = match arg {
                Argument::Value(bytes, align) => (bytes.len() as u64, *align),
                Argument::Buffer(..) => (4, 4),
            };
            size = size.next_multiple_of(align);
            offsets.push(size as usize);
            size += bytes;
        }
        let mut block = vec![0; size as usize];
        let mut out = Vec::new();
        self.next += size;
        for (arg, at) in parsed.into_iter().zip(offsets) {
            let bytes = match arg {
                Argument::Value(bytes, _) => bytes,
                Argument::Buffer(name, element, data) => {
                    let addr = self.next.next_multiple_of(ALIGN);
                    self.next = addr + data.len() as u64;
                    self.buffers.push(Buffer { name, addr, bytes: data.len() as u64, element });
                    out.push((addr, data));
                    (addr as u32).to_le_bytes().to_vec()
                }
            };
            block[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        if self.next > self.limit {
            return Err(refused!(
                Program,
                help = "give the machine more memory with --set limits.memory=…",
                "the buffers reach to address {:#x}, memory only to {:#x}",
                self.next,
                self.limit
            ));
        }
        out.insert(0, (USER_DATA, block));
        Ok(out)
    }
}

enum Argument {
    /// Bytes, and what their place is a multiple of.
    Value(Vec<u8>, u64),
    Buffer(String, Element, Vec<u8>),
}

fn argument(text: &ArgSpec, name: String) -> Result<Argument, JobError> {
    let bad =
        |why: String| refused!(Argument, help = format!("arguments: {FORMS}"), "{name} `{text}`: {why}");
    match text.read().map_err(&bad)? {
        args::Argument::Buffer(array) => Ok(Argument::Buffer(name, array.element, array.bytes)),
        args::Argument::Value(value) => {
            let align = value.element.map_or(4, |e| e.bytes());
            Ok(Argument::Value(value.bytes, align))
        }
        args::Argument::Local(_) => Err(bad("Vortex kernels have no arguments in local memory".into())),
    }
}

/// Addresses, words, instructions and source lines of a program; or text that assembles again.
pub fn listing(name: &str, bytes: &[u8], assembly: bool) -> Result<String, JobError> {
    listing_at(name, bytes, assembly, TEXT)
}

/// The same; assembly starts at an address.
pub(super) fn listing_at(name: &str, bytes: &[u8], assembly: bool, base: u32) -> Result<String, JobError> {
    let (image, source) = image_at(name, bytes, base)?;
    if assembly {
        return Ok(source_text(&image));
    }
    let program = vortex_program(&image, Vortex::at(0), name, source)?;
    let mut out = format!("; entry {:#x}\n", image.entry);
    let mut line = (0, 0);
    for (pc, (addr, word)) in (0..).zip(image.words()) {
        for (name, _) in image.symbols.iter().filter(|s| s.1 == addr) {
            let _ = writeln!(out, "{name}:");
        }
        let here = image.lines.iter().rev().find(|l| l.0 <= addr).map_or((0, 0), |l| (l.1, l.2));
        if program.source.is_none() && here != line && here.1 > 0 {
            let file = image.files.get(here.0 as usize).map_or("", String::as_str);
            let _ = writeln!(out, "  ; {file}:{}", here.1);
        }
        line = here;
        let _ = writeln!(out, "  {addr:08x}  {word:08x}  {}", program.text_at(pc));
    }
    Ok(out)
}

/// Source text with a label for every symbol and branch target.
fn source_text(image: &RiscvImage) -> String {
    let decoded: Vec<(u64, u32, Option<Inst>)> =
        image.words().map(|(addr, word)| (addr, word, Inst::decode(word).ok())).collect();
    let target = |addr: u64, inst: &Inst| (addr as u32).wrapping_add(inst.imm as u32);
    let jumps = |inst: &Inst| {
        matches!(inst.entry().format, wb_isa::vortex::Format::Branch | wb_isa::vortex::Format::Jump)
    };
    let mut names: std::collections::BTreeMap<u64, String> =
        image.symbols.iter().rev().map(|(n, a)| (*a, n.clone())).collect();
    for (addr, _, inst) in &decoded {
        if let Some(inst) = inst.filter(jumps) {
            let to = u64::from(target(*addr, &inst));
            if image.text.contains(&to) {
                names.entry(to).or_insert_with(|| format!("L{to:x}"));
            }
        }
    }
    let mut out = String::from("    .text\n");
    for (addr, word, inst) in &decoded {
        for (_, name) in names.iter().filter(|n| n.0 == addr) {
            let _ = writeln!(out, "{name}:");
        }
        let line = match inst {
            Some(inst) => {
                let to = names.get(&target(*addr, inst).into()).filter(|_| jumps(inst));
                text(inst, &to.map_or(Target::Distance, |label| Target::Label(label.clone())))
            }
            None => format!(".word {word:#x}"),
        };
        let _ = writeln!(out, "    {line}");
    }
    for s in image.segments.iter().filter(|s| !image.text.contains(&s.addr)) {
        out.push_str("    .data\n");
        for (i, byte) in s.bytes.iter().enumerate() {
            if let Some(name) = names.get(&(s.addr + i as u64)) {
                let _ = writeln!(out, "{name}:");
            }
            let _ = writeln!(out, "    .byte {byte}");
        }
    }
    out
}
