//! A large device is cheap: 64 cores and 64 MB of buffers stay below 300 MB of host memory. Alone in its process, because
//! it reads the process's peak.

#[path = "all/host/mod.rs"]
mod host;

use host::{fixture, launch, machine, place};
use wb_device::{Arg, Device};

const MEGABYTE: usize = 1 << 20;

#[test]
fn sixty_four_cores_with_sixty_four_megabytes() {
    let mut device = Device::new(machine(64, 256));
    let module = device.load("vector.O3.co", &fixture("vector.O3.co")).expect("code object");
    let buffers = [1.5f32, -0.25].map(|v| place(&mut device, &v.to_le_bytes().repeat(32 * MEGABYTE / 4)));
    // An eighth of the buffers, for time's sake.
    let n = 4 * MEGABYTE as u32 / 16;
    let args = vec![
        Arg::Value(2.0f32.to_le_bytes().to_vec()),
        Arg::Buffer(buffers[0]),
        Arg::Buffer(buffers[1]),
        Arg::Value(n.to_le_bytes().to_vec()),
    ];
    let outcome = launch(&mut device, &module, "saxpy4", [[n, 1, 1], [256, 1, 1]], args, true).expect("run");
    let last = device.read(buffers[1] + 4 * MEGABYTE as u64 - 4, 4).expect("read");
    assert_eq!(last, 2.75f32.to_le_bytes());
    println!("{} waves, {} cycles", outcome.waves, outcome.cycles);

    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        eprintln!("peak memory is not known on this system");
        return;
    };
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("VmHWM");
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    println!("peak memory: {} MB", kilobytes / 1024);
    assert!(kilobytes < 300 * 1024, "peak memory is {kilobytes} kB");
}
