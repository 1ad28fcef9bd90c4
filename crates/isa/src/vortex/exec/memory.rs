//! Loads, stores and atomics. Accesses must be aligned. The console is 64 bytes of addresses, local memory a window
//! at the top of the address space that each core has for itself (docs/vortex.md, memory map).

use crate::lanes::{Row, any_bits, bits, extremes};
use crate::vortex::Vortex;
use crate::vortex::inst::Inst;
use crate::vortex::regs::{F0, RESERVED, RESERVED_VALUE, Regs};
use crate::vortex::table::Op;
use crate::{At, Bus, Flow, Mask, MemFault, Trap};

/// Byte stores here are text, one address per hart modulo 64.
pub const CONSOLE: u32 = 0x40;
pub const CONSOLE_END: u32 = 0x80;
/// Where start-up files leave the exit code and counters for the host, in words; nobody reads it here.
const REPORT: std::ops::Range<u32> = CONSOLE_END..0x1000;
/// Where programs see local memory.
pub const LOCAL: u32 = 0xffff_0000;
/// Where the machine keeps the local memories, one stride per core: beyond all addresses of programs.
pub const LOCAL_PLACE: u64 = 1 << 32;
pub const LOCAL_STRIDE: u64 = 1 << 16;

/// How addresses of programs become places in memory.
pub(crate) trait Space {
    /// Byte stores to a few low addresses are text, words stored behind them are for a host (docs/vortex.md).
    const CONSOLE: bool;

    /// Which lanes go where; addresses of lanes that go to another memory become offsets into it. No address is larger than `top`.
    fn place(&self, access: &Access, top: u32, addr: &mut Row<u32>, on: Mask) -> Result<Place, Trap>;
}

/// Addresses below are of one memory: nobody has to know the largest one.
const MANY_PLACES: u32 = 1 << 31;

/// What an instruction does at its addresses, for messages.
pub(crate) struct Access {
    what: &'static str,
    pub bytes: u32,
}

impl Access {
    pub fn fault(&self, addr: u32, why: String) -> Trap {
        Trap::Memory(MemFault { what: self.what, addr: addr.into(), bytes: self.bytes, why })
    }
}

/// Local memory of a core of Vortex.
struct CoreLocal {
    base: u64,
    bytes: u32,
}

impl Space for CoreLocal {
    const CONSOLE: bool = true;

    fn place(&self, access: &Access, top: u32, addr: &mut Row<u32>, on: Mask) -> Result<Place, Trap> {
        let mut place = Place { local_base: self.base, ..Place::default() };
        if top >= LOCAL {
            place.local = local_lanes(access, self.bytes, addr, on)?;
        }
        Ok(place)
    }
}

/// The lanes that go to a local memory of `size` bytes; their addresses become offsets into it.
pub(crate) fn local_lanes(access: &Access, size: u32, addr: &mut Row<u32>, on: Mask) -> Result<Mask, Trap> {
    let mut local = 0;
    for lane in bits(on) {
        let a = &mut addr[lane as usize];
        let Some(offset) = a.checked_sub(LOCAL) else { continue };
        if offset + access.bytes > size {
            return Err(access.fault(*a, format!("local memory has {size} bytes")));
        }
        *a = offset;
        local |= 1 << lane;
    }
    Ok(local)
}

impl Vortex {
    #[inline]
    pub(super) fn memory<B: Bus>(
        &self,
        inst: &Inst,
        at: &At,
        regs: &mut Regs,
        bus: &mut B,
    ) -> Result<Flow, Trap> {
        let base = LOCAL_PLACE + u64::from(regs.core) * LOCAL_STRIDE;
        self.memory_in(&CoreLocal { base, bytes: self.local_bytes }, inst, at, regs, bus)
    }

    /// A load, a store or an atomic in an address space.
    #[inline]
    pub(crate) fn memory_in<S: Space, B: Bus>(
        &self,
        space: &S,
        inst: &Inst,
        at: &At,
        regs: &mut Regs,
        bus: &mut B,
    ) -> Result<Flow, Trap> {
        let (what, bytes) = match inst.op {
            Op::Lb | Op::Lbu => ("load", 1),
            Op::Lh | Op::Lhu => ("load", 2),
            Op::Lw | Op::Flw => ("load", 4),
            Op::Sb => ("store", 1),
            Op::Sh => ("store", 2),
            Op::Sw | Op::Fsw => ("store", 4),
            _ => ("atomic access", 4),
        };
        let mut addr: Row<u32> = [0; 64];
        let offset = inst.imm as u32;
        for (to, from) in addr.iter_mut().zip(regs.rows.row(inst.rs1.into())) {
            *to = from.wrapping_add(offset);
        }
        let access = Access { what, bytes };
        let top = aligned(&access, &addr, at.mask)?;
        let place = space.place(&access, top, &mut addr, at.mask)?;
        match inst.op {
            Op::Lw | Op::Flw => {
                let d = usize::from(inst.rd) + if inst.op == Op::Flw { F0 } else { 0 };
                let mut out = [[0; 64]];
                place.each(at.mask, |base, lanes| {
                    if place.local == at.mask {
                        bus.local();
                    }
                    bus.load_lanes(base, &[addr], lanes, &mut out)
                })?;
                if d != 0 {
                    regs.rows.blend(d, at.mask, &out[0]);
                }
            }
            Op::Sw | Op::Fsw => {
                let s = usize::from(inst.rs2) + if inst.op == Op::Fsw { F0 } else { 0 };
                let mut data = [0; 64];
                let row = regs.rows.row(s);
                data[..row.len()].copy_from_slice(row);
                let stored = place.each(at.mask, |base, lanes| {
                    if place.local == at.mask {
                        bus.local();
                    }
                    bus.store_lanes(base, &[addr], lanes, &[&data])
                });
                let report = |lane: u32| REPORT.contains(&addr[lane as usize]);
                if !(S::CONSOLE && stored.is_err() && place.local == 0 && bits(at.mask).all(report)) {
                    stored?;
                }
            }
            _ => {
                if place.local == at.mask {
                    bus.local();
                }
                let console = S::CONSOLE && inst.op == Op::Sb;
                lane_by_lane(inst, (at.mask, console), &place, &addr, bytes, regs, bus)?;
            }
        }
        Ok(Flow::Next)
    }
}

/// Narrow accesses and atomics, lanes lowest first. `console`: some addresses are text.
fn lane_by_lane<B: Bus>(
    inst: &Inst,
    (on, console): (Mask, bool),
    place: &Place,
    addr: &Row<u32>,
    bytes: u32,
    regs: &mut Regs,
    bus: &mut B,
) -> Result<(), Trap> {
    let d = usize::from(inst.rd);
    for lane in bits(on) {
        let at = addr[lane as usize];
        let whole = place.base(lane) + u64::from(at);
        let data = regs.get(inst.rs2.into(), lane);
        bus.lane(lane);
        match inst.op {
            Op::Lb => regs.set(d, lane, bus.load(whole, 1)? as u8 as i8 as u32),
            Op::Lh => regs.set(d, lane, bus.load(whole, 2)? as u16 as i16 as u32),
            Op::Lbu | Op::Lhu => regs.set(d, lane, bus.load(whole, bytes)? as u32),
            Op::Sb if console && place.local >> lane & 1 == 0 && (CONSOLE..CONSOLE_END).contains(&at) => {
                bus.console_of(at - CONSOLE, data as u8);
            }
            Op::Sb => bus.store(whole, 1, u64::from(data as u8))?,
            Op::Sh => bus.store(whole, 2, u64::from(data as u16))?,
            _ => {
                let result = atomic(inst.op, whole, lane, data, regs, bus)?;
                regs.set(d, lane, result);
            }
        }
    }
    Ok(())
}

/// No lane's address is larger than this. Misaligned accesses fault.
#[inline]
fn aligned(access: &Access, addr: &Row<u32>, on: Mask) -> Result<u32, Trap> {
    let low = access.bytes - 1;
    // Lanes that are not on rarely make a difference.
    let all = any_bits(addr);
    if all & low == 0 && all < MANY_PLACES {
        return Ok(all);
    }
    if all & low != 0
        && let Some(bad) = bits(on).map(|lane| addr[lane as usize]).find(|at| at & low != 0)
    {
        return Err(access.fault(bad, format!("not aligned to {} bytes", access.bytes)));
    }
    Ok(extremes(addr, on).1)
}

/// Where the addresses of an instruction count from.
#[derive(Default)]
pub(crate) struct Place {
    /// Lanes that go to local memory.
    pub local: Mask,
    pub local_base: u64,
    /// Lanes that go to private memory; Vortex has none.
    pub private: Mask,
    pub private_base: u64,
}

impl Place {
    fn base(&self, lane: u32) -> u64 {
        match () {
            () if self.local >> lane & 1 == 1 => self.local_base,
            () if self.private >> lane & 1 == 1 => self.private_base,
            () => 0,
        }
    }

    /// Calls `f` with base and lanes, once for each memory.
    #[inline(always)]
    fn each(&self, on: Mask, mut f: impl FnMut(u64, Mask) -> Result<(), MemFault>) -> Result<(), MemFault> {
        let elsewhere = self.local | self.private;
        if elsewhere == 0 {
            return f(0, on);
        }
        if on & !elsewhere != 0 {
            f(0, on & !elsewhere)?;
        }
        if self.private != 0 {
            f(self.private_base, self.private)?;
        }
        if self.local != 0 { f(self.local_base, self.local) } else { Ok(()) }
    }
}

/// One lane's atomic. A reservation holds while memory still has the value that `lr.w` read: there is no list of
/// harts to tell of other stores, so a value that changed and changed back is not seen (docs/vortex.md).
fn atomic<B: Bus>(
    op: Op,
    addr: u64,
    lane: u32,
    data: u32,
    regs: &mut Regs,
    bus: &mut B,
) -> Result<u32, Trap> {
    let old = bus.load(addr, 4)? as u32;
    let key = addr as u32 | 1;
    let new = match op {
        Op::LrW => {
            regs.rows.set(RESERVED, lane, key);
            regs.rows.set(RESERVED_VALUE, lane, old);
            return Ok(old);
        }
        Op::ScW => {
            let held = regs.get(RESERVED, lane) == key && regs.get(RESERVED_VALUE, lane) == old;
            regs.rows.set(RESERVED, lane, 0);
            if held {
                bus.store(addr, 4, data.into())?;
            }
            return Ok(u32::from(!held));
        }
        Op::AmoSwap => data,
        Op::AmoAdd => old.wrapping_add(data),
        Op::AmoXor => old ^ data,
        Op::AmoAnd => old & data,
        Op::AmoOr => old | data,
        Op::AmoMin => (old as i32).min(data as i32) as u32,
        Op::AmoMax => (old as i32).max(data as i32) as u32,
        Op::AmoMinu => old.min(data),
        _ => old.max(data),
    };
    bus.store(addr, 4, new.into())?;
    Ok(old)
}
