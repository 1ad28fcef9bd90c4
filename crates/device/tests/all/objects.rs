//! Code objects of every version and container, as compilers write them: HIP bare and in an offload bundle, and the
//! versions 2 and 3 of older compilers. Versions 4 and 5 are what the other fixtures are.

use crate::host;

use host::{fixture, launch, machine, place};
use wb_device::{Arg, Device, Dispatch, explicit};
use wb_hw::{MarkStyle, Mechanism};
use wb_objects::codeobject::CodeObject;
use wb_objects::marks::{Request, Wanted, mark};
use wb_sim::RunOptions;

fn floats(n: u32, f: impl Fn(u32) -> f32) -> Vec<f32> {
    (0..n).map(f).collect()
}

fn bytes(x: &[f32]) -> Vec<u8> {
    x.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn hip_kernels_run_from_objects_and_bundles() {
    let (x, y) = (floats(192, |i| i as f32 * 0.75 - 3.0), floats(192, |i| i as f32 * 0.5 - 40.25));
    let result = |i: usize| {
        let p = 1.5 * x[i];
        if y[i] < 0.0 { p } else { p / y[i] }
    };
    let want: Vec<f32> = (0..192).map(|i| if i < 180 { result(i) } else { y[i] }).collect();
    let input: Vec<u32> = (0..192).map(|i| i * i).collect();
    for file in ["abi/axpy.co", "abi/axpy.bundle"] {
        let mut device = Device::new(machine(2, 4));
        let module = device.load(file, &fixture(file)).expect(file);
        let (bx, by) = (place(&mut device, &bytes(&x)), place(&mut device, &bytes(&y)));
        let value = |v: [u8; 4]| Arg::Value(v.to_vec());
        let args =
            vec![value(1.5f32.to_le_bytes()), Arg::Buffer(bx), Arg::Buffer(by), value(180i32.to_le_bytes())];
        launch(&mut device, &module, "axpy", [[192, 1, 1], [64, 1, 1]], args, true).expect(file);
        assert_eq!(device.read(by, 768).expect("read"), bytes(&want), "{file}");

        let raw: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
        let (from, to) = (place(&mut device, &raw), place(&mut device, &[0; 768]));
        // The third launch parameter of HIP: local memory the kernel declares without a size.
        let mut dispatch = Dispatch {
            kernel: "reverse".into(),
            grid: [192, 1, 1],
            group: [96, 1, 1],
            args: vec![Arg::Buffer(from), Arg::Buffer(to)],
            dynamic_lds: 96 * 4,
            opencl: Default::default(),
        };
        device.launch(&module, &dispatch, RunOptions::default(), None).expect(file);
        let want: Vec<u8> =
            input.chunks(96).flat_map(|c| c.iter().rev().flat_map(|v| v.to_le_bytes())).collect();
        assert_eq!(device.read(to, 768).expect("read"), want, "{file}");
        dispatch.dynamic_lds = 0;
        let error =
            device.launch(&module, &dispatch, RunOptions::default(), None).expect_err("no local memory");
        assert!(error.to_string().contains("the group has no local memory"), "{error}");
    }
}

#[test]
fn old_versions_run() {
    let x = floats(128, |i| i as f32 * 1.25 - 20.0);
    let (factor, add, n) = (0.5f32, 9u8, 100i64);
    let want: Vec<f32> = (0..128)
        .map(|i| if i < 100 { x[i] * factor + ((63 - i % 64) * 3 + usize::from(add)) as f32 } else { 0.0 })
        .collect();
    for version in [2, 3] {
        let file = format!("abi/old.v{version}.co");
        let object = CodeObject::parse(&fixture(&file)).expect("object");
        assert_eq!((object.version, object.kernels.len()), (version, 1));
        let offsets: Vec<u32> = explicit(&object.kernels[0]).map(|a| a.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 24, 28, 32], "{file}");
        for timed in [false, true] {
            let mut device = Device::new(machine(2, 4));
            let module = device.load(&file, &fixture(&file)).expect("code object");
            let (from, to) = (place(&mut device, &bytes(&x)), place(&mut device, &[0; 512]));
            let args = vec![
                Arg::Buffer(from),
                Arg::Value(factor.to_le_bytes().to_vec()),
                Arg::Buffer(to),
                Arg::Value(vec![add]),
                Arg::Local(256),
                Arg::Value(n.to_le_bytes().to_vec()),
            ];
            launch(&mut device, &module, "scale", [[128, 1, 1], [64, 1, 1]], args, timed).expect(&file);
            assert_eq!(device.read(to, 512).expect("read"), bytes(&want), "{file}");
            let none = launch(&mut device, &module, "scale", [[64, 1, 1], [64, 1, 1]], vec![], timed);
            assert!(
                none.is_err_and(|e| e.to_string().contains("takes 6 argument(s), 0 were given")),
                "{file}"
            );
        }
    }
}

/// Arguments that stand in registers when the kernel begins, as it comes and with every branch marked.
#[test]
fn preloaded_arguments() {
    let from: Vec<i32> = (0..160).map(|i| i * 37 - 900).collect();
    let (more, n, factor, low, high) = ([5, -70, 1000], 150, 3, -1500, 9000);
    let want: Vec<i32> = (0..160)
        .map(|i| match i {
            _ if i >= n => 0,
            _ => (from[i] * factor + more[..i & 3].iter().sum::<i32>()).clamp(low, high),
        })
        .collect();
    let raw = |list: &[i32]| list.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    for (count, dwords) in [(2, 3), (16, 12)] {
        let file = format!("abi/preload.{count}.co");
        let bytes = fixture(&file);
        let kernel = &CodeObject::parse(&bytes).expect("object").kernels[0];
        assert_eq!(kernel.descriptor.preloaded(), (0, dwords), "{file}");
        assert_eq!(kernel.start(), kernel.entry + 256, "{file}");
        let request = Request { kernel: String::new(), wanted: Wanted::All, style: MarkStyle::Pws };
        let marked = mark(&bytes, &request).expect("marks");
        assert!(!marked.branches.is_empty(), "{file}");
        for (object, mechanism, timed) in [
            (&bytes, Mechanism::ExecMask, false),
            (&bytes, Mechanism::ExecMask, true),
            (&marked.bytes, Mechanism::Pws, false),
            (&marked.bytes, Mechanism::Pws, true),
        ] {
            let mut chosen = wb_hw::preset("mi300").expect("preset");
            chosen.divergence.mechanism = mechanism;
            let mut device = Device::new(chosen);
            let module = device.load(&file, object).expect("code object");
            let value = |v: i32| Arg::Value(v.to_le_bytes().to_vec());
            let [to, from, more] =
                [raw(&[0; 160]), raw(&from), raw(&more)].map(|data| place(&mut device, &data));
            let args = vec![
                Arg::Buffer(to),
                value(n as i32),
                Arg::Buffer(from),
                value(factor),
                Arg::Buffer(more),
                value(low),
                value(high),
            ];
            launch(&mut device, &module, "scale", [[160, 1, 1], [64, 1, 1]], args, timed).expect(&file);
            assert_eq!(device.read(to, 640).expect("read"), raw(&want), "{file} {mechanism:?}");
        }
    }
}

#[test]
fn damaged_files_are_errors() {
    for file in ["abi/axpy.bundle", "abi/old.v2.co", "abi/old.v3.co", "abi/preload.16.co", "basic.O2.co"] {
        let whole = fixture(file);
        for cut in (0..whole.len() - 1).step_by(97) {
            let _ = CodeObject::parse(&whole[..cut]); // any answer, but no panic
        }
        for cut in [10, 100, 1000, 4000] {
            assert!(CodeObject::parse(&whole[..cut]).is_err(), "{file} cut at {cut}");
        }
        let mut noise = 12345u32;
        for _ in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..4 {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (noise >> 8) as usize % bytes.len();
                bytes[at] ^= noise as u8;
            }
            let _ = CodeObject::parse(&bytes);
        }
    }
    let other = b"gfx700";
    let mut bundle = fixture("abi/axpy.bundle");
    let at = bundle.windows(6).position(|w| w == b"gfx803").expect("target name");
    bundle[at..at + 6].copy_from_slice(other);
    let error = CodeObject::parse(&bundle).expect_err("no entry").to_string();
    assert!(error.contains("no entry for") && error.contains("gfx700"), "{error}");
}

/// A header of a few bytes can ask for any amount of memory: segments together have a limit.
#[test]
fn segments_that_need_too_much_memory_are_refused() {
    let good = fixture("basic.O2.co");
    let number = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b))
    };
    let (table, size, count) = (number(&good, 32, 8), number(&good, 54, 2), number(&good, 56, 2));
    let loads: Vec<usize> =
        (0..count).map(|i| table + i * size).filter(|&at| number(&good, at, 4) == 1).collect();
    let with = |changed: &[usize], bytes: u64| {
        let mut object = good.clone();
        changed.iter().for_each(|at| object[at + 40..at + 48].copy_from_slice(&bytes.to_le_bytes()));
        CodeObject::parse(&object)
    };
    assert!(with(&loads[..1], 1 << 20).is_ok());
    for (changed, bytes) in [(&loads[..1], 1 << 30), (&loads[..2], 200 << 20)] {
        let error = with(changed, bytes).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("cannot be loaded"), "{error}");
    }
}
