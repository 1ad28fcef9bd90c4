//! The quick functions of f32 give the bits of their definition.

use super::super::near::{Cos, Exp, Function, Log, Sin};
use super::super::row_engine::{Cx, LANES, Row, Src};
use super::*;
use crate::vector;

fn context<'a>(file: &'a mut [Row], input: &'a Row) -> Cx<'a> {
    let src = [Src::Copy(input), Src::Splat(0), Src::Splat(0)];
    let (modified, and, xor, clamp) = (false, [!0; 3], [0; 3], false);
    Cx { file, dst: 0, src, modified, and, xor, clamp, lanes: !0, mask_in: 0, mask_out: 0, mode: COMPILED }
}

/// Inputs for which the results differ.
fn differing<F: Function>(inputs: impl Iterator<Item = Row>) -> Vec<u32> {
    let (mut quick, mut exact) = ([[0; LANES]], [[0; LANES]]);
    let mut found = Vec::new();
    for input in inputs {
        context(&mut quick, &input).function::<F>();
        context(&mut exact, &input).f32_flushing(|[x]| F::exact(x.into()) as f32);
        if quick != exact {
            found.extend((0..LANES).filter(|&i| quick[0][i] != exact[0][i]).map(|i| input[i]));
        }
    }
    found
}

/// Rows of consecutive numbers.
fn rows(first: impl Iterator<Item = u32>) -> impl Iterator<Item = Row> {
    first.map(|first| std::array::from_fn(|i| first.wrapping_add(i as u32)))
}

fn same(name: &str, differing: impl Fn() -> Vec<u32>) {
    for arch in vector::others().into_iter().map(Some).chain([None]) {
        vector::INSTEAD.set(arch);
        let found = differing();
        vector::INSTEAD.set(None);
        assert!(
            found.is_empty(),
            "{name} on {arch:?}: {} such as {:x?}",
            found.len(),
            &found[..found.len().min(40)]
        );
    }
}

/// All exponents and ends of their fractions, and what lies about the numbers at which results change their kind.
#[test]
fn quick_functions_are_exact_on_every_host() {
    let ends = || {
        let special =
            [128.0, 126.0, 127.0, 256.0, 1000.0, 0.25, 0.5, 0.75, 0.125, 1.5, 3e5].map(f32::to_bits);
        let around = (0..512).map(|high| high << 23).chain(special).chain([0x3f35_04f3]);
        let spread = (0..1500u32).map(|i| i.wrapping_mul(0x9e37_79b1));
        rows(around.flat_map(|v| [v, v ^ 1 << 31]).map(|v| v.wrapping_sub(32)).chain(spread))
    };
    same("v_exp_f32", || differing::<Exp>(ends()));
    same("v_log_f32", || differing::<Log>(ends()));
    same("v_sin_f32", || differing::<Sin>(ends()));
    same("v_cos_f32", || differing::<Cos>(ends()));
}

#[test]
#[ignore = "all numbers there are: minutes if optimised"]
fn quick_functions_are_exact_everywhere() {
    let all = || rows((0..1 << 26).map(|i| i * 64));
    same("v_exp_f32", || differing::<Exp>(all()));
    same("v_log_f32", || differing::<Log>(all()));
    same("v_sin_f32", || differing::<Sin>(all()));
    same("v_cos_f32", || differing::<Cos>(all()));
}

/// The near value of these numbers rounds to another f32 than the exact one: without doubt they would be wrong.
#[test]
fn doubt_is_needed() {
    fn check<F: Function>(inputs: &[u32]) {
        for &bits in inputs {
            let x = f32::from_bits(bits);
            let near = F::place(x, F::near::<true>(x) as f32);
            assert_ne!(near, (F::exact(x.into()) as f32).to_bits(), "{bits:#x}");
        }
        assert_eq!(differing::<F>(rows(inputs.iter().copied())), []);
    }
    check::<Exp>(&[0x3d00_0056, 0x3d00_8b91, 0x3d01_dc08, 0x3d2f_774f]);
    check::<Sin>(&[0x3d17_dfea, 0x3d45_005a, 0x3e43_4f37, 0x3f48_a909]);
    check::<Cos>(&[0x3d07_9f7e, 0x3d0a_9090, 0x3e3c_0ace, 0x3f77_56f7]);
}
