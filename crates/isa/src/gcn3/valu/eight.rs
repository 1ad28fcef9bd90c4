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
}
