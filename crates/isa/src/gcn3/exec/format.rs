//! Typed buffer loads and stores: 1 to 4 components of 8, 16 or 32 bits, normalised, scaled, integer or
//! float, as the descriptor or the
//! instruction says. Packed formats (10_11_11 and the like) are not supported.

use super::super::inst::{Format, Inst};
use super::super::state::Regs;
use super::access::{Access, status};
use super::common::unsupported;
use super::operand::vectors;
use super::space::{LOAD, STORE, each_lane};
use crate::{Bus, Mask, Trap};

/// What a descriptor says of a format, in the places of its last word: the components of registers, the number format, the data
/// format. MTBUF names the formats itself and takes components as they come.
fn described(inst: &Inst, access: &Access) -> u32 {
    const IN_ORDER: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    match inst.format {
        Format::Mtbuf => {
            let (data, number) = (inst.imm as u32 >> 12 & 15, inst.imm as u32 >> 16 & 7);
            IN_ORDER | number << 12 | data << 15
        }
        _ => access.buffer.word3,
    }
}

/// Components and bits of each, by data format number.
fn layout(word3: u32) -> Option<(u32, u32)> {
    Some(match word3 >> 15 & 15 {
        1 => (1, 8),
        2 => (1, 16),
        3 => (2, 8),
        4 => (1, 32),
        5 => (2, 16),
        10 => (4, 8),
        11 => (2, 32),
        12 => (4, 16),
        13 => (3, 32),
        14 => (4, 32),
        _ => return None,
    })
}

fn half_to_f32(half: u32) -> f32 {
    let (exponent, fraction) = (half >> 10 & 31, half & 0x3ff);
    let magnitude = match exponent {
        0 => fraction as f32 * 2f32.powi(-24),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1.0 + fraction as f32 / 1024.0) * 2f32.powi(e as i32 - 15),
    };
    if half >> 15 & 1 == 1 { -magnitude } else { magnitude }
}

/// Rounded to nearest, ties to even.
fn f32_to_half(value: f32) -> u32 {
    let sign = value.to_bits() >> 16 & 0x8000;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // In steps of the last place; a carry into the exponent comes out right by itself.
    let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(-14);
    let steps = (magnitude * 2f32.powi(10 - exponent)).round_ties_even() as u32;
    sign | ((((exponent + 14) as u32) << 10) + steps)
}

/// A component as the register holds it. Number formats: unorm, snorm, uscaled, sscaled, uint, sint, float.
fn decode(number: u32, bits: u32, raw: u32) -> Option<u32> {
    let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
    let top = (1u64 << (bits - 1)) as f64 - 1.0;
    let value = match number {
        0 => (f64::from(raw) / ((1u64 << bits) - 1) as f64) as f32,
        1 => (f64::from(signed) / top).max(-1.0) as f32,
        2 => raw as f32,
        3 => signed as f32,
        4 => return Some(raw),
        5 => return Some(signed as u32),
        7 if bits == 32 => return Some(raw),
        7 if bits == 16 => half_to_f32(raw),
        _ => return None,
    };
    Some(value.to_bits())
}

fn encode(number: u32, bits: u32, value: u32) -> Option<u32> {
    let float = f64::from(f32::from_bits(value));
    let all = ((1u64 << bits) - 1) as f64;
    let top = (1u64 << (bits - 1)) as f64 - 1.0;
    let keep = (u64::MAX >> (64 - bits)) as u32;
    // Conversions to integers turn a NaN into zero and stop at the ends.
    let raw = match number {
        0 => (float.clamp(0.0, 1.0) * all).round_ties_even() as u32,
        1 => (float.clamp(-1.0, 1.0) * top).round_ties_even() as i32 as u32,
        2 => float.clamp(0.0, all) as u32,
        3 => float.clamp(-top - 1.0, top) as i32 as u32,
        4 => value.min(keep),
        5 => (value as i32).clamp((-top - 1.0) as i32, top as i32) as u32,
        7 if bits == 32 => value,
        7 if bits == 16 => f32_to_half(f32::from_bits(value)),
        _ => return None,
    };
    Some(raw & keep)
}

pub(super) fn load<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    count: u32,
) -> Result<(), Trap> {
    let word3 = described(inst, access);
    let Some((components, width)) = layout(word3) else { return Err(unsupported(inst)) };
    let number = word3 >> 12 & 7;
    let integer = matches!(number, 4 | 5);
    let one = if integer { 1 } else { 1f32.to_bits() };
    let dst = vectors(regs, inst.dst, count)?;
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let mut texel = [0, 0, 0, if components < 4 { one } else { 0 }];
        let whole = components * width / 8;
        let inside = access.at(regs, LOAD, lane, 0, whole.min(4))?.is_some()
            && access.at(regs, LOAD, lane, whole - width / 8, width / 8)?.is_some();
        for k in 0..components {
            let bytes = width / 8;
            let addr = if inside { access.at(regs, LOAD, lane, k * bytes, bytes)? } else { None };
            texel[k as usize] = match addr {
                Some(addr) => {
                    let raw = bus.load(addr, bytes)? as u32;
                    decode(number, width, raw).ok_or_else(|| unsupported(inst))?
                }
                None => 0,
            };
        }
        for k in 0..count {
            let value = match word3 >> (3 * k) & 7 {
                1 => one,
                s @ 4..=7 if inside => texel[s as usize - 4],
                _ => 0,
            };
            regs.v.set(dst + k as usize, lane, value);
        }
        Ok(())
    })?;
    status(inst, regs, lanes, dst, count)
}

pub(super) fn store<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    count: u32,
) -> Result<(), Trap> {
    let word3 = described(inst, access);
    let Some((components, width)) = layout(word3) else { return Err(unsupported(inst)) };
    let data = vectors(regs, inst.dst, count)?;
    each_lane(lanes, |lane| {
        bus.lane(lane);
        // A component takes the first register whose selection names it, or zero.
        for c in 0..components {
            let from = (0..count).find(|&k| word3 >> (3 * k) & 7 == c + 4);
            let value = from.map_or(0, |k| regs.v.get(data + k as usize, lane));
            let raw = encode(word3 >> 12 & 7, width, value).ok_or_else(|| unsupported(inst))?;
            if let Some(addr) = access.at(regs, STORE, lane, c * width / 8, width / 8)? {
                bus.store(addr, width / 8, raw.into())?;
            }
        }
        Ok(())
    })
}
