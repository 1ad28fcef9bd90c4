//! Disassembly in the syntax of llvm-objdump, with the aliases it prefers (`li`, `mv`, `ret`, `beqz`, …); CSRs of
//! Vortex by name, its instructions as the assembler takes them.

use super::exec::csr_name;
use super::inst::{DYNAMIC, Inst};
use super::names::{ROUNDING, register_name};
use super::table::{Format, Op};

/// How the target of a branch is written.
#[derive(Clone, Debug)]
pub enum Target {
    Label(String),
    /// As an address, the instruction being at this one.
    Address(u32),
    /// As the distance in bytes.
    Distance,
}

fn x(register: u8) -> &'static str {
    register_name(register.into())
}

fn f(register: u8) -> &'static str {
    register_name(32 + u16::from(register))
}

/// The instruction as text.
pub fn text(inst: &Inst, target: &Target) -> String {
    let to = match target {
        Target::Label(label) => label.clone(),
        Target::Address(pc) => format!("{:#x}", pc.wrapping_add(inst.imm as u32)),
        Target::Distance => inst.imm.to_string(),
    };
    alias(inst, &to).unwrap_or_else(|| plain(inst, &to))
}

fn csr(number: i32) -> String {
    csr_name(number as u32).map_or_else(|| number.to_string(), str::to_owned)
}

/// The set of a fence: input, output, reads, writes.
fn accesses(set: i32) -> String {
    let text: String =
        "iorw".chars().enumerate().filter(|(i, _)| set >> (3 - i) & 1 == 1).map(|c| c.1).collect();
    if text.is_empty() { "0".to_owned() } else { text }
}

fn plain(inst: &Inst, to: &str) -> String {
    let e = inst.entry();
    let name = |i: usize| {
        let field = [inst.rd, inst.rs1, inst.rs2, inst.rs3][i];
        if e.files[i] == super::table::File::F { f(field) } else { x(field) }
    };
    let (d, a, b, c, k) = (name(0), name(1), name(2), name(3), inst.imm);
    let round =
        if inst.rm == DYNAMIC { String::new() } else { format!(", {}", ROUNDING[usize::from(inst.rm & 7)]) };
    let order = ["", ".rl", ".aq", ".aqrl"][usize::from(inst.rm & 3)];
    let operands = match e.format {
        Format::Three => format!("{d}, {a}, {b}"),
        Format::Two => format!("{d}, {a}"),
        Format::Immediate | Format::Shift => format!("{d}, {a}, {k}"),
        Format::Load => format!("{d}, {k}({a})"),
        Format::Store => format!("{b}, {k}({a})"),
        Format::Branch => format!("{a}, {b}, {to}"),
        Format::Upper => format!("{d}, {k}"),
        Format::Jump => format!("{d}, {to}"),
        Format::Fence => format!("{}, {}", accesses(k >> 4), accesses(k & 15)),
        Format::Bare => return e.name.to_owned(),
        Format::Csr => format!("{d}, {}, {a}", csr(k)),
        Format::CsrImmediate => format!("{d}, {}, {}", csr(k), inst.rs1),
        Format::Atomic => return format!("{}{order} {d}, {b}, ({a})", e.name),
        Format::Reserve => return format!("{}{order} {d}, ({a})", e.name),
        Format::Round3 => format!("{d}, {a}, {b}{round}"),
        Format::Round2 => format!("{d}, {a}{round}"),
        Format::Round4 => format!("{d}, {a}, {b}, {c}{round}"),
        Format::Source1 => a.to_owned(),
        Format::Source2 => format!("{a}, {b}"),
    };
    format!("{} {operands}", e.name)
}

/// The short form, where there is one.
fn alias(inst: &Inst, to: &str) -> Option<String> {
    let Inst { rd, rs1, rs2, imm: k, .. } = *inst;
    let (d, a, b) = (x(rd), x(rs1), x(rs2));
    Some(match inst.op {
        Op::Addi if (rd, rs1, k) == (0, 0, 0) => "nop".to_owned(),
        Op::Addi if rs1 == 0 => format!("li {d}, {k}"),
        Op::Addi if k == 0 => format!("mv {d}, {a}"),
        Op::Xori if k == -1 => format!("not {d}, {a}"),
        Op::Sub if rs1 == 0 => format!("neg {d}, {b}"),
        Op::Sltiu if k == 1 => format!("seqz {d}, {a}"),
        Op::Sltu if rs1 == 0 => format!("snez {d}, {b}"),
        Op::Slt if rs2 == 0 => format!("sltz {d}, {a}"),
        Op::Slt if rs1 == 0 => format!("sgtz {d}, {b}"),
        Op::Beq if rs2 == 0 => format!("beqz {a}, {to}"),
        Op::Bne if rs2 == 0 => format!("bnez {a}, {to}"),
        Op::Bge if rs1 == 0 => format!("blez {b}, {to}"),
        Op::Bge if rs2 == 0 => format!("bgez {a}, {to}"),
        Op::Blt if rs2 == 0 => format!("bltz {a}, {to}"),
        Op::Blt if rs1 == 0 => format!("bgtz {b}, {to}"),
        Op::Jal if rd == 0 => format!("j {to}"),
        Op::Jal if rd == 1 => format!("jal {to}"),
        Op::Jalr if (rd, rs1, k) == (0, 1, 0) => "ret".to_owned(),
        Op::Jalr if (rd, k) == (0, 0) => format!("jr {a}"),
        Op::Jalr if rd == 0 => format!("jr {k}({a})"),
        Op::Jalr if (rd, k) == (1, 0) => format!("jalr {a}"),
        Op::Jalr if rd == 1 => format!("jalr {k}({a})"),
        Op::Jalr if k == 0 => format!("jalr {d}, {a}"),
        Op::Fence if k == 0xff => "fence".to_owned(),
        Op::Csrrw | Op::Csrrs | Op::Csrrc | Op::Csrrwi | Op::Csrrsi | Op::Csrrci => return csr_alias(inst),
        Op::Fsgnj if rs1 == rs2 => format!("fmv.s {}, {}", f(rd), f(rs1)),
        Op::Fsgnjn if rs1 == rs2 => format!("fneg.s {}, {}", f(rd), f(rs1)),
        Op::Fsgnjx if rs1 == rs2 => format!("fabs.s {}, {}", f(rd), f(rs1)),
        _ => return None,
    })
}

fn csr_alias(inst: &Inst) -> Option<String> {
    let Inst { rd, rs1, imm: k, .. } = *inst;
    let (d, a) = (x(rd), x(rs1));
    // What the floating-point CSRs are called when they are read and written as a whole.
    let short = match k {
        1 => "flags",
        2 => "rm",
        3 => "csr",
        _ => "",
    };
    Some(match inst.op {
        Op::Csrrs if rs1 == 0 && !short.is_empty() => format!("fr{short} {d}"),
        Op::Csrrs if rs1 == 0 => match csr_name(k as u32) {
            Some(name @ ("cycle" | "instret" | "cycleh" | "instreth")) => format!("rd{name} {d}"),
            _ => format!("csrr {d}, {}", csr(k)),
        },
        Op::Csrrw if (rd, rs1, k) == (0, 0, 0xc00) => "unimp".to_owned(),
        Op::Csrrw if !short.is_empty() && rd == 0 => format!("fs{short} {a}"),
        Op::Csrrw if !short.is_empty() => format!("fs{short} {d}, {a}"),
        Op::Csrrwi if matches!(k, 1 | 2) && rd == 0 => format!("fs{short}i {rs1}"),
        Op::Csrrwi if matches!(k, 1 | 2) => format!("fs{short}i {d}, {rs1}"),
        Op::Csrrw if rd == 0 => format!("csrw {}, {a}", csr(k)),
        Op::Csrrs if rd == 0 => format!("csrs {}, {a}", csr(k)),
        Op::Csrrc if rd == 0 => format!("csrc {}, {a}", csr(k)),
        Op::Csrrwi if rd == 0 => format!("csrwi {}, {rs1}", csr(k)),
        Op::Csrrsi if rd == 0 => format!("csrsi {}, {rs1}", csr(k)),
        Op::Csrrci if rd == 0 => format!("csrci {}, {rs1}", csr(k)),
        _ => return None,
    })
}
