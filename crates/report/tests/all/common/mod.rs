//! A made-up run for the pictures: four waves share two ALUs and a sampler, diverge and stall.

use wb_trace::{Event, Kind, Mask, MaskCause, NO_PC, PortKind, StallReason, TraceInfo, UnitInfo};

pub fn info(lanes: u32, cores: u32, slots: u32) -> TraceInfo {
    let unit = |name: &str, instances, port: &str| UnitInfo {
        name: name.into(),
        instances,
        port: port.into(),
        ..UnitInfo::default()
    };
    TraceInfo {
        program: "made-up".into(),
        timed: true,
        lanes,
        cores,
        slots,
        units: vec![unit("alu", 2, "none"), unit("sampler", 1, "sampler")],
        ..TraceInfo::default()
    }
}

struct Wave {
    step: usize,
    mask: Mask,
    ready: u64,
    why: StallReason,
    stalled: Option<(u64, StallReason)>,
}

/// Instructions of a wave per round.
const STEPS: usize = 24;

/// Events of a run of `waves` waves of 32 lanes, and its length.
pub fn run(core: u16, waves: usize, rounds: usize) -> (Vec<Event>, u64) {
    let all = u64::from(u32::MAX);
    let mut events = Vec::new();
    let fresh = || Wave { step: 0, mask: all, ready: 0, why: StallReason::Fetch, stalled: None };
    let mut state: Vec<Wave> = (0..waves).map(|_| fresh()).collect();
    let event = |cycle, slot: usize, pc: usize, mask, kind| Event {
        cycle,
        core,
        slot: slot as u16,
        wave: slot as u32,
        path: 0,
        pc: pc as u32,
        mask,
        kind,
    };
    for (slot, wave) in state.iter_mut().enumerate() {
        wave.ready = slot as u64;
        events.push(event(wave.ready, slot, 0, 0, Kind::WaveStart { lanes: all }));
    }
    let last = STEPS * rounds;
    let mut cycle = 0;
    while state.iter().any(|w| w.step < last) {
        let mut free = 2u8;
        for turn in 0..waves {
            let slot = (turn + cycle as usize / 7) % waves;
            let w = &mut state[slot];
            if w.step >= last || cycle < slot as u64 {
                continue;
            }
            let (step, pc) = (w.step % STEPS, w.step % STEPS);
            let waits =
                if cycle < w.ready { Some(w.why) } else { (free == 0).then_some(StallReason::NotSelected) };
            if let Some(reason) = waits {
                match w.stalled {
                    Some((_, old)) if old == reason => {}
                    _ => {
                        flush(&mut events, &event, w, slot, pc, cycle);
                        w.stalled = Some((cycle, reason));
                    }
                }
                continue;
            }
            flush(&mut events, &event, w, slot, pc, cycle);
            free -= 1;
            let sample = step == 3 || step == 18;
            let unit = u8::from(sample);
            let instance = if sample { 0 } else { free };
            events.push(event(cycle, slot, pc, w.mask, Kind::Issue { unit, instance, class: 0, busy: 1 }));
            let (latency, why) = match step {
                3 | 18 => (12 + slot as u64 * 3, StallReason::Memory),
                1 | 9 | 14 => (4, StallReason::Dependency),
                _ => (1, StallReason::Fetch),
            };
            (w.ready, w.why) = (cycle + latency, why);
            if sample {
                let hits = if w.step < STEPS { 1 } else { 3 };
                let kind = Kind::Memory {
                    port: PortKind::Sampler,
                    write: false,
                    lines: 4,
                    hits,
                    misses: 4 - hits,
                    evictions: slot as u16 % 2,
                    done: cycle + latency,
                };
                events.push(event(cycle, slot, pc, w.mask, kind));
            }
            let side: Mask = 0x0f0f_ffff >> (slot * 2);
            let next = match step {
                5 => Some((side, MaskCause::Diverge)),
                10 => Some((all & !side, MaskCause::Switch)),
                15 => Some((all, MaskCause::Reconverge)),
                20 if w.step + 4 > last - STEPS => Some((0x0000_00ff, MaskCause::MaskTest)),
                _ => None,
            };
            if let Some((new, cause)) = next {
                let kind = Kind::Mask { new, live: all, origin: NO_PC, cause };
                events.push(event(cycle, slot, pc, w.mask, kind));
                w.mask = new;
            }
            w.step += 1;
            if w.step == last {
                events.push(event(cycle, slot, pc, w.mask, Kind::WaveEnd));
            }
        }
        cycle += 1;
    }
    (events, cycle + 4)
}

fn flush(
    events: &mut Vec<Event>,
    event: &impl Fn(u64, usize, usize, Mask, Kind) -> Event,
    w: &mut Wave,
    slot: usize,
    pc: usize,
    cycle: u64,
) {
    if let Some((since, reason)) = w.stalled.take() {
        let cycles = (cycle - since) as u32;
        events.push(event(since, slot, pc, w.mask, Kind::Stall { cycles, reason }));
    }
}
