//! What memory instructions touch, in the words of the proof.

use std::collections::BTreeMap;
use wb_facts::Known;
use wb_hw::{Machine, Port};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::{Isa, Pc};
use wb_program::Program;
use wb_proved::{Access, Local};

/// Every memory instruction that can be reached.
pub(super) fn accesses(program: &Program<Gcn3>, _known: &Known, machine: &Machine) -> BTreeMap<Pc, Access> {
    let cfg = &program.cfg;
    let classes = program.isa.classes();
    let mut found = BTreeMap::new();
    for b in cfg.reachable(cfg.block_at(program.entry)) {
        for pc in cfg.pcs(b, &program.flow) {
            let class = classes[usize::from(program.ops[pc as usize].class)];
            let port = machine
                .units
                .iter()
                .find(|u| u.classes.iter().any(|c| c == class))
                .map_or(Port::None, |u| u.port);
            if port == Port::None {
                continue;
            }
            let local = match class {
                "lds" => Local::Always,
                "flat" => Local::Maybe,
                _ => Local::Never,
            };
            let lines = if class == "smem" { 2 } else { 64 * 4 };
            found.insert(
                pc,
                Access { lines, passes: 64 * 4, local, loads: true, stores: class != "smem", range: None },
            );
        }
    }
    found
}
