//! What each instruction costs: until its result is there, how long it holds its unit, and what it asks of resources that waves share.

use crate::access::{Access, Local, Memory};
use crate::caches::Caches;
use crate::hardware::{Front, Hardware};
use crate::refusal::Refusal;
use std::collections::BTreeMap;
use wb_hw::{AfterMiss, Port};
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// Costs by pc, for one launch and one assumption about which loads miss.
#[derive(Clone, Debug)]
pub struct Charges {
    /// Cycles from issue until results are there, with nobody else in the machine.
    pub done: Vec<u64>,
    /// Cycles the unit is held.
    pub hold: Vec<u64>,
    /// Of each unit, the longest that an instruction of the program holds it.
    pub longest: Vec<u64>,
    /// Cycles from the request for an instruction until it can issue, and to the next request beyond the usual one.
    pub fetch: u64,
    pub after_fetch: u64,
}

impl Charges {
    /// `misses`: loads that are charged a miss each time; the others find their line in the first cache that keeps it, and what is
    /// missing then is paid once for each line.
    pub fn new<I: Isa>(
        program: &Program<I>,
        hardware: &Hardware,
        accesses: &BTreeMap<Pc, Access>,
        caches: &Caches,
        memory: &Memory,
        misses: &dyn Fn(Pc) -> bool,
    ) -> Result<Charges, Refusal> {
        let count = program.ops.len();
        let mut charges = Charges {
            done: vec![0; count],
            hold: vec![0; count],
            longest: vec![0; hardware.units.len()],
            fetch: 0,
            after_fetch: 0,
        };
        for (pc, op) in program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some()) {
            let class = &hardware.classes[usize::from(op.class)];
            let unit = &hardware.units[class.unit];
            let mut done = class.latency + class.extra;
            let mut hold = class.hold;
            // Of instructions with a way to memory some do not go there: permutations of lanes, the clock.
            if class.port != Port::None
                && let Some(access) = accesses.get(&(pc as Pc))
            {
                let pc = pc as Pc;
                if class.port == Port::Lds || access.local != Local::Never {
                    let conflicts = access.passes.saturating_sub(1);
                    done =
                        done.max(class.latency + conflicts + u64::from(hardware.machine.memory.lds_latency));
                    hold += if unit.count == 0 { 0 } else { conflicts };
                }
                if let Some(way) = hardware.way(class.port).filter(|_| access.local != Local::Always) {
                    if access.loads {
                        let touched = memory.touched(access);
                        let cycles = match misses(pc) {
                            true => caches.miss(hardware, way, class.latency, &touched),
                            false => caches.hit(hardware, way, class.latency, &touched),
                        };
                        done = done.max(cycles);
                    }
                    if access.stores {
                        done = done.max(class.latency + hardware.store(way));
                    }
                }
            }
            (charges.done[pc], charges.hold[pc]) = (done, hold);
            charges.longest[class.unit] = charges.longest[class.unit].max(hold);
        }
        (charges.fetch, charges.after_fetch) = fetch(hardware, caches, memory)?;
        Ok(charges)
    }
}

fn fetch(hardware: &Hardware, caches: &Caches, memory: &Memory) -> Result<(u64, u64), Refusal> {
    let way = &hardware.fetch;
    let kept = way.ideal || caches.found(way) == Some(0);
    match hardware.front {
        Front::Perfect => Ok((0, 0)),
        Front::Coordinated { .. } if kept => Ok((0, 0)),
        Front::Coordinated { .. } => Err(Refusal::Program {
            what: "its code does not stay in the instruction cache".into(),
            help: "make the kernel smaller, or the instruction cache larger",
        }),
        Front::Decoupled { fetch, .. } if kept => Ok((fetch, 0)),
        Front::Decoupled { .. } => {
            let miss = caches.miss(hardware, way, 0, &memory.code);
            let waits = hardware.machine.frontend.after_miss == AfterMiss::Wait;
            Ok((miss + hardware.decode, if waits { miss } else { 0 }))
        }
    }
}
