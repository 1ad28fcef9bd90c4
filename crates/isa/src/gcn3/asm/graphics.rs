//! Interpolation and export, whose operands are of their own kind.

use super::cursor::{Cursor, Parse};
use super::modifiers::modifiers;
use super::operand::{Arg, Place, arg, fit};
use crate::gcn3::inst::{Format, Inst, flag};
use crate::gcn3::op::Op;
use crate::gcn3::operand::{Operand, Ty};
use crate::gcn3::symbols::{CHANNELS, CORNERS, TARGETS};
use crate::gcn3::table::modifier;
use std::ops::Range;

/// The last attribute that llvm-mc takes.
const LAST: u32 = 32;

pub(super) fn interpolation(
    c: &mut Cursor,
    op: Op,
    forced: Option<Format>,
    name: Range<usize>,
) -> Parse<Inst> {
    let entry = op.line(c.generation.gcn);
    let format = match forced {
        Some(Format::Vop3) => Format::Vop3,
        _ => entry.format,
    };
    let mut inst = Inst::of(c.generation.gcn, op, format);
    let dst = arg(c)?;
    inst.dst = plain(c, &dst)?;
    c.expect(',')?;
    if entry.src[1] == Ty::Imm16 {
        let here = c.here();
        let word = c.word().map_or("", |w| w.0);
        let Some(n) = CORNERS.iter().position(|corner| *corner == word) else {
            return Err(c.error(here, "p10, p20 or p0 must stand here", "here"));
        };
        inst.src[1] = Operand::InlineInt(n as i8);
    } else {
        coordinate(c, &mut inst, 1)?;
    }
    c.expect(',')?;
    inst.imm = attribute(c)? as i32;
    if entry.src[2] != Ty::None {
        c.expect(',')?;
        coordinate(c, &mut inst, 2)?;
    }
    let mut mods = modifiers(c)?;
    if format == Format::Vop3 {
        if entry.format == Format::Vop3 && mods.word("high") {
            inst.imm |= 1 << 8;
        }
        if entry.mods & modifier::CLAMP != 0 {
            inst.flags = mods.flags(flag::CLAMP);
        }
        if entry.mods & modifier::OMOD != 0 {
            inst.omod = mods.omod(c)?;
        }
    } else if inst.neg | inst.abs != 0 {
        return Err(c.error(name, format!("`{}` takes no modifier in this form", entry.name), "here"));
    }
    mods.finish(c, entry.name)?;
    Ok(inst)
}

fn plain(c: &Cursor, arg: &Arg) -> Parse<Operand> {
    if arg.neg || arg.abs || arg.sext {
        return Err(c.error(arg.span.clone(), "no modifier can stand here", "here"));
    }
    fit(c, arg, Ty::B32, Place::Vector)
}

/// A vector register, perhaps negated.
fn coordinate(c: &mut Cursor, inst: &mut Inst, i: usize) -> Parse<()> {
    let arg = arg(c)?;
    inst.src[i] = fit(c, &arg, Ty::B32, Place::Vector)?;
    inst.neg |= u8::from(arg.neg) << i;
    inst.abs |= u8::from(arg.abs) << i;
    Ok(())
}

/// `attr5.w`.
fn attribute(c: &mut Cursor) -> Parse<u32> {
    let here = c.here();
    let word = c.word().map_or("", |w| w.0);
    let parts = word.strip_prefix("attr").and_then(|rest| rest.split_once('.'));
    let found = parts.and_then(|(number, channel)| {
        let number = number.parse::<u32>().ok().filter(|n| *n <= LAST)?;
        let channel = CHANNELS.iter().position(|ch| channel.len() == 1 && channel.starts_with(*ch))?;
        Some(number | (channel as u32) << 6)
    });
    found.ok_or_else(|| c.error(here, format!("attr0.x to attr{LAST}.w must stand here"), "here"))
}

pub(super) fn export(c: &mut Cursor, inst: &mut Inst, name: Range<usize>) -> Parse<()> {
    let here = c.here();
    let word = c.word().map_or("", |w| w.0);
    let number = |&(target, first, count): &(&str, u32, u32)| {
        let rest = word.strip_prefix(target)?;
        match count {
            1 => rest.is_empty().then_some(first),
            _ => rest.parse::<u32>().ok().filter(|n| *n < count).map(|n| first + n),
        }
    };
    let Some(target) = TARGETS.iter().find_map(number) else {
        let error = c.error(here, format!("`{word}` is not a place to export to"), "here");
        return Err(error.hint("mrt0 to mrt7, mrtz, null, pos0 to pos3, param0 to param31"));
    };
    let mut values = [Operand::None; 4];
    for (i, value) in values.iter_mut().enumerate() {
        if i > 0 {
            c.expect(',')?;
        }
        if c.peek_word() == "off" {
            c.word();
        } else {
            let arg = arg(c)?;
            *value = plain(c, &arg)?;
        }
    }
    let mut mods = modifiers(c)?;
    let [done, compressed, valid] = ["done", "compr", "vm"].map(|word| mods.word(word));
    mods.finish(c, "exp")?;
    let mut enabled: u32 = (0..4).filter(|&i| values[i] != Operand::None).map(|i| 1 << i).sum();
    if compressed {
        enabled = 0;
        // Two halves in a register: the second place repeats the first, the fourth the third.
        for k in 0..2 {
            let (first, second) = (values[2 * k], values[2 * k + 1]);
            if second != Operand::None && second != first {
                return Err(c.error(name, "compressed values are written twice", "here"));
            }
            enabled |= if first == Operand::None { 0 } else { 3 << (2 * k) };
        }
        values = [values[0], values[2], Operand::None, Operand::None];
    }
    (inst.src, inst.dst) = ([values[0], values[1], values[2]], values[3]);
    let bits = u32::from(compressed) << 10 | u32::from(done) << 11 | u32::from(valid) << 12;
    inst.imm = (enabled | target << 4 | bits) as i32;
    Ok(())
}
