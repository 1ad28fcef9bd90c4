//! What the tests of this folder share: machines, fixture files, launches.

use wb_device::{Arg, Device, DeviceError, Dispatch, Module};
use wb_hw::Machine;
use wb_sim::{Outcome, RunOptions};

/// The gcn3 preset with other numbers of cores and megabytes.
pub fn machine(cores: u32, megabytes: u32) -> Machine {
    let sets =
        [format!("cores={cores}"), format!("limits.memory={megabytes}M"), "limits.cycles=20000000".into()];
    let sets: Vec<_> = sets.iter().map(|s| wb_hw::parse_set(s).expect("set")).collect();
    wb_hw::preset("gcn3").expect("preset").with_overrides(&sets).expect("machine")
}

/// A file of fixtures/gcn3.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/gcn3/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Bytes in a new buffer.
pub fn place(device: &mut Device, bytes: &[u8]) -> u64 {
    let addr = device.alloc(bytes.len() as u64).expect("room");
    device.write(addr, bytes).expect("write");
    addr
}

/// Runs a kernel with the invariants checked.
pub fn launch(
    device: &mut Device,
    module: &Module,
    kernel: &str,
    [grid, group]: [[u32; 3]; 2],
    args: Vec<Arg>,
    timed: bool,
) -> Result<Outcome, DeviceError> {
    let dispatch =
        Dispatch { kernel: kernel.into(), grid, group, args, dynamic_lds: 0, opencl: Default::default() };
    let options = RunOptions { timed, check: true, ..RunOptions::default() };
    device.launch(module, &dispatch, options, None)
}
