//! Lane semantics: what each instruction computes. Operands are fetched as whole rows, computed in
//! chunks the compiler vectorises, and blended into the destination by mask.

use super::inst::{Builtin, Inst, Src};
use super::table::Op;
use super::views::{Bindings, Texture, View, dword};
use crate::lanes::{CHUNK, Row, Rows, bits};
use crate::{At, Bus, Flow, Mask, Trap, WaveStart, first_lanes};

/// Registers of a wave, the builtins that are fixed for its life, and scratch rows.
/// Scratch lives here because clearing fresh rows per instruction would cost more than adding.
#[derive(Clone, Debug)]
pub struct Regs {
    pub(super) rows: Rows<u32>,
    pub(super) count: u32,
    ids: Ids,
    operands: [Row<u32>; 3],
    out: [Row<u32>; 4],
}

#[derive(Clone, Debug)]
struct Ids {
    thread: Row<u32>,
    lane: Row<u32>,
    wave: u32,
    /// Lanes rounded up to whole chunks.
    stride: usize,
}

static ZERO: Row<u32> = [0; 64];

impl Regs {
    pub(super) fn new(count: u32, lanes: u32) -> Regs {
        let lanes = lanes.min(crate::MAX_LANES);
        let lane = std::array::from_fn(|i| i as u32);
        let stride = (lanes as usize).next_multiple_of(CHUNK);
        Regs {
            rows: Rows::new(count as usize * 4, lanes),
            count,
            ids: Ids { thread: lane, lane, wave: 0, stride },
            operands: [[0; 64]; 3],
            out: [[0; 64]; 4],
        }
    }

    pub(super) fn start(&mut self, start: &WaveStart) {
        self.rows.clear();
        let group = start.group.wrapping_mul(start.group_size);
        let first = group.wrapping_add(start.wave_in_group.wrapping_mul(start.lanes));
        self.ids.thread = std::array::from_fn(|i| first.wrapping_add(i as u32));
        self.ids.wave = start.wave_in_group;
    }

    /// Value of register component `row` (register * 4 + component) in a lane.
    pub fn get(&self, row: u16, lane: u32) -> u32 {
        self.rows.get(usize::from(row), lane)
    }

    fn mask(&self, at: &At) -> Mask {
        at.mask & first_lanes(self.rows.lanes())
    }
}

/// One position of an operand as a row; `tmp` holds it when it is not a row already.
#[inline(always)]
fn fetch<'a>(
    rows: &'a Rows<u32>,
    ids: &'a Ids,
    tmp: &'a mut Row<u32>,
    src: &Src,
    position: usize,
    clock: u64,
) -> &'a [u32] {
    let splat = match src {
        Src::Reg(_) => {
            return match src.row(position) {
                Some(row) => rows.row(usize::from(row)),
                None => &ZERO[..ids.stride],
            };
        }
        Src::Imm { count: 1, values, .. } => values[0],
        Src::Imm { values, .. } => values[position & 3],
        Src::Builtin(Builtin::ThreadId) => return &ids.thread[..ids.stride],
        Src::Builtin(Builtin::LaneId) => return &ids.lane[..ids.stride],
        Src::Builtin(Builtin::WaveId) => ids.wave,
        Src::Builtin(Builtin::Clock) => clock as u32,
    };
    let row = &mut tmp[..ids.stride];
    row.fill(splat);
    row
}

/// Writes `out` to a row in the lanes of `mask`, without a branch per lane.
#[inline(always)]
fn blend(rows: &mut Rows<u32>, row: u16, mask: Mask, out: &Row<u32>) {
    let full = mask == first_lanes(rows.lanes());
    let (chunks, _) = rows.row_mut(usize::from(row)).as_chunks_mut::<CHUNK>();
    let (out, _) = out.as_chunks::<CHUNK>();
    if full {
        for (r, o) in chunks.iter_mut().zip(out) {
            *r = *o;
        }
        return;
    }
    for (c, (r, o)) in chunks.iter_mut().zip(out).enumerate() {
        let lanes = (mask >> (c * CHUNK)) as u32;
        for i in 0..CHUNK {
            let keep = if lanes & (1 << i) != 0 { u32::MAX } else { 0 };
            r[i] = (o[i] & keep) | (r[i] & !keep);
        }
    }
}

/// Computes and writes every destination position; `compute` fills one output row.
#[inline(always)]
fn each_position(
    inst: &Inst,
    at: &At,
    regs: &mut Regs,
    compute: impl Fn(&Rows<u32>, &Ids, &mut [Row<u32>; 3], usize, &mut Row<u32>),
) {
    let mask = regs.mask(at);
    let count = inst.args.dst.swizzle.count();
    let Regs { rows, ids, operands, out, .. } = regs;
    if inst.hazard {
        for (p, out) in out.iter_mut().enumerate().take(count) {
            compute(rows, ids, operands, p, out);
        }
        for (p, out) in out.iter().enumerate().take(count) {
            blend(rows, inst.dst_row(p), mask, out);
        }
    } else {
        for p in 0..count {
            compute(rows, ids, operands, p, &mut out[0]);
            blend(rows, inst.dst_row(p), mask, &out[0]);
        }
    }
}

fn unary(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(u32) -> u32) {
    each_position(inst, at, regs, |rows, ids, [ta, ..], p, out| {
        let a = fetch(rows, ids, ta, &inst.args.src[0], p, at.clock);
        for (o, a) in out.as_chunks_mut::<CHUNK>().0.iter_mut().zip(a.as_chunks::<CHUNK>().0) {
            for i in 0..CHUNK {
                o[i] = f(a[i]);
            }
        }
    });
}

fn binary(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(u32, u32) -> u32) {
    each_position(inst, at, regs, |rows, ids, [ta, tb, _], p, out| {
        let a = fetch(rows, ids, ta, &inst.args.src[0], p, at.clock).as_chunks::<CHUNK>().0;
        let b = fetch(rows, ids, tb, &inst.args.src[1], p, at.clock).as_chunks::<CHUNK>().0;
        for (o, (a, b)) in out.as_chunks_mut::<CHUNK>().0.iter_mut().zip(a.iter().zip(b)) {
            for i in 0..CHUNK {
                o[i] = f(a[i], b[i]);
            }
        }
    });
}

fn ternary(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(u32, u32, u32) -> u32) {
    each_position(inst, at, regs, |rows, ids, [ta, tb, tc], p, out| {
        let a = fetch(rows, ids, ta, &inst.args.src[0], p, at.clock).as_chunks::<CHUNK>().0;
        let b = fetch(rows, ids, tb, &inst.args.src[1], p, at.clock).as_chunks::<CHUNK>().0;
        let c = fetch(rows, ids, tc, &inst.args.src[2], p, at.clock).as_chunks::<CHUNK>().0;
        let sources = a.iter().zip(b).zip(c);
        for (o, ((a, b), c)) in out.as_chunks_mut::<CHUNK>().0.iter_mut().zip(sources) {
            for i in 0..CHUNK {
                o[i] = f(a[i], b[i], c[i]);
            }
        }
    });
}

/// `binary` over floats.
#[inline(always)]
fn binary_f32(inst: &Inst, at: &At, regs: &mut Regs, f: impl Fn(f32, f32) -> f32) {
    binary(inst, at, regs, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
}

/// Length of the source over its own positions (no broadcast), summed left to right.
fn length(inst: &Inst, at: &At, regs: &mut Regs) -> Row<f32> {
    let src = &inst.args.src[0];
    let mut sum = [0f32; 64];
    for p in 0..src.positions() {
        let row = fetch(&regs.rows, &regs.ids, &mut regs.operands[0], src, p, at.clock);
        for (s, &v) in sum.iter_mut().zip(row) {
            let v = f32::from_bits(v);
            *s += v * v;
        }
    }
    sum.map(f32::sqrt)
}

fn len(inst: &Inst, at: &At, regs: &mut Regs) {
    let out = length(inst, at, regs).map(f32::to_bits);
    let mask = regs.mask(at);
    for p in 0..inst.args.dst.swizzle.count() {
        blend(&mut regs.rows, inst.dst_row(p), mask, &out);
    }
}

/// A vector of length 0 stays 0, whatever the sign of its components.
fn norm(inst: &Inst, at: &At, regs: &mut Regs) {
    let length = length(inst, at, regs);
    each_position(inst, at, regs, |rows, ids, [ta, ..], p, out| {
        let a = fetch(rows, ids, ta, &inst.args.src[0], p, at.clock);
        for ((o, &a), &l) in out.iter_mut().zip(a).zip(&length) {
            *o = if l == 0.0 { 0 } else { (f32::from_bits(a) / l).to_bits() };
        }
    });
}

/// Clamped to 0..1; what is not a number becomes 0.
#[inline(always)]
pub(super) fn unit(v: f32) -> f32 {
    if v > 1.0 {
        1.0
    } else if v > 0.0 {
        v
    } else {
        0.0
    }
}

/// Weight `t` belongs to `a`: a*t + b*(1-t), with `t` clamped to 0..1. (Shading languages weight `b`.)
#[inline(always)]
fn lerp(a: f32, b: f32, t: f32) -> f32 {
    let t = unit(t);
    a * t + b * (1.0 - t)
}

/// One lane's value of an operand position, for instructions that walk lanes anyway.
fn value(regs: &Regs, at: &At, src: &Src, position: usize, lane: u32) -> u32 {
    match src {
        Src::Reg(_) => src.row(position).map_or(0, |row| regs.rows.get(usize::from(row), lane)),
        Src::Imm { count: 1, values, .. } => values[0],
        Src::Imm { values, .. } => values[position & 3],
        Src::Builtin(Builtin::ThreadId) => regs.ids.thread[lane as usize & 63],
        Src::Builtin(Builtin::LaneId) => lane,
        Src::Builtin(Builtin::WaveId) => regs.ids.wave,
        Src::Builtin(Builtin::Clock) => at.clock as u32,
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
        let offset = value(regs, at, &inst.args.src[0], 0, lane);
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
            regs.out[p][lane as usize] = loaded;
        }
    }
    for p in 0..count {
        blend(&mut regs.rows, inst.dst_row(p), mask, &regs.out[p]);
    }
    Ok(())
}

/// Buffer: listed components take the value's positions in order. Texture: one texel at (x, y),
/// components that are not listed become 0.
fn st<B: Bus>(inst: &Inst, at: &At, regs: &Regs, bind: &Bindings, bus: &mut B) -> Result<(), Trap> {
    let view = inst.args.view;
    let name = ('u', view.index);
    let [addr, val, _] = &inst.args.src;
    let lanes = bits(regs.mask(at));
    match bind.view('u', view.index)? {
        &View::Buffer { base, bytes } => {
            for lane in lanes {
                let offset = value(regs, at, addr, 0, lane);
                for (p, &c) in view.swizzle.comps().iter().enumerate() {
                    let addr = dword("store", name, (base, bytes), offset, c)?;
                    bus.store(addr, 4, u64::from(value(regs, at, val, p, lane)))?;
                }
            }
        }
        texture => {
            let texture = Texture::of(texture, 'u', view.index)?;
            if addr.positions() < 2 {
                let text = format!("u{} is a texture: its address is two values, as in r0.xy", view.index);
                return Err(Trap::Other(text));
            }
            for lane in lanes {
                let mut rgba = [0; 4];
                for (p, &c) in view.swizzle.comps().iter().enumerate() {
                    rgba[usize::from(c & 3)] = value(regs, at, val, p, lane);
                }
                let texel = (value(regs, at, addr, 0, lane), value(regs, at, addr, 1, lane));
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
    let uv = &inst.args.src[0];
    let mask = regs.mask(at);
    let count = inst.args.dst.swizzle.count();
    for lane in bits(mask) {
        let u = f32::from_bits(value(regs, at, uv, 0, lane));
        let v = f32::from_bits(value(regs, at, uv, 1, lane));
        let colour = texture.sample(bus, &sampler, u, v)?;
        for p in 0..count {
            let picked = view.swizzle.at(p).map_or(0.0, |c| colour[usize::from(c & 3)]);
            regs.out[p][lane as usize] = picked.to_bits();
        }
    }
    for p in 0..count {
        blend(&mut regs.rows, inst.dst_row(p), mask, &regs.out[p]);
    }
    Ok(())
}

/// Active lanes whose (single) source component is not zero.
fn nonzero(inst: &Inst, at: &At, regs: &Regs) -> Mask {
    inst.args.src[0].row(0).map_or(0, |row| regs.rows.test(usize::from(row), |v| v != 0)) & at.mask
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
