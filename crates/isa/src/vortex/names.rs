//! Register names: the ABI's, which listings write, and the plain ones, which the assembler also takes.

#[rustfmt::skip]
const ABI: [&str; 64] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];

/// Rounding modes by number.
pub(super) const ROUNDING: [&str; 8] = ["rne", "rtz", "rdn", "rup", "rmm", "", "", "dyn"];

/// The name of a register id: 0 to 31 general purpose, 32 to 63 floating point, then `frm`.
pub fn register_name(id: u16) -> &'static str {
    ABI.get(usize::from(id)).copied().unwrap_or("frm")
}

/// The id of a register name: `a0`, `x10`, `fa0`, `f10`, `fp`.
pub fn register(name: &str) -> Option<u16> {
    if let Some(id) = ABI.iter().position(|n| *n == name) {
        return Some(id as u16);
    }
    let numbered = |prefix: char, first: u16| {
        let digits = name.strip_prefix(prefix)?;
        let plain = digits == "0" || !digits.starts_with('0');
        let number: u16 = digits.parse().ok()?;
        (plain && number < 32 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(first + number)
    };
    match name {
        "fp" => Some(8),
        _ => numbered('x', 0).or_else(|| numbered('f', 32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for id in 0..64 {
            assert_eq!(register(register_name(id)), Some(id));
        }
        assert_eq!((register("x31"), register("f31"), register("fp")), (Some(31), Some(63), Some(8)));
        for wrong in ["x32", "f032", "x", "x+1", "a8", "s12", "ft12", "", "x01"] {
            assert_eq!(register(wrong), None, "{wrong}");
        }
    }
}
