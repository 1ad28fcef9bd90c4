//! Parsers of symbolic immediates: wait counters, hardware registers, messages, index modes, swizzles.
//! Each also takes a plain number.

use super::cursor::{Cursor, Parse};
use crate::diag::nearest;
use crate::gcn3::symbols::{
    COUNTERS, DATA_FORMATS, GS_OPS, INDEX_MODES, NUMBER_FORMATS, SYSMSG_OPS, USUAL_FORMAT, count,
    has_sysmsg_op, hwregs, messages, with_count,
};

/// `vmcnt(0) expcnt(1) lgkmcnt(2)`, separated by spaces, `&` or commas.
pub(super) fn waitcnt(c: &mut Cursor) -> Parse<i32> {
    if c.at_number() {
        return Ok(c.int_in("the immediate", 0, 0xffff)? as i32);
    }
    let gcn = c.generation.gcn;
    let mut imm = COUNTERS.iter().fold(0, |imm, counter| with_count(gcn, counter, imm, u32::MAX));
    while !c.at_end() {
        let here = c.here();
        let word = c.word().map_or("", |w| w.0);
        let (name, saturate) = match word.strip_suffix("_sat") {
            Some(name) => (name, true),
            None => (word, false),
        };
        let Some(counter) = COUNTERS.iter().find(|counter| counter.0 == name) else {
            let error = c.error(here, format!("unknown counter `{word}`"), "here");
            return Err(error.hint("the counters are vmcnt, expcnt and lgkmcnt"));
        };
        let full = i128::from(count(gcn, counter, 0).1);
        c.expect('(')?;
        let value = c.int_in("the count", 0, if saturate { i32::MAX.into() } else { full })?;
        c.expect(')')?;
        imm = with_count(gcn, counter, imm, value.min(full) as u32);
        if !c.eat('&') {
            c.eat(',');
        }
    }
    Ok(imm as i32)
}

/// A name of `names` (by position, empty ones do not count) or a number up to `high`.
fn name_or_number(c: &mut Cursor, what: &str, names: &[(&str, u32)], high: i128) -> Parse<u32> {
    if c.at_number() {
        return Ok(c.int_in(what, 0, high)? as u32);
    }
    let here = c.here();
    let word = c.word().map_or("", |w| w.0);
    match names.iter().find(|n| n.0 == word && !word.is_empty()) {
        Some(found) => Ok(found.1),
        None => {
            let error = c.error(here, format!("unknown {what} `{word}`"), "here");
            Err(match nearest(word, names.iter().map(|n| n.0)) {
                Some(name) => error.hint(format!("did you mean `{name}`?")),
                None => error,
            })
        }
    }
}

fn numbered<'a>(names: &[&'a str]) -> Vec<(&'a str, u32)> {
    names.iter().enumerate().map(|(i, &name)| (name, i as u32)).collect()
}

/// `hwreg(NAME)` or `hwreg(NAME, first bit, bits)`.
pub(super) fn hwreg(c: &mut Cursor) -> Parse<i32> {
    if c.at_number() {
        return Ok(c.int_in("the immediate", 0, 0xffff)? as i32);
    }
    if c.peek_word() != "hwreg" {
        let here = c.here();
        return Err(c.error(here, "expected hwreg(…) or a number", "here"));
    }
    c.word();
    c.expect('(')?;
    let id = name_or_number(c, "hardware register", &numbered(hwregs(c.generation.gcn)), 63)?;
    let (mut first, mut bits) = (0, 32);
    if c.eat(',') {
        first = c.int_in("the first bit", 0, 31)?;
        c.expect(',')?;
        bits = c.int_in("the number of bits", 1, 32)?;
    }
    c.expect(')')?;
    Ok(id as i32 | (first as i32) << 6 | (bits as i32 - 1) << 11)
}

/// `sendmsg(MSG)`, `sendmsg(MSG, OP)` or `sendmsg(MSG, OP, stream)`.
pub(super) fn sendmsg(c: &mut Cursor) -> Parse<i32> {
    if c.at_number() {
        return Ok(c.int_in("the immediate", 0, 0xffff)? as i32);
    }
    if c.peek_word() != "sendmsg" {
        let here = c.here();
        return Err(c.error(here, "expected sendmsg(…) or a number", "here"));
    }
    c.word();
    c.expect('(')?;
    let start = c.here().start;
    let named = !c.at_number();
    let id = name_or_number(c, "message", messages(c.generation.gcn), 15)?;
    let (mut op, mut stream) = (0, 0);
    if c.eat(',') {
        let names = if id == 15 { numbered(&SYSMSG_OPS) } else { numbered(&GS_OPS) };
        op = name_or_number(c, "message operation", &names, 7)?;
        if c.eat(',') {
            stream = c.int_in("the stream", 0, 3)? as u32;
        }
    }
    let operations = match id {
        2 => 1..4,
        3 => 0..4,
        15 => 1..5,
        _ => 0..1,
    };
    let known = operations.contains(&op) && (id != 15 || has_sysmsg_op(c.generation.gcn, op));
    if named && !known {
        return Err(c.error(start..c.pos, "the message does not have this operation", "here"));
    }
    c.expect(')')?;
    Ok((id | op << 4 | stream << 8) as i32)
}

/// `gpr_idx(SRC0,DST)`.
pub(super) fn index_mode(c: &mut Cursor) -> Parse<i32> {
    if c.at_number() {
        return Ok(c.int_in("the index mode", 0, 15)? as i32);
    }
    if c.peek_word() != "gpr_idx" {
        let here = c.here();
        return Err(c.error(here, "expected gpr_idx(…) or a number", "here"));
    }
    c.word();
    c.expect('(')?;
    let mut mode = 0;
    while !c.eat(')') {
        mode |= 1 << name_or_number(c, "index mode", &numbered(&INDEX_MODES), -1)?;
        if c.peek() != Some(')') {
            c.expect(',')?;
        }
    }
    Ok(mode)
}

/// The value after `offset:` of ds_swizzle_b32.
pub(super) fn swizzle(c: &mut Cursor) -> Parse<i128> {
    if c.at_number() {
        return c.int_in("the offset", 0, 0xffff);
    }
    let here = c.here();
    if c.word().map_or("", |w| w.0) != "swizzle" {
        return Err(c.error(here, "expected swizzle(…) or a number", "here"));
    }
    c.expect('(')?;
    let here = c.here();
    let mode = c.word().map_or("", |w| w.0);
    c.expect(',')?;
    let value = match mode {
        "QUAD_PERM" => {
            let mut imm = 0x8000;
            for i in 0..4 {
                if i > 0 {
                    c.expect(',')?;
                }
                imm |= c.int_in("a lane", 0, 3)? << (2 * i);
            }
            imm
        }
        "SWAP" => {
            let size = power(c, 1, 16)?;
            31 | size << 10
        }
        "REVERSE" => {
            let size = power(c, 2, 32)?;
            31 | (size - 1) << 10
        }
        "BROADCAST" => {
            let size = power(c, 2, 32)?;
            c.expect(',')?;
            let lane = c.int_in("the lane", 0, size - 1)?;
            (32 - size) | lane << 5
        }
        "BITMASK_PERM" => bitmask(c)?,
        _ => {
            let error = c.error(here, format!("unknown swizzle mode `{mode}`"), "here");
            return Err(error.hint("QUAD_PERM, BITMASK_PERM, SWAP, REVERSE or BROADCAST"));
        }
    };
    c.expect(')')?;
    Ok(value)
}

fn power(c: &mut Cursor, low: i128, high: i128) -> Parse<i128> {
    let here = c.here();
    let size = c.int_in("the group size", low, high)?;
    if (size as u128).is_power_of_two() {
        return Ok(size);
    }
    Err(c.error(here, "the group size must be a power of two", "here"))
}

/// `"01pip"`: five lane bits, highest first; 0 and 1 set them, p keeps and i inverts them.
fn bitmask(c: &mut Cursor) -> Parse<i128> {
    c.expect('"')?;
    let here = c.here();
    let mask = c.word().map_or("", |w| w.0);
    c.expect('"')?;
    let (mut and, mut or, mut xor) = (0, 0, 0);
    for ch in mask.chars() {
        (and, or, xor) = (and << 1, or << 1, xor << 1);
        match ch {
            '0' => {}
            '1' => or |= 1,
            'p' => and |= 1,
            'i' => (and, xor) = (and | 1, xor | 1),
            _ => return Err(c.error(here, "a lane bit is 0, 1, p or i", "here")),
        }
    }
    if mask.len() != 5 {
        return Err(c.error(here, "five lane bits are needed", "here"));
    }
    Ok(and | or << 5 | xor << 10)
}

/// `[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]` in any order, or one of them; what is missing is as usual.
pub(super) fn buffer_format(c: &mut Cursor) -> Parse<i128> {
    c.expect('[')?;
    let (mut data, mut number) = (None, None);
    loop {
        let here = c.here();
        let word = c.word().map_or("", |w| w.0);
        let place = |names: &[&str], prefix| {
            let name = word.strip_prefix(prefix)?;
            names.iter().position(|n| *n == name)
        };
        if let (Some(n), None) = (place(&DATA_FORMATS, "BUF_DATA_FORMAT_"), data) {
            data = Some(n as i128);
        } else if let (Some(n), None) = (place(&NUMBER_FORMATS, "BUF_NUM_FORMAT_"), number) {
            number = Some(n as i128);
        } else {
            let error = c.error(here, "expected a data format and a number format, each once", "here");
            return Err(error.hint("for example BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT"));
        }
        if !c.eat(',') {
            break;
        }
    }
    c.expect(']')?;
    Ok(data.unwrap_or(USUAL_FORMAT.into()) | number.unwrap_or(0) << 4)
}
