//! How far a run is: what progress lines say, and what decides whether it goes on.

use std::time::Duration;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sofar {
    /// Of an untimed run its wave-instructions.
    pub cycles: u64,
    pub instructions: u64,
    /// Waves that have ended, and about how many the launch has; 0: nobody knows.
    pub ended: u64,
    pub waves: u64,
}

/// Before such a part of the waves has ended nobody can tell how long the rest will take.
const TELLING: f64 = 0.02;

impl Sofar {
    /// How far, how fast, and how long it will take if the waves to come are as those that have ended.
    pub fn words(&self, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64();
        let rate = if seconds > 0.0 { self.instructions as f64 / seconds / 1e6 } else { 0.0 };
        let mut text = format!(
            "cycle {}, {} wave-instructions, {rate:.2} M/s",
            grouped(self.cycles),
            grouped(self.instructions)
        );
        if self.waves > 0 {
            let part = self.ended as f64 / self.waves as f64;
            text += &format!(", {:.0} % of the waves", 100.0 * part);
            if part >= TELLING {
                text += &format!(", about {} left", duration(seconds * (1.0 - part).max(0.0) / part));
            }
        }
        text
    }
}

/// `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `40 s`, `3 min`, `2 h 5 min`.
fn duration(seconds: f64) -> String {
    if seconds < 100.0 {
        return format!("{seconds:.0} s");
    }
    match (seconds / 60.0).round() as u64 {
        minutes @ 0..120 => format!("{minutes} min"),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_in_words() {
        let sofar = Sofar { cycles: 1_234_567, instructions: 8_000_000, ended: 10, waves: 40 };
        let words = sofar.words(Duration::from_secs(4));
        let want =
            "cycle 1,234,567, 8,000,000 wave-instructions, 2.00 M/s, 25 % of the waves, about 12 s left";
        assert_eq!(words, want);
        let early = Sofar { ended: 0, ..sofar }.words(Duration::from_secs(4));
        assert!(early.ends_with("0 % of the waves"), "{early}");
        assert!(!Sofar { waves: 0, ..sofar }.words(Duration::ZERO).contains('%'));
        let lengths = [(59.0, "59 s"), (99.0, "99 s"), (101.0, "2 min"), (7300.0, "2 h 2 min")];
        lengths.iter().for_each(|(s, text)| assert_eq!(duration(*s), *text));
    }
}
