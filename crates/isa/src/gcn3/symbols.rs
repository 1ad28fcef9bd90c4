//! Immediates that are written symbolically: wait counters, hardware registers, messages, index modes
//! and swizzles. Each has a printer; the parsers stand beside the assembler.

use std::fmt::Write;

/// Names by number; the empty ones are printed as numbers.
pub(super) const HWREGS: [&str; 8] = [
    "",
    "HW_REG_MODE",
    "HW_REG_STATUS",
    "HW_REG_TRAPSTS",
    "HW_REG_HW_ID",
    "HW_REG_GPR_ALLOC",
    "HW_REG_LDS_ALLOC",
    "HW_REG_IB_STS",
];

pub(super) const MESSAGES: [(&str, u32); 5] =
    [("MSG_INTERRUPT", 1), ("MSG_GS", 2), ("MSG_GS_DONE", 3), ("MSG_SAVEWAVE", 4), ("MSG_SYSMSG", 15)];

pub(super) const GS_OPS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];

pub(super) const SYSMSG_OPS: [&str; 5] =
    ["", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"];

pub(super) const INDEX_MODES: [&str; 4] = ["SRC0", "SRC1", "SRC2", "DST"];

/// A counter of s_waitcnt: name, position and width.
pub(super) const COUNTERS: [(&str, u32, u32); 3] = [("vmcnt", 0, 4), ("expcnt", 4, 3), ("lgkmcnt", 8, 4)];

/// The counts of an s_waitcnt immediate: vector memory, export, and LDS/scalar memory/messages.
/// The highest count of a field (15, 7, 15) waits for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waitcnt {
    pub vm: u8,
    pub exp: u8,
    pub lgkm: u8,
}

impl Waitcnt {
    pub fn from_imm(imm: i32) -> Waitcnt {
        Waitcnt { vm: (imm & 15) as u8, exp: (imm >> 4 & 7) as u8, lgkm: (imm >> 8 & 15) as u8 }
    }
}

/// Register, first bit and number of bits of a hwreg() immediate.
pub fn hwreg_fields(imm: i32) -> (u32, u32, u32) {
    let imm = imm as u32;
    (imm & 63, imm >> 6 & 31, (imm >> 11 & 31) + 1)
}

pub(super) fn waitcnt(out: &mut String, imm: u32) {
    let full = |width: u32| (1 << width) - 1;
    let value = |&(_, shift, width): &(&str, u32, u32)| imm >> shift & full(width);
    let all = COUNTERS.iter().all(|c| value(c) == full(c.2));
    let mut first = true;
    for counter in &COUNTERS {
        if all || value(counter) != full(counter.2) {
            let _ = write!(out, "{}{}({})", if first { "" } else { " " }, counter.0, value(counter));
            first = false;
        }
    }
}

pub(super) fn hwreg(out: &mut String, imm: u32) {
    let (id, first, count) = hwreg_fields(imm as i32);
    out.push_str("hwreg(");
    match HWREGS.get(id as usize) {
        Some(&name) if !name.is_empty() => out.push_str(name),
        _ => {
            let _ = write!(out, "{id}");
        }
    }
    if (first, count) != (0, 32) {
        let _ = write!(out, ", {first}, {count}");
    }
    out.push(')');
}

pub(super) fn sendmsg(out: &mut String, imm: u32) {
    let (id, op, stream) = (imm & 15, imm >> 4 & 7, imm >> 8 & 3);
    let name = MESSAGES.iter().find(|m| m.1 == id).map_or("", |m| m.0);
    let _ = match id {
        1 | 4 if op == 0 && stream == 0 => write!(out, "sendmsg({name})"),
        2 | 3 if (1..4).contains(&op) => write!(out, "sendmsg({name}, {}, {stream})", GS_OPS[op as usize]),
        3 if op == 0 && stream == 0 => write!(out, "sendmsg({name}, GS_OP_NOP)"),
        15 if (1..5).contains(&op) && stream == 0 => {
            write!(out, "sendmsg({name}, {})", SYSMSG_OPS[op as usize])
        }
        _ if imm & !0x37f != 0 => write!(out, "{imm}"),
        _ => write!(out, "sendmsg({id}, {op}, {stream})"),
    };
}

pub(super) fn index_mode(out: &mut String, imm: u32) {
    if imm > 15 {
        let _ = write!(out, "{imm:#x}");
        return;
    }
    out.push_str("gpr_idx(");
    let on = (0..4).filter(|i| imm >> i & 1 == 1).map(|i| INDEX_MODES[i]);
    out.push_str(&on.collect::<Vec<_>>().join(","));
    out.push(')');
}

/// The text after `offset:` of ds_swizzle_b32.
pub(super) fn swizzle(out: &mut String, imm: u32) {
    let (and, or, xor) = (imm & 31, imm >> 5 & 31, imm >> 10 & 31);
    let _ = if imm & 0xff00 == 0x8000 {
        let lane = |i: u32| imm >> (2 * i) & 3;
        write!(out, "swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3))
    } else if imm & 0x8000 != 0 {
        write!(out, "{imm}")
    } else if and == 31 && or == 0 && xor.is_power_of_two() {
        write!(out, "swizzle(SWAP,{xor})")
    } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        write!(out, "swizzle(REVERSE,{})", xor + 1)
    } else if (32 - and).is_power_of_two() && and < 31 && xor == 0 && or < 32 - and {
        write!(out, "swizzle(BROADCAST,{},{or})", 32 - and)
    } else {
        let bit = |i: u32| {
            let at = |mask: u32| mask >> i & 1 == 1;
            match (at(and), at(or) != at(xor)) {
                _ if at(or) => {
                    if at(xor) {
                        '0'
                    } else {
                        '1'
                    }
                }
                (false, true) => '1',
                (false, false) => '0',
                (true, true) => 'i',
                (true, false) => 'p',
            }
        };
        let mask: String = (0..5).rev().map(bit).collect();
        write!(out, "swizzle(BITMASK_PERM,\"{mask}\")")
    };
}
