//! An assembled program, and its file format. Everything is little-endian:
//!
//! ```text
//! "GUPY"  version u16 = 1  reserved u16 = 0  instructions u32  labels u32
//! instruction:  opcode u8 (table), then its operands in table order
//!   register or view   index u8, components u8 (1..4), packed u8 (2 bits each, first lowest, rest 0)
//!   value              0 + register | 1 + u-immediate | 2 + f-immediate | 3 + builtin u8
//!   immediate          count u8 (1..4), count * u32
//!   sampler            index u8
//!   label              pc u32 (0..=instructions)
//! label:  pc u32, length u8, name
//! lines:  one u32 per instruction, 0 unknown
//! ```
//!
//! There is exactly one encoding of a module, and nothing may follow it.

use super::inst::{Args, BUILTINS, Inst, MAX_BINDINGS, Place, Src, Swizzle};
use super::lexer::is_label;
use super::table::{Op, Slot};
use crate::Pc;
use std::collections::HashSet;
use thiserror::Error;

const MAGIC: [u8; 4] = *b"GUPY";
const VERSION: u16 = 1;
/// Longest label name a module file can hold; the assembler refuses longer ones.
pub(super) const MAX_LABEL: usize = 255;

/// A program: instructions, names of some of them, and the source line of each (from 1, 0 unknown).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    pub insts: Vec<Inst>,
    pub labels: Vec<(String, Pc)>,
    pub lines: Vec<u32>,
}

/// Why bytes are not a module, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("not a usable GUPPY module: {what} (byte {offset})")]
pub struct ModuleError {
    pub offset: usize,
    pub what: String,
}

impl Module {
    /// Registers a lane needs for this program.
    pub fn registers_used(&self) -> u32 {
        self.insts.iter().map(|i| u32::from(i.regs)).max().unwrap_or(0)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.insts.len() * 16);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(0u16.to_le_bytes());
        out.extend((self.insts.len() as u32).to_le_bytes());
        out.extend((self.labels.len() as u32).to_le_bytes());
        for inst in &self.insts {
            write_inst(&mut out, inst);
        }
        for (name, pc) in &self.labels {
            let name = &name.as_bytes()[..name.len().min(MAX_LABEL)];
            out.extend(pc.to_le_bytes());
            out.push(name.len() as u8);
            out.extend(name);
        }
        for pc in 0..self.insts.len() {
            let line = self.lines.get(pc).copied().unwrap_or(0);
            out.extend(line.to_le_bytes());
        }
        out
    }

    /// Reads what [`Module::to_bytes`] wrote; anything else is an error, however it is broken.
    pub fn from_bytes(bytes: &[u8]) -> Result<Module, ModuleError> {
        let mut r = Reader { bytes, at: 0 };
        if r.take(4)? != MAGIC {
            return Err(ModuleError { offset: 0, what: "it does not start with GUPY".into() });
        }
        let version = r.u16()?;
        if version != VERSION {
            return r.fail(format!("version {version}; this program reads version {VERSION}"));
        }
        if r.u16()? != 0 {
            return r.fail("reserved bytes are not 0");
        }
        let (insts, labels) = (r.u32()?, r.u32()?);
        if insts == 0 {
            return r.fail("it has no instructions");
        }
        // Vectors grow as bytes are consumed: a lying count runs out of file, not of memory.
        let mut module = Module::default();
        for _ in 0..insts {
            module.insts.push(r.inst(insts)?);
        }
        let mut seen = HashSet::new();
        for _ in 0..labels {
            let label = r.label(insts)?;
            if !seen.insert(label.0.clone()) {
                return r.fail(format!("label {} is there twice", label.0));
            }
            module.labels.push(label);
        }
        for _ in 0..insts {
            module.lines.push(r.u32()?);
        }
        if r.at != bytes.len() {
            return r.fail("there are bytes after its end");
        }
        Ok(module)
    }
}

fn write_inst(out: &mut Vec<u8>, inst: &Inst) {
    let line = inst.op.line();
    out.push(line.code);
    for slot in line.slots {
        match *slot {
            Slot::Dst => write_place(out, &inst.args.dst),
            Slot::ReadView | Slot::WriteView => write_place(out, &inst.args.view),
            Slot::Src(i) | Slot::One(i) | Slot::Pair(i) => write_src(out, &inst.args.src[i]),
            Slot::Sampler => out.push(inst.args.sampler),
            Slot::Label(i) => out.extend(inst.args.target[i].to_le_bytes()),
        }
    }
}

fn write_place(out: &mut Vec<u8>, place: &Place) {
    let packed = place.swizzle.comps().iter().rev().fold(0, |p, c| p << 2 | c);
    out.extend([place.index, place.swizzle.count() as u8, packed]);
}

fn write_src(out: &mut Vec<u8>, src: &Src) {
    match src {
        Src::Reg(place) => {
            out.push(0);
            write_place(out, place);
        }
        Src::Imm { float, count, values } => {
            out.extend([1 + u8::from(*float), *count]);
            for v in &values[..usize::from(*count).min(4)] {
                out.extend(v.to_le_bytes());
            }
        }
        Src::Builtin(b) => out.extend([3, *b as u8]),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// An error at the byte just read.
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, ModuleError> {
        Err(ModuleError { offset: self.at.saturating_sub(1), what: what.into() })
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], ModuleError> {
        let end = self.at + n;
        match self.bytes.get(self.at..end) {
            Some(bytes) => {
                self.at = end;
                Ok(bytes)
            }
            None => Err(ModuleError { offset: self.bytes.len(), what: "it ends too early".into() }),
        }
    }

    fn u8(&mut self) -> Result<u8, ModuleError> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, ModuleError> {
        let b = self.take(2)?;
        Ok(u16::from_le_bytes([b[0], b[1]]))
    }

    fn u32(&mut self) -> Result<u32, ModuleError> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn inst(&mut self, insts: u32) -> Result<Inst, ModuleError> {
        let code = self.u8()?;
        let Some(op) = Op::from_code(code) else {
            return self.fail(format!("unknown opcode {code:#04x}"));
        };
        let mut args = Args::default();
        for slot in op.line().slots {
            match *slot {
                Slot::Dst => args.dst = self.written()?,
                Slot::ReadView => args.view = self.bound(Self::place)?,
                Slot::WriteView => args.view = self.bound(Self::written)?,
                Slot::Src(i) => args.src[i] = self.src()?,
                Slot::One(i) => {
                    args.src[i] = self.src()?;
                    if !matches!(args.src[i], Src::Reg(p) if p.swizzle.count() == 1) {
                        return self.fail("a test needs a register with one component");
                    }
                }
                Slot::Pair(i) => {
                    args.src[i] = self.src()?;
                    if args.src[i].positions() < 2 {
                        return self.fail("texture coordinates need two components");
                    }
                }
                Slot::Sampler => {
                    args.sampler = self.u8()?;
                    if u32::from(args.sampler) >= MAX_BINDINGS {
                        return self.fail("sampler number above 63");
                    }
                }
                Slot::Label(i) => args.target[i] = self.pc(insts)?,
            }
        }
        Ok(Inst::new(op, args))
    }

    fn place(&mut self) -> Result<Place, ModuleError> {
        let (index, count, packed) = (self.u8()?, self.u8()?, self.u8()?);
        if !(1..=4).contains(&count) || (count < 4 && packed >> (2 * count) != 0) {
            return self.fail("bad component list");
        }
        let comps: [u8; 4] = std::array::from_fn(|i| packed >> (2 * i) & 3);
        match Swizzle::new(&comps[..usize::from(count)]) {
            Some(swizzle) => Ok(Place { index, swizzle }),
            None => self.fail("bad component list"),
        }
    }

    /// A place that is written: no component twice.
    fn written(&mut self) -> Result<Place, ModuleError> {
        let place = self.place()?;
        match place.swizzle.duplicate() {
            Some(_) => self.fail("a component is written twice"),
            None => Ok(place),
        }
    }

    fn bound(
        &mut self,
        read: impl Fn(&mut Self) -> Result<Place, ModuleError>,
    ) -> Result<Place, ModuleError> {
        let place = read(self)?;
        if u32::from(place.index) >= MAX_BINDINGS {
            return self.fail("view number above 63");
        }
        Ok(place)
    }

    fn src(&mut self) -> Result<Src, ModuleError> {
        match self.u8()? {
            0 => Ok(Src::Reg(self.place()?)),
            tag @ (1 | 2) => {
                let count = self.u8()?;
                if !(1..=4).contains(&count) {
                    return self.fail("an immediate has one to four values");
                }
                let mut values = [0; 4];
                for v in &mut values[..usize::from(count)] {
                    *v = self.u32()?;
                }
                Ok(Src::Imm { float: tag == 2, count, values })
            }
            3 => match BUILTINS.get(usize::from(self.u8()?)) {
                Some(&(_, builtin)) => Ok(Src::Builtin(builtin)),
                None => self.fail("unknown builtin"),
            },
            tag => self.fail(format!("unknown kind of value {tag}")),
        }
    }

    fn pc(&mut self, insts: u32) -> Result<Pc, ModuleError> {
        let pc = self.u32()?;
        if pc > insts {
            return self.fail(format!("target {pc} is outside the program of {insts} instructions"));
        }
        Ok(pc)
    }

    fn label(&mut self, insts: u32) -> Result<(String, Pc), ModuleError> {
        let pc = self.pc(insts)?;
        let length = usize::from(self.u8()?);
        match std::str::from_utf8(self.take(length)?) {
            Ok(name) if is_label(name) => Ok((name.to_string(), pc)),
            _ => self.fail("a label is not a name"),
        }
    }
}
