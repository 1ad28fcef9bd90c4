//! What is known of every byte of device memory: whether anybody has written it, and who accessed it last. Pages come into being
//! when they are first used, so that memory nobody touches costs nothing.

use std::collections::HashMap;

const PAGE: u64 = 4096;
const WORDS: usize = 1024;

/// One access to a word: who, when, which bytes. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// `wave` has 24 bits, `clock` 28.
    pub fn new(wave: u32, clock: u32, lane: u32, atomic: bool) -> Stamp {
        Stamp(
            u64::from(wave) << 40
                | u64::from(clock & 0xfff_ffff) << 12
                | u64::from(lane & 63) << 4
                | u64::from(atomic) << 1
                | 1,
        )
    }

    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    pub fn wave(self) -> u32 {
        (self.0 >> 40) as u32
    }

    pub fn clock(self) -> u32 {
        (self.0 >> 12) as u32 & 0xfff_ffff
    }

    pub fn lane(self) -> u32 {
        (self.0 >> 4) as u32 & 63
    }

    pub fn is_atomic(self) -> bool {
        self.0 >> 1 & 1 == 1
    }
}

/// Accesses to a word: the last write, the last read, and one by somebody else before it. `place` counts instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    pub write: Stamp,
    pub read: Stamp,
    pub other: Stamp,
    pub write_place: u32,
    pub read_place: u32,
    pub other_place: u32,
    /// Where an undefined value in it comes from.
    pub origin: u32,
    /// Bytes have words of their own.
    split: bool,
}

#[derive(Clone, Debug)]
struct Page {
    /// One bit for each byte that nobody has written.
    undefined: [u64; (PAGE / 64) as usize],
    words: Option<Box<[Word; WORDS]>>,
}

impl Default for Page {
    fn default() -> Page {
        Page { undefined: [0; (PAGE / 64) as usize], words: None }
    }
}

/// Words of a page.
pub struct PageWords<'a> {
    words: &'a mut [Word; WORDS],
    /// Some byte of the range has no value.
    pub undefined: bool,
}

impl PageWords<'_> {
    /// The word at an address of the page; none if its bytes have words of their own.
    #[inline(always)]
    pub fn word(&mut self, addr: u64) -> Option<&mut Word> {
        let word = &mut self.words[(addr % PAGE) as usize / 4];
        (!word.split).then_some(word)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Shadow {
    origin: u64,
    pages: Vec<Option<Box<Page>>>,
    /// Words whose bytes were accessed one by one.
    bytes: HashMap<u64, Box<[Word; 4]>>,
}

impl Shadow {
    pub fn new(origin: u64) -> Shadow {
        Shadow { origin: origin / PAGE * PAGE, ..Shadow::default() }
    }

    fn place(&self, addr: u64) -> (usize, usize) {
        let at = addr.wrapping_sub(self.origin);
        ((at / PAGE) as usize, (at % PAGE) as usize)
    }

    fn page(&mut self, page: usize) -> &mut Page {
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        self.pages[page].get_or_insert_default()
    }

    /// These bytes have a value, or have none.
    pub fn define(&mut self, addr: u64, bytes: u64, defined: bool) {
        let (mut at, end) = (addr, addr.saturating_add(bytes));
        while at < end {
            let (page, within) = self.place(at);
            let upto = (at - within as u64 + PAGE).min(end);
            let absent = self.pages.get(page).is_none_or(Option::is_none);
            if !(defined && absent) {
                let bits = &mut self.page(page).undefined;
                let mut i = within;
                let last = within + (upto - at) as usize;
                while i < last {
                    let count = (64 - i % 64).min(last - i);
                    let mask = (u64::MAX >> (64 - count)) << (i % 64);
                    bits[i / 64] = if defined { bits[i / 64] & !mask } else { bits[i / 64] | mask };
                    i += count;
                }
            }
            at = upto;
        }
    }

    /// Which of at most eight bytes have no value, one bit each.
    #[inline]
    pub fn undefined(&self, addr: u64, bytes: u32) -> u8 {
        let (page, within) = self.place(addr);
        let Some(Some(found)) = self.pages.get(page) else { return self.undefined_next(addr, bytes, within) };
        let (word, bit) = (within / 64, within % 64);
        let mut bits = found.undefined[word] >> bit;
        if bit + bytes as usize > 64 {
            match found.undefined.get(word + 1) {
                Some(next) => bits |= next << (64 - bit),
                None => return self.undefined_next(addr, bytes, within),
            }
        }
        (bits & (0xff >> (8 - bytes.clamp(1, 8)))) as u8
    }

    /// Byte by byte: the access may leave its page.
    fn undefined_next(&self, addr: u64, bytes: u32, within: usize) -> u8 {
        if within as u64 + u64::from(bytes) <= PAGE {
            return 0;
        }
        (0..bytes.min(8)).fold(0, |all, i| {
            let (page, at) = self.place(addr + u64::from(i));
            let bit = match self.pages.get(page) {
                Some(Some(page)) => page.undefined[at / 64] >> (at % 64) & 1,
                _ => 0,
            };
            all | (bit as u8) << i
        })
    }

    /// Sets which of at most eight bytes have no value.
    pub fn set_undefined(&mut self, addr: u64, bytes: u32, undefined: u8) {
        if undefined == 0 {
            // The usual case: what is defined stays so.
            if self.undefined(addr, bytes) != 0 {
                self.define(addr, bytes.into(), true);
            }
            return;
        }
        for i in 0..bytes.min(8) {
            self.define(addr + u64::from(i), 1, undefined >> i & 1 == 0);
        }
    }

    /// Bytes have a value where others have one.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        let mut at = 0;
        while at < bytes {
            let n = (bytes - at).min(8) as u32;
            let undefined = self.undefined(from + at, n);
            self.set_undefined(to + at, n, undefined);
            at += u64::from(n);
        }
    }

    /// The first byte of a range that has no value although somebody wrote it, with its word.
    pub fn first_undefined(&self, addr: u64, bytes: u64) -> Option<(u64, Word)> {
        let end = addr.saturating_add(bytes);
        let mut at = addr;
        while at < end {
            let (page, within) = self.place(at);
            let next = at - within as u64 + PAGE;
            let Some(Some(found)) = self.pages.get(page) else {
                at = next;
                continue;
            };
            let Some(words) = &found.words else {
                at = next;
                continue;
            };
            let (word, bit) = (within / 64, within % 64);
            if found.undefined[word] >> bit == 0 {
                at += 64 - bit as u64;
                continue;
            }
            if found.undefined[word] >> bit & 1 == 1 {
                let seen = match self.bytes.get(&(at & !3)) {
                    Some(bytes) => bytes[(at & 3) as usize],
                    None => words[within / 4],
                };
                if !seen.write.is_none() && seen.origin != 0 {
                    return Some((at, seen));
                }
            }
            at += 1;
        }
        None
    }

    /// The words of an access within one dword: one, or one for each byte that it touches.
    #[inline]
    pub fn words(&mut self, addr: u64, bytes: u32, f: &mut impl FnMut(&mut Word)) {
        let (page, within) = self.place(addr);
        let words = self.page(page).words.get_or_insert_with(|| Box::new([Word::default(); WORDS]));
        let word = &mut words[within / 4];
        if bytes == 4 && !word.split {
            return f(word);
        }
        let copy = *word;
        word.split = true;
        let each = self.bytes.entry(addr & !3).or_insert_with(|| Box::new([copy; 4]));
        let first = (addr & 3) as usize;
        each[first..(first + bytes as usize).min(4)].iter_mut().for_each(f);
    }

    /// The words of one page, from the first byte of a range to its last, if they are on one.
    #[inline]
    pub fn page_words(&mut self, first: u64, last: u64) -> Option<PageWords<'_>> {
        let ((page, from), (end, to)) = (self.place(first), self.place(last));
        if page != end {
            return None;
        }
        let Page { undefined, words } = self.page(page);
        let words = words.get_or_insert_with(|| Box::new([Word::default(); WORDS]));
        let (low, high) = (from / 64, to / 64);
        let bits = |word: usize| {
            let mut mask = u64::MAX;
            if word == low {
                mask &= u64::MAX << (from % 64);
            }
            if word == high {
                mask &= u64::MAX >> (63 - to % 64);
            }
            undefined[word] & mask
        };
        let undefined = (low..=high).any(|word| bits(word) != 0);
        Some(PageWords { words, undefined })
    }

    /// Nobody has accessed these bytes.
    pub fn forget(&mut self, addr: u64, bytes: u64) {
        let end = addr.saturating_add(bytes);
        let mut at = addr & !3;
        while at < end {
            let (page, within) = self.place(at);
            let upto = (at - within as u64 + PAGE).min(end);
            if let Some(Some(found)) = self.pages.get_mut(page)
                && let Some(words) = &mut found.words
            {
                let last = (within + (upto - at) as usize).div_ceil(4).min(WORDS);
                for (i, word) in words[within / 4..last].iter_mut().enumerate() {
                    if word.split {
                        self.bytes.remove(&(at + 4 * i as u64));
                    }
                    *word = Word::default();
                }
            }
            at = upto;
        }
    }

    /// Nobody has accessed anything: waves are counted from the start again.
    pub fn forget_all(&mut self) {
        self.bytes.clear();
        for page in self.pages.iter_mut().flatten() {
            page.words = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_defined_one_by_one() {
        let mut shadow = Shadow::new(0x1234);
        let at = 0x1fff0;
        shadow.define(at, 100, false);
        assert_eq!(shadow.undefined(at, 8), 0xff);
        assert_eq!(shadow.undefined(at + 96, 8), 0x0f);
        assert_eq!(shadow.undefined(at - 4, 8), 0xf0);
        shadow.set_undefined(at + 4, 4, 0b0101);
        assert_eq!(shadow.undefined(at, 8), 0b0101_1111);
        // Across a page.
        assert_eq!(shadow.undefined(0x1fffe, 4), 0xf);
        shadow.define(0x1ffff, 2, true);
        assert_eq!(shadow.undefined(0x1fffe, 4), 0b1001);
        shadow.define(at, 100, true);
        assert_eq!(shadow.undefined(at, 8) | shadow.undefined(at + 92, 8), 0);
    }

    #[test]
    fn bytes_of_a_word_part_when_they_are_accessed_alone() {
        let mut shadow = Shadow::new(0);
        let stamp = |lane| Stamp::new(3, 7, lane, false);
        shadow.words(0x100, 4, &mut |w| w.write = stamp(1));
        shadow.words(0x101, 1, &mut |w| {
            assert_eq!(w.write, stamp(1), "what was known of the word");
            w.write = stamp(2);
        });
        let mut seen = Vec::new();
        shadow.words(0x100, 4, &mut |w| seen.push(w.write.lane()));
        assert_eq!(seen, [1, 2, 1, 1]);
        shadow.forget(0x100, 4);
        shadow.words(0x100, 4, &mut |w| assert!(w.write.is_none()));
    }

    #[test]
    fn stamps_keep_what_they_are_given() {
        let s = Stamp::new(0xab_cdef, 0x765_4321, 63, true);
        assert_eq!((s.wave(), s.clock(), s.lane(), s.is_atomic()), (0xab_cdef, 0x765_4321, 63, true));
        assert!(!s.is_none() && Stamp::default().is_none());
    }
}
