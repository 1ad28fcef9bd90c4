//! From assembled or linked HARP and GUPPY modules to a [`Program`]; object files of other ISAs are read by crate `objects`.

use crate::cfg::TooComplex;
use crate::program::{Decoded, Program, Segment};
use thiserror::Error;
use wb_isa::guppy::{Guppy, Module};
use wb_isa::harp::{Harp, Image};
use wb_isa::{NO_PC, Pc, SourceFile};

/// Decoded code has an entry per address, so its addresses are bounded.
pub const MAX_TEXT: u64 = 4 << 20;

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
    Ok(Program::new(Decoded {
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
    Ok(Program::new(Decoded {
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
