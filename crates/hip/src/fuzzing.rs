//! Fuzz entry points: what comes from outside may be refused, never crash us (docs/fuzzing.md).

use crate::errors::Failure;
use crate::fatbin;
use crate::runtime::Runtime;
use std::sync::LazyLock;
use wavebound::device::{Arg, Device, Dispatch, explicit};
use wavebound::hw::Machine;
use wavebound::objects::codeobject::{ArgKind, CodeObject};
use wb_host::Options;
use wb_host::{printf, short_name};

static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let mut machine = wavebound::hw::preset("gcn3").expect("a preset");
    machine.cores = 1;
    machine.limits.memory = 1 << 20;
    machine
});

/// A fat binary: the bundle is read, its code object placed, every kernel made ready to run.
pub fn fat_binary(data: &[u8]) {
    let Ok(bytes) = fatbin::code_object(data, "") else { return };
    let Ok(object) = CodeObject::parse(&bytes) else { return };
    let mut device = Device::mapped(MACHINE.clone());
    let free = device.heap().available();
    let Ok(module) = device.place("fuzz", object, None) else { return };
    for kernel in module.object.kernels.iter().take(4) {
        let args = explicit(kernel).take(64).map(|a| match a.kind {
            ArgKind::Buffer => Arg::Buffer(1),
            ArgKind::DynamicLds => Arg::Local(16),
            _ => Arg::Value(vec![1; a.size.min(64) as usize]),
        });
        let dispatch = Dispatch {
            kernel: kernel.name.clone(),
            grid: [100, 2, 1],
            group: [64, 1, 1],
            args: args.collect(),
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        if let Ok(prepared) = device.prepare(&module, &dispatch) {
            device.finish(prepared);
        }
        let _ = short_name(&kernel.name);
    }
    let variables: Vec<String> = module.object.variables.iter().map(|v| v.0.clone()).collect();
    device.unload(&module);
    assert_eq!(device.heap().available(), free, "all memory comes back");
    copy_variables(bytes, &variables);
}

/// Copies the variables of a code object out and in, as `hipMemcpyFromSymbol` and `hipMemcpyToSymbol` do.
/// Returns how many could be copied.
fn copy_variables(object: Vec<u8>, names: &[String]) -> usize {
    let sets = ["cores=1", "limits.memory=1048576"].map(str::to_owned).to_vec();
    let Ok(mut rt) = Runtime::with(Options { sets, ..Options::default() }) else { return 0 };
    let mut copied = 0;
    let source = rt.register_binary("fuzz", Ok(object));
    for (number, name) in names.iter().take(16).enumerate() {
        let shadow = number as u64 + 1;
        // A size that only the host knows is used where the file gives none.
        rt.register_variable(source, shadow, name, 1 << (number * 4));
        match crate::ffi::round_trip(&mut rt, shadow) {
            Ok(()) => copied += 1,
            Err(Failure::Fatal(text)) => assert!(!text.contains("behind the end"), "{name}: {text}"),
            Err(Failure::Code(_)) => {}
        }
    }
    copied
}

/// How many variables of a code object hosts can copy to and from.
pub fn copied_variables(data: &[u8]) -> usize {
    let Ok(bytes) = fatbin::code_object(data, "") else { return 0 };
    let Ok(object) = CodeObject::parse(&bytes) else { return 0 };
    let names: Vec<String> = object.variables.iter().map(|v| v.0.clone()).collect();
    copy_variables(bytes, &names)
}

/// Words of a kernel's printf, and a line of a memory map.
pub fn message(data: &[u8]) {
    let words: Vec<u64> = data.as_chunks::<8>().0.iter().map(|c| u64::from_le_bytes(*c)).collect();
    let (_, pieces) = printf::parse(&words);
    assert!(pieces.len() <= data.len() + 1);
    let text = String::from_utf8_lossy(data);
    let _ = fatbin::readable(&text, words.first().copied().unwrap_or(0));
    let _ = short_name(&text);
}
