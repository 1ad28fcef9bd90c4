//! What one run of a launch shows of every instruction: whether it is executed, with lanes or without, and which memory it
//! touches.

use crate::error::{BoundError, refused};
use crate::launched::{Launched, PlacedBuffer};
use std::collections::BTreeSet;
use std::ops::Range;
use wb_facts::taint::Witness;
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::gcn3::{Format, Op};
use wb_objects::codeobject::ArgKind;
use wb_program::Program;
use wb_sim::Launch;
use wb_trace::{Event, Kind, Observer, Touched};

/// Blocks of memory begin at multiples of this, and nothing else lies in the rest of the last one.
const ALIGN: u64 = 256;

/// Watches a run.
pub struct Watcher {
    /// Memory that is part of the launch.
    fixed: Vec<Range<u64>>,
    private: Range<u64>,
    /// Where local memory lies, which global addresses could reach, too.
    local: Range<u64>,
    witness: Witness,
    /// Instructions that touched memory.
    reported: BTreeSet<Pc>,
    /// Instructions that were executed with a lane on.
    busy: BTreeSet<Pc>,
    /// The first instruction that wrote what is part of the launch.
    wrote_fixed: Option<Pc>,
}

impl Watcher {
    pub fn new(program: &Program<Gcn3>, launched: &Launched, fixed: &[PlacedBuffer]) -> Watcher {
        let setup = &program.isa.setup;
        let whole = |addr: u64, bytes: u64| addr..addr + bytes.max(1).next_multiple_of(ALIGN);
        let mut regions = vec![
            whole(setup.kernarg, launched.kernarg.len() as u64),
            whole(setup.packet, 64),
            whole(setup.queue, 256),
        ];
        regions.extend(fixed.iter().map(|b| whole(b.addr, b.bytes)));
        let (private, local) = match launched.launch {
            Launch::Groups(g) => {
                let region = |from: u64, bytes: u64| from..from + bytes.max(1);
                (
                    region(g.scratch_region, g.scratch_region_bytes(launched.machine)),
                    region(g.lds_region, g.lds_region_bytes(launched.machine)),
                )
            }
            _ => (0..0, 0..0),
        };
        Watcher {
            fixed: regions,
            private,
            local,
            witness: Witness::new(),
            reported: BTreeSet::new(),
            busy: BTreeSet::new(),
            wrote_fixed: None,
        }
    }

    /// What was seen; an error if the launch wrote what is said to be fixed.
    pub fn witness(mut self, program: &Program<Gcn3>) -> Result<Witness, BoundError> {
        if let Some(pc) = self.wrote_fixed {
            return Err(refused!(
                Program,
                help = "only what no launch writes can be fixed",
                "{}: the kernel writes its arguments or a buffer that is declared fixed",
                program.place(pc)
            ));
        }
        for (&pc, seen) in &mut self.witness {
            let Some(inst) = program.ops.get(pc as usize).and_then(|op| op.inst.as_ref()) else { continue };
            let memory = inst.format.is_memory();
            let clock = matches!(inst.op, Op::SMemtime | Op::SMemrealtime);
            let active = inst.format == Format::Smem || self.busy.contains(&pc);
            // On a machine where it has no way to memory nobody tells what it touches.
            if memory && !clock && active && !self.reported.contains(&pc) {
                seen.global = true;
            }
            // Lanes of one FLAT instruction may go to different memories; local memory hides the others.
            if inst.format == Format::Flat && seen.local {
                seen.global = true;
            }
        }
        Ok(self.witness)
    }
}

impl Observer for Watcher {
    fn wants_code(&self) -> bool {
        false
    }

    fn wants_touched(&self) -> bool {
        true
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch.iter().filter(|e| matches!(e.kind, Kind::Issue { .. })) {
            let seen = self.witness.entry(event.pc).or_default();
            seen.idle |= event.mask == 0;
            if event.mask != 0 {
                self.busy.insert(event.pc);
            }
        }
    }

    fn touched(&mut self, touched: &Touched) {
        self.reported.insert(touched.pc);
        let seen = self.witness.entry(touched.pc).or_default();
        seen.local |= touched.local;
        for line in touched.lines {
            seen.local |= self.local.contains(line);
            if self.private.contains(line) {
                seen.private = true;
            } else if self.fixed.iter().any(|r| r.contains(line)) {
                seen.fixed = true;
                if touched.write {
                    self.wrote_fixed = self.wrote_fixed.or(Some(touched.pc));
                }
            } else {
                seen.global = true;
            }
        }
    }
}

/// The buffers that are declared fixed: by name, or by the argument that points to them.
pub fn fixed(names: &[String], launched: &Launched) -> Result<Vec<PlacedBuffer>, BoundError> {
    let explicit: Vec<_> = launched.args.iter().filter(|a| !matches!(a.kind, ArgKind::Hidden(_))).collect();
    let pointed = |name: &str| {
        let arg = explicit.get(name.strip_prefix("arg")?.parse::<usize>().ok()?)?;
        let at = arg.offset as usize;
        let bytes = launched.kernarg.get(at..at + 8)?;
        let addr = u64::from_le_bytes(bytes.try_into().ok()?);
        launched.buffers.iter().find(|b| b.addr == addr)
    };
    let find = |name: &String| {
        let named = launched.buffers.iter().find(|b| b.name == *name);
        named.or_else(|| pointed(name)).cloned().ok_or_else(|| {
            let known: Vec<&str> = launched.buffers.iter().map(|b| b.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            refused!(
                Launch,
                help = format!("buffers of this launch: {known}, or arg0, arg1, …"),
                "--fixed {name}: there is no such buffer"
            )
        })
    };
    names.iter().map(find).collect()
}
