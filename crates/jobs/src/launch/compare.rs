//! What a run left against what was expected: exact, or within a tolerance.

use crate::data::Element;

/// Allowed differences; one that holds is enough. None at all: bits must be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    pub abs: Option<f64>,
    pub rel: Option<f64>,
    /// Floats between the two values, counted.
    pub ulp: Option<u64>,
}

/// The first element that differs, and how many do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub index: u64,
    pub got: String,
    pub expected: String,
    pub count: u64,
    pub of: u64,
}

/// Compares elements; both slices have the same length.
pub fn compare(element: Element, got: &[u8], expected: &[u8], tolerance: Tolerance) -> Option<Difference> {
    let size = element.bytes() as usize;
    let pairs = || got.chunks(size).zip(expected.chunks(size));
    let mut wrong = pairs().enumerate().filter(|(_, (g, e))| !agree(element, g, e, tolerance));
    let (index, (g, e)) = wrong.next()?;
    Some(Difference {
        index: index as u64,
        got: element.show(g),
        expected: element.show(e),
        count: 1 + wrong.count() as u64,
        of: pairs().count() as u64,
    })
}

fn agree(element: Element, got: &[u8], expected: &[u8], tolerance: Tolerance) -> bool {
    if got == expected {
        return true;
    }
    let (g, e) = (element.value(got), element.value(expected));
    if g.is_nan() || e.is_nan() {
        // Any NaN will do where some difference is allowed.
        return tolerance != Tolerance::default() && g.is_nan() && e.is_nan();
    }
    let distance = (g - e).abs();
    tolerance.abs.is_some_and(|a| distance <= a)
        || tolerance.rel.is_some_and(|r| distance <= r * e.abs())
        || tolerance.ulp.is_some_and(|u| element.is_float() && ulps(element, got, expected) <= u)
}

/// Steps from one float to the other; +0 and −0 are one.
fn ulps(element: Element, a: &[u8], b: &[u8]) -> u64 {
    let ordered = |bytes: &[u8]| -> i128 {
        let mut word = [0; 8];
        word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let bits = i128::from(u64::from_le_bytes(word));
        let sign = 1i128 << (8 * element.bytes() - 1);
        if bits & sign == 0 { bits } else { -(bits & (sign - 1)) }
    };
    u64::try_from((ordered(a) - ordered(b)).unsigned_abs()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(got: f32, expected: f32, tolerance: Tolerance) -> bool {
        compare(Element::F32, &got.to_le_bytes(), &expected.to_le_bytes(), tolerance).is_some()
    }

    #[test]
    fn tolerances() {
        let exact = Tolerance::default();
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        assert!(!differs(1.0, 1.0, exact) && differs(next, 1.0, exact));
        assert!(differs(0.0, -0.0, exact), "without a tolerance the bits count");
        let ulp = Tolerance { ulp: Some(1), ..exact };
        assert!(!differs(next, 1.0, ulp) && !differs(0.0, -0.0, ulp) && differs(1.0, 1.1, ulp));
        assert!(!differs(f32::from_bits(1), -f32::from_bits(0), ulp));
        let abs = Tolerance { abs: Some(0.25), ..exact };
        assert!(!differs(1.25, 1.0, abs) && differs(1.5, 1.0, abs));
        let rel = Tolerance { rel: Some(0.25), ..exact };
        assert!(!differs(5.0, 4.0, rel) && differs(0.5, 0.25, rel));
        assert!(differs(f32::NAN, 1.0, abs) && !differs(f32::NAN, -f32::NAN, abs));
    }

    #[test]
    fn the_first_difference_is_named() {
        let bytes = |v: [i32; 4]| v.map(i32::to_le_bytes).concat();
        let found =
            compare(Element::Signed(4), &bytes([1, -2, 3, 4]), &bytes([1, 2, 3, 5]), Tolerance::default());
        let found = found.expect("a difference");
        assert_eq!((found.index, found.got.as_str(), found.expected.as_str()), (1, "-2", "2"));
        assert_eq!((found.count, found.of), (2, 4));
    }
}
