//! Changes of contents: within ranges, in all the shapes that make kernels slow.

use super::subject::SubjectBuffer;
use crate::error::{BoundError, refused};
use std::collections::BTreeSet;
use wb_jobs::data::{Element, splitmix};

/// Pseudo-random numbers: the same seed gives the same search everywhere.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn bits(&mut self) -> u64 {
        splitmix(&mut self.0)
    }

    /// 0 to `n` − 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n.max(1)
    }

    /// 0 up to, not including, 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A buffer whose elements may have values from `low` to `high`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranged {
    pub buffer: String,
    pub low: f64,
    pub high: f64,
}

/// `NAME=LOW..HIGH`.
pub fn parse_range(text: &str) -> Result<Ranged, String> {
    let wrong = || format!("`{text}`: a range looks like x=0..63 or y=-1..1");
    let (buffer, range) = text.split_once('=').ok_or_else(wrong)?;
    let (low, high) = range.split_once("..").ok_or_else(wrong)?;
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(wrong);
    let (low, high) = (number(low)?, number(high)?);
    if low > high || buffer.is_empty() {
        return Err(wrong());
    }
    Ok(Ranged { buffer: buffer.to_owned(), low, high })
}

/// What may be changed.
pub struct Changes {
    buffers: Vec<Changed>,
}

/// How often a buffer is changed, compared with others: at first, and at most.
const WEIGHT: u64 = 4;
const MOST: u64 = 16;

struct Changed {
    number: usize,
    /// More for buffers whose changes changed the time.
    weight: u64,
    element: Element,
    low: f64,
    high: f64,
    /// Values that stood there at first.
    values: Vec<f64>,
    elements: u64,
}

impl Changes {
    /// Buffers with a range, by name; the others within the values they have at first. What has one value only stays.
    pub fn new(buffers: &[SubjectBuffer], ranges: &[Ranged]) -> Result<Changes, BoundError> {
        let known = || buffers.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(r) = ranges.iter().find(|r| buffers.iter().all(|b| b.name != r.buffer)) {
            return Err(refused!(
                Launch,
                help = format!("buffers: {}", known()),
                "--range {}=…: there is no such buffer",
                r.buffer
            ));
        }
        let mut all = Vec::new();
        for (number, b) in buffers.iter().enumerate() {
            let size = b.element.bytes() as usize;
            let mut values: Vec<f64> =
                b.contents.chunks_exact(size).map(|c| b.element.value(c)).filter(|v| v.is_finite()).collect();
            let elements = (b.contents.len() / size) as u64;
            let range = ranges.iter().find(|r| r.buffer == b.name);
            let (low, high) = match range {
                Some(r) => (r.low, r.high),
                None => values.iter().fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v))),
            };
            values.sort_by(f64::total_cmp);
            values.dedup();
            if low < high && elements > 0 {
                all.push(Changed { number, weight: WEIGHT, element: b.element, low, high, values, elements });
            }
        }
        Ok(Changes { buffers: all })
    }

    /// There is something to change.
    pub fn possible(&self) -> bool {
        !self.buffers.is_empty()
    }

    /// Contents changed in one to many places; now and then a buffer comes from another input. Second: what was changed, for
    /// [`Changes::learn`].
    pub fn change(
        &self,
        from: &[Vec<u8>],
        other: &[Vec<u8>],
        noise: &mut Noise,
    ) -> (Vec<Vec<u8>>, BTreeSet<usize>) {
        let mut contents = from.to_vec();
        let mut changed = BTreeSet::new();
        for _ in 0..1 + noise.below(3) {
            let at = self.drawn(noise);
            let b = &self.buffers[at];
            changed.insert(at);
            if noise.below(12) == 0 {
                contents[b.number].clone_from(&other[b.number]);
            } else {
                b.change(&mut contents[b.number], noise);
            }
        }
        (contents, changed)
    }

    /// A buffer, by weight.
    fn drawn(&self, noise: &mut Noise) -> usize {
        let mut left = noise.below(self.buffers.iter().map(|b| b.weight).sum());
        for (at, b) in self.buffers.iter().enumerate() {
            match left.checked_sub(b.weight) {
                Some(rest) => left = rest,
                None => return at,
            }
        }
        0
    }

    /// A buffer that alone was changed is changed more often if the time changed, too, and less often if it did not: contents that
    /// decide nothing are soon left alone. Of several it is not known which one it was.
    pub fn learn(&mut self, changed: &BTreeSet<usize>, matters: bool) {
        if let (Some(&at), 1) = (changed.first(), changed.len()) {
            let weight = &mut self.buffers[at].weight;
            *weight = if matters { (*weight * 2).min(MOST) } else { (*weight - 1).max(1) };
        }
    }
}

impl Changed {
    fn value(&self, noise: &mut Noise) -> f64 {
        match noise.below(8) {
            0 => self.low,
            1 => self.high,
            2 | 3 if !self.values.is_empty() => {
                let v = self.values[noise.below(self.values.len() as u64) as usize];
                v.clamp(self.low, self.high)
            }
            _ => self.low + noise.unit() * (self.high - self.low),
        }
    }

    fn put(&self, bytes: &mut [u8], at: u64, value: f64) {
        let size = self.element.bytes();
        let value = value.clamp(self.low, self.high);
        let text =
            if self.element.is_float() { format!("{value:?}") } else { format!("{}", value.round() as i128) };
        let place = (at * size) as usize..((at + 1) * size) as usize;
        if let (Some(place), Some(new)) = (bytes.get_mut(place), self.element.encode(&text)) {
            place.copy_from_slice(&new);
        }
    }

    /// One of several shapes: single elements, a stretch of one value, a ramp, an exchange, small steps.
    fn change(&self, bytes: &mut [u8], noise: &mut Noise) {
        let n = self.elements;
        let first = noise.below(n);
        let length = match noise.below(4) {
            0 => 1,
            1 => 1 + noise.below(8),
            2 => 1 + noise.below(64),
            _ => 1 + noise.below(n),
        };
        let places = (first..n).take(length as usize);
        let size = self.element.bytes() as usize;
        let read = |bytes: &[u8], at: u64| {
            let at = at as usize * size;
            self.element.value(&bytes[at..at + size])
        };
        match noise.below(6) {
            0 => {
                let value = self.value(noise);
                places.for_each(|at| self.put(bytes, at, value));
            }
            1 => {
                for at in places {
                    let value = self.value(noise);
                    self.put(bytes, at, value);
                }
            }
            2 => {
                // As far apart as lines or banks are.
                let (start, step) =
                    (self.value(noise), [1.0, 16.0, 32.0, 33.0, 64.0, -1.0][noise.below(6) as usize]);
                let width = self.high - self.low + 1.0;
                for (i, at) in places.enumerate() {
                    let value = self.low + (start - self.low + step * i as f64).rem_euclid(width);
                    self.put(bytes, at, value);
                }
            }
            3 => {
                for at in places {
                    let with = noise.below(n);
                    let (a, b) = (read(bytes, at), read(bytes, with));
                    self.put(bytes, at, b);
                    self.put(bytes, with, a);
                }
            }
            4 => {
                let step = if noise.below(2) == 0 { 1.0 } else { -1.0 };
                for at in places {
                    let value = read(bytes, at) + step * (1.0 + (self.high - self.low) * 0.01 * noise.unit());
                    self.put(bytes, at, value);
                }
            }
            _ => {
                for _ in 0..1 + noise.below(8) {
                    let (at, value) = (noise.below(n), self.value(noise));
                    self.put(bytes, at, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_range("x=-1..2.5"), Ok(Ranged { buffer: "x".into(), low: -1.0, high: 2.5 }));
        for wrong in ["x", "x=1", "x=2..1", "=0..1", "x=a..b"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn changes_stay_within_the_range() {
        let contents: Vec<u8> = (0..64u32).flat_map(|i| (10 + i % 5).to_le_bytes()).collect();
        let buffer = |name: &str, contents: &[u8]| SubjectBuffer {
            name: name.into(),
            element: Element::U32,
            contents: contents.to_vec(),
        };
        let all = [buffer("a", &contents), buffer("b", &[0; 64])];
        let changes = Changes::new(&all, &[]).expect("changes");
        assert_eq!(changes.buffers.len(), 1, "what has one value only stays");
        let start: Vec<Vec<u8>> = all.iter().map(|b| b.contents.clone()).collect();
        let mut noise = Noise::new(3);
        let mut now = start.clone();
        for _ in 0..2000 {
            now = changes.change(&now, &start, &mut noise).0;
            let values = now[0].chunks_exact(4).map(|c| Element::U32.value(c));
            assert!(values.into_iter().all(|v| (10.0..=14.0).contains(&v)));
            assert_eq!(now[1], start[1]);
        }
        assert_ne!(now, start);
        assert!(Changes::new(&all, &[Ranged { buffer: "c".into(), low: 0.0, high: 1.0 }]).is_err());
    }

    /// What changes the time is changed more often, and nothing is left alone for ever.
    #[test]
    fn buffers_that_matter_are_changed_more_often() {
        let contents: Vec<u8> = (0..64u32).flat_map(u32::to_le_bytes).collect();
        let buffer = |name: &str| SubjectBuffer {
            name: name.into(),
            element: Element::U32,
            contents: contents.clone(),
        };
        let all = [buffer("a"), buffer("b"), buffer("c")];
        let mut changes = Changes::new(&all, &[]).expect("changes");
        let start: Vec<Vec<u8>> = all.iter().map(|b| b.contents.clone()).collect();
        let (mut noise, mut count) = (Noise::new(5), [0; 3]);
        for _ in 0..1000 {
            let (_, changed) = changes.change(&start, &start, &mut noise);
            changed.iter().for_each(|&at| count[at] += 1);
            changes.learn(&changed, changed.contains(&1));
        }
        assert!(count[1] > 2 * count[0] && count[1] > 2 * count[2], "{count:?}");
        assert!(count[0] > 20 && count[2] > 20, "{count:?}");
    }
}
