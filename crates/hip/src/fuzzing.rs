//! Fuzz entry points: what comes from outside may be refused, never crash us (docs/fuzzing.md).

use crate::{fatbin, printf, records};
use std::sync::LazyLock;
use wb_device::{Arg, Device, Dispatch, explicit};
use wb_hw::Machine;
use wb_program::codeobject::{ArgKind, CodeObject};

static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let mut machine = wb_hw::preset("gcn3").expect("a preset");
    machine.cores = 1;
    machine.limits.memory = 1 << 20;
    machine
});

/// A fat binary: the bundle is read, its code object placed, every kernel made ready to run.
pub fn fat_binary(data: &[u8]) {
    let Ok(bytes) = fatbin::code_object(data) else { return };
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
        };
        if let Ok(prepared) = device.prepare(&module, &dispatch) {
            device.finish(prepared);
        }
        let _ = records::short_name(&kernel.name);
    }
    device.unload(&module);
    assert_eq!(device.heap().available(), free, "all memory comes back");
}

/// Words of a kernel's printf, and a line of a memory map.
pub fn message(data: &[u8]) {
    let words: Vec<u64> = data.as_chunks::<8>().0.iter().map(|c| u64::from_le_bytes(*c)).collect();
    let (_, pieces) = printf::parse(&words);
    assert!(pieces.len() <= data.len() + 1);
    let text = String::from_utf8_lossy(data);
    let _ = fatbin::readable(&text, words.first().copied().unwrap_or(0));
    let _ = records::short_name(&text);
}
