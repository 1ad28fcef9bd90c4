//! Executables of kernels for a lane-pc machine (docs/riscv.md): the section that lists kernels and arguments, local memory of each
//! kernel, and the private memory that its calls need. What could not be given a stack is refused by name: recursion, and calls through
//! pointers.

use crate::codeobject::{ArgKind, CodeObject, CodeObjectError, Kernel, KernelArg};
use crate::riscv::RiscvImage;
use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection};
use std::collections::BTreeMap;
use wb_hw::InstructionSet;
use wb_isa::riscv::PRIVATE;
use wb_isa::vortex::{Inst, Op};

/// Lists the kernels: a line `kernel NAME BYTES` for each, followed by lines `arg OFFSET BYTES KIND NAME TYPE`.
pub const KERNELS: &str = ".wavebound.kernels";
/// Local memory of a kernel is the section of this name followed by the kernel's.
pub const LOCAL_OF: &str = ".wavebound.local.";
/// The code of a kernel starts at the symbol of its name followed by this.
pub const ENTRY: &str = ".entry";
/// Kernels in assembly, which say nothing about arguments and stacks, have these.
const ASSEMBLY_ARGUMENTS: u32 = 256;
const ASSEMBLY_STACK: u32 = 64;

/// Whether an executable has kernels: others are programs for Vortex.
pub fn has_kernels(bytes: &[u8]) -> bool {
    let elf = ElfFile32::<Endianness>::parse(bytes);
    elf.is_ok_and(|elf| elf.section_by_name(KERNELS).is_some())
}

/// Reads an executable of kernels.
pub fn riscv_object(bytes: &[u8]) -> Result<CodeObject, CodeObjectError> {
    let elf = ElfFile32::<Endianness>::parse(bytes).map_err(|e| CodeObjectError::Elf(e.to_string()))?;
    let mut image = RiscvImage::from_elf(bytes).map_err(|e| CodeObjectError::Elf(e.to_string()))?;
    // Local memory has addresses, but nothing to load.
    image.segments.retain(|s| s.addr < u64::from(PRIVATE) && !s.bytes.is_empty());
    let section = elf.section_by_name(KERNELS).ok_or(CodeObjectError::Empty)?;
    let text = section.data().map_err(|e| CodeObjectError::Elf(e.to_string()))?;
    let text = std::str::from_utf8(text).map_err(|e| CodeObjectError::Metadata(e.to_string()))?;
    let mut kernels: Vec<Kernel> = Vec::new();
    for line in text.trim_end_matches('\0').lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match (&words[..], kernels.last_mut()) {
            (["kernel", name, bytes], _) => kernels.push(kernel(name, number(bytes, line)?, &elf, &image)?),
            (["arg", offset, bytes, kind, name, rest @ ..], Some(kernel)) => kernel.args.push(KernelArg {
                name: (*name).to_owned(),
                type_name: rest.join(" "),
                offset: number(offset, line)?,
                size: number(bytes, line)?,
                kind: arg_kind(kind, line)?,
                qualifiers: Default::default(),
            }),
            _ => return Err(CodeObjectError::Metadata(format!("`{line}` describes nothing"))),
        }
    }
    let sizes = stack_sizes(&elf)?;
    let calls = Calls::find(&image, sizes)?;
    for kernel in &mut kernels {
        let stack = calls.stack(kernel.entry, &mut Vec::new())?;
        kernel.scratch_bytes = stack.next_multiple_of(16);
    }
    of_image(image, kernels)
}

/// The kernel that assembly is; its arguments lie one after the other.
pub fn riscv_assembly(image: RiscvImage, name: &str) -> Result<CodeObject, CodeObjectError> {
    let name = name.rsplit('/').next().and_then(|n| n.split('.').next()).unwrap_or(name);
    let kernel = Kernel {
        name: name.to_owned(),
        entry: image.entry,
        descriptor: Default::default(),
        kernarg_size: ASSEMBLY_ARGUMENTS,
        args: Vec::new(),
        lds_bytes: 0,
        scratch_bytes: ASSEMBLY_STACK,
        version: 0,
        attributes: Default::default(),
    };
    of_image(image, vec![kernel])
}

fn of_image(image: RiscvImage, kernels: Vec<Kernel>) -> Result<CodeObject, CodeObjectError> {
    if kernels.is_empty() {
        return Err(CodeObjectError::Empty);
    }
    if let Some(k) = kernels.iter().find(|k| !image.text.contains(&k.entry)) {
        let what = format!("its code at {:#x} is not in the text", k.entry);
        return Err(CodeObjectError::Kernel { kernel: k.name.clone(), what });
    }
    let RiscvImage { segments, text, symbols, lines, files, sites, inlined, .. } = image;
    Ok(CodeObject {
        kernels,
        segments,
        text,
        symbols,
        formats: Vec::new(),
        variables: Vec::new(),
        relocations: Vec::new(),
        lines,
        files,
        sites,
        arrays: Vec::new(),
        aligned: false,
        inlined,
        version: 0,
        isa: InstructionSet::Riscv,
        extents: Vec::new(),
        flags: 0,
    })
}

fn number(text: &str, line: &str) -> Result<u32, CodeObjectError> {
    text.parse().map_err(|_| CodeObjectError::Metadata(format!("`{line}`: `{text}` is no number")))
}

fn arg_kind(text: &str, line: &str) -> Result<ArgKind, CodeObjectError> {
    Ok(match text {
        "value" => ArgKind::Value,
        "buffer" => ArgKind::Buffer,
        "local" => ArgKind::DynamicLds,
        _ => return Err(CodeObjectError::Metadata(format!("`{line}`: `{text}` is no kind of argument"))),
    })
}

fn kernel(
    name: &str,
    bytes: u32,
    elf: &ElfFile32<Endianness>,
    image: &RiscvImage,
) -> Result<Kernel, CodeObjectError> {
    let wanted = format!("{name}{ENTRY}");
    let entry = image.symbols.iter().find(|s| s.0 == wanted).map(|s| s.1).ok_or_else(|| {
        CodeObjectError::Kernel { kernel: name.to_owned(), what: format!("there is no symbol {wanted}") }
    })?;
    let local = elf.section_by_name(&format!("{LOCAL_OF}{name}")).map_or(0, |s| s.size());
    Ok(Kernel {
        name: name.to_owned(),
        entry,
        descriptor: Default::default(),
        kernarg_size: bytes,
        args: Vec::new(),
        lds_bytes: u32::try_from(local).unwrap_or(u32::MAX),
        scratch_bytes: 0,
        version: 0,
        attributes: Default::default(),
    })
}

/// Bytes of stack by function, as compilers write them with `-fstack-size-section`: address, size in LEB128.
fn stack_sizes(elf: &ElfFile32<Endianness>) -> Result<BTreeMap<u64, u32>, CodeObjectError> {
    let damaged = || CodeObjectError::Metadata("the section .stack_sizes is damaged".into());
    let mut out = BTreeMap::new();
    let Some(section) = elf.section_by_name(".stack_sizes") else { return Ok(out) };
    let mut rest = section.data().map_err(|e| CodeObjectError::Elf(e.to_string()))?;
    while !rest.is_empty() {
        let (address, after) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        let end = after.iter().position(|b| b & 0x80 == 0).filter(|&n| n < 5).ok_or_else(damaged)?;
        let size = after[..=end].iter().rev().fold(0u64, |n, b| n << 7 | u64::from(b & 0x7f));
        let size = u32::try_from(size).map_err(|_| damaged())?;
        out.insert(u32::from_le_bytes(*address).into(), size);
        rest = &after[end + 1..];
    }
    Ok(out)
}

/// Who calls whom.
struct Calls<'a> {
    image: &'a RiscvImage,
    sizes: BTreeMap<u64, u32>,
    /// By function: where it calls, and whom.
    calls: BTreeMap<u64, Vec<(u64, u64)>>,
}

impl<'a> Calls<'a> {
    fn find(image: &'a RiscvImage, sizes: BTreeMap<u64, u32>) -> Result<Calls<'a>, CodeObjectError> {
        let mut calls: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for (addr, word) in image.words() {
            let Some((&function, _)) = sizes.range(..=addr).next_back() else { continue };
            let Ok(inst) = Inst::decode(word) else { continue };
            match inst.op {
                Op::Jalr if inst.rd != 0 => {
                    let what =
                        format!("{} calls through a pointer, which is not supported", place(image, addr));
                    return Err(CodeObjectError::Code { what });
                }
                Op::Jal => {
                    let target = addr.wrapping_add_signed(inst.imm.into());
                    if inst.rd != 0 || target != function && sizes.contains_key(&target) {
                        calls.entry(function).or_default().push((addr, target));
                    }
                }
                _ => {}
            }
        }
        Ok(Calls { image, sizes, calls })
    }

    /// Most bytes of stack from a function on; `above` are those that call it.
    fn stack(&self, function: u64, above: &mut Vec<u64>) -> Result<u32, CodeObjectError> {
        let own = self.sizes.get(&function).copied().unwrap_or(0);
        above.push(function);
        let mut most = 0;
        for &(at, callee) in self.calls.get(&function).into_iter().flatten() {
            if above.contains(&callee) {
                let name = self.image.symbols.iter().find(|s| s.1 == callee).map_or("a function", |s| &s.0);
                let what = format!(
                    "{} calls {name}, which is running already: there is no recursion",
                    place(self.image, at)
                );
                return Err(CodeObjectError::Code { what });
            }
            most = most.max(self.stack(callee, above)?);
        }
        above.pop();
        Ok(own.saturating_add(most))
    }
}

/// The source line of an address, or the address.
fn place(image: &RiscvImage, addr: u64) -> String {
    let at = image.lines.partition_point(|l| l.0 <= addr).checked_sub(1).map(|i| image.lines[i]);
    let file = |n: u32| image.files.get(n as usize);
    match at.and_then(|(_, n, line)| Some((file(n)?, line))) {
        Some((file, line)) if line > 0 => format!("{file}:{line}"),
        _ => format!("the code at {addr:#x}"),
    }
}
