//! Tests of the GUPPY instruction set, with a memory and a stepper just big enough for them.

mod asm;
mod examples;
mod exec;
mod memory;
mod module;

use super::*;
use crate::{Flow, MemFault, SourceFile, first_lanes};

/// Flat memory that counts what it is asked for.
pub struct Memory {
    pub bytes: Vec<u8>,
    pub loads: Vec<u64>,
    pub stores: usize,
}

impl Memory {
    pub fn new(bytes: usize) -> Memory {
        Memory { bytes: vec![0; bytes], loads: Vec::new(), stores: 0 }
    }

    pub fn put(&mut self, addr: usize, value: u32) {
        self.bytes[addr..addr + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn get(&self, addr: usize) -> u32 {
        u32::from_le_bytes(self.bytes[addr..addr + 4].try_into().expect("four bytes"))
    }
}

impl Bus for Memory {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        assert_eq!(bytes, 4);
        let end = addr + 4;
        if end > self.bytes.len() as u64 {
            return Err(MemFault { what: "load", addr, bytes, why: "outside memory".into() });
        }
        self.loads.push(addr);
        Ok(u64::from(self.get(addr as usize)))
    }

    fn store(&mut self, addr: u64, bytes: u32, value: u64) -> Result<(), MemFault> {
        assert_eq!(bytes, 4);
        if addr + 4 > self.bytes.len() as u64 {
            return Err(MemFault { what: "store", addr, bytes, why: "outside memory".into() });
        }
        self.stores += 1;
        self.put(addr as usize, value as u32);
        Ok(())
    }

    fn console(&mut self, _byte: u8) {}
}

pub fn assembled(text: &str) -> Module {
    let errors = |e: Vec<crate::AsmError>| e.iter().map(|e| e.to_string()).collect::<Vec<_>>();
    assemble(&SourceFile::new("test.s", text)).map_err(errors).expect("the program is right")
}

/// A wave that runs straight-line code and remembers the last flow.
pub struct Wave {
    pub isa: Guppy,
    pub regs: Regs,
    pub memory: Memory,
    pub mask: u64,
    pub clock: u64,
}

impl Wave {
    pub fn new(lanes: u32) -> Wave {
        Wave::with(lanes, Bindings::default(), 0)
    }

    pub fn with(lanes: u32, bindings: Bindings, bytes: usize) -> Wave {
        let isa = Guppy::new(16, bindings);
        let mut regs = isa.registers(lanes);
        isa.start(&mut regs, &WaveStart { lanes, group_size: 64, ..WaveStart::default() });
        Wave { isa, regs, memory: Memory::new(bytes), mask: first_lanes(lanes), clock: 0 }
    }

    pub fn try_run(&mut self, text: &str) -> Result<Flow, Trap> {
        let mut flow = Flow::Next;
        for (pc, inst) in (0..).zip(&assembled(text).insts) {
            let at = At {
                pc,
                next: pc + 1,
                mask: self.mask,
                live: self.mask,
                clock: self.clock,
                core: 0,
                depth: 0,
                waves: 1,
                whole: true,
                may_diverge: true,
            };
            flow = self.isa.exec(inst, &at, &mut self.regs, &mut self.memory)?;
        }
        Ok(flow)
    }

    pub fn run(&mut self, text: &str) -> Flow {
        self.try_run(text).expect("no trap")
    }

    /// Components of a register in a lane.
    pub fn reg(&self, register: u16, lane: u32) -> [u32; 4] {
        std::array::from_fn(|c| self.regs.get(register * 4 + c as u16, lane))
    }

    pub fn floats(&self, register: u16, lane: u32) -> [f32; 4] {
        self.reg(register, lane).map(f32::from_bits)
    }
}

/// Deterministic noise for mutation tests.
pub struct Lcg(pub u64);

impl Lcg {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }
}

/// One program with every instruction and every kind of operand.
pub const EVERYTHING: &str = "
START:
    mov r0.xy, thread_id        ; builtins
    mov r1.x, lane_id
    mov r1.y, wave_id
    mov r1.z, clock
    utof r2.xy, r0.yx
    clamp r2.zw, r2.xy
    len r3.x, r2.xyzw
    abs.f32 r3.yzw, f3(-1.0 -0.0 1e-20)
    norm r4.xyz, r3.zyx
    add.f32 r5.x, r4.x, f(0.1)
    add.u32 r5.y, r5.y, u(0xffffffff)
    sub.f32 r5.zw, r4.xy, f2(inf 0x7fc00001)
    sub.u32 r6.xyzw, u4(1 2 3 -4), r0.wzyx
    lt.f32 r7.x, r5.x, r5.y
    lt.u32 r7.y, r5.x, u2(7 8)
    gt.f32 r7.z, r5.x, f4(1 2 3 4)
    gt.u32 r7.w, r5.x, u3(1 2 3)
    and r8.x, r7.x, u(1)
    or r8.y, r7.x, r7.y
    mul.f32 r8.z, r5.x, r5.x
    mul.u32 r8.w, r5.y, r5.y
    div.f32 r9.x, r5.x, r5.z
    div.u32 r9.y, r5.x, r5.z
    mad.f32 r10.xyz, r9.xxx, r9.yyy, r9.zzz
    mad.u32 r11.x, r10.x, r10.y, r10.z
    lerp r11.yzw, r10.xyz, r9.xyz, r8.xxx
    ld r12.xy, t0.zw, r0.x
    st u63.xyzw, r0.zw, r12.xyzw
    sample r255.xyzw, t63.xyzw, s7, r0.xy
LOOP: push_mask END
    mask_nz r0.y
    br_push r0.x, ELSE, JOIN
    pop_mask
ELSE:
    pop_mask
JOIN:
    jmp LOOP
END:
    ret
";
