//! HARP floats: an IEEE-like format of any word size, with 5, 8 or 11 exponent bits. Arithmetic is
//! done in f64 and then rounded to nearest even, which for 1 to 4 and 8 bytes is exact IEEE rounding.

use super::arch::Arch;

/// The format for one word size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    exponent: u32,
    fraction: u32,
}

const F64_FRACTION: u32 = 52;
const F64_BIAS: i32 = 1023;

impl Format {
    /// Words below 4 bytes have 5 exponent bits, below 8 bytes 8, else 11. One-byte words: 5 and 2.
    pub fn of(arch: &Arch) -> Format {
        let exponent = match arch.bytes {
            0..=3 => 5,
            4..=7 => 8,
            _ => 11,
        };
        Format { exponent, fraction: arch.bits() - 1 - exponent }
    }

    fn bias(&self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn top_exponent(&self) -> u64 {
        (1 << self.exponent) - 1
    }

    /// The value of the word `bits`, always exact: a fraction has at most 52 bits.
    #[inline]
    pub fn to_f64(self, bits: u64) -> f64 {
        if self.exponent == 11 {
            return f64::from_bits(bits);
        }
        if self.exponent == 8 && self.fraction == 23 {
            return f64::from(f32::from_bits(bits as u32));
        }
        let negative = bits >> (self.exponent + self.fraction) & 1 == 1;
        let exponent = bits >> self.fraction & self.top_exponent();
        let fraction = bits & ((1 << self.fraction) - 1);
        let magnitude = if exponent == self.top_exponent() {
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else if exponent == 0 {
            fraction as f64 * power_of_two(1 - self.bias() - self.fraction as i32)
        } else {
            let significand = fraction | 1 << self.fraction;
            significand as f64 * power_of_two(exponent as i32 - self.bias() - self.fraction as i32)
        };
        if negative { -magnitude } else { magnitude }
    }

    /// The word nearest to `value`, ties to even; too large becomes infinity, too small zero.
    #[inline]
    pub fn from_f64(self, value: f64) -> u64 {
        if self.exponent == 11 {
            return value.to_bits();
        }
        if self.exponent == 8 && self.fraction == 23 {
            return u64::from((value as f32).to_bits());
        }
        let sign = u64::from(value.is_sign_negative()) << (self.exponent + self.fraction);
        let infinity = self.top_exponent() << self.fraction;
        if value.is_nan() {
            return sign | infinity | 1 << (self.fraction - 1);
        }
        let bits = value.abs().to_bits();
        let raw = (bits >> F64_FRACTION) as i32;
        if value == 0.0 || raw == 0 {
            return sign; // An f64 subnormal is far below every smaller format.
        }
        if value.is_infinite() {
            return sign | infinity;
        }
        let significand = bits & ((1 << F64_FRACTION) - 1) | 1 << F64_FRACTION;
        let exponent = raw - F64_BIAS + self.bias();
        // Subnormal results lose one more bit per step below the smallest exponent.
        let below = (1 - exponent).max(0) as u32;
        let drop = F64_FRACTION - self.fraction + below;
        if drop > F64_FRACTION + 2 {
            return sign;
        }
        let kept = round_to_even(significand, drop);
        // Rounding may carry into the exponent; the addition does that by itself.
        let magnitude = if exponent <= 0 { kept } else { ((exponent as u64 - 1) << self.fraction) + kept };
        sign | magnitude.min(infinity)
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + F64_BIAS) as u64) << F64_FRACTION)
}

fn round_to_even(value: u64, drop: u32) -> u64 {
    if drop == 0 {
        return value;
    }
    let kept = value >> drop;
    let rest = value & ((1 << drop) - 1);
    let half = 1 << (drop - 1);
    kept + u64::from(rest > half || rest == half && kept & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harp::testing::Lcg;

    fn format(arch: &str) -> Format {
        Format::of(&arch.parse().unwrap())
    }

    #[test]
    fn half_precision_values() {
        let half = format("2b8/1");
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103515625e-5),
            (0x0001, 5.960464477539063e-8),
            (0x3555, 0.333251953125),
            (0x7c00, f64::INFINITY),
            (0xfc00, f64::NEG_INFINITY),
        ] {
            assert_eq!(half.to_f64(bits), value);
            assert_eq!(half.from_f64(value), bits);
        }
        assert!(half.to_f64(0x7e00).is_nan());
        assert_eq!(half.from_f64(f64::NAN) & 0x7fff, 0x7e00);
        assert_eq!(half.from_f64(-0.0), 0x8000);
        assert_eq!(half.from_f64(65520.0), 0x7c00, "halfway to the next power rounds to infinity");
        assert_eq!(half.from_f64(65519.0), 0x7bff);
        assert_eq!(half.from_f64(2.98e-8), 0x0000);
        assert_eq!(half.from_f64(2.99e-8), 0x0001);
        assert_eq!(half.from_f64(1e-300), 0);
        assert_eq!(half.from_f64(2049.0), half.from_f64(2048.0), "ties go to even");
        assert_eq!(half.from_f64(2051.0), half.from_f64(2052.0));
    }

    #[test]
    fn every_half_and_minifloat_round_trips() {
        for (arch, top) in [("2b8/1", 0x1_0000u64), ("1b4/1", 0x100)] {
            let format = format(arch);
            for bits in 0..top {
                let value = format.to_f64(bits);
                if value.is_nan() {
                    assert!(format.to_f64(format.from_f64(value)).is_nan());
                } else {
                    assert_eq!(format.from_f64(value), bits, "{arch} {bits:#x}");
                }
            }
        }
    }

    #[test]
    fn general_path_agrees_with_f32_rounding() {
        // A 4-byte format computed by the general code, against the hardware's f32.
        let general = |value: f64| {
            let wide = format("5b8/1"); // 8 exponent bits, 31 fraction bits
            wide.to_f64(wide.from_f64(value)) as f32
        };
        let mut random = Lcg(3);
        for _ in 0..20_000 {
            let value = f64::from(f32::from_bits(random.next() as u32));
            if !value.is_nan() {
                assert_eq!(general(value), value as f32);
                assert_eq!(format("4w8/1").to_f64(format("4w8/1").from_f64(value)), value);
            }
        }
        assert_eq!(format("8w8/1").from_f64(1.5), 1.5f64.to_bits());
    }
}
