//! The usual front end against the one that follows every arrival: random waves that issue, jump, start and end have something to
//! issue in the same cycles. Some of the machines fetch in any order: there, what issues requests its successor at once if it can.

use super::{Code, Decoupled, Desk, Fetch, FrontEnd, Queued, Seat};
use crate::memory::Hierarchy;
use crate::sched::Ages;
use wb_hw::{AfterMiss, Machine, Policy};
use wb_isa::{FlowKind, NO_PC, Pc};

/// Instructions of the program, partitions, seats of each.
const CODE: u32 = 600;
const SIDES: usize = 3;
const SEATS: usize = 5;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn machine(random: &mut Random) -> Machine {
    let mut machine = wb_hw::preset("gcn3").expect("a preset");
    machine.core.partitions = SIDES as u32;
    machine.core.waves = (SIDES * SEATS) as u32;
    let f = &mut machine.frontend;
    f.policy = Policy::FETCH[random.below(Policy::FETCH.len() as u64) as usize];
    f.ports = 1 + random.below(3) as u32;
    f.buffer = 1 + random.below(9) as u32;
    (f.fetch_latency, f.decode_latency) = (random.below(3) as u32, random.below(3) as u32);
    f.after_miss = if random.below(2) == 0 { AfterMiss::GoOn } else { AfterMiss::Wait };
    // The whole program fits into the larger ones.
    let (ports, size) =
        ([0, 0, 1, 2][random.below(4) as usize], [1024, 2048, 4096, 4096][random.below(4) as usize]);
    for cache in &mut machine.caches {
        (cache.ports, cache.size) = (ports, size);
    }
    if random.below(8) == 0 {
        machine.memory.instruction = "none".into();
    }
    machine
}

/// One front end with a memory of its own.
struct Under {
    front: FrontEnd,
    memory: Hierarchy,
    /// By side and seat, when the next instruction is there, as far as it has said so.
    there: [[u64; SEATS]; SIDES],
}

/// Who is told when instructions come.
struct Told<'a> {
    ages: &'a [Ages],
    there: &'a mut [[u64; SEATS]; SIDES],
}

impl Desk for Told<'_> {
    fn ages(&self, side: usize) -> &Ages {
        &self.ages[side]
    }

    fn comes(&mut self, side: usize, local: usize, there: u64) {
        self.there[side][local] = there;
    }

    fn news(&mut self, _side: usize) {}
}

impl Under {
    fn new(front: FrontEnd, machine: &Machine) -> Under {
        Under { front, memory: Hierarchy::new(machine, 0), there: [[0; SEATS]; SIDES] }
    }

    fn has(&self, seat: Seat, now: u64) -> bool {
        self.there[seat.side][seat.local] <= now && self.front.has(seat)
    }

    /// The wave goes straight on to `to`.
    fn goes_on(&mut self, seat: Seat, to: Pc, now: u64, at_once: bool, ages: &[Ages]) -> bool {
        let ages = &ages[seat.side];
        let mut told = !at_once;
        self.there[seat.side][seat.local] = match at_once {
            true => self.front.goes_on((seat.side, seat.local), to, true, now, ages, &mut told),
            false => self.front.issued(seat, to, (true, false), now, ages),
        };
        !told
    }

    fn tick(&mut self, now: u64, next: &[Pc], kind: &[FlowKind], ages: &[Ages]) {
        let (memory, there) = (&mut self.memory, &mut self.there);
        memory.begin_cycle(now);
        let mut fetch = Fetch { core: 0, next, kind, addr, memory };
        self.front.tick(now, &mut Told { ages, there }, &mut fetch);
    }
}

fn addr(pc: Pc) -> u64 {
    u64::from(pc) * 4
}

/// Where they differ; `at_once` counts the requests that were made at once.
fn differs(seed: u64, at_once: &mut u32) -> Option<String> {
    let mut random = Random(seed);
    let machine = machine(&mut random);
    let next: Vec<Pc> = (1..=CODE).map(|pc| if pc == CODE { NO_PC } else { pc }).collect();
    let kind = vec![FlowKind::Next; CODE as usize];
    let mut both = [
        Under::new(FrontEnd::Queued(Box::new(Queued::new(&machine, SIDES, 1))), &machine),
        Under::new(FrontEnd::Decoupled(Box::new(Decoupled::new(&machine, SIDES, 1))), &machine),
    ];
    let mut pcs: [[Option<Pc>; SEATS]; SIDES] = [[None; SEATS]; SIDES];
    let mut ages = vec![Ages::new(SEATS); SIDES];
    let (hurry, jumps) = (1 + random.below(8), 2 + random.below(30));
    let any_order = both[0].memory.fetches_in_any_order(&machine, (addr(0), addr(CODE - 1)));
    if any_order {
        let code = Code::new(&next, |pc| both[0].memory.fetch_line(addr(pc)));
        both[0].front.put_off(&code);
    }
    for now in 0..400 {
        for (side, seats) in pcs.iter_mut().enumerate() {
            // Waves start and end before the others issue.
            for (local, pc) in seats.iter_mut().enumerate() {
                let seat = Seat::new(side, local, SIDES);
                if pc.is_none() && random.below(20) == 0 {
                    let start = random.below(u64::from(CODE)) as Pc;
                    *pc = Some(start);
                    ages[side].set(local, now, (1 << SEATS) - 1);
                    both.iter_mut()
                        .for_each(|u| u.there[side][local] = u.front.start(seat, start, now, &ages[side]));
                } else if pc.is_some() && random.below(150) == 0 {
                    *pc = None;
                    both.iter_mut().for_each(|u| u.front.stop(seat, now, &ages[side]));
                }
            }
            let mut issued = 0;
            for (local, pc) in seats.iter_mut().enumerate() {
                let seat = Seat::new(side, local, SIDES);
                let Some(at) = *pc else { continue };
                let [queued, followed] = [0, 1].map(|i| both[i].has(seat, now));
                if queued != followed {
                    return Some(format!(
                        "seed {seed}, cycle {now}, side {side}, seat {local} at {at}: {queued} and {followed}"
                    ));
                }
                // A port that requests at once issues one instruction a cycle.
                let may = queued && at != NO_PC && !(any_order && issued > 0);
                if may && random.below(hurry) == 0 {
                    issued += 1;
                    let straight = next[at as usize];
                    let to =
                        if random.below(jumps) == 0 { random.below(CODE.into()) as Pc } else { straight };
                    *pc = Some(to);
                    if to == straight {
                        *at_once += u32::from(both[0].goes_on(seat, to, now, any_order, &ages));
                        both[1].goes_on(seat, to, now, false, &ages);
                        continue;
                    }
                    for u in &mut both {
                        u.there[side][local] = u.front.issued(seat, to, (false, false), now, &ages[side]);
                    }
                }
            }
        }
        both.iter_mut().for_each(|u| u.tick(now, &next, &kind, &ages));
    }
    let [a, b] = both.map(|u| u.front.breaks());
    (a != b).then(|| format!("seed {seed}: {a:?} and {b:?}"))
}

#[test]
fn as_one_that_follows_every_arrival() {
    let mut at_once = 0;
    assert_eq!((0..10_000).find_map(|seed| differs(seed, &mut at_once)), None);
    assert!(at_once > 25_000, "only {at_once} requests were made at once");
}
