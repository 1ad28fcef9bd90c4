//! Fuzz targets of GCN3: assembler, decoder, code objects, launch files.

use super::input::text;
use std::path::Path;
use std::sync::LazyLock;
use wb_device::{Arg, Device, DeviceError, Dispatch};
use wb_hw::Machine;
use wb_hw::MarkStyle;
use wb_isa::gcn3::{self, isa::Gcn3};
use wb_isa::{Isa, SourceFile};
use wb_jobs::launch::{LaunchFile, Plan};
use wb_jobs::object::{ListingOptions, ObjectFile, listing};
use wb_objects::codeobject::from_assembly;
use wb_objects::marks::{Request, Wanted, mark};
use wb_sim::{ErrorKind, RunOptions};

const MEMORY: u64 = 1 << 20;
/// Objects whose parts are larger only cost time.
const MAX_IMAGE: u64 = 1 << 18;

static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let mut machine = wb_hw::preset("gcn3").expect("a preset");
    machine.cores = 1;
    machine.limits.cycles = 3000;
    machine.limits.memory = MEMORY;
    machine
});

/// Source text: what assembles can be written as an object, read, listed, and assembled again.
pub fn assembler(data: &[u8]) {
    let source = text(data);
    let file = SourceFile::new("fuzz.s", &*source);
    let Ok(assembly) = gcn3::assemble(&file) else { return };
    if from_assembly(&assembly, "fuzz.s").is_err() {
        return;
    }
    let object = match ObjectFile::from_bytes("fuzz.s", source.as_bytes()) {
        Ok(object) => object,
        // Metadata that was given as text may contradict the kernels.
        Err(why) => return assert!(assembly.metadata.is_some(), "{why:?}"),
    };
    let options = ListingOptions::default();
    let list = listing(&object, Path::new(""), &options).expect("a listing");
    assert!(list.lines().count() > object.object.kernels.len(), "{list}");
}

/// Instruction words: what decodes encodes to the same words as far as they matter, and has a text. In every generation.
pub fn decoder(data: &[u8]) {
    gcn3::GENERATIONS.iter().for_each(|generation| decoder_of(generation, data));
}

fn decoder_of(generation: &'static gcn3::Generation, data: &[u8]) {
    let words: Vec<u32> =
        data.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let isa = Gcn3::default();
    let mut at = 0;
    while at < words.len() {
        let Ok(inst) = gcn3::decode_for(generation, &words[at..]) else {
            at += 1;
            continue;
        };
        let size = usize::from(inst.size / 4);
        assert!(size > 0 && at + size <= words.len(), "{inst:?}");
        let next = (at + size) as u32;
        let facts = isa.facts(&inst, at as u32, next);
        assert!(facts.reads.iter().chain(&facts.writes).all(|&r| usize::from(r) < isa.register_count()));
        let shown = isa.show(&inst, at as u32, &|_| None);
        assert!(!shown.is_empty());
        let again = gcn3::decode_for(generation, &gcn3::encode(&inst));
        assert_eq!(again.as_ref(), Ok(&inst), "{} {shown}", generation.name);
        at += size;
    }
}

/// A code object: loaded, listed, and every kernel run for a while.
pub fn object(data: &[u8]) {
    let Ok(file) = ObjectFile::from_bytes("fuzz.co", data) else { return };
    let image = file.object.segments.iter().map(|s| s.addr + s.bytes.len() as u64).max().unwrap_or(0);
    if image > MAX_IMAGE {
        return;
    }
    let _ = listing(&file, Path::new(""), &ListingOptions::default());
    let request = Request { kernel: String::new(), wanted: Wanted::All, style: MarkStyle::Pws };
    let _ = mark(data, &request); // any answer, but no panic
    for kernel in file.object.kernels.iter().take(4) {
        let mut device = Device::new(MACHINE.clone());
        let Ok(module) = device.place("fuzz.co", file.object.clone(), None) else { return };
        let Ok(buffer) = device.alloc(4096) else { return };
        let args = wb_device::explicit(kernel).take(64).map(|a| match a.kind {
            wb_objects::codeobject::ArgKind::Buffer => Arg::Buffer(buffer),
            wb_objects::codeobject::ArgKind::DynamicLds => Arg::Local(64),
            _ => Arg::Value(vec![1; a.size.min(64) as usize]),
        });
        let dispatch = Dispatch {
            kernel: kernel.name.clone(),
            grid: [100, 1, 1],
            group: [64, 1, 1],
            args: args.collect(),
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        for timed in [false, true] {
            let options = RunOptions { timed, check: true, ..RunOptions::default() };
            match device.launch(&module, &dispatch, options, None) {
                Err(DeviceError::Run(error)) => {
                    assert!(error.kind != ErrorKind::Invariant, "{error}");
                    break;
                }
                Err(_) => break,
                Ok(_) => {}
            }
        }
    }
}

/// A launch file: parsed and planned against two kernels.
pub fn launch_file(data: &[u8]) {
    static OBJECT: LazyLock<ObjectFile> = LazyLock::new(|| {
        let text = ".kernel saxpy\n.arg buf\n s_endpgm\n.kernel step\n s_endpgm\n";
        ObjectFile::from_bytes("two.s", text.as_bytes()).expect("two kernels")
    });
    let file = SourceFile::new("fuzz.toml", &*text(data));
    let Ok(parsed) = LaunchFile::parse(&file) else { return };
    if let Ok(plan) = Plan::new(&file, &parsed, &OBJECT.object) {
        assert!(!plan.ops.is_empty());
    }
}
