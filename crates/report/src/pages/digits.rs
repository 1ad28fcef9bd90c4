//! Numbers for people.

/// Digits in groups of three.
pub(super) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        assert_eq!(
            (number(7), number(1234), number(1_234_567)),
            ("7".into(), "1\u{202f}234".into(), "1\u{202f}234\u{202f}567".into())
        );
    }
}
