//! Immediates that are written symbolically: wait counters, hardware registers, messages, index modes
//! and swizzles. Each has a printer; the parsers stand beside the assembler.

use super::gcn::Gcn;
use std::fmt::Write;

/// Names by number; the empty ones are printed as numbers.
const HWREGS: [&str; 25] = [
    "",
    "HW_REG_MODE",
    "HW_REG_STATUS",
    "HW_REG_TRAPSTS",
    "HW_REG_HW_ID",
    "HW_REG_GPR_ALLOC",
    "HW_REG_LDS_ALLOC",
    "HW_REG_IB_STS",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "HW_REG_SH_MEM_BASES",
    "HW_REG_TBA_LO",
    "HW_REG_TBA_HI",
    "HW_REG_TMA_LO",
    "HW_REG_TMA_HI",
    "HW_REG_XCC_ID",
    "HW_REG_SQ_PERF_SNAPSHOT_DATA",
    "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
    "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
    "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
];

/// The names of hardware registers a generation has.
pub(super) fn hwregs(gcn: Gcn) -> &'static [&'static str] {
    match gcn {
        Gcn::Gfx8 => &HWREGS[..8],
        Gcn::Gfx900 | Gcn::Gfx906 | Gcn::Gfx908 | Gcn::Gfx90a => &HWREGS[..20],
        Gcn::Gfx940 => &HWREGS,
    }
}

const MESSAGES: [(&str, u32); 11] = [
    ("MSG_INTERRUPT", 1),
    ("MSG_GS", 2),
    ("MSG_GS_DONE", 3),
    ("MSG_SAVEWAVE", 4),
    ("MSG_SYSMSG", 15),
    ("MSG_STALL_WAVE_GEN", 5),
    ("MSG_HALT_WAVES", 6),
    ("MSG_ORDERED_PS_DONE", 7),
    ("MSG_EARLY_PRIM_DEALLOC", 8),
    ("MSG_GS_ALLOC_REQ", 9),
    ("MSG_GET_DOORBELL", 10),
];

/// The messages a generation has.
pub(super) fn messages(gcn: Gcn) -> &'static [(&'static str, u32)] {
    if gcn == Gcn::Gfx8 { &MESSAGES[..5] } else { &MESSAGES }
}

/// Operations of the system message: bits by number.
pub(super) fn has_sysmsg_op(gcn: Gcn, op: u32) -> bool {
    (1..5).contains(&op) && (gcn == Gcn::Gfx8 || op != 3)
}

pub(super) const GS_OPS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];

pub(super) const SYSMSG_OPS: [&str; 5] =
    ["", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"];

pub(super) const INDEX_MODES: [&str; 4] = ["SRC0", "SRC1", "SRC2", "DST"];

/// A counter of s_waitcnt: name, position and width.
pub(super) const COUNTERS: [(&str, u32, u32); 3] = [("vmcnt", 0, 4), ("expcnt", 4, 3), ("lgkmcnt", 8, 4)];

/// The two highest bits of vmcnt stand apart from the others, from gfx9 on.
const VM_HIGH: u32 = 14;

/// The value of a counter in the immediate of s_waitcnt, and the highest it can have.
pub(super) fn count(gcn: Gcn, counter: &(&str, u32, u32), imm: u32) -> (u32, u32) {
    let full = (1 << counter.2) - 1;
    let value = imm >> counter.1 & full;
    match (counter.0, gcn) {
        (_, Gcn::Gfx8) | ("expcnt" | "lgkmcnt", _) => (value, full),
        _ => (value | (imm >> VM_HIGH & 3) << 4, 63),
    }
}

/// The immediate with another value of a counter.
pub(super) fn with_count(gcn: Gcn, counter: &(&str, u32, u32), imm: u32, value: u32) -> u32 {
    let full = (1 << counter.2) - 1;
    let imm = imm & !(full << counter.1) | (value & full) << counter.1;
    match (counter.0, gcn) {
        (_, Gcn::Gfx8) | ("expcnt" | "lgkmcnt", _) => imm,
        _ => imm & !(3 << VM_HIGH) | (value >> 4 & 3) << VM_HIGH,
    }
}

/// The counts of an s_waitcnt immediate: vector memory, export, and LDS/scalar memory/messages.
/// The highest count of a field (15 or from gfx9 on 63, 7, 15) waits for nothing.
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

    /// The same for a generation; what waits for nothing is none.
    pub fn until(gcn: Gcn, imm: i32) -> [Option<u8>; 2] {
        let of = |counter| match count(gcn, counter, imm as u32) {
            (value, full) if value == full => None,
            (value, _) => Some(value as u8),
        };
        [of(&COUNTERS[0]), of(&COUNTERS[2])]
    }
}

/// Register, first bit and number of bits of a hwreg() immediate.
pub fn hwreg_fields(imm: i32) -> (u32, u32, u32) {
    let imm = imm as u32;
    (imm & 63, imm >> 6 & 31, (imm >> 11 & 31) + 1)
}

pub(super) fn waitcnt(out: &mut String, gcn: Gcn, imm: u32) {
    let all = COUNTERS.iter().all(|c| matches!(count(gcn, c, imm), (value, full) if value == full));
    let mut first = true;
    for counter in &COUNTERS {
        let (value, full) = count(gcn, counter, imm);
        if all || value != full {
            let _ = write!(out, "{}{}({value})", if first { "" } else { " " }, counter.0);
            first = false;
        }
    }
}

pub(super) fn hwreg(out: &mut String, gcn: Gcn, imm: u32) {
    let (id, first, count) = hwreg_fields(imm as i32);
    out.push_str("hwreg(");
    match hwregs(gcn).get(id as usize) {
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

pub(super) fn sendmsg(out: &mut String, gcn: Gcn, imm: u32) {
    let (id, op, stream) = (imm & 15, imm >> 4 & 7, imm >> 8 & 3);
    let name = messages(gcn).iter().find(|m| m.1 == id).map_or("", |m| m.0);
    let _ = match id {
        1 | 4..=10 if op == 0 && stream == 0 && !name.is_empty() => write!(out, "sendmsg({name})"),
        2 | 3 if (1..4).contains(&op) => write!(out, "sendmsg({name}, {}, {stream})", GS_OPS[op as usize]),
        3 if op == 0 && stream == 0 => write!(out, "sendmsg({name}, GS_OP_NOP)"),
        15 if has_sysmsg_op(gcn, op) && stream == 0 => {
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

/// The corners of v_interp_mov.
pub(super) const CORNERS: [&str; 3] = ["p10", "p20", "p0"];
pub(super) const CHANNELS: [char; 4] = ['x', 'y', 'z', 'w'];

/// Where exports go: the first number of each name, and how many there are.
pub(super) const TARGETS: [(&str, u32, u32); 5] =
    [("mrt", 0, 8), ("mrtz", 8, 1), ("null", 9, 1), ("pos", 12, 4), ("param", 32, 32)];

pub(super) fn target(out: &mut String, number: u32) {
    let found = TARGETS.iter().find(|t| (t.1..t.1 + t.2).contains(&number));
    let _ = match found {
        Some((name, _, 1)) => write!(out, "{name}"),
        Some((name, first, _)) => write!(out, "{name}{}", number - first),
        None => write!(out, "invalid_target_{number}"),
    };
}

/// Formats of data in buffers, by number.
pub(super) const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// What the bits of a component mean.
pub(super) const NUMBER_FORMATS: [&str; 8] =
    ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
/// The format that is not written: 8 bits, unsigned, normalised.
pub(super) const USUAL_FORMAT: u32 = 1;

/// ` format:[…]` of MTBUF; the data format is in bits 3:0.
pub(super) fn buffer_format(out: &mut String, format: u32) {
    let (data, number) = (format & 15, format >> 4 & 7);
    if format & 0x7f == USUAL_FORMAT {
        return;
    }
    let mut names = Vec::new();
    if data != USUAL_FORMAT {
        names.push(format!("BUF_DATA_FORMAT_{}", DATA_FORMATS[data as usize]));
    }
    if number != 0 {
        names.push(format!("BUF_NUM_FORMAT_{}", NUMBER_FORMATS[number as usize]));
    }
    let _ = write!(out, " format:[{}]", names.join(","));
}
