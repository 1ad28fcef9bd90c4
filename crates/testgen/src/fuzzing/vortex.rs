//! Fuzz targets of Vortex: assembly, words and executables.

use super::input::{first, small};
use std::sync::LazyLock;
use wb_hw::Machine;
use wb_hw::Mechanism;
use wb_isa::vortex::{Inst, Target, Vortex, assemble, text};
use wb_isa::{Isa, SourceFile};
use wb_jobs::vortex::{image, listing, memory};
use wb_objects::{RiscvImage, vortex_program};
use wb_sim::{ErrorKind, Launch, Outcome, RunOptions, Runnable};

/// Programs larger than this only cost time.
const MAX_LISTED: u64 = 1 << 16;

static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let mut machine = small("vortex-swas");
    machine.core.waves = 2;
    machine.limits.memory = 1 << 17;
    machine
});

/// Byte 0: mechanism and cores; the rest: source. What assembles lists, assembles again, comes back from ELF and runs.
pub fn assembler(data: &[u8]) {
    let (choice, rest) = first(data);
    let source = String::from_utf8_lossy(rest);
    let Ok(assembled) = assemble(&SourceFile::new("fuzz.vx", source)) else { return };
    let whole = RiscvImage::from_assembly(&assembled, "fuzz.vx");
    if whole.extent().end - whole.extent().start > MAX_LISTED {
        return;
    }
    let again = RiscvImage::from_elf(&whole.to_elf()).expect("what we write we read");
    assert_eq!((&again.segments, again.entry), (&whole.segments, whole.entry));
    run(&whole, choice);
}

/// Words: what decodes is text that assembles to the same word.
pub fn decoder(data: &[u8]) {
    for bytes in data.as_chunks::<4>().0 {
        let word = u32::from_le_bytes(*bytes);
        let Ok(inst) = Inst::decode(word) else { continue };
        assert_eq!(inst.encode(), word, "{inst:?}");
        assert!(inst.registers().into_iter().flatten().all(|r| r < 64));
        let line = text(&inst, &Target::Distance);
        let image = assemble(&SourceFile::new("fuzz", line.as_str()));
        let image = image.unwrap_or_else(|e| panic!("`{line}` does not assemble: {e:?}"));
        assert_eq!(image.segments[0].1, word.to_le_bytes(), "{line}");
        let isa = Vortex::at(0x8000_0000);
        isa.facts(&inst, 3, 4);
        isa.show(&inst, 3, &|_| None);
    }
}

/// Byte 0: mechanism and cores; the rest: an ELF file.
pub fn object(data: &[u8]) {
    let (choice, rest) = first(data);
    let Ok((image, _)) = image("fuzz.elf", rest) else { return };
    if image.extent().end - image.extent().start > MAX_LISTED
        || image.text.end - image.text.start > MAX_LISTED
    {
        return;
    }
    if rest.starts_with(b"\x7fELF") {
        let _ = listing("fuzz.elf", rest, choice & 1 == 1);
    }
    run(&image, choice);
}

/// Untimed and timed; no invariant of the machine may break, and one wave leaves the same memory in both.
fn run(image: &RiscvImage, choice: u8) {
    let mut machine = MACHINE.clone();
    machine.divergence.mechanism =
        [Mechanism::VortexV2, Mechanism::Vortex, Mechanism::SimtStack][usize::from(choice % 3)];
    machine.cores = 1 + u32::from(choice >> 6 & 1);
    let isa = Vortex { cores: machine.cores, waves: machine.core.waves, args: 0x1_0000, ..Vortex::at(0) };
    let Ok(program) = vortex_program(image, isa, "fuzz", None) else { return };
    let run = |timed: bool| -> Option<Outcome> {
        let options = RunOptions { timed, check: true, ..RunOptions::default() };
        let launch = Launch::Cores { count: machine.cores };
        let memory = memory(&program, &machine).ok()?;
        let result = program.run(&machine, launch, memory, options, None);
        if let Err(error) = &result {
            assert!(error.kind != ErrorKind::Invariant, "{error}");
        }
        result.ok()
    };
    // Cycles and instructions differ between the runs, and so do programs that read them.
    let clocks = [0xb00, 0xb80, 0xb02, 0xb82, 0xc00, 0xc80, 0xc02, 0xc82, 0xcc3];
    let reads_clock = image.words().any(|(_, w)| w & 0x7f == 0x73 && clocks.contains(&(w >> 20)));
    if let (Some(a), Some(b)) = (run(false), run(true))
        && a.waves == 1
        && !reads_clock
    {
        assert!(a.memory.all() == b.memory.all(), "untimed and timed memory differ");
        assert_eq!(a.console, b.console);
    }
}
