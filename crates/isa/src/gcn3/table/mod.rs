//! The instruction table: one line per operation, from which decoder, assembler, disassembler and
//! static facts follow. Lines are grouped by the shortest encoding; longer ones follow from it.
//! Every generation has the table with its changes made.

mod changes;
mod ds;
mod entry;
mod flat;
mod gfx9_memory;
mod gfx9_scalar;
mod gfx9_smem;
mod gfx9_vop;
mod graphics;
mod mfma;
mod mimg;
mod mtbuf;
mod mubuf;
mod smem;
mod sop;
mod vop;
mod vop3;
mod vop3p;
mod vopc;

pub use changes::{CHANGES, Change};
pub use entry::{CLASSES, Class, Compare, Ctl, Entry, Halves, implicit, modifier, segment};

use super::format::Format;
use super::gcn::Gcn;
use super::op::Op;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The lines in the order of [`Op`], with the generation from which on a group exists.
const GROUPS: [(Gcn, &[Entry]); 34] = [
    (Gcn::Gfx8, sop::SOP2),
    (Gcn::Gfx8, sop::SOP1),
    (Gcn::Gfx8, sop::SOPC),
    (Gcn::Gfx8, sop::SOPK),
    (Gcn::Gfx8, sop::SOPP),
    (Gcn::Gfx8, smem::SMEM),
    (Gcn::Gfx8, vop::VOP1),
    (Gcn::Gfx8, vop::VOP2),
    (Gcn::Gfx8, vopc::VOPC),
    (Gcn::Gfx8, vop3::VOP3),
    (Gcn::Gfx8, ds::DS),
    (Gcn::Gfx8, flat::FLAT),
    (Gcn::Gfx8, mubuf::MUBUF),
    (Gcn::Gfx8, mimg::MIMG),
    (Gcn::Gfx900, gfx9_scalar::SOP2),
    (Gcn::Gfx900, gfx9_scalar::SOP1),
    (Gcn::Gfx900, gfx9_scalar::SOPK),
    (Gcn::Gfx900, gfx9_scalar::SOPP),
    (Gcn::Gfx900, gfx9_smem::SMEM),
    (Gcn::Gfx900, gfx9_vop::VOP1),
    (Gcn::Gfx900, gfx9_vop::VOP2),
    (Gcn::Gfx900, gfx9_vop::VOP3),
    (Gcn::Gfx900, vop3p::VOP3P),
    (Gcn::Gfx908, mfma::MFMA),
    (Gcn::Gfx940, mfma::SMFMAC),
    (Gcn::Gfx900, gfx9_memory::DS),
    (Gcn::Gfx900, gfx9_memory::FLAT),
    (Gcn::Gfx900, gfx9_memory::MUBUF),
    (Gcn::Gfx900, gfx9_memory::MIMG),
    (Gcn::Gfx8, mtbuf::MTBUF),
    (Gcn::Gfx8, graphics::MIMG),
    (Gcn::Gfx8, graphics::VINTRP),
    (Gcn::Gfx8, graphics::EXP),
    (Gcn::Gfx8, graphics::SMEM),
];

const fn count() -> usize {
    let mut n = 0;
    let mut g = 0;
    while g < GROUPS.len() {
        n += GROUPS[g].1.len();
        g += 1;
    }
    n
}

/// How many operations there are in all generations together.
const OPS: usize = count();

/// All lines in the order of [`Op`], as the first generation that has them has them.
pub static TABLE: [Entry; OPS] = lines();

const fn lines() -> [Entry; OPS] {
    let mut table = [GROUPS[0].1[0]; OPS];
    let (mut g, mut n) = (0, 0);
    while g < GROUPS.len() {
        let (since, group) = GROUPS[g];
        let mut i = 0;
        while i < group.len() {
            assert!(group[i].op as usize == n, "table and Op differ in order");
            table[n] = group[i];
            if (table[n].since as u8) < since as u8 {
                table[n].since = since;
            }
            i += 1;
            n += 1;
        }
        g += 1;
    }
    table
}

/// The lines of every generation.
static TABLES: [[Entry; OPS]; Gcn::ALL.len()] = {
    let mut tables = [lines(); Gcn::ALL.len()];
    let mut g = 0;
    while g < tables.len() {
        let mut i = 0;
        while i < CHANGES.len() {
            let change = &CHANGES[i];
            if change.since as usize <= g {
                let n = change.op as usize;
                tables[g][n] = change.apply(tables[g][n]);
            }
            i += 1;
        }
        g += 1;
    }
    tables
};

const NO_OP: u16 = u16::MAX;

/// Opcode numbers to table indices, for each encoding.
struct Codes {
    sop2: [u16; 128],
    sop1: [u16; 256],
    sopc: [u16; 128],
    sopk: [u16; 32],
    sopp: [u16; 128],
    smem: [u16; 256],
    vop1: [u16; 256],
    vop2: [u16; 64],
    vopc: [u16; 256],
    vop3: [u16; 1024],
    vop3p: [u16; 128],
    ds: [u16; 256],
    flat: [u16; 128],
    mubuf: [u16; 128],
    mtbuf: [u16; 16],
    mimg: [u16; 128],
    vintrp: [u16; 4],
    exp: [u16; 1],
}

/// The codes of operations whose shortest encoding is `format`, or of the long form if there is none.
const fn index<const N: usize>(gcn: Gcn, format: Option<Format>) -> [u16; N] {
    let table = &TABLES[gcn as usize];
    let mut codes = [NO_OP; N];
    let mut i = 0;
    while i < table.len() {
        let code = match format {
            Some(format) if format as u8 == table[i].format as u8 => Some(table[i].code),
            Some(_) => None,
            None => table[i].vop3_code(),
        };
        if let (Some(code), true) = (code, table[i].exists(gcn)) {
            assert!(codes[code as usize] == NO_OP, "two operations with one code");
            codes[code as usize] = table[i].op as u16;
        }
        i += 1;
    }
    codes
}

impl Codes {
    const fn of(gcn: Gcn) -> Codes {
        Codes {
            sop2: index(gcn, Some(Format::Sop2)),
            sop1: index(gcn, Some(Format::Sop1)),
            sopc: index(gcn, Some(Format::Sopc)),
            sopk: index(gcn, Some(Format::Sopk)),
            sopp: index(gcn, Some(Format::Sopp)),
            smem: index(gcn, Some(Format::Smem)),
            vop1: index(gcn, Some(Format::Vop1)),
            vop2: index(gcn, Some(Format::Vop2)),
            vopc: index(gcn, Some(Format::Vopc)),
            vop3: index(gcn, None),
            vop3p: index(gcn, Some(Format::Vop3p)),
            ds: index(gcn, Some(Format::Ds)),
            flat: index(gcn, Some(Format::Flat)),
            mubuf: index(gcn, Some(Format::Mubuf)),
            mtbuf: index(gcn, Some(Format::Mtbuf)),
            mimg: index(gcn, Some(Format::Mimg)),
            vintrp: index(gcn, Some(Format::Vintrp)),
            exp: index(gcn, Some(Format::Exp)),
        }
    }
}

static CODES: [Codes; Gcn::ALL.len()] = [
    Codes::of(Gcn::Gfx8),
    Codes::of(Gcn::Gfx900),
    Codes::of(Gcn::Gfx906),
    Codes::of(Gcn::Gfx908),
    Codes::of(Gcn::Gfx90a),
    Codes::of(Gcn::Gfx940),
];

/// The operation with this code in this encoding (for SDWA and DPP ask for VOP1, VOP2 or VOPC).
pub fn by_code(gcn: Gcn, format: Format, code: u32) -> Option<Op> {
    let all = &CODES[gcn as usize];
    let codes: &[u16] = match format {
        Format::Sop2 => &all.sop2,
        Format::Sop1 => &all.sop1,
        Format::Sopc => &all.sopc,
        Format::Sopk => &all.sopk,
        Format::Sopp => &all.sopp,
        Format::Smem => &all.smem,
        Format::Vop1 => &all.vop1,
        Format::Vop2 => &all.vop2,
        Format::Vopc => &all.vopc,
        Format::Vop3 => &all.vop3,
        Format::Vop3p => &all.vop3p,
        Format::Ds => &all.ds,
        Format::Flat | Format::Global | Format::Scratch => &all.flat,
        Format::Mubuf => &all.mubuf,
        Format::Mtbuf => &all.mtbuf,
        Format::Mimg => &all.mimg,
        Format::Vintrp => &all.vintrp,
        Format::Exp => &all.exp,
        Format::Sdwa | Format::Dpp => return None,
    };
    let &n = codes.get(code as usize)?;
    TABLE.get(usize::from(n)).map(|entry| entry.op)
}

/// The operation of a mnemonic without suffix.
pub fn by_name(gcn: Gcn, name: &str) -> Option<Op> {
    type Names = HashMap<&'static str, Op>;
    static NAMES: LazyLock<[Names; Gcn::ALL.len()]> = LazyLock::new(|| {
        Gcn::ALL.map(|gcn| {
            let there = TABLES[gcn as usize].iter().filter(|entry| entry.exists(gcn));
            there.map(|entry| (entry.name, entry.op)).collect()
        })
    });
    NAMES[gcn as usize].get(name).copied()
}

/// The lines of the operations a generation has.
pub fn lines_of(gcn: Gcn) -> impl Iterator<Item = &'static Entry> {
    TABLES[gcn as usize].iter().filter(move |entry| entry.exists(gcn))
}

impl Op {
    /// The table line of this operation, as the first generation that has it has it.
    #[inline(always)]
    pub fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// The line as a generation has it, whether it has the operation or not.
    #[inline(always)]
    pub fn line(self, gcn: Gcn) -> &'static Entry {
        &TABLES[gcn as usize][self as usize]
    }

    /// The operation of gfx8 of a mnemonic without `_e32`, `_e64`, `_sdwa` or `_dpp`.
    pub fn from_name(name: &str) -> Option<Op> {
        by_name(Gcn::Gfx8, name)
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The operations of gfx8.
    pub fn all() -> impl Iterator<Item = Op> {
        lines_of(Gcn::Gfx8).map(|entry| entry.op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_match_the_enum() {
        let mut names = std::collections::HashSet::new();
        for entry in &TABLE {
            assert!(names.insert(entry.name), "{}", entry.name);
            let camel: String = entry.name.split('_').map(|w| w[..1].to_uppercase() + &w[1..]).collect();
            assert_eq!(camel, format!("{:?}", entry.op));
        }
        for gcn in Gcn::ALL {
            for entry in lines_of(gcn) {
                assert_eq!(by_name(gcn, entry.name), Some(entry.op), "{gcn:?}");
            }
        }
    }

    #[test]
    fn codes_lead_back() {
        for gcn in Gcn::ALL {
            for entry in lines_of(gcn) {
                assert_eq!(by_code(gcn, entry.format, entry.code.into()), Some(entry.op), "{}", entry.name);
                if let Some(code) = entry.vop3_code() {
                    assert_eq!(by_code(gcn, Format::Vop3, code.into()), Some(entry.op), "{}", entry.name);
                }
            }
        }
        assert_eq!(
            Op::VCmpxNgtF64.entry().compare(),
            Some(Compare { condition: 11, class: false, exec: true })
        );
    }

    /// A change of what is not there changes nothing.
    #[test]
    fn changes_are_of_what_exists() {
        for change in CHANGES {
            assert!(change.op.line(change.since).exists(change.since), "{change:?}");
        }
    }
}
