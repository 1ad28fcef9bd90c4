//! Work-items, memories and jumps of a lane-pc machine; arithmetic is tested with Vortex.

use super::*;
use crate::vortex::assemble;
use crate::{MemFault, SourceFile, first_lanes};

#[derive(Default)]
struct Notes(Vec<(u64, u32)>);

impl Bus for Notes {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        self.0.push((addr, bytes));
        Ok(addr)
    }

    fn store(&mut self, addr: u64, bytes: u32, _: u64) -> Result<(), MemFault> {
        self.0.push((addr, bytes));
        Ok(())
    }

    fn console(&mut self, _: u8) {}
}

fn isa() -> Riscv {
    let setup = Setup {
        grid: [10, 6, 1],
        group: [4, 4, 1],
        dimensions: 2,
        kernarg: 0x900,
        local_bytes: 64,
        private_bytes: 32,
    };
    Riscv { setup, ..Riscv::at(0x8000_0000) }
}

/// Wave 1 of group 5, the last one: 2 × 2 work-items at [2, 1].
fn wave(isa: &Riscv, wave_in_group: u32) -> Regs {
    let mut regs = isa.registers(8);
    let start = WaveStart {
        group: 5,
        wave_in_group,
        waves_in_group: 2,
        lanes: 8,
        lds_base: 0x5000,
        scratch_base: 0x7000,
        ..WaveStart::default()
    };
    isa.start(&mut regs, &start);
    regs
}

fn run(isa: &Riscv, text: &str, regs: &mut Regs, mask: u64) -> (Result<Flow, Trap>, Vec<(u64, u32)>) {
    let image = assemble(&SourceFile::new("t", text)).expect("assembles");
    let word = u32::from_le_bytes(image.segments[0].1[..4].try_into().expect("a word"));
    let at = At {
        pc: 8,
        next: 9,
        mask,
        live: mask,
        clock: 0,
        core: 0,
        depth: 0,
        waves: 1,
        whole: true,
        may_diverge: true,
    };
    let mut bus = Notes::default();
    let flow = isa.exec(&Inst::decode(word).expect("decodes"), &at, regs, &mut bus);
    (flow, bus.0)
}

#[test]
fn work_items_know_their_places() {
    let isa = isa();
    let mut regs = wave(&isa, 0);
    for (csr, want) in [
        (0xcd0, [0, 1, 0, 1]),
        (0xcd1, [0, 0, 1, 1]),
        (0xcd4, [2; 4]),
        (0xcd5, [1; 4]),
        (0xcd8, [2; 4]),
        (0xcdc, [4; 4]),
        (0xce0, [10; 4]),
        (0xce4, [3; 4]),
        (0xce8, [2; 4]),
        (0xce9, [0x900; 4]),
    ] {
        let (flow, _) = run(&isa, &format!("csrr t0, {csr}"), &mut regs, 0xf);
        assert_eq!(flow, Ok(Flow::Next));
        assert_eq!(std::array::from_fn(|l| regs.get(5, l as u32)), want, "{csr:#x}");
    }
    let (flow, _) = run(&isa, "csrr t0, vx_wave_id", &mut regs, 1);
    assert!(matches!(flow, Err(Trap::Other(text)) if text.contains("0xcc1")));
}

#[test]
fn an_address_is_in_one_of_three_memories() {
    let isa = isa();
    let mut regs = wave(&isa, 0);
    for (lane, addr) in [0x100, 0xffff_0004, 0xffef_fffc, 0xffef_fff0].into_iter().enumerate() {
        regs.set(6, lane as u32, addr);
    }
    // Private memory: word 7 and word 4 of 8, of lanes 2 and 3 of 8.
    let (_, seen) = run(&isa, "lb t0, 0(t1)", &mut regs, 0xf);
    assert_eq!(seen, [(0x100, 1), (0x5004, 1), (0x7000 + 7 * 32 + 8, 1), (0x7000 + 4 * 32 + 12, 1)]);
    for (addr, text) in [(0xffff_0040, "local memory has 64 bytes"), (0xffef_ffdc, "has 32 bytes (lane 0)")] {
        regs.set(6, 0, addr);
        let (flow, _) = run(&isa, "lw t0, 0(t1)", &mut regs, 1);
        assert!(matches!(flow, Err(Trap::Memory(fault)) if fault.why.contains(text)), "{addr:#x}");
    }
}

#[test]
fn lanes_return_to_where_they_came_from() {
    let isa = isa();
    let mut regs = wave(&isa, 0);
    assert_eq!(run(&isa, "ret", &mut regs, 0xf).0, Ok(Flow::Exit { lanes: 0xf }));
    for (lane, addr) in [0x8000_0040, 0x8000_0080, 0x8000_0040, 0].into_iter().enumerate() {
        regs.set(1, lane as u32, addr);
    }
    assert_eq!(run(&isa, "ret", &mut regs, 0xf).0, Ok(Flow::Scatter { taken: 5, target: 16 }));
    assert_eq!(run(&isa, "ret", &mut regs, 5).0, Ok(Flow::Jump(16)));
    assert_eq!(run(&isa, "ret", &mut regs, 8).0, Ok(Flow::Exit { lanes: 8 }));
}

#[test]
fn paths_have_one_set_of_registers() {
    let isa = isa();
    let mut regs = wave(&isa, 0);
    regs.set(5, 3, 77);
    let mut other = isa.fork(&regs).expect("waves split here");
    isa.hand_over(&mut regs, &mut other);
    assert_eq!(other.get(5, 3), 77);
    assert_eq!(run(&isa, "addi t0, t0, 1", &mut other, first_lanes(8)).0, Ok(Flow::Next));
    isa.hand_over(&mut other, &mut regs);
    assert_eq!(regs.get(5, 3), 78);
    let barrier = run(&isa, ".insn r 0x0b, 4, 0, x0, x0, x0", &mut regs, 1).0;
    assert_eq!(barrier, Ok(Flow::Barrier { id: 5, count: 2 }));
}
