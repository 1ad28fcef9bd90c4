//! Text of instructions and modules; the assembler accepts what is printed here and gives the same
//! instructions back. Labels a program lost get names of the form `L12`.

use super::inst::{BUILTINS, Inst, Place, Src};
use super::module::Module;
use super::table::Slot;
use crate::Pc;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

/// One instruction; `label` names jump targets.
pub(super) fn text(inst: &Inst, label: &dyn Fn(Pc) -> String) -> String {
    let line = inst.op.line();
    let mut out = line.mnemonic.to_string();
    for (i, slot) in line.slots.iter().enumerate() {
        out.push_str(if i == 0 { " " } else { ", " });
        out.push_str(&match *slot {
            Slot::Dst => place('r', inst.args.dst),
            Slot::Src(n) | Slot::One(n) | Slot::Pair(n) => source(&inst.args.src[n]),
            Slot::ReadView => place('t', inst.args.view),
            Slot::WriteView => place('u', inst.args.view),
            Slot::Sampler => format!("s{}", inst.args.sampler),
            Slot::Label(n) => label(inst.args.target[n]),
        });
    }
    out
}

fn place(kind: char, place: Place) -> String {
    format!("{kind}{}.{}", place.index, place.swizzle.text())
}

fn source(src: &Src) -> String {
    match *src {
        Src::Reg(p) => place('r', p),
        Src::Builtin(b) => BUILTINS[b as usize].0.to_string(),
        Src::Imm { float, count, values } => {
            let count = usize::from(count).min(4);
            let show = |&v: &u32| if float { float_text(v) } else { v.to_string() };
            let numbers: Vec<String> = values[..count].iter().map(show).collect();
            let width = if count == 1 { String::new() } else { count.to_string() };
            format!("{}{width}({})", if float { 'f' } else { 'u' }, numbers.join(" "))
        }
    }
}

/// Shortest decimal that reads back as the same bits; hexadecimal bits for what has no decimal.
fn float_text(bits: u32) -> String {
    let v = f32::from_bits(bits);
    if v.is_nan() { format!("{bits:#010x}") } else { format!("{v:?}") }
}

impl Module {
    /// The whole program as source text, labels on their own lines.
    pub fn disassemble(&self) -> String {
        let mut at: BTreeMap<Pc, Vec<String>> = BTreeMap::new();
        for (name, pc) in &self.labels {
            at.entry(*pc).or_default().push(name.clone());
        }
        self.name_targets(&mut at);
        let name = |pc: Pc| match at.get(&pc).and_then(|names| names.first()) {
            Some(name) => name.clone(),
            None => format!("L{pc}"),
        };
        let mut out = String::new();
        for (pc, inst) in self.insts.iter().enumerate() {
            for label in at.get(&(pc as Pc)).into_iter().flatten() {
                let _ = writeln!(out, "{label}:");
            }
            let _ = writeln!(out, "    {}", text(inst, &name));
        }
        for label in at.get(&(self.insts.len() as Pc)).into_iter().flatten() {
            let _ = writeln!(out, "{label}:");
        }
        out
    }

    /// Invents a name for every target that has none.
    fn name_targets(&self, at: &mut BTreeMap<Pc, Vec<String>>) {
        let taken: HashSet<&str> = self.labels.iter().map(|l| l.0.as_str()).collect();
        let targets: BTreeSet<Pc> = self.insts.iter().flat_map(Inst::targets).collect();
        for pc in targets {
            at.entry(pc).or_insert_with(|| {
                let mut name = format!("L{pc}");
                while taken.contains(name.as_str()) {
                    name.push('_');
                }
                vec![name]
            });
        }
    }
}
