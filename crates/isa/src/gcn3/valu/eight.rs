//! 8-bit floats of gfx940: FP8 has four exponent and three fraction bits, BF8 five and two. There is no −0: its code is the only NaN;
//! there are no infinities. The exponents are biased by 8 and 16.

/// The value of an 8-bit float with `fraction` fraction bits.
fn value(bits: u8, fraction: u32, bias: i32) -> f32 {
    if bits == 0x80 {
        return f32::NAN;
    }
    let exponent = i32::from(bits & 0x7f) >> fraction;
    let rest = i32::from(bits & ((1 << fraction) - 1));
    let (digits, power) = match exponent {
        0 => (rest, 1 - bias),
        _ => (rest | 1 << fraction, exponent - bias),
    };
    // All of them are ordinary f32.
    let scale = f32::from_bits(((127 + power - fraction as i32) as u32) << 23);
    let magnitude = digits as f32 * scale;
    if bits & 0x80 != 0 { -magnitude } else { magnitude }
}

pub(super) fn fp8_value(bits: u8) -> f32 {
    value(bits, 3, 8)
}

pub(super) fn bf8_value(bits: u8) -> f32 {
    value(bits, 2, 16)
}

/// An f32 as an 8-bit float, to the nearest, ties to even. What is too large becomes a NaN, or the largest number if `limited`
/// (MODE's FP16_OVFL); infinities are NaN.
fn code(x: f32, fraction: u32, bias: i32, limited: bool) -> u8 {
    let sign = (x.is_sign_negative() as u8) << 7;
    if !x.is_finite() {
        return 0x80;
    }
    let magnitude = f64::from(x.abs());
    // Denormals have the spacing of the smallest exponent.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    let spacing = f64::from_bits(((1023 + exponent - fraction as i32) as u64) << 52);
    let steps = (magnitude / spacing).round_ties_even() as u32;
    // A carry goes into the exponent by itself.
    let code = steps + (((exponent + bias - 1) as u32) << fraction);
    match code {
        0 => 0,
        1..0x80 => sign | code as u8,
        _ if limited => sign | 0x7f,
        _ => 0x80,
    }
}

pub(super) fn fp8_code(x: f32, limited: bool) -> u8 {
    code(x, 3, 8, limited)
}

pub(super) fn bf8_code(x: f32, limited: bool) -> u8 {
    code(x, 2, 16, limited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!((fp8_value(0), fp8_value(0x40), fp8_value(0xc0)), (0.0, 1.0, -1.0));
        assert_eq!((fp8_value(0x7f), fp8_value(1)), (240.0, 1.0 / 1024.0));
        assert_eq!((bf8_value(0x40), bf8_value(0x7f), bf8_value(1)), (1.0, 57344.0, 1.0 / 131_072.0));
        assert!(fp8_value(0x80).is_nan() && bf8_value(0x80).is_nan());
        // Codes grow with their values.
        for codes in [fp8_value, bf8_value] {
            assert!((0..0x7f).all(|b| codes(b) < codes(b + 1)));
        }
    }
    /// Codes are those of the nearest values, found by looking at all of them.
    #[test]
    fn codes() {
        type Pair = (fn(f32, bool) -> u8, fn(u8) -> f32);
        let pairs: [Pair; 2] = [(fp8_code, fp8_value), (bf8_code, bf8_value)];
        for (code, value) in pairs {
            let largest = value(0x7f);
            let step = largest - value(0x7e);
            for byte in (0..=255).filter(|b| *b != 0x80) {
                assert_eq!(code(value(byte), false), byte);
            }
            let mut seed = 9u64;
            for _ in 0..200_000 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Exponents around those that there are.
                let x = f32::from_bits(
                    (seed >> 32) as u32 & 0x807f_f000 | (104 + (seed >> 20 & 31) as u32) << 23,
                );
                let best = (0..0x80u8)
                    .min_by_key(|b| ((f64::from(value(*b)) - f64::from(x.abs())).abs().to_bits(), b & 1));
                let best = best.expect("codes");
                let got = code(x, false);
                if x.abs() >= largest + step / 2.0 {
                    assert_eq!((got, code(x, true) & 0x7f), (0x80, 0x7f), "{x}");
                } else {
                    let sign = if x < 0.0 && best != 0 { 0x80 } else { 0 };
                    assert_eq!(got, best | sign, "{x}");
                    assert_eq!(code(x, true), got);
                }
            }
            assert_eq!([f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(|x| code(x, true)), [0x80; 3]);
            assert_eq!((code(-0.0, false), code(1e-30, false), code(-1e-30, false)), (0, 0, 0));
        }
    }
}
