//! A code object as the marking pass sees it: decoded instructions, functions, source lines, and the branches on the
//! execution mask with what can be done about each.

use super::MarkError;
use crate::codeobject::{CodeObject, Kernel};
use crate::gcn3_program;
use std::ops::Range;
use wb_hw::MarkStyle;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::gcn3::{Inst, Op, Operand, hwreg_fields};
use wb_isa::{FlowKind, NO_PC, Pc};
use wb_program::LoadError;
use wb_program::Program;
use wb_program::{Region, RegionKind};

/// HW_REG_MODE, and the bit that asks for a split (THESIS 4.5).
const MODE: u32 = 1;
const SPLIT_BIT: u32 = 21;
/// `s_nop 0x5b1`: what `wavebound_split()` leaves in the code.
const SOURCE_MARK: i32 = 0x5b1;

/// A branch on the execution mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Word number in .text, the pc of the simulator.
    pub pc: Pc,
    /// As linked, and as objdump prints it.
    pub addr: u64,
    pub function: String,
    /// Empty and 0 where the object has no lines.
    pub file: String,
    pub line: u32,
    pub kind: RegionKind,
    /// Where its lanes are together again.
    pub reconverge: Option<u64>,
    /// The branch of the if to which this else side belongs.
    pub else_of: Option<u64>,
    pub markable: bool,
    /// Marked with `split_end`: its lanes never come together again.
    pub ends: bool,
    /// Lanes that are off at the branch have nothing left to do but to end.
    pub only_ends: bool,
    /// Why it cannot be marked with split and merge.
    pub why: &'static str,
    /// Has its `split`.
    pub split: bool,
    /// Has its MODE bit.
    pub mode: bool,
}

impl Site {
    /// The MODE bit needs no place to merge.
    pub fn usable(&self, style: MarkStyle) -> bool {
        style == MarkStyle::Thesis || self.markable
    }

    /// A path of their own can be of use to the lanes that are off. The MODE bit is set everywhere.
    pub fn gains(&self, style: MarkStyle) -> bool {
        self.usable(style) && (style == MarkStyle::Thesis || !self.only_ends)
    }

    /// `0x2650 (control.cl:12)`.
    pub fn place(&self) -> String {
        match self.line {
            0 => format!("{:#x} in {}", self.addr, self.function),
            line => format!("{:#x} ({}:{line})", self.addr, self.file),
        }
    }
}

pub(super) struct Code {
    pub object: CodeObject,
    pub program: Program<Gcn3>,
    pub sites: Vec<Site>,
    /// What the caller asked for: word numbers.
    scope: Range<Pc>,
    /// The instruction in front of each.
    before: Vec<Pc>,
}

impl Code {
    pub fn read(bytes: &[u8], kernel: &str) -> Result<Code, MarkError> {
        let object = CodeObject::parse(bytes)?;
        let first: &Kernel = object.kernel(kernel).or(object.kernels.first()).ok_or(LoadError::Empty)?;
        let program = gcn3_program(&object, first, Gcn3::default(), 0, "", None)?;
        let scope = scope(&object, kernel)?;
        let mut before = vec![NO_PC; program.ops.len() + 1];
        for (pc, op) in program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some()) {
            if let Some(b) = before.get_mut(op.next as usize) {
                *b = pc as Pc;
            }
        }
        let mut code = Code { object, program, sites: Vec::new(), scope, before };
        let regions = code.program.flow.regions.iter();
        code.sites = regions.filter(|r| code.scope.contains(&r.branch)).map(|r| code.site(r)).collect();
        Ok(code)
    }

    fn site(&self, r: &Region) -> Site {
        let (file, line) = self.line(r.branch);
        Site {
            pc: r.branch,
            addr: self.addr(r.branch),
            function: self.function(r.branch).to_owned(),
            file: file.to_owned(),
            line,
            kind: r.kind,
            reconverge: (r.reconverge != NO_PC).then(|| self.addr(r.reconverge)),
            else_of: self.if_of(r).map(|first| self.addr(first.branch)),
            markable: r.markable(),
            ends: r.ends.is_some(),
            only_ends: r.only_ends(),
            why: r.why,
            split: matches!(self.op_at(self.before(r.branch)), Some(Op::Split | Op::SplitEnd)),
            mode: self.mode_bit(self.before(r.branch)) == Some(true),
        }
    }

    /// The if whose second side the branch is in front of.
    fn if_of(&self, r: &Region) -> Option<&Region> {
        let block = self.program.cfg.block_at(r.branch)?;
        let side = |first: &&Region| {
            first.serialise.is_some_and(|pc| self.program.cfg.block_at(pc) == Some(block))
                && first.branch != r.branch
                && first.reconverge == r.reconverge
        };
        self.program.flow.regions.iter().find(side).filter(|_| r.kind == RegionKind::Else)
    }

    /// The branch to mark instead: that of the if, for an else side.
    pub fn leader(&self, pc: Pc, style: MarkStyle) -> Pc {
        let first = self.program.flow.region(pc).and_then(|r| self.if_of(r));
        first.filter(|f| style == MarkStyle::Thesis || f.markable()).map_or(pc, |f| f.branch)
    }

    pub fn addr(&self, pc: Pc) -> u64 {
        self.object.text.start + 4 * u64::from(pc)
    }

    /// Word number of an address in .text.
    pub fn pc(&self, addr: u64) -> Option<Pc> {
        let inside = self.object.text.contains(&addr) && addr.is_multiple_of(4);
        inside.then(|| ((addr - self.object.text.start) / 4) as Pc)
    }

    pub fn before(&self, pc: Pc) -> Pc {
        self.before.get(pc as usize).copied().unwrap_or(NO_PC)
    }

    pub fn inst(&self, pc: Pc) -> Option<&Inst> {
        self.program.ops.get(pc as usize)?.inst.as_ref()
    }

    pub fn op_at(&self, pc: Pc) -> Option<Op> {
        self.inst(pc).map(|i| i.op)
    }

    pub fn next(&self, pc: Pc) -> Pc {
        self.program.ops.get(pc as usize).map_or(NO_PC, |op| op.next)
    }

    /// Instructions in scope.
    pub fn pcs(&self) -> impl Iterator<Item = Pc> {
        self.scope.clone().filter(|&pc| self.inst(pc).is_some())
    }

    /// Target of a branch on the mask.
    pub fn target(&self, pc: Pc) -> Option<Pc> {
        match self.program.flow.kind.get(pc as usize)? {
            FlowKind::MaskBranch { target, .. } => Some(*target),
            _ => None,
        }
    }

    /// What the instruction writes to the bit that asks for a split, if it writes just that.
    pub fn mode_bit(&self, pc: Pc) -> Option<bool> {
        mode_bit(self.inst(pc)?)
    }

    /// Marks the source put into the code.
    pub fn source_marks(&self) -> Vec<Pc> {
        let is = |&pc: &Pc| self.inst(pc).is_some_and(|i| i.op == Op::SNop && i.imm == SOURCE_MARK);
        self.pcs().filter(is).collect()
    }

    pub fn line(&self, pc: Pc) -> (&str, u32) {
        let addr = self.addr(pc);
        let after = self.object.lines.partition_point(|l| l.0 <= addr);
        let row = after.checked_sub(1).and_then(|i| self.object.lines.get(i));
        row.map_or(("", 0), |r| (self.object.files.get(r.1 as usize).map_or("", |f| f.as_str()), r.2))
    }

    /// `0x2650 (control.cl:12)`.
    pub fn place(&self, pc: Pc) -> String {
        match self.line(pc) {
            (_, 0) => format!("{:#x} in {}", self.addr(pc), self.function(pc)),
            (file, line) => format!("{:#x} ({file}:{line})", self.addr(pc)),
        }
    }

    /// The symbol the instruction belongs to.
    pub fn function(&self, pc: Pc) -> &str {
        let addr = self.addr(pc);
        let starts = self.object.symbols.iter().filter(|s| self.object.text.contains(&s.1) && s.1 <= addr);
        starts.max_by_key(|s| s.1).map_or("", |s| s.0.as_str())
    }
}

/// What an instruction writes to the bit that asks for a split, if it writes just that.
pub(super) fn mode_bit(inst: &Inst) -> Option<bool> {
    let value = inst.src.iter().find_map(|s| match s {
        Operand::Literal(n) => Some(*n),
        _ => None,
    })?;
    let writes = inst.op == Op::SSetregImm32B32 && hwreg_fields(inst.imm) == (MODE, SPLIT_BIT, 1);
    writes.then_some(value & 1 == 1)
}

/// Writes a part of MODE that holds the bit.
pub(super) fn may_write_mode_bit(inst: &Inst) -> bool {
    let (register, from, size) = hwreg_fields(inst.imm);
    matches!(inst.op, Op::SSetregImm32B32 | Op::SSetregB32)
        && register == MODE
        && (from..from + size).contains(&SPLIT_BIT)
}

/// From a function to the next one; all of .text without a name.
fn scope(object: &CodeObject, kernel: &str) -> Result<Range<Pc>, MarkError> {
    let pc = |addr: u64| ((addr - object.text.start) / 4) as Pc;
    if kernel.is_empty() {
        return Ok(0..pc(object.text.end));
    }
    let functions = || object.symbols.iter().filter(|s| object.text.contains(&s.1));
    let Some((_, start)) = functions().find(|s| s.0 == kernel) else {
        let known: Vec<&str> = functions().map(|s| s.0.as_str()).collect();
        let hint = format!("the file has: {}", known.join(", "));
        return Err(MarkError::NoKernel { name: kernel.to_owned(), hint });
    };
    let end = functions().map(|s| s.1).filter(|a| a > start).min().unwrap_or(object.text.end);
    Ok(pc(*start)..pc(end))
}
