//! Fuzz targets: one function per kind of input that comes from outside. Each takes any bytes and must
//! return; what it accepts must survive a round trip, and a run must end in `Ok` or `Err`. `fuzz/` feeds
//! them with libFuzzer, `tests/fuzz_smoke.rs` with simple mutations on every test run (docs/fuzzing.md).

pub mod gcn3;
mod input;
pub mod vortex;

use input::{MEMORY, first, small, text};
use std::sync::LazyLock;
use wb_hw::{FirstSide, FrontEndKind, Machine, Mechanism, Policy};
use wb_isa::guppy::{self, Bindings, Guppy, Module, View};
use wb_isa::harp::{self, Arch, Encoding, Harp, Image, Object};
use wb_isa::{Isa, Pc, SourceFile};
use wb_program::{guppy_program, harp_program};
use wb_sim::{DeviceMemory, ErrorKind, Launch, Outcome, RunOptions, Runnable};
use wb_trace::{Block, HashObserver, PdomLog, Statistics, TraceFile, TraceReader, replay};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A target by the name of its file in `fuzz/fuzz_targets`.
pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: [Target; 14] = [
    ("harp_assembler", harp_assembler),
    ("guppy_assembler", guppy_assembler),
    ("harp_decoder", harp_decoder),
    ("guppy_decoder", guppy_decoder),
    ("harp_object", harp_object),
    ("trace_reader", trace_reader),
    ("run_any", run_any),
    ("gcn3_assembler", gcn3::assembler),
    ("gcn3_decoder", gcn3::decoder),
    ("gcn3_object", gcn3::object),
    ("launch_file", gcn3::launch_file),
    ("vortex_assembler", vortex::assembler),
    ("vortex_decoder", vortex::decoder),
    ("vortex_object", vortex::object),
];

/// Architectures an input's first byte chooses from.
pub const ARCHES: [&str; 8] = ["4w8/1", "4w16/2", "8w32/4", "4b16/2", "8w32/32", "2w4/2", "3b8/2", "1b4/1"];
const MECHANISMS: [Mechanism; 3] = [Mechanism::Harptool, Mechanism::Pdom, Mechanism::SimtStack];
/// Words, lines and views longer than this only cost time.
const MAX_LISTED: u64 = 1 << 16;

static HARP: LazyLock<Machine> = LazyLock::new(|| small("harp"));
static GUPPY: LazyLock<Machine> = LazyLock::new(|| small("guppy"));

/// Byte 0: architecture; the rest: source.
pub fn harp_assembler(data: &[u8]) {
    let (choice, rest) = first(data);
    let arch: Arch = ARCHES[usize::from(choice) % ARCHES.len()].parse().expect("an architecture");
    let Ok(object) = harp::assemble(&SourceFile::new("fuzz.s", text(rest)), &arch) else { return };
    if object.chunks.iter().map(|c| c.size.saturating_add(c.align)).sum::<u64>() > MAX_LISTED {
        return;
    }
    if let Ok(file) = object.to_file() {
        let mut read = Object::from_bytes(&file).expect("an object file that was just written");
        let mut written = object.clone();
        let is_told = object.chunks.iter().any(|c| c.text);
        for chunk in written.chunks.iter_mut().chain(&mut read.chunks) {
            chunk.lines.clear();
            // A file without code leaves what is code to a guess.
            chunk.text &= is_told;
        }
        assert_eq!(read, written, "an object file reads back as it was written");
    }
    let Ok(image) = harp::link(&[object]) else { return };
    let listing = harp::disassemble(&image);
    let again = harp::assemble_program(&SourceFile::new("listing.s", listing.as_str()), &arch)
        .unwrap_or_else(|e| panic!("the disassembly does not assemble: {e:?}\n{listing}"));
    assert_eq!(again.segments, image.segments, "the disassembly assembles to the same bytes:\n{listing}");
    assert_eq!((again.entry, again.text), (image.entry, image.text), "{listing}");
}

/// Source text.
pub fn guppy_assembler(data: &[u8]) {
    let Ok(module) = guppy::assemble(&SourceFile::new("fuzz.guppy", text(data))) else { return };
    let read = Module::from_bytes(&module.to_bytes()).expect("a module that was just written");
    assert_eq!(read, module, "a module file reads back as it was written");
    disassembles(&module);
}

/// The disassembly, with a label everywhere, assembles to the same instructions.
fn disassembles(module: &Module) {
    let isa = Guppy::new(256, Bindings::default());
    let mut listing = String::new();
    for (pc, inst) in module.insts.iter().enumerate() {
        let line = isa.show(inst, pc as Pc, &|target| Some(format!("L{target}")));
        listing.push_str(&format!("L{pc}: {line}\n"));
    }
    listing.push_str(&format!("L{}:\n", module.insts.len()));
    let again = guppy::assemble(&SourceFile::new("listing.guppy", listing.as_str()))
        .unwrap_or_else(|e| panic!("the disassembly does not assemble: {e:?}\n{listing}"));
    assert_eq!(again.insts, module.insts, "{listing}");
}

/// Bytes 0 to 2: encoding and word, registers, predicates; the rest: instructions.
pub fn harp_decoder(data: &[u8]) {
    let &[shape, gprs, preds, ref code @ ..] = data else { return };
    let arch = Arch {
        bytes: 1 + u32::from(shape & 7),
        encoding: if shape & 8 == 0 { Encoding::Word } else { Encoding::Byte },
        gprs: 1 + u32::from(gprs),
        preds: 1 + u32::from(preds & 127),
        lanes: None,
        warps: None,
    };
    let Ok(isa) = Harp::new(arch) else { return };
    let mut rest = code;
    while !rest.is_empty() {
        let pc = ((code.len() - rest.len()) / isa.granule as usize) as Pc;
        let Ok((inst, size)) = isa.decode_at(rest) else {
            rest = &rest[(isa.granule as usize).min(rest.len())..];
            continue;
        };
        let next = pc + size / isa.granule;
        let facts = isa.facts(&inst, pc, next);
        assert!(facts.reads.iter().chain(&facts.writes).all(|&r| usize::from(r) < isa.register_count()));
        assert!(!isa.show(&inst, pc, &|_| None).is_empty());
        let mut bytes = Vec::new();
        isa.codec().encode(&inst, &mut bytes).expect("a decoded instruction");
        assert_eq!(isa.decode_at(&bytes), Ok((inst, size)), "an instruction survives encoding");
        rest = &rest[size as usize..];
    }
}

/// A module file.
pub fn guppy_decoder(data: &[u8]) {
    let Ok(module) = Module::from_bytes(data) else { return };
    assert_eq!(module.to_bytes(), data, "a module has one encoding");
    disassembles(&module);
    run_guppy(module, &GUPPY, GUPPY.core.lanes + 1, false);
}

/// An object file: linked, loaded and run for a while under every mechanism.
pub fn harp_object(data: &[u8]) {
    let Ok(object) = Object::from_bytes(data) else { return };
    let _ = object.to_bytes();
    if object.chunks.iter().map(|c| c.size).sum::<u64>() > MEMORY {
        return;
    }
    let Ok(image) = harp::link(&[object]) else { return };
    if image.end() <= MAX_LISTED {
        let _ = harp::disassemble(&image);
    }
    for mechanism in MECHANISMS {
        let mut machine = HARP.clone();
        machine.divergence.mechanism = mechanism;
        machine.limits.cycles = 500;
        run_harp(&image, &machine, false);
    }
}

/// A trace file, as it is and with all its checksums made right.
pub fn trace_reader(data: &[u8]) {
    read_trace(data);
    read_trace(&seal(data));
}

fn read_trace(data: &[u8]) {
    let Ok(reader) = TraceReader::open(data) else { return };
    let (mut hash, mut statistics, mut log) =
        (HashObserver::new(), Statistics::new(), PdomLog::new(Vec::new()));
    let end = replay(reader, &mut [&mut hash, &mut statistics, &mut log]);
    let stats = statistics.stats();
    assert!(!stats.table().is_empty());
    let _ = stats.pc_table();
    // Not the file's hash: another way to cut the same events into blocks is as good.
    let _ = hash.hash();
    // The same file by its blocks: what a strict reader takes, this one takes, too.
    let mut file = TraceFile::open(std::io::Cursor::new(data)).expect("the header was good");
    let (mut block, mut events) = (Block::default(), 0);
    for i in 0..file.blocks().len() {
        match file.read_block(i, &mut block) {
            Ok(()) => events += block.events.len() as u64,
            Err(_) => assert!(end.is_err(), "a good file has a bad block"),
        }
    }
    if let Ok(end) = end {
        assert_eq!((file.end(), events), (Some(end), end.events));
    }
}

/// Puts right lengths that lead out of the file, checksums and the trailer (docs/trace-format.md), so that
/// damage is met behind them and not only by them.
fn seal(data: &[u8]) -> Vec<u8> {
    if data.get(7) == Some(&1) { seal_1(data) } else { seal_2(data) }
}

/// The same for files of version 2. Short columns are stored as they are, so damage in them gets to the decoder.
fn seal_2(data: &[u8]) -> Vec<u8> {
    let (magic, fixed, head) = (b"WBTRACE\x02", 24, 45);
    let mut out = data.to_vec();
    if out.len() < fixed {
        return out;
    }
    let number = |out: &[u8], at: usize| u32::from_le_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]);
    out[..8].copy_from_slice(magic);
    let end = (fixed + (number(&out, 8) as usize).min(out.len())).min(out.len());
    out[8..12].copy_from_slice(&((end - fixed) as u32).to_le_bytes());
    let sum = xxh3_64(&out[fixed..end]);
    out[16..24].copy_from_slice(&sum.to_le_bytes());
    let (mut at, mut events, mut entries) = (end, 0u64, Vec::new());
    while out.len() >= at + head && out[at] == b'B' {
        let start = at + head;
        let stop = (start + (number(&out, at + 1) as usize).min(out.len())).min(out.len());
        out[at + 1..at + 5].copy_from_slice(&((stop - start) as u32).to_le_bytes());
        out[at + 9..at + 17].copy_from_slice(&events.to_le_bytes());
        let sum = xxh3_64(&out[start..stop]);
        out[at + 33..at + 41].copy_from_slice(&sum.to_le_bytes());
        let sum = xxh3_64(&out[at..at + 41]) as u32;
        out[at + 41..start].copy_from_slice(&sum.to_le_bytes());
        entries.extend((at as u64).to_le_bytes());
        entries.extend(&out[at + 5..at + 9]);
        entries.extend(&out[at + 17..at + 33]);
        events += u64::from(number(&out, at + 5));
        at = stop;
    }
    out.truncate(at);
    out.push(b'I');
    out.extend((entries.len() as u32 / 28).to_le_bytes());
    out.extend(xxh3_64(&entries).to_le_bytes());
    out.extend(entries);
    let mut trailer = vec![b'E', 1];
    for number in [events, 0, 0, at as u64] {
        trailer.extend(number.to_le_bytes());
    }
    trailer.extend(xxh3_64(&trailer).to_le_bytes());
    out.extend(trailer);
    out
}

fn seal_1(data: &[u8]) -> Vec<u8> {
    let (magic, fixed) = (b"WBTRACE\x01", 20);
    let mut out = data.to_vec();
    if out.len() < fixed {
        return out;
    }
    out[..8].copy_from_slice(magic);
    let length = u32::from_le_bytes([out[8], out[9], out[10], out[11]]) as usize;
    let end = (fixed + length.min(out.len())).min(out.len());
    out[8..12].copy_from_slice(&((end - fixed) as u32).to_le_bytes());
    let sum = xxh3_64(&out[fixed..end]);
    out[12..20].copy_from_slice(&sum.to_le_bytes());
    let (mut at, mut events, mut hash) = (end, 0u64, Xxh3::new());
    while out.len() >= at + 17 && out[at] == b'B' {
        let length = u32::from_le_bytes([out[at + 1], out[at + 2], out[at + 3], out[at + 4]]) as usize;
        let start = at + 17;
        let stop = (start + length.min(out.len())).min(out.len());
        out[at + 1..at + 5].copy_from_slice(&((stop - start) as u32).to_le_bytes());
        events += u64::from(u32::from_le_bytes([out[at + 5], out[at + 6], out[at + 7], out[at + 8]]));
        let sum = xxh3_64(&out[start..stop]);
        out[at + 9..at + 17].copy_from_slice(&sum.to_le_bytes());
        hash.update(&out[start..stop]);
        at = stop;
    }
    let cycles = out.get(at + 10..at + 18).map_or(0, |b| u64::from_le_bytes(b.try_into().expect("8 bytes")));
    out.truncate(at);
    hash.update(&events.to_le_bytes());
    hash.update(&cycles.to_le_bytes());
    let mut trailer = vec![b'E', 1];
    for number in [events, cycles, hash.digest()] {
        trailer.extend(number.to_le_bytes());
    }
    trailer.extend(xxh3_64(&trailer).to_le_bytes());
    out.extend(trailer);
    out
}

/// Bytes 0 to 3: ISA and mechanism, scheduler and first side, sizes, architecture; the rest: source.
pub fn run_any(data: &[u8]) {
    let &[kind, issue, size, arch, ref source @ ..] = data else { return };
    let source = text(source);
    let file = SourceFile::new("fuzz", &*source);
    let is_harp = kind & 1 == 0;
    let mut machine = if is_harp { HARP.clone() } else { GUPPY.clone() };
    machine.core.lanes = [1, 2, 3, 4, 8, 16, 32, 64][usize::from(size & 7)];
    machine.core.partitions = [1, 2, 4, 1][usize::from(size >> 3 & 3)];
    machine.core.waves = machine.core.partitions * (1 + u32::from(size >> 5 & 1));
    machine.issue.policy = Policy::ISSUE[usize::from(issue & 7) % Policy::ISSUE.len()];
    machine.divergence.first = [FirstSide::Taken, FirstSide::NotTaken, FirstSide::Larger, FirstSide::Smaller]
        [usize::from(issue >> 3 & 3)];
    machine.divergence.push_cycles = u32::from(issue >> 5 & 1);
    machine.divergence.pop_cycles = u32::from(issue >> 6 & 1);
    if size >> 6 & 1 == 1 {
        machine.frontend.kind = FrontEndKind::Decoupled;
        machine.frontend.buffer = 2;
    }
    if is_harp {
        machine.divergence.mechanism = MECHANISMS[usize::from(kind >> 1) % MECHANISMS.len()];
        let arch = ARCHES[usize::from(arch) % ARCHES.len()];
        let Ok(object) = harp::assemble(&file, &arch.parse().expect("an architecture")) else { return };
        if object.chunks.iter().map(|c| c.size).sum::<u64>() > MEMORY {
            return;
        }
        let Ok(image) = harp::link(&[object]) else { return };
        arch.clone_into(&mut machine.arch);
        run_harp(&image, &machine, true);
    } else if let Ok(module) = guppy::assemble(&file) {
        let threads = machine.core.lanes + u32::from(size >> 7);
        run_guppy(module, &machine, threads, !source.contains("clock"));
    }
}

fn run_harp(image: &Image, machine: &Machine, timed: bool) {
    let Ok(program) = harp_program(image, "fuzz", None) else { return };
    run_both(&program, machine, Launch::Boot, timed, timed);
}

fn run_guppy(module: Module, machine: &Machine, threads: u32, same_memory: bool) {
    let buffer = |base| View::Buffer { base, bytes: 1024 };
    let texture = View::Texture { base: 0x1000, width: 8, height: 8, pitch: 32 };
    let bindings = Bindings {
        t: vec![Some(buffer(0x100)), Some(texture.clone()), Some(buffer(0x800))],
        u: vec![Some(buffer(0x800)), Some(texture)],
        samplers: Vec::new(),
    };
    let isa = Guppy::new(64, bindings);
    let Ok(program) = guppy_program(module, isa, "fuzz", None) else { return };
    let launch = Launch::Grid { threads, group: machine.core.lanes };
    run_both(&program, machine, launch, true, same_memory);
}

/// Untimed and timed; no invariant of the machine may break, and one wave leaves the same memory in both.
fn run_both(program: &dyn Runnable, machine: &Machine, launch: Launch, timed: bool, same: bool) {
    let run = |timed: bool| -> Option<Outcome> {
        let options = RunOptions { timed, check: true, ..RunOptions::default() };
        let result = program.run(machine, launch, DeviceMemory::new(MEMORY), options, None);
        if let Err(error) = &result {
            assert!(error.kind != ErrorKind::Invariant, "{error}");
        }
        result.ok()
    };
    let untimed = run(false);
    if !timed {
        return;
    }
    if let (Some(a), Some(b), true) = (untimed, run(true), same)
        && a.waves == 1
    {
        assert!(a.memory.all() == b.memory.all(), "untimed and timed memory differ");
        assert_eq!(a.console, b.console);
    }
}
