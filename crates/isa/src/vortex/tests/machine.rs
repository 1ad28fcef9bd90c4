//! A wave with memory for tests, and numbers that break things.

use crate::vortex::{Inst, Op, Regs, Vortex};
use crate::{At, Bus, Flow, Isa, Mask, MemFault, Trap, WaveStart, first_lanes};

pub const BASE: u32 = 0x8000_0000;

/// Memory from address 0, local memories behind it, and what was printed.
pub struct Bytes {
    pub bytes: Vec<u8>,
    pub local: Vec<u8>,
    pub text: Vec<(u32, u8)>,
}

impl Bytes {
    fn part(&mut self, addr: u64, bytes: u32) -> Result<&mut [u8], MemFault> {
        let fault = MemFault { what: "access", addr, bytes, why: "outside".into() };
        let (memory, at) = match addr.checked_sub(1 << 32) {
            Some(at) => (&mut self.local, at as usize),
            None => (&mut self.bytes, addr as usize),
        };
        memory.get_mut(at..at + bytes as usize).ok_or(fault)
    }
}

impl Bus for Bytes {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        let mut word = [0; 8];
        let part = self.part(addr, bytes)?;
        word[..part.len()].copy_from_slice(part);
        Ok(u64::from_le_bytes(word))
    }

    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        self.part(addr, bytes)?.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        Ok(())
    }

    fn console(&mut self, byte: u8) {
        self.text.push((u32::MAX, byte));
    }

    fn console_of(&mut self, stream: u32, byte: u8) {
        self.text.push((stream, byte));
    }
}

pub struct Machine {
    pub isa: Vortex,
    pub regs: Regs,
    pub bus: Bytes,
    pub at: At,
}

impl Machine {
    /// Wave 1 of core 1 of a machine with two cores of four waves, all lanes active.
    pub fn new(lanes: u32) -> Machine {
        let isa = Vortex { base: BASE, cores: 2, waves: 4, args: 0x1_0000, local_bytes: 256 };
        let mut regs = isa.registers(lanes);
        isa.start(&mut regs, &WaveStart { group: 1, wave_in_group: 1, lanes, ..WaveStart::default() });
        let bus = Bytes { bytes: vec![0; 4096], local: vec![0; 1 << 17], text: Vec::new() };
        let mask = first_lanes(lanes);
        let at = At {
            pc: 16,
            next: 17,
            mask,
            live: mask,
            clock: 0x5_0000_0007,
            core: 1,
            depth: 3,
            waves: 0b1011,
            whole: true,
            may_diverge: false,
        };
        Machine { isa, regs, bus, at }
    }

    pub fn masked(lanes: u32, mask: Mask) -> Machine {
        let mut m = Machine::new(lanes);
        m.at.mask = mask;
        m
    }

    pub fn exec(&mut self, inst: Inst) -> Result<Flow, Trap> {
        self.isa.exec(&inst, &self.at, &mut self.regs, &mut self.bus)
    }

    /// Executes what must go on to the next instruction.
    pub fn run(&mut self, inst: Inst) {
        assert_eq!(self.exec(inst), Ok(Flow::Next), "{inst:?}");
    }

    pub fn set(&mut self, register: usize, values: &[u32]) {
        for (lane, &v) in values.iter().enumerate() {
            self.regs.set(register, lane as u32, v);
        }
    }

    pub fn row(&self, register: usize) -> Vec<u32> {
        (0..self.regs.lanes()).map(|l| self.regs.get(register, l)).collect()
    }
}

/// `op x3, x1, x2` or the same with floating-point registers.
pub fn three(op: Op) -> Inst {
    Inst { rd: 3, rs1: 1, rs2: 2, ..Inst::new(op) }
}

/// A deterministic source of numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    pub fn word(&mut self) -> u32 {
        (self.next() >> 16) as u32
    }

    /// Integers of all sizes, with the ends of the range.
    pub fn integer(&mut self) -> u32 {
        const EDGES: [u32; 12] =
            [0, 1, 2, 31, 32, 0x7f, 0x80, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX, u32::MAX - 1];
        match self.below(3) {
            0 => EDGES[self.below(12) as usize],
            1 => self.word() >> self.below(32),
            _ => self.word(),
        }
    }

    /// Floats: edges, neighbours of edges, subnormals, halves of integers, near each other, any bits.
    pub fn float(&mut self) -> u32 {
        const EDGES: [u32; 14] = [
            0,
            1,
            0x007f_ffff,
            0x0080_0000,
            0x0080_0001,
            0x3f80_0000,
            0x3f7f_ffff,
            0x4f00_0000,
            0x4f80_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7fc0_0000,
            0x7f80_0001,
            0x7fff_ffff,
        ];
        let sign = (self.word() & 1) << 31;
        sign ^ match self.below(7) {
            0 => EDGES[self.below(14) as usize],
            1 => EDGES[self.below(14) as usize].wrapping_add(self.word() % 5).wrapping_sub(2) & 0x7fff_ffff,
            2 => self.word() & 0x007f_ffff,
            3 => (self.below(1 << 10) as f32 / 4.0).to_bits(),
            4 => 0x3f00_0000 + (self.word() & 0x01ff_ffff),
            5 => (self.word() & 0x7fff_0000) & 0x7fff_ffff,
            _ => self.word() & 0x7fff_ffff,
        }
    }
}
