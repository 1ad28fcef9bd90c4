//! From assembled or linked modules to a [`Program`].

use crate::calls;
use crate::cfg::TooComplex;
use crate::codeobject::{CodeObject, Kernel};
use crate::program::{Parts, Program, Segment};
use thiserror::Error;
use wb_isa::gcn3::{
    self,
    isa::{Gcn3, Setup, UserSgprs},
};
use wb_isa::guppy::{Guppy, Module};
use wb_isa::harp::{Harp, Image};
use wb_isa::{NO_PC, Pc, SourceFile};

/// Decoded code has an entry per address, so its addresses are bounded.
pub(crate) const MAX_TEXT: u64 = 4 << 20;

#[derive(Clone, Debug, Error)]
pub enum LoadError {
    #[error("the architecture of the object is not usable: {0}")]
    Arch(String),
    #[error("the program has no instruction at its entry address {0:#x}")]
    Entry(u64),
    #[error("the program is empty")]
    Empty,
    #[error(
        "code reaches to address {0:#x}; {MAX_TEXT:#x} is possible: move code to lower addresses, data behind it"
    )]
    TooLarge(u64),
    #[error("the program is too complex: {0}")]
    TooComplex(#[from] TooComplex),
    #[error("at address {addr:#x}: {why}")]
    Instruction { addr: u64, why: String },
}

/// Decodes the text of a linked HARP image; data stays data, jumping into it is an error at run time.
pub fn harp_program(
    image: &Image,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<Harp>, LoadError> {
    let isa = Harp::new(image.arch).map_err(LoadError::Arch)?;
    let end = image.text.iter().map(|t| t.end).max().unwrap_or(0);
    if end > MAX_TEXT {
        return Err(LoadError::TooLarge(end));
    }
    let granule = u64::from(isa.granule);
    let mut insts = vec![(None, NO_PC); end.div_ceil(granule) as usize];
    for range in &image.text {
        let mut addr = range.start;
        while addr < range.end {
            let pc = (addr / granule) as usize;
            let size = match bytes_at(image, addr, range.end).map(|b| isa.decode_at(b)) {
                Some(Ok((inst, size))) => {
                    insts[pc] = (Some(inst), ((addr + u64::from(size)) / granule) as Pc);
                    u64::from(size)
                }
                _ => granule,
            };
            addr += size.max(1);
        }
    }
    let entry = isa.pc_of(image.entry).filter(|&pc| insts.get(pc as usize).is_some_and(|i| i.0.is_some()));
    let entry = entry.ok_or(LoadError::Entry(image.entry))?;
    let mut lines = vec![0; insts.len()];
    for &(addr, line) in &image.lines {
        if let Some(l) = isa.pc_of(addr).and_then(|pc| lines.get_mut(pc as usize)) {
            *l = line;
        }
    }
    let labels = image
        .symbols
        .iter()
        .filter_map(|(name, addr)| Some((name.clone(), isa.pc_of(*addr)?)))
        .filter(|(_, pc)| insts.get(*pc as usize).is_some_and(|i| i.0.is_some()))
        .collect();
    Ok(Program::new(Parts {
        name: name.to_owned(),
        insts,
        entry,
        segments: image
            .segments
            .iter()
            .map(|(addr, bytes)| Segment { addr: *addr, bytes: bytes.clone() })
            .collect(),
        text: image.text.clone(),
        labels,
        symbols: image.symbols.clone(),
        lines,
        source,
        isa,
    })?)
}

fn bytes_at(image: &Image, addr: u64, end: u64) -> Option<&[u8]> {
    let (base, bytes) = image.segments.iter().find(|(a, b)| (*a..*a + b.len() as u64).contains(&addr))?;
    let stop = ((end - base) as usize).min(bytes.len());
    bytes.get((addr - base) as usize..stop)
}

/// Decodes the text of a code object placed at `base`. The ISA instance carries the dispatch; its `code_base` is
/// set here. `source`: the assembly it was made from.
pub fn gcn3_program(
    object: &CodeObject,
    kernel: &Kernel,
    mut isa: Gcn3,
    base: u64,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<Gcn3>, LoadError> {
    let size = (object.text.end - object.text.start) as usize;
    let bytes = object.bytes_at(object.text.start, size).ok_or(LoadError::Empty)?;
    isa.code_base = base + object.text.start;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let mut insts = vec![(None, NO_PC); words.len()];
    let mut pc = 0;
    while pc < words.len() {
        let mut step = 1;
        if let Ok(inst) = gcn3::decode(&words[pc..]) {
            step = usize::from(inst.size / 4).max(1);
            insts[pc] = (Some(inst), (pc + step) as Pc);
        }
        pc += step;
    }
    let pc_of = |addr: u64| {
        let offset = addr.checked_sub(object.text.start)?;
        (offset % 4 == 0 && offset / 4 < words.len() as u64).then_some((offset / 4) as Pc)
    };
    let entry = pc_of(kernel.entry).ok_or(LoadError::Entry(kernel.entry))?;
    let mut lines = vec![0; words.len()];
    let mut line_files = vec![0; words.len()];
    for (i, &(addr, file, line)) in object.lines.iter().enumerate() {
        let to = object.lines.get(i + 1).and_then(|next| pc_of(next.0)).map_or(lines.len(), |pc| pc as usize);
        let Some(range) = pc_of(addr).map(|from| from as usize..to) else { continue };
        if let (Some(part), Some(files)) = (lines.get_mut(range.clone()), line_files.get_mut(range)) {
            part.fill(line);
            files.fill(file as u16);
        }
    }
    let labels = object.symbols.iter().filter_map(|(n, a)| Some((n.clone(), pc_of(*a)?))).collect();
    let shift = |s: &Segment| Segment { addr: s.addr + base, bytes: s.bytes.clone() };
    let mut program = Program::new(Parts {
        name: object.files.first().cloned().unwrap_or_else(|| name.to_owned()),
        insts,
        entry,
        segments: object.segments.iter().map(shift).collect(),
        text: std::iter::once(base + object.text.start..base + object.text.end).collect(),
        labels,
        symbols: object.symbols.iter().map(|(n, a)| (n.clone(), a.wrapping_add(base))).collect(),
        lines,
        source,
        isa,
    })?;
    program.kernel.clone_from(&kernel.name);
    program.files.clone_from(&object.files);
    program.line_files = line_files;
    program.base = base;
    program.calls = calls::find(&program);
    Ok(program)
}

/// What the kernel's descriptor says about the registers it starts with; sizes and addresses are the launch's.
pub fn gcn3_setup(kernel: &Kernel) -> Setup {
    let d = kernel.descriptor;
    Setup {
        vgprs: d.vgprs(),
        mode: d.mode(),
        user: UserSgprs::from(d.user_sgpr_flags()),
        user_sgprs: d.user_sgprs(),
        workgroup: d.workgroup_ids(),
        scratch_wave_offset: d.scratch_enabled(),
        work_item_dimensions: d.work_item_dimensions(),
        ..Setup::default()
    }
}

/// A GUPPY module; its code lives outside data memory, a pc is an instruction number.
pub fn guppy_program(
    module: Module,
    isa: Guppy,
    name: &str,
    source: Option<SourceFile>,
) -> Result<Program<Guppy>, LoadError> {
    if module.insts.is_empty() {
        return Err(LoadError::Empty);
    }
    let insts = module.insts.into_iter().enumerate().map(|(pc, i)| (Some(i), pc as Pc + 1)).collect();
    Ok(Program::new(Parts {
        isa,
        name: name.to_owned(),
        insts,
        entry: 0,
        segments: Vec::new(),
        text: Vec::new(),
        labels: module.labels,
        symbols: Vec::new(),
        lines: module.lines,
        source,
    })?)
}
