//! The instruction table: one line per operation, from which decoder, assembler, disassembler and
//! static facts follow. Lines are grouped by the shortest encoding; longer ones follow from it.

mod ds;
mod entry;
mod flat;
mod mimg;
mod mubuf;
mod smem;
mod sop;
mod vop;
mod vop3;
mod vopc;

pub use entry::{CLASSES, Class, Compare, Ctl, Entry, implicit, modifier};

use super::format::Format;
use super::op::Op;
use std::collections::HashMap;
use std::sync::LazyLock;

const GROUPS: [&[Entry]; 14] = [
    sop::SOP2,
    sop::SOP1,
    sop::SOPC,
    sop::SOPK,
    sop::SOPP,
    smem::SMEM,
    vop::VOP1,
    vop::VOP2,
    vopc::VOPC,
    vop3::VOP3,
    ds::DS,
    flat::FLAT,
    mubuf::MUBUF,
    mimg::MIMG,
];

const fn count() -> usize {
    let mut n = 0;
    let mut g = 0;
    while g < GROUPS.len() {
        n += GROUPS[g].len();
        g += 1;
    }
    n
}

/// All lines in the order of [`Op`].
pub static TABLE: [Entry; count()] = {
    let mut table = [GROUPS[0][0]; count()];
    let (mut g, mut n) = (0, 0);
    while g < GROUPS.len() {
        let mut i = 0;
        while i < GROUPS[g].len() {
            assert!(GROUPS[g][i].op as usize == n, "table and Op differ in order");
            table[n] = GROUPS[g][i];
            i += 1;
            n += 1;
        }
        g += 1;
    }
    table
};

const NO_OP: u16 = u16::MAX;

/// Opcode number to table index, per encoding.
const fn index<const N: usize>(group: &[Entry], long: bool) -> [u16; N] {
    let mut codes = [NO_OP; N];
    let mut i = 0;
    while i < group.len() {
        let code = if long { group[i].vop3_code() } else { Some(group[i].code) };
        if let Some(code) = code {
            assert!(codes[code as usize] == NO_OP, "two operations with one code");
            codes[code as usize] = group[i].op as u16;
        }
        i += 1;
    }
    codes
}

static SOP2: [u16; 128] = index(sop::SOP2, false);
static SOP1: [u16; 256] = index(sop::SOP1, false);
static SOPC: [u16; 128] = index(sop::SOPC, false);
static SOPK: [u16; 32] = index(sop::SOPK, false);
static SOPP: [u16; 128] = index(sop::SOPP, false);
static SMEM: [u16; 256] = index(smem::SMEM, false);
static VOP1: [u16; 256] = index(vop::VOP1, false);
static VOP2: [u16; 64] = index(vop::VOP2, false);
static VOPC: [u16; 256] = index(vopc::VOPC, false);
static DS: [u16; 256] = index(ds::DS, false);
static FLAT: [u16; 128] = index(flat::FLAT, false);
static MUBUF: [u16; 128] = index(mubuf::MUBUF, false);
static MIMG: [u16; 128] = index(mimg::MIMG, false);
static VOP3: [u16; 1024] = index(&TABLE, true);

/// The operation with this code in this encoding (for SDWA and DPP ask for VOP1, VOP2 or VOPC).
pub fn by_code(format: Format, code: u32) -> Option<Op> {
    let codes: &[u16] = match format {
        Format::Sop2 => &SOP2,
        Format::Sop1 => &SOP1,
        Format::Sopc => &SOPC,
        Format::Sopk => &SOPK,
        Format::Sopp => &SOPP,
        Format::Smem => &SMEM,
        Format::Vop1 => &VOP1,
        Format::Vop2 => &VOP2,
        Format::Vopc => &VOPC,
        Format::Vop3 => &VOP3,
        Format::Ds => &DS,
        Format::Flat => &FLAT,
        Format::Mubuf => &MUBUF,
        Format::Mimg => &MIMG,
        Format::Sdwa | Format::Dpp => return None,
    };
    let &n = codes.get(code as usize)?;
    TABLE.get(usize::from(n)).map(|entry| entry.op)
}

/// The operation of a mnemonic without suffix.
pub fn by_name(name: &str) -> Option<Op> {
    static NAMES: LazyLock<HashMap<&'static str, Op>> =
        LazyLock::new(|| TABLE.iter().map(|entry| (entry.name, entry.op)).collect());
    NAMES.get(name).copied()
}

impl Op {
    /// The table line of this operation.
    #[inline(always)]
    pub fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// The operation of a mnemonic without `_e32`, `_e64`, `_sdwa` or `_dpp`.
    pub fn from_name(name: &str) -> Option<Op> {
        by_name(name)
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub fn all() -> impl Iterator<Item = Op> {
        TABLE.iter().map(|entry| entry.op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_match_the_enum() {
        for entry in &TABLE {
            assert_eq!(by_name(entry.name), Some(entry.op));
            let camel: String = entry.name.split('_').map(|w| w[..1].to_uppercase() + &w[1..]).collect();
            assert_eq!(camel, format!("{:?}", entry.op));
        }
    }

    #[test]
    fn codes_lead_back() {
        for entry in &TABLE {
            assert_eq!(by_code(entry.format, entry.code.into()), Some(entry.op), "{}", entry.name);
            if let Some(code) = entry.vop3_code() {
                assert_eq!(by_code(Format::Vop3, code.into()), Some(entry.op), "{}", entry.name);
            }
        }
        assert_eq!(
            Op::VCmpxNgtF64.entry().compare(),
            Some(Compare { condition: 11, class: false, exec: true })
        );
    }
}
