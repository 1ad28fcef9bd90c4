//! Launches that cannot work, runs that stop, and what happens to denormals: errors must say where and why.

use crate::host;

use host::{fixture, launch, machine, place};
use wb_device::{Arg, Device, Dispatch};
use wb_sim::RunOptions;

const LINE: [[u32; 3]; 2] = [[64, 1, 1], [64, 1, 1]];

#[test]
fn wrong_launches_are_explained() {
    let object = fixture("basic.O2.co");
    let mut device = Device::new(machine(1, 4));
    let module = device.load("basic.O2.co", &object).expect("code object");
    let mut launch = |kernel: &str, grid: u32, group: u32, args: Vec<Arg>| {
        let dispatch = Dispatch {
            kernel: kernel.into(),
            grid: [grid, 1, 1],
            group: [group, 1, 1],
            args,
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        device.launch(&module, &dispatch, RunOptions::default(), None).expect_err("must fail").to_string()
    };
    assert!(launch("saxpi", 64, 64, vec![]).contains("no kernel `saxpi`"));
    assert!(launch("saxpy", 64, 64, vec![]).contains("takes 4 argument"));
    assert!(
        launch("reduce", 64, 64, vec![Arg::Buffer(0), Arg::Buffer(0), Arg::Buffer(0)])
            .contains("local memory")
    );
    assert!(launch("saxpy", 0, 64, vec![]).contains("at least one work-item"));
    let huge = vec![Arg::Buffer(0), Arg::Buffer(0), Arg::Local(70_000)];
    assert!(launch("reduce", 64, 64, huge).contains("does not fit on a core"));
    assert!(Device::new(machine(1, 4)).load("x", b"not an object").is_err());
    for cut in [10, 100, 1000, 5000] {
        assert!(Device::new(machine(1, 4)).load("cut", &object[..cut]).is_err(), "cut at {cut}");
    }
}

/// Runs a kernel of stop.cl; the text of the error.
fn stop(file: &str, kernel: &str, input: &[u32], timed: bool) -> Result<(), String> {
    let mut device = Device::new(machine(1, 4));
    let module = device.load(file, &fixture(file)).expect("code object");
    let bytes: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut args = vec![Arg::Buffer(place(&mut device, &bytes))];
    if kernel == "asserts" {
        args.push(Arg::Buffer(place(&mut device, &[0; 256])));
    }
    launch(&mut device, &module, kernel, LINE, args, timed).map(|_| ()).map_err(|e| e.to_string())
}

/// The source line of the first line of stop.cl that contains `text`.
fn line_of(text: &str) -> String {
    let source = String::from_utf8(fixture("stop.cl")).expect("text");
    let line = source.lines().position(|l| l.contains(text)).expect("there") + 1;
    format!("stop.cl:{line}: ")
}

#[test]
fn unsupported_instructions_stop_the_run_by_name() {
    for file in ["stop.O2.co", "stop.O3.co"] {
        for timed in [false, true] {
            let error = stop(file, "image", &[0; 256], timed).expect_err("must stop");
            assert!(error.starts_with("image_load "), "mnemonic: {error}");
            for part in ["is not supported", "kernel image, wave 0", "pc 0x", &line_of("image_load")] {
                assert!(error.contains(part), "{part} in {error}");
            }
        }
    }
}

#[test]
fn a_trap_of_the_kernel_stops_the_run() {
    let mut input = [1; 64];
    assert_eq!(stop("stop.O2.co", "asserts", &input, true), Ok(()));
    input[40] = 77;
    for file in ["stop.O2.co", "stop.O3.co"] {
        let error = stop(file, "asserts", &input, true).expect_err("must stop");
        for part in ["s_trap 2", "kernel asserts, wave 0", "pc 0x", &line_of("__builtin_trap")] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}

#[test]
fn damaged_metadata_does_not_ask_for_the_whole_memory() {
    for (size, offset) in [(u32::MAX, 0), (8, u32::MAX - 3)] {
        let mut device = Device::new(machine(1, 4));
        let mut module = device.load("fir.O2.co", &fixture("fir.O2.co")).expect("code object");
        for kernel in &mut module.object.kernels {
            kernel.kernarg_size = size;
            kernel.args[0].offset = offset;
        }
        let args = vec![Arg::Buffer(0), Arg::Buffer(0), Arg::Buffer(0), Arg::Value(vec![0; 4])];
        let error = launch(&mut device, &module, "fir", LINE, args, false).expect_err("damaged").to_string();
        assert!(error.contains("launch of fir: its arguments reach beyond"), "{error}");
    }
}

#[test]
fn null_pointers_show_up() {
    for (null, what) in [(0, "load"), (2, "store")] {
        let mut device = Device::new(machine(1, 4));
        let module = device.load("vector.O3.co", &fixture("vector.O3.co")).expect("code object");
        let mut args: Vec<Arg> = (0..3).map(|_| Arg::Buffer(place(&mut device, &[0; 256]))).collect();
        args[null] = Arg::Buffer(0);
        let error =
            launch(&mut device, &module, "vadd", LINE, args, true).expect_err("must stop").to_string();
        for part in [what, "a null pointer?", "kernel vadd", "vector.cl:6: "] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}

/// gfx803 kernels run with f32 denormals flushed, also where the inputs are normal; f64 denormals are kept
/// (fixtures, double.cl).
#[test]
fn f32_denormals_are_flushed() {
    let tiny = f32::MIN_POSITIVE;
    let (a, b) = ([tiny / 2.0, tiny * 1.5, 1.0, -tiny / 4.0], [tiny, -tiny, tiny / 2.0, -0.0]);
    let want = [tiny, 0.0, 1.0, -0.0];
    let mut device = Device::new(machine(1, 4));
    let module = device.load("vector.O2.co", &fixture("vector.O2.co")).expect("code object");
    let mut buffer = |x: [f32; 4]| place(&mut device, &x.map(f32::to_le_bytes).concat());
    let buffers = [a, b, [7.0; 4]].map(&mut buffer);
    let shape = [[4, 1, 1], [4, 1, 1]];
    launch(&mut device, &module, "vadd", shape, buffers.map(Arg::Buffer).to_vec(), true).expect("run");
    let got = device.read(buffers[2], 16).expect("read");
    assert_eq!(got, want.map(f32::to_le_bytes).concat());
}
