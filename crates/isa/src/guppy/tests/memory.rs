//! Buffers, textures and samplers: addresses, bounds, filtering, and what a timed run would see.

use super::*;

fn buffers() -> Bindings {
    let buffer = |base, bytes| Some(View::Buffer { base, bytes });
    Bindings { t: vec![buffer(64, 32)], u: vec![None, buffer(128, 32)], samplers: vec![] }
}

/// A 4x2 texture whose texel (x, y) is red x*51, green y*255, blue 0, alpha 255.
fn textured(sampler: Sampler) -> Wave {
    let texture = Some(View::Texture { base: 64, width: 4, height: 2, pitch: 32 });
    let bindings = Bindings { t: vec![texture.clone()], u: vec![texture], samplers: vec![sampler] };
    let mut wave = Wave::with(8, bindings, 256);
    for y in 0..2 {
        for x in 0..4 {
            wave.memory.put(64 + y * 32 + x * 4, (x as u32 * 51) << 24 | (y as u32 * 255) << 16 | 0xff);
        }
    }
    wave.mask = 1;
    wave
}

fn fault(trap: Trap) -> MemFault {
    match trap {
        Trap::Memory(fault) => fault,
        other => panic!("a memory fault was expected, not {other:?}"),
    }
}

#[test]
fn loads_pick_dwords() {
    let mut wave = Wave::with(8, buffers(), 256);
    for i in 0..8 {
        wave.memory.put(64 + i * 4, 100 + i as u32);
    }
    wave.run("mov r0.x, lane_id\n mul.u32 r0.x, r0.x, u(4)\n ld r1.z, t0.x, r0.x");
    assert_eq!((wave.reg(1, 0), wave.reg(1, 7)), ([0, 0, 100, 0], [0, 0, 107, 0]));
    wave.mask = 1;
    wave.run("ld r2.xyzw, t0.wzyx, u(16)");
    assert_eq!(wave.reg(2, 0), [107, 106, 105, 104]);
    wave.run("ld r2.xyzw, t0.yz, u(0)");
    assert_eq!(wave.reg(2, 0), [101, 102, 0, 0]);
    wave.memory.loads.clear();
    wave.run("ld r2.xyzw, t0.y, u(0)");
    assert_eq!((wave.reg(2, 0), wave.memory.loads.as_slice()), ([101; 4], &[68][..]));
    // The address register may be the destination.
    wave.run("mov r3.xy, u2(4 8)\n ld r3.yx, t0.xy, r3.x");
    assert_eq!(wave.reg(3, 0)[..2], [102, 101]);
}

#[test]
fn stores_place_positions() {
    let mut wave = Wave::with(8, buffers(), 256);
    wave.mask = 0b10;
    wave.run("mov r1.xyzw, u4(1 2 3 4)\n st u1.zx, u(4), r1.wy");
    assert_eq!([132, 136, 140].map(|a| wave.memory.get(a)), [2, 0, 4]);
    wave.run("st u1.xyzw, u(16), f(1)");
    assert_eq!([144, 148, 152, 156].map(|a| wave.memory.get(a)), [1f32.to_bits(); 4]);
    wave.run("st u1.xyz, u(0), u2(8 9)");
    assert_eq!([128, 132, 136].map(|a| wave.memory.get(a)), [8, 9, 0]);
    assert_eq!(wave.memory.stores, 9, "one lane was active");
}

#[test]
fn accesses_outside_a_view_name_it() {
    let mut wave = Wave::with(8, buffers(), 256);
    let load = fault(wave.try_run("ld r0.xy, t0.xy, u(28)").expect_err("one dword too far"));
    assert_eq!((load.what, load.addr, load.bytes), ("load", 96, 4));
    assert_eq!(load.why, "byte 32 of view t0, which has 32 bytes");
    let load = fault(wave.try_run("ld r0.x, t0.x, u(2)").expect_err("not a dword"));
    assert_eq!(load.why, "view t0 is read and written in dwords, 2 is not a multiple of 4");
    let store = fault(wave.try_run("st u1.x, u(-4), u(0)").expect_err("far away"));
    assert_eq!((store.what, store.why.as_str()), ("store", "byte 4294967292 of view u1, which has 32 bytes"));
    assert_eq!(wave.memory.stores, 0);

    let unbound = wave.try_run("ld r0.x, t5.x, u(0)").expect_err("not bound").to_string();
    assert_eq!(unbound, "view t5 is not bound; bind it, for example --view t5=buf:u32:64:iota");
    assert!(
        wave.try_run("st u0.x, u(0), u(0)")
            .expect_err("a hole")
            .to_string()
            .starts_with("view u0 is not bound")
    );
    let buffer = wave.try_run("sample r0.x, t0.x, s0, f2(0 0)").expect_err("a buffer").to_string();
    assert_eq!(buffer, "view t0 is a buffer; sample reads textures, ld reads buffers");
}

#[test]
fn texture_views_have_their_own_rules() {
    let mut wave = textured(Sampler::default());
    let load = wave.try_run("ld r0.x, t0.x, u(0)").expect_err("a texture").to_string();
    assert_eq!(load, "view t0 is a texture; ld reads buffers, sample reads textures");
    let store = fault(wave.try_run("st u0.xyzw, u2(4 0), f(1)").expect_err("outside"));
    assert_eq!(store.why, "texel (4, 0) of texture u0, which has 4x2");
    let one = wave.try_run("st u0.xyzw, u(0), f(1)").expect_err("one coordinate").to_string();
    assert_eq!(one, "u0 is a texture: its address is two values, as in r0.xy");

    wave.run("st u0.xyzw, u2(2 1), f4(1.5 -1 0.5 nan)");
    assert_eq!(wave.memory.get(64 + 32 + 8), 0xff00_8000);
    wave.run("st u0.wy, u2(0 0), f2(1 0.2)");
    assert_eq!(wave.memory.get(64), 0x0033_00ff);

    let empty = View::Texture { base: 0, width: 0, height: 4, pitch: 0 };
    let mut wave = Wave::with(8, Bindings { t: vec![Some(empty)], ..Bindings::default() }, 64);
    let trap = wave.try_run("sample r0.x, t0.x, s0, f2(0 0)").expect_err("nothing to read").to_string();
    assert_eq!(trap, "texture t0 has no texels");
}

#[test]
fn sampling() {
    let linear = |wrap| Sampler { filter: Filter::Linear, wrap };
    let nearest = |wrap| Sampler { filter: Filter::Nearest, wrap };
    let (repeat, clamp) = (Wrap::Repeat, Wrap::Clamp);
    for (sampler, uv, red, green) in [
        // Centres of texels give the texel.
        (linear(repeat), "0.125 0.25", 0.0, 0.0),
        (linear(repeat), "0.875 0.25", 0.6, 0.0),
        (linear(repeat), "0.375 0.75", 0.2, 1.0),
        (linear(clamp), "0.625 0.75", 0.4, 1.0),
        (nearest(repeat), "0.4 0.6", 0.2, 1.0),
        // Between two and four texels.
        (linear(repeat), "0.25 0.25", 0.1, 0.0),
        (linear(repeat), "0.5 0.5", 0.3, 0.5),
        (linear(clamp), "0.4375 0.375", 0.25, 0.25),
        // At the edge, repeat blends with the other side and clamp does not.
        (linear(repeat), "0 0.25", 0.3, 0.0),
        (linear(repeat), "1 0", 0.3, 0.5),
        (linear(clamp), "0 0", 0.0, 0.0),
        (linear(clamp), "1 1", 0.6, 1.0),
        (nearest(repeat), "1 1", 0.0, 0.0),
        (nearest(clamp), "1 1", 0.6, 1.0),
        // Far outside.
        (linear(repeat), "-0.125 2.75", 0.6, 1.0),
        (linear(repeat), "3.375 -5.25", 0.2, 1.0),
        (linear(clamp), "-7 100", 0.0, 1.0),
        (nearest(repeat), "-0.1 0", 0.6, 0.0),
        (linear(repeat), "nan inf", 0.3, 0.5),
        (linear(clamp), "inf -inf", 0.6, 0.0),
        (linear(repeat), "1e30 -1e30", 0.3, 0.5),
    ] {
        let mut wave = textured(sampler.clone());
        wave.run(&format!("sample r0.xyzw, t0.xyzw, s0, f2({uv})"));
        let [r, g, b, a] = wave.floats(0, 0);
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(near(r, red) && near(g, green), "{sampler:?} at {uv}: {r} {g}, not {red} {green}");
        assert!(b == 0.0 && near(a, 1.0), "{sampler:?} at {uv}: {b} {a}");
        let loads = if sampler.filter == Filter::Linear { 4 } else { 1 };
        assert_eq!(wave.memory.loads.len(), loads, "{sampler:?} at {uv}");
    }
}

#[test]
fn sampling_swizzles_and_defaults() {
    let mut wave = textured(Sampler { filter: Filter::Nearest, wrap: Wrap::Clamp });
    // s9 is not bound: linear, repeat. The coordinates may be the destination.
    wave.run("mov r1.xy, f2(0.875 0.75)\n sample r1.yxz, t0.xyw, s9, r1.xy");
    let [x, y, z, w] = wave.floats(1, 0);
    assert_eq!(([x, z, w], wave.memory.loads.len()), ([1.0, 1.0, 0.0], 4));
    assert!((y - 0.6).abs() < 1e-6);
    wave.run("sample r2.xyzw, t0.w, s0, r1.xy\n sample r3.xyzw, t0.ww, s0, r1.xy");
    assert_eq!((wave.floats(2, 0), wave.floats(3, 0)), ([1.0; 4], [1.0, 1.0, 0.0, 0.0]));
}
