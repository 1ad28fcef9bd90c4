//! Lane semantics: what each instruction computes. Operands are fetched as whole rows, computed in
//! chunks the compiler vectorises, and blended into the destination by mask.

use super::inst::{Builtin, Inst, Src, rows};
use super::table::Op;
use super::views::{Bindings, Texture, View, dword, unit};
use crate::lanes::{CHUNK, Rows, bits};
use crate::{At, Bus, Flow, MAX_LANES, Mask, Trap, WaveStart, first_lanes};

/// Registers of a wave. The file also holds what operands read besides registers (`inst::rows`).
#[derive(Clone, Debug)]
pub struct Regs {
    file: Rows<u32>,
    pub(super) count: u32,
}

impl Regs {
    pub(super) fn new(count: u32, lanes: u32) -> Regs {
        let rows = usize::from(rows::FIRST) + count as usize * 4;
        let mut regs = Regs { file: Rows::new(rows, lanes.min(MAX_LANES)), count };
        regs.start(&WaveStart::default());
        regs
    }

    pub(super) fn start(&mut self, start: &WaveStart) {
        self.file.clear();
        let group = start.group.wrapping_mul(start.group_size);
        let first = group.wrapping_add(start.wave_in_group.wrapping_mul(start.lanes));
        for lane in 0..self.file.lanes() {
            self.file.set(usize::from(rows::THREAD), lane, first.wrapping_add(lane));
            self.file.set(usize::from(rows::LANE), lane, lane);
            self.file.set(usize::from(rows::WAVE), lane, start.wave_in_group);
        }
    }

    /// Value of register component `id` (register * 4 + component) in a lane.
    pub fn get(&self, id: u16, lane: u32) -> u32 {
        self.file.get(usize::from(rows::FIRST + id), lane)
    }

    fn mask(&self, at: &At) -> Mask {
        at.mask & first_lanes(self.file.lanes())
    }

    /// Fills the splat rows of the sources that need it, for one position.
    #[inline(always)]
    fn splat(&mut self, sources: &[Src], position: usize, clock: u64) {
        for (n, src) in sources.iter().enumerate() {
            let value = match src {
                // One value stands at every position: the row of position 0 is still right.
                Src::Imm { count: 1, .. } | Src::Builtin(Builtin::Clock) if position > 0 => continue,
                Src::Imm { .. } => src.immediate(position).unwrap_or(0),
                Src::Builtin(Builtin::Clock) => clock as u32,
                _ => continue,
            };
            let per_row = self.file.chunks_per_row();
            let first = (usize::from(rows::SPLAT) + n) * per_row;
            self.file.chunks_mut()[first..first + per_row].fill([value; CHUNK]);
        }
    }

    /// `dst = f(sources)` in the lanes of `mask`, chunk by chunk, without a branch per lane.
    /// A chunk is read before it is written, so a row may be source and destination.
    #[inline(always)]
    fn map<const N: usize>(&mut self, dst: u16, src: [u16; N], mask: Mask, f: impl Fn([u32; N]) -> u32) {
        let all = mask == first_lanes(self.file.lanes());
        let per_row = self.file.chunks_per_row();
        let chunks = self.file.chunks_mut();
        let dst = usize::from(dst) * per_row;
        let src = src.map(|row| usize::from(row) * per_row);
        let compute = |chunks: &[[u32; CHUNK]], c: usize| -> [u32; CHUNK] {
            let sources = src.map(|first| chunks[first + c]);
            std::array::from_fn(|i| f(sources.map(|chunk| chunk[i])))
        };
        if all {
            for c in 0..per_row {
                chunks[dst + c] = compute(chunks, c);
            }
            return;
        }
        for c in 0..per_row {
            let new = compute(chunks, c);
            let lanes = (mask >> (c * CHUNK)) as u32;
            let old = &mut chunks[dst + c];
            for i in 0..CHUNK {
                let keep = if lanes & (1 << i) != 0 { u32::MAX } else { 0 };
                old[i] = (new[i] & keep) | (old[i] & !keep);
            }
        }
    }
}

/// Computes every destination position of an instruction with `N` sources.
#[inline(always)]
fn apply<const N: usize>(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn([u32; N]) -> u32) {
    let mask = regs.mask(at);
    let count = inst.args.dst.swizzle.count();
    for p in 0..count {
        regs.splat(&inst.args.src[..N], p, at.clock);
        let src = std::array::from_fn(|n| inst.src_rows[n][p]);
        let dst = if inst.hazard { rows::HELD + p as u16 } else { inst.dst_rows[p] };
        regs.map(dst, src, mask, &f);
    }
    if inst.hazard {
        release(inst, regs, mask);
    }
}

/// Moves held results to the destination.
fn release(inst: &Inst, regs: &mut Regs, mask: Mask) {
    for p in 0..inst.args.dst.swizzle.count() {
        regs.map(inst.dst_rows[p], [rows::HELD + p as u16], mask, |[v]| v);
    }
}

fn unary(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(u32) -> u32) {
    apply(inst, at, regs, |[a]| f(a));
}

fn binary(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(u32, u32) -> u32) {
    apply(inst, at, regs, |[a, b]| f(a, b));
}

fn ternary(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(u32, u32, u32) -> u32) {
    apply(inst, at, regs, |[a, b, c]| f(a, b, c));
}

/// `binary` over floats.
#[inline(always)]
fn binary_f32(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(f32, f32) -> f32) {
    binary(inst, at, regs, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
}

/// Puts the source's length over its own positions (no broadcast, summed left to right) in a row.
fn length(inst: &Inst, at: &At, regs: &mut Regs) {
    let f = f32::from_bits;
    let every = first_lanes(regs.file.lanes());
    let sum = rows::LENGTH;
    regs.map(sum, [rows::ZERO], every, |[_]| 0);
    for p in 0..inst.args.src[0].positions() {
        regs.splat(&inst.args.src[..1], p, at.clock);
        regs.map(sum, [sum, inst.src_rows[0][p]], every, |[s, v]| (f(s) + f(v) * f(v)).to_bits());
    }
    regs.map(sum, [sum], every, |[s]| f(s).sqrt().to_bits());
}

fn len(inst: &Inst, at: &At, regs: &mut Regs) {
    length(inst, at, regs);
    let mask = regs.mask(at);
    for p in 0..inst.args.dst.swizzle.count() {
        regs.map(inst.dst_rows[p], [rows::LENGTH], mask, |[v]| v);
    }
}

/// A vector of length 0 stays 0, whatever the sign of its components.
fn norm(inst: &Inst, at: &At, regs: &mut Regs) {
    length(inst, at, regs);
    let mask = regs.mask(at);
    for p in 0..inst.args.dst.swizzle.count() {
        // Filled anew: `length` left the last position's value.
        if let Some(value) = inst.args.src[0].immediate(p) {
            let every = first_lanes(regs.file.lanes());
            regs.map(rows::SPLAT, [rows::ZERO], every, |[_]| value);
        }
        let dst = if inst.hazard { rows::HELD + p as u16 } else { inst.dst_rows[p] };
        regs.map(dst, [inst.src_rows[0][p], rows::LENGTH], mask, |[v, l]| {
            let l = f32::from_bits(l);
            if l == 0.0 { 0 } else { (f32::from_bits(v) / l).to_bits() }
        });
    }
    if inst.hazard {
        release(inst, regs, mask);
    }
}

/// Weight `t` belongs to `a`: a*t + b*(1-t), with `t` clamped to 0..1. (Shading languages weight `b`.)
#[inline(always)]
fn lerp(a: f32, b: f32, t: f32) -> f32 {
    let t = unit(t);
    a * t + b * (1.0 - t)
}

/// One lane's value of source `n`, for instructions that walk lanes anyway.
#[inline]
fn value(inst: &Inst, at: &At, regs: &Regs, n: usize, position: usize, lane: u32) -> u32 {
    match &inst.args.src[n] {
        Src::Builtin(Builtin::Clock) => at.clock as u32,
        src => match src.immediate(position) {
            Some(value) => value,
            None => regs.file.get(usize::from(inst.src_rows[n][position & 3]), lane),
        },
    }
}

/// Dwords of a buffer at the byte address in the first position; the view's components pick them.
fn ld<B: Bus>(inst: &Inst, at: &At, regs: &mut Regs, bind: &Bindings, bus: &mut B) -> Result<(), Trap> {
    let view = inst.args.view;
    let &View::Buffer { base, bytes } = bind.view('t', view.index)? else {
        let text = format!("view t{} is a texture; ld reads buffers, sample reads textures", view.index);
        return Err(Trap::Other(text));
    };
    let mask = regs.mask(at);
    let count = inst.args.dst.swizzle.count();
    for lane in bits(mask) {
        let offset = value(inst, at, regs, 0, 0, lane);
        bus.lane(lane);
        let mut loaded = 0;
        for p in 0..count {
            // One component is loaded once and broadcast.
            if p == 0 || view.swizzle.count() > 1 {
                loaded = match view.swizzle.at(p) {
                    Some(c) => {
                        let addr = dword("load", ('t', view.index), (base, bytes), offset, c)?;
                        bus.load(addr, 4)? as u32
                    }
                    None => 0,
                };
            }
            regs.file.set(usize::from(rows::HELD) + p, lane, loaded);
        }
    }
    release(inst, regs, mask);
    Ok(())
}

/// Buffer: listed components take the value's positions in order. Texture: one texel at (x, y),
/// components that are not listed become 0.
fn st<B: Bus>(inst: &Inst, at: &At, regs: &Regs, bind: &Bindings, bus: &mut B) -> Result<(), Trap> {
    let view = inst.args.view;
    let name = ('u', view.index);
    let lanes = bits(regs.mask(at));
    match bind.view('u', view.index)? {
        &View::Buffer { base, bytes } => {
            for lane in lanes {
                let offset = value(inst, at, regs, 0, 0, lane);
                bus.lane(lane);
                for (p, &c) in view.swizzle.comps().iter().enumerate() {
                    let addr = dword("store", name, (base, bytes), offset, c)?;
                    bus.store(addr, 4, u64::from(value(inst, at, regs, 1, p, lane)))?;
                }
            }
        }
        texture => {
            let texture = Texture::of(texture, 'u', view.index)?;
            if inst.args.src[0].positions() < 2 {
                let text = format!("u{} is a texture: its address is two values, as in r0.xy", view.index);
                return Err(Trap::Other(text));
            }
            for lane in lanes {
                let mut rgba = [0; 4];
                for (p, &c) in view.swizzle.comps().iter().enumerate() {
                    rgba[usize::from(c & 3)] = value(inst, at, regs, 1, p, lane);
                }
                let texel = (value(inst, at, regs, 0, 0, lane), value(inst, at, regs, 0, 1, lane));
                texture.store(bus, name, texel, rgba)?;
            }
        }
    }
    Ok(())
}

fn sample<B: Bus>(inst: &Inst, at: &At, regs: &mut Regs, bind: &Bindings, bus: &mut B) -> Result<(), Trap> {
    let view = inst.args.view;
    let texture = Texture::of(bind.view('t', view.index)?, 't', view.index)?;
    let sampler = bind.sampler(inst.args.sampler);
    let mask = regs.mask(at);
    let count = inst.args.dst.swizzle.count();
    for lane in bits(mask) {
        let u = f32::from_bits(value(inst, at, regs, 0, 0, lane));
        let v = f32::from_bits(value(inst, at, regs, 0, 1, lane));
        let colour = texture.sample(bus, &sampler, u, v)?;
        for p in 0..count {
            let picked = view.swizzle.at(p).map_or(0.0, |c| colour[usize::from(c & 3)]);
            regs.file.set(usize::from(rows::HELD) + p, lane, picked.to_bits());
        }
    }
    release(inst, regs, mask);
    Ok(())
}

/// Active lanes whose (single) source component is not zero.
fn nonzero(inst: &Inst, at: &At, regs: &Regs) -> Mask {
    regs.file.test(usize::from(inst.src_rows[0][0]), |v| v != 0) & at.mask
}

pub(super) fn exec<B: Bus>(
    inst: &Inst,
    at: &At,
    regs: &mut Regs,
    bind: &Bindings,
    bus: &mut B,
) -> Result<Flow, Trap> {
    if u32::from(inst.regs) > regs.count {
        let text = format!("r{} is used, but a lane has {} registers", inst.regs - 1, regs.count);
        return Err(Trap::Other(text));
    }
    let flag = u32::from;
    let f = f32::from_bits;
    match inst.op {
        Op::Mov => unary(inst, at, regs, |a| a),
        Op::Utof => unary(inst, at, regs, |a| (a as f32).to_bits()),
        Op::Clamp => unary(inst, at, regs, |a| unit(f(a)).to_bits()),
        Op::AbsF32 => unary(inst, at, regs, |a| a & 0x7fff_ffff),
        Op::Len => len(inst, at, regs),
        Op::Norm => norm(inst, at, regs),
        Op::AddF32 => binary_f32(inst, at, regs, |a, b| a + b),
        Op::SubF32 => binary_f32(inst, at, regs, |a, b| a - b),
        Op::MulF32 => binary_f32(inst, at, regs, |a, b| a * b),
        Op::DivF32 => binary_f32(inst, at, regs, |a, b| a / b),
        Op::LtF32 => binary(inst, at, regs, |a, b| flag(f(a) < f(b))),
        Op::GtF32 => binary(inst, at, regs, |a, b| flag(f(a) > f(b))),
        Op::AddU32 => binary(inst, at, regs, u32::wrapping_add),
        Op::SubU32 => binary(inst, at, regs, u32::wrapping_sub),
        Op::MulU32 => binary(inst, at, regs, u32::wrapping_mul),
        Op::DivU32 => binary(inst, at, regs, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        Op::LtU32 => binary(inst, at, regs, |a, b| flag(a < b)),
        Op::GtU32 => binary(inst, at, regs, |a, b| flag(a > b)),
        Op::And => binary(inst, at, regs, |a, b| a & b),
        Op::Or => binary(inst, at, regs, |a, b| a | b),
        // Two roundings: the product is rounded before the sum.
        Op::MadF32 => ternary(inst, at, regs, |a, b, c| (f(a) * f(b) + f(c)).to_bits()),
        Op::MadU32 => ternary(inst, at, regs, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Op::Lerp => ternary(inst, at, regs, |a, b, t| lerp(f(a), f(b), f(t)).to_bits()),
        Op::Ld => ld(inst, at, regs, bind, bus)?,
        Op::St => st(inst, at, regs, bind, bus)?,
        Op::Sample => sample(inst, at, regs, bind, bus)?,
        Op::PushMask => return Ok(Flow::PushMask { reconverge: inst.args.target[0] }),
        Op::PopMask => return Ok(Flow::PopMask),
        Op::MaskNz => return Ok(Flow::MaskNonZero { keep: nonzero(inst, at, regs) }),
        Op::BrPush => {
            let [other, reconverge] = inst.args.target;
            return Ok(Flow::BranchPush { taken: nonzero(inst, at, regs), other, reconverge });
        }
        Op::Jmp => return Ok(Flow::Jump(inst.args.target[0])),
        Op::Ret => return Ok(Flow::Exit { lanes: at.mask }),
    }
    Ok(Flow::Next)
}
