//! How undefined values travel through GCN instructions, for checked runs ([`crate::marks`]). Bytes of a lane's dword and bits of
//! scalar registers are followed one by one where compilers rely on it (moves, masks, shifts by constants, selections); everything
//! else makes all of its result undefined if any part of a source is.

use super::inst::{Format, Inst, Sel};
use super::op::Op;
use super::operand::{Operand, Ty, sreg};
use super::state::{FIRST_ACCUMULATOR, FIRST_SCALAR, Regs, SCC};
use super::valu::source_lane;
use crate::Mask;
use crate::lanes::bits;
use crate::marks::{CLEAN, Found, Marks, Origin, Planes, any};

/// Id of a register operand, `skip` registers behind its first.
pub(super) fn id(operand: Operand, skip: u16) -> Option<u16> {
    Some(match operand {
        Operand::Vgpr(n) => u16::from(n) + skip,
        Operand::Agpr(n) => FIRST_ACCUMULATOR + u16::from(n) + skip,
        Operand::Sgpr(n) => FIRST_SCALAR + u16::from(n & 127) + skip,
        Operand::Scc => SCC,
        _ => return None,
    })
}

const EXEC: u16 = FIRST_SCALAR + sreg::EXEC as u16;
const VCC: u16 = FIRST_SCALAR + sreg::VCC as u16;

struct Follow<'a> {
    inst: &'a Inst,
    /// See [`crate::marks::Watch::always`].
    always: bool,
    regs: &'a Regs,
    marks: &'a mut Marks,
    lanes: Mask,
}

/// Follows one instruction; `lanes` are those it works on, `live` those of the wave.
pub(super) fn follow(
    inst: &Inst,
    regs: &Regs,
    marks: &mut Marks,
    (lanes, live, always): (Mask, Mask, bool),
    (reads, writes): (&[u16], &[u16]),
) {
    let mut f = Follow { inst, always, regs, marks, lanes };
    match inst.format {
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => f.scalar(reads, writes),
        Format::Sopp => f.branch(live),
        Format::Smem => {
            f.address(&[0, 1]);
            f.define(writes);
        }
        Format::Ds if f.crosses_lanes() => f.shuffle(),
        Format::Ds => {
            f.address(&[0]);
            f.define(writes);
        }
        Format::Flat | Format::Global | Format::Scratch => {
            f.address(&[0, 2]);
            f.define(writes);
        }
        Format::Mubuf | Format::Mtbuf | Format::Mimg => {
            f.address(&[0, 1, 2]);
            f.define(writes);
        }
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3p
        | Format::Sdwa
        | Format::Dpp
        | Format::Vintrp
        | Format::Exp => f.vector(reads, writes),
    }
    f.execution_mask(live);
}

impl Follow<'_> {
    /// What an instruction loads is known later.
    fn define(&mut self, writes: &[u16]) {
        for &id in writes {
            self.marks.written(id, self.lanes);
            self.marks.clear(id, self.lanes);
        }
    }

    /// The operands say where memory is accessed.
    fn address(&mut self, operands: &[usize]) {
        let none = self.inst.format != Format::Smem && self.lanes == 0;
        for &i in operands.iter().filter(|_| !none) {
            for d in 0..u16::from(self.inst.src_dwords(i)) {
                let Some(id) = id(self.inst.src[i], d) else { continue };
                let lanes = self.marks.lanes(id) & self.lanes;
                if lanes != 0 || self.marks.is_scalar(id) && self.marks.bits(id) != 0 {
                    let origin = self.marks.origin(id);
                    self.marks.found.push(Found::Address { lanes: lanes & self.lanes, origin });
                    self.marks.clear(id, self.lanes);
                }
            }
        }
    }

    /// A branch on SCC or VCC.
    fn branch(&mut self, live: Mask) {
        let (id, marked) = match self.inst.op {
            Op::SCbranchScc0 | Op::SCbranchScc1 => (SCC, u64::from(self.marks.bits(SCC))),
            Op::SCbranchVccz | Op::SCbranchVccnz => {
                let marked = self.pair_bits(VCC);
                // A lane that is known to be there decides.
                let decided = self.regs.vcc() & !marked != 0;
                (VCC, if decided { 0 } else { marked })
            }
            _ => return,
        };
        if marked != 0 {
            let origin = self.marks.origin(id);
            let lanes = if id == VCC { marked & live } else { self.lanes };
            self.marks.found.push(Found::Branch { lanes, origin });
            self.marks.set_bits(id, 0, origin);
            self.marks.set_bits(if id == VCC { VCC + 1 } else { id }, 0, origin);
        }
    }

    fn pair_bits(&self, id: u16) -> u64 {
        u64::from(self.marks.bits(id)) | u64::from(self.marks.bits(id + 1)) << 32
    }

    /// Lanes part, or go on, by an undefined value.
    fn execution_mask(&mut self, live: Mask) {
        let marked = self.pair_bits(EXEC);
        if marked != 0 {
            let origin = self.marks.origin(EXEC);
            if marked & live != 0 {
                self.marks.found.push(Found::Branch { lanes: marked & live, origin });
            }
            self.marks.set_bits(EXEC, 0, origin);
            self.marks.set_bits(EXEC + 1, 0, origin);
        }
        let constant = matches!(self.inst.src[0], Operand::InlineInt(-1));
        let all = matches!(self.inst.op, Op::SOrSaveexecB64)
            || self.inst.op == Op::SMovB64 && self.inst.dst == Operand::EXEC;
        let implicit = self.inst.entry().writes & super::table::implicit::EXEC != 0;
        let writes = implicit || self.inst.dst == Operand::EXEC;
        if writes {
            self.marks.whole_wave = all && constant;
        }
    }

    /// Marked bits of a scalar source, its value, and where the marks come from.
    fn scalar_source(&self, i: usize) -> (u64, u64, Origin) {
        let operand = self.inst.src[i];
        let wide = self.inst.src_dwords(i) > 1;
        match id(operand, 0) {
            Some(SCC) => (self.marks.bits(SCC).into(), self.regs.scc.into(), self.marks.origin(SCC)),
            Some(id) if self.marks.is_scalar(id) => {
                let at = usize::from(id - FIRST_SCALAR);
                let low = u64::from(self.regs.s.get(at).copied().unwrap_or(0));
                let high = u64::from(self.regs.s.get(at + 1).copied().unwrap_or(0));
                let marked = if wide { self.pair_bits(id) } else { self.marks.bits(id).into() };
                let second = if wide { self.marks.origin(id + 1) } else { Origin::default() };
                let first = self.marks.origin(id);
                let origin = if self.marks.bits(id) != 0 { first } else { second };
                (marked, if wide { low | high << 32 } else { low }, origin)
            }
            _ => {
                let ty = self.inst.entry().src[i];
                (0, operand.constant(ty).unwrap_or(0), Origin::default())
            }
        }
    }

    fn scalar(&mut self, reads: &[u16], writes: &[u16]) {
        let ((a, x, from_a), (b, y, from_b)) = (self.scalar_source(0), self.scalar_source(1));
        let exec = self.regs.exec();
        let name = self.inst.entry().name;
        let and = |(a, x): (u64, u64), (b, y): (u64, u64)| (a | b) & (a | x) & (b | y);
        let or = |(a, x): (u64, u64), (b, y): (u64, u64)| (a | b) & (a | !x) & (b | !y);
        // `s_and_b64` and its relatives; with saveexec the second source is EXEC.
        let save = name.contains("saveexec");
        let (b, y) = if save { (0, exec) } else { (b, y) };
        let stem = name.trim_start_matches("s_").split('_').next().unwrap_or("");
        let result = match stem {
            "mov" | "not" if !name.contains("rel") => a,
            "and" => and((a, x), (b, y)),
            "or" => or((a, x), (b, y)),
            "xor" | "xnor" => a | b,
            "nand" => and((a, x), (b, y)),
            "nor" => or((a, x), (b, y)),
            // The second source, or with saveexec EXEC, is inverted; `andn1` inverts the other.
            "andn2" => and((a, x), (b, !y)),
            "orn2" => or((a, x), (b, !y)),
            "andn1" => and((a, !x), (b, y)),
            "orn1" => or((a, !x), (b, y)),
            "cselect" => {
                let scc = self.marks.bits(SCC);
                let chosen = if self.regs.scc { a } else { b };
                if scc != 0 { u64::MAX } else { chosen }
            }
            _ => {
                self.marks.any_to_all(reads, writes, Mask::MAX);
                return;
            }
        };
        let origin = if a != 0 { from_a } else { from_b };
        let wide = self.inst.dst_dwords() > 1;
        let target = if save { Operand::EXEC } else { self.inst.dst };
        if let Some(id) = id(target, 0) {
            self.marks.set_bits(id, result as u32, origin);
            if wide {
                self.marks.set_bits(id + 1, (result >> 32) as u32, origin);
            }
        }
        if save && let Some(id) = id(self.inst.dst, 0) {
            self.define(&[id, id + 1]);
        }
        if writes.contains(&SCC) {
            // SCC is "not zero": a bit that is known decides.
            let value = match stem {
                "and" => x & y,
                "or" => x | y,
                "andn2" => x & !y,
                "andn1" => !x & y,
                _ => 0,
            };
            let known = value & !result & if wide { u64::MAX } else { u32::MAX.into() } != 0;
            self.marks.set_bits(SCC, u32::from(result != 0 && !known), origin);
        }
    }

    /// Source `i`, dword `d`, as lanes see it.
    fn planes(&self, i: usize, d: u16) -> (Planes, Origin) {
        let Some(id) = id(self.inst.src[i], d) else { return (CLEAN, Origin::default()) };
        let (planes, origin) = (self.marks.planes(id), self.marks.origin(id));
        match (self.inst.format, i) {
            (Format::Dpp, 0) => self.moved(id, planes, origin),
            (Format::Sdwa, 0 | 1) => (self.selected(planes, i), origin),
            _ => (planes, origin),
        }
    }

    /// DPP: lanes take the first source from others. What a plain move takes from a lane that is off is undefined; other
    /// operations are written so that it does not matter.
    fn moved(&self, id: u16, planes: Planes, origin: Origin) -> (Planes, Origin) {
        let Some(dpp) = self.inst.dpp() else { return (planes, origin) };
        let full = dpp.bank_mask == 15 && dpp.row_mask == 15 && !dpp.bound_ctrl;
        let meant = !full || self.inst.op != Op::VMovB32 || self.marks.whole_wave || self.marks.is_whole(id);
        let (mut out, mut off) = (CLEAN, 0);
        for lane in bits(self.lanes) {
            let Some(from) = source_lane(dpp.ctrl, lane as usize) else { continue };
            if self.lanes >> from & 1 == 0 {
                off |= u64::from(!meant) << lane;
                continue;
            }
            for (out, planes) in out.iter_mut().zip(planes) {
                *out |= (planes >> from & 1) << lane;
            }
        }
        if off == 0 { (out, origin) } else { (out.map(|plane| plane | off), self.marks.off) }
    }

    /// SDWA: a part of the dword.
    fn selected(&self, planes: Planes, i: usize) -> Planes {
        let Some(sdwa) = self.inst.sdwa() else { return planes };
        match sdwa.src_sel[i] {
            Sel::Byte(b) => {
                let byte = planes[usize::from(b & 3)];
                if sdwa.sext[i] { [byte; 4] } else { [byte, 0, 0, 0] }
            }
            Sel::Word(w) => {
                let (low, high) = if w == 0 { (planes[0], planes[1]) } else { (planes[2], planes[3]) };
                if sdwa.sext[i] { [low, high, high, high] } else { [low, high, 0, 0] }
            }
            Sel::Dword => planes,
        }
    }

    /// A lane's value of source `i`.
    fn value(&self, i: usize, lane: u32) -> u32 {
        match self.inst.src[i] {
            Operand::Vgpr(n) if self.regs.v.has(usize::from(n) + 1) => self.regs.v.get(n.into(), lane),
            Operand::Sgpr(n) => self.regs.s[usize::from(n & 127)],
            operand => operand.constant(self.inst.entry().src[i]).unwrap_or(0) as u32,
        }
    }

    /// The constant that source `i` is.
    fn constant(&self, i: usize) -> Option<u32> {
        match self.inst.src[i] {
            Operand::InlineInt(v) => Some(v as i32 as u32),
            Operand::Literal(v) => Some(v),
            _ => None,
        }
    }

    /// Lanes whose byte `b` of source `i` is this value.
    fn byte_is(&self, i: usize, b: usize, byte: u32) -> Mask {
        let is = |v: u32| v >> (8 * b) & 0xff == byte;
        match self.inst.src[i] {
            Operand::Vgpr(_) if self.inst.format != Format::Sdwa && self.inst.format != Format::Dpp => {
                bits(self.lanes).filter(|&lane| is(self.value(i, lane))).fold(0, |all, lane| all | 1 << lane)
            }
            Operand::Vgpr(_) => 0,
            _ if is(self.value(i, 0)) => Mask::MAX,
            _ => 0,
        }
    }

    fn vector(&mut self, reads: &[u16], writes: &[u16]) {
        match self.inst.op {
            Op::VReadfirstlaneB32 | Op::VReadlaneB32 => return self.read_lane(),
            Op::VWritelaneB32 => {
                if let Some(id) = id(self.inst.dst, 0) {
                    let lane = self.value(1, 0) & 63;
                    let (marked, origin) = self.planes(0, 0);
                    self.marks.set(id, 1 << lane, marked, origin);
                    self.marks.written_lane(id);
                }
                return;
            }
            Op::VRcpIflagF32 | Op::VRcpF32 => self.division(),
            _ => {}
        }
        writes.iter().for_each(|&id| self.marks.written(id, self.lanes));
        if self.inst.format != Format::Dpp && !reads.iter().any(|id| self.marks.is_marked(*id)) {
            return self.define(writes);
        }
        if self.inst.entry().compare().is_some() {
            return self.compare();
        }
        let one = self.inst.entry().dst.dwords() == 1 && self.inst.sdst == super::inst::NO_SDST;
        if let (true, Some((planes, origin))) = (one, self.exact())
            && let Some(id) = id(self.inst.dst, 0)
        {
            let planes = self.kept(id, planes);
            self.marks.set(id, self.lanes, planes, origin);
            return;
        }
        if matches!(self.inst.op, Op::VLshlrevB64 | Op::VLshlAddU64) && self.wide_shift() {
            return;
        }
        self.each_lane(writes);
    }

    /// What an SDWA result leaves of its destination.
    fn kept(&self, id: u16, planes: Planes) -> Planes {
        let Some(sdwa) = self.inst.sdwa() else { return planes };
        let old = self.marks.planes(id);
        let keeps = sdwa.unused == super::inst::Unused::Preserve;
        let rest = |b: usize| if keeps { old[b] } else { 0 };
        match sdwa.dst_sel {
            Sel::Byte(at) => {
                std::array::from_fn(|b| if b == usize::from(at & 3) { planes[0] } else { rest(b) })
            }
            Sel::Word(w) => {
                let first = 2 * usize::from(w & 1);
                std::array::from_fn(|b| match b.checked_sub(first) {
                    Some(p @ 0..=1) => planes[p],
                    _ => rest(b),
                })
            }
            Sel::Dword => planes,
        }
    }

    /// Results byte by byte, where the operation allows it; with where the marks come from.
    fn exact(&self) -> Option<(Planes, Origin)> {
        let ((a, from_a), (b, from_b), (c, from_c)) =
            (self.planes(0, 0), self.planes(1, 0), self.planes(2, 0));
        let origin = match () {
            () if any(a) & self.lanes != 0 => from_a,
            () if any(b) & self.lanes != 0 => from_b,
            () => from_c,
        };
        let both = |a: Planes, b: Planes| -> Planes { std::array::from_fn(|i| a[i] | b[i]) };
        let and = |a: Planes, i: usize, b: Planes, k: usize| -> Planes {
            std::array::from_fn(|p| {
                let off = self.byte_is(i, p, 0) & !a[p] | self.byte_is(k, p, 0) & !b[p];
                (a[p] | b[p]) & !off
            })
        };
        let or = |a: Planes, i: usize, b: Planes, k: usize| -> Planes {
            std::array::from_fn(|p| {
                let on = self.byte_is(i, p, 0xff) & !a[p] | self.byte_is(k, p, 0xff) & !b[p];
                (a[p] | b[p]) & !on
            })
        };
        let shifted = |planes: Planes, by: u32, left: bool, fill: Mask| -> Planes {
            let by = by & 31;
            let (whole, part) = ((by / 8) as usize, !by.is_multiple_of(8));
            std::array::from_fn(|p| {
                let at = |q: usize| planes.get(q).copied();
                let (near, far) = match left {
                    true => (p.checked_sub(whole).and_then(at), p.checked_sub(whole + 1).and_then(at)),
                    false => (at(p + whole), at(p + whole + 1)),
                };
                let outside = if left { 0 } else { fill };
                near.unwrap_or(outside) | if part { far.unwrap_or(outside) } else { 0 }
            })
        };
        let result = match self.inst.op {
            Op::VMovB32 | Op::VNotB32 | Op::VAccvgprReadB32 | Op::VAccvgprWriteB32 => a,
            Op::VAndB32 => and(a, 0, b, 1),
            Op::VOrB32 => or(a, 0, b, 1),
            Op::VXorB32 => both(a, b),
            Op::VLshlrevB32 => shifted(b, self.constant(0)?, true, 0),
            Op::VLshrrevB32 => shifted(b, self.constant(0)?, false, 0),
            Op::VAshrrevI32 => shifted(b, self.constant(0)?, false, b[3]),
            Op::VLshlOrB32 => both(shifted(a, self.constant(1)?, true, 0), c),
            Op::VAndOrB32 => both(and(a, 0, b, 1), c),
            Op::VOr3B32 => both(both(a, b), c),
            Op::VBfeU32 => {
                let (offset, width) = (self.constant(1)? & 31, self.constant(2)? & 31);
                let moved = shifted(a, offset, false, 0);
                std::array::from_fn(|p| if (p as u32) * 8 < width { moved[p] } else { 0 })
            }
            Op::VCvtF32Ubyte0 => [a[0]; 4],
            Op::VCvtF32Ubyte1 => [a[1]; 4],
            Op::VCvtF32Ubyte2 => [a[2]; 4],
            Op::VCvtF32Ubyte3 => [a[3]; 4],
            Op::VCndmaskB32 => {
                let pair = match self.inst.src[2] {
                    Operand::Sgpr(n) => n,
                    _ => sreg::VCC,
                };
                let unknown = self.pair_bits(FIRST_SCALAR + u16::from(pair));
                let chosen = self.regs.pair(pair);
                std::array::from_fn(|p| a[p] & !chosen | b[p] & chosen | unknown)
            }
            _ => return None,
        };
        let origin = match self.inst.op {
            Op::VCndmaskB32 if (any(a) | any(b)) & self.lanes == 0 => {
                self.marks.origin(id(self.inst.src[2], 0).unwrap_or(VCC))
            }
            _ => origin,
        };
        Some((result, origin))
    }

    /// The low dword of a sum or a left shift does not depend on high ones.
    fn wide_shift(&mut self) -> bool {
        let Some(dst) = id(self.inst.dst, 0) else { return false };
        let (mut low, mut high, mut origin) = (0, 0, Origin::default());
        for i in 0..3 {
            let dwords = u16::from(self.inst.src_dwords(i));
            for d in 0..dwords {
                let (planes, from) = self.planes(i, d);
                let lanes = any(planes) & self.lanes;
                low |= if d == 0 { lanes } else { 0 };
                high |= lanes;
                origin = if lanes != 0 { from } else { origin };
            }
        }
        self.marks.set(dst, self.lanes, [low; 4], origin);
        self.marks.set(dst + 1, self.lanes, [high; 4], origin);
        true
    }

    /// Lanes in which a source is undefined, and where that comes from.
    fn undefined(&self) -> (Mask, Origin) {
        let (mut lanes, mut origin) = (0, Origin::default());
        let entry = self.inst.entry();
        let mut add = |some: Mask, from: Origin| {
            if some & self.lanes != 0 {
                (lanes, origin) = (lanes | some & self.lanes, from);
            }
        };
        for i in 0..3 {
            if entry.src[i] == Ty::Mask {
                if let Some(id) = id(self.inst.src[i], 0) {
                    add(self.pair_bits(id), self.marks.origin(id));
                }
                continue;
            }
            for d in 0..u16::from(self.inst.src_dwords(i)) {
                let (planes, from) = self.planes(i, d);
                add(any(planes), from);
            }
        }
        if entry.dst_read {
            for d in 0..u16::from(self.inst.dst_dwords()) {
                if let Some(id) = id(self.inst.dst, d) {
                    add(self.marks.lanes(id), self.marks.origin(id));
                }
            }
        }
        if entry.reads & super::table::implicit::VCC != 0 {
            add(self.pair_bits(VCC), self.marks.origin(VCC));
        }
        (lanes, origin)
    }

    /// A lane's results are undefined if one of its sources is; masks have a bit of each lane.
    fn each_lane(&mut self, writes: &[u16]) {
        let (lanes, origin) = self.undefined();
        for (n, &id) in writes.iter().enumerate() {
            if id == SCC || !self.marks.is_scalar(id) {
                self.marks.set(id, self.lanes, [lanes; 4], origin);
                continue;
            }
            // A pair: the first id is even among those that are written.
            let high = n > 0 && writes[n - 1] + 1 == id && self.marks.is_scalar(writes[n - 1]);
            self.marks.set_bits(id, if high { (lanes >> 32) as u32 } else { lanes as u32 }, origin);
        }
    }

    fn compare(&mut self) {
        let (lanes, origin) = self.undefined();
        let pair = match self.inst.dst {
            Operand::Sgpr(n) => n,
            _ if self.inst.sdst != super::inst::NO_SDST => self.inst.sdst,
            _ => sreg::VCC,
        };
        let mut put = |id: u16| {
            self.marks.set_bits(id, lanes as u32, origin);
            self.marks.set_bits(id + 1, (lanes >> 32) as u32, origin);
        };
        put(FIRST_SCALAR + u16::from(pair));
        if self.inst.entry().compare().is_some_and(|c| c.exec) {
            put(EXEC);
        }
    }

    fn read_lane(&mut self) {
        let Some(source) = id(self.inst.src[0], 0) else { return };
        let Some(dst) = id(self.inst.dst, 0) else { return };
        if self.marks.is_scalar(source) {
            let (bits, origin) = (self.marks.bits(source), self.marks.origin(source));
            return self.marks.set_bits(dst, bits, origin);
        }
        let first = Marks::first(self.lanes);
        let lane = match self.inst.op {
            Op::VReadlaneB32 => self.value(1, 0) & 63,
            _ => first,
        };
        if self.inst.op == Op::VReadfirstlaneB32 && self.lanes != 0 {
            // Loops over the different values begin like this, too.
            let value = self.value(0, first);
            // What only one lane has computed is for all of them: an atomic that one makes for the others.
            let alone = self.marks.last_lanes(source).count_ones() == 1;
            let other = bits(self.lanes).find(|&l| self.always && !alone && self.value(0, l) != value);
            if let Some(other) = other {
                self.marks.found.push(Found::Divergent { lane: first, other });
            }
        } else if self.lanes >> lane & 1 == 0 && self.lanes != 0 && !self.marks.is_whole(source) {
            self.marks.found.push(Found::LaneOff { lane: first, other: lane });
            return self.marks.clear(dst, self.lanes);
        }
        let marked = self.marks.lanes(source) >> lane & 1 == 1;
        let origin = self.marks.origin(source);
        self.marks.set_bits(dst, if marked { u32::MAX } else { 0 }, origin);
    }

    fn crosses_lanes(&self) -> bool {
        matches!(self.inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32)
    }

    /// Lanes give each other their values; what a lane that is off would have given is undefined.
    fn shuffle(&mut self) {
        let Some(dst) = id(self.inst.dst, 0) else { return };
        if self.inst.op == Op::DsPermuteB32 {
            let (lanes, origin) = self.undefined();
            let all = if lanes != 0 { self.lanes } else { 0 };
            return self.marks.set(dst, self.lanes, [all; 4], origin);
        }
        let code = self.inst.imm as u32;
        let swizzle = self.inst.op == Op::DsSwizzleB32;
        let data = if swizzle { 0 } else { 1 };
        let Some(source) = id(self.inst.src[data], 0) else { return };
        let from = |lane: u32| match swizzle {
            true if code >> 15 & 1 == 1 => lane & !3 | code >> (2 * (lane & 3)) & 3,
            true => lane & 32 | (lane & 31 & code | code >> 5 & 31) ^ code >> 10 & 31,
            false => self.value(0, lane).wrapping_add(code & 0xffff) >> 2 & 63,
        };
        let (marked, mut origin) = (self.marks.planes(source), self.marks.origin(source));
        let (address, from_address) = if swizzle { (CLEAN, origin) } else { self.planes(0, 0) };
        let mut out = CLEAN;
        let mut off = 0;
        for lane in bits(self.lanes) {
            let other = from(lane);
            if self.lanes >> other & 1 == 0 {
                off |= 1 << lane;
                continue;
            }
            for (out, plane) in out.iter_mut().zip(marked) {
                *out |= (plane >> other & 1) << lane;
            }
        }
        if any(address) & self.lanes != 0 {
            out = [any(address); 4];
            origin = from_address;
        }
        if off != 0 {
            out = out.map(|plane| plane | off);
            origin = self.marks.off;
        }
        self.marks.set(dst, self.lanes, out, origin);
    }

    /// Integer division begins with the reciprocal of the divisor.
    fn division(&mut self) {
        if !self.always {
            return;
        }
        let zero = |lane: &u32| self.value(0, *lane) & 0x7fff_ffff == 0;
        let lanes = bits(self.lanes).filter(zero).fold(0, |all, lane| all | 1 << lane);
        if lanes != 0 {
            self.marks.found.push(Found::Division { lanes });
        }
    }
}
