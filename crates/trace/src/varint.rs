//! Numbers as bytes: LEB128, and zigzag for differences of either sign (docs/trace-format.md). Both versions of the format
//! use them.

/// Undecoded bytes.
pub(crate) struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> Result<u8, &'static str> {
        let (&first, rest) = self.0.split_first().ok_or("an event is cut off")?;
        self.0 = rest;
        Ok(first)
    }

    #[inline]
    pub fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is too long")
    }

    pub fn u32(&mut self) -> Result<u32, &'static str> {
        u32::try_from(self.varint()?).map_err(|_| "a number is out of range")
    }

    pub fn u16(&mut self) -> Result<u16, &'static str> {
        u16::try_from(self.varint()?).map_err(|_| "a number is out of range")
    }
}

/// The entry of a list that is stored by its position.
pub(crate) fn pick<T: Copy>(all: &[T], index: u8, fault: &'static str) -> Result<T, &'static str> {
    all.get(index as usize).copied().ok_or(fault)
}

#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small differences of either sign become small numbers.
pub(crate) fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64 >> 63) as u64)
}

pub(crate) fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for value in [0, 1, 127, 128, 1 << 63, u64::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            assert_eq!(Input(&out).varint(), Ok(value));
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert!(Input(&[0xff; 11]).varint().is_err());
        assert!(Input(&[0x80]).varint().is_err());
    }
}
