//! Memory that several host threads read and each writes for itself: pages are copied when they are first written, with one bit for
//! each byte that was, and one bit for each word of four bytes that was read. Afterwards the written bytes are put together; bytes
//! that two threads wrote differently, or that one wrote and another read, show that the program depends on an order that threads
//! do not keep.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const PAGE: usize = 4096;
/// Bytes that have one bit among those that were read, and bytes of one word of such bits.
const WORD: usize = 4;
const READ: usize = 64 * WORD;
/// Words of such bits that come into being together.
const SHEET: usize = 256;

/// A page that a thread has written to.
#[derive(Clone, Debug)]
struct Page {
    number: usize,
    bytes: Box<[u8; PAGE]>,
    /// One bit for each byte that was written.
    written: [u64; PAGE / 64],
}

/// One bit for each [`WORD`] that was read, in sheets that exist from the first read on. Only one thread ever marks; the words are
/// atomic so that several may look at the memory they belong to, and cost no more.
#[derive(Debug, Default)]
struct Marks(Vec<OnceLock<Box<[AtomicU64; SHEET]>>>);

impl Marks {
    fn new(bytes: usize) -> Marks {
        Marks((0..bytes.div_ceil(READ * SHEET)).map(|_| OnceLock::new()).collect())
    }

    /// Bytes from `at` on, which exist, were read.
    #[inline(always)]
    fn mark(&self, at: usize, size: usize) {
        let (mut bit, last) = (at / WORD, (at + size - 1) / WORD);
        while bit <= last {
            let n = (64 - bit % 64).min(last + 1 - bit);
            let sheet =
                self.0[bit / 64 / SHEET].get_or_init(|| Box::new([const { AtomicU64::new(0) }; SHEET]));
            let word = &sheet[bit / 64 % SHEET];
            let marked = word.load(Ordering::Relaxed) | (u64::MAX >> (64 - n)) << (bit % 64);
            word.store(marked, Ordering::Relaxed);
            bit += n;
        }
    }

    /// The word of bits with a number.
    fn word(&self, number: usize) -> u64 {
        let sheet = self.0.get(number / SHEET).and_then(OnceLock::get);
        sheet.map_or(0, |sheet| sheet[number % SHEET].load(Ordering::Relaxed))
    }
}

impl Clone for Marks {
    fn clone(&self) -> Marks {
        let copy = |sheet: &[AtomicU64; SHEET]| {
            OnceLock::from(Box::new(sheet.each_ref().map(|word| word.load(Ordering::Relaxed).into())))
        };
        Marks(self.0.iter().map(|sheet| sheet.get().map_or_else(OnceLock::new, |s| copy(s))).collect())
    }
}

/// What a thread sees of memory.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    base: Arc<Vec<u8>>,
    /// Places are counted from here on in `base`, round its ends.
    shift: usize,
    /// Number of each page's copy plus one; 0: there is none.
    index: Vec<u32>,
    pages: Vec<Page>,
    read: Marks,
}

impl Copies {
    pub fn new(base: Arc<Vec<u8>>, shift: usize) -> Copies {
        let index = vec![0; base.len().div_ceil(PAGE)];
        let read = Marks::new(base.len());
        Copies { base, shift, index, pages: Vec::new(), read }
    }

    /// Bytes that lie together as they are: nobody has written to their pages, or they are in one of them. Which of them are read
    /// the caller says with [`Copies::reads`].
    #[inline]
    pub fn slice(&self, at: usize, size: usize) -> Option<&[u8]> {
        let at = at.wrapping_add(self.shift);
        let bytes = self.base.get(at..at.checked_add(size)?)?;
        let (first, last) = (at / PAGE, at.checked_add(size.checked_sub(1)?)? / PAGE);
        if self.index[first..=last].iter().all(|&copy| copy == 0) {
            return Some(bytes);
        }
        let page = self.pages.get((self.index[first] as usize).checked_sub(1)?)?;
        page.bytes.get(at % PAGE..at % PAGE + size)
    }

    /// Bytes from `at` on, which exist, were read.
    #[inline]
    pub fn reads(&self, at: usize, size: usize) {
        self.read.mark(at.wrapping_add(self.shift), size);
    }

    pub fn size(&self) -> usize {
        self.base.len()
    }

    /// The bytes from `at` on; none if they do not exist.
    #[inline]
    pub fn load<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let at = at.wrapping_add(self.shift);
        let bytes = self.base.get(at..at.checked_add(N)?)?;
        let (first, last) = (at / PAGE, (at + N - 1) / PAGE);
        self.read.mark(at, N);
        if self.index[first] | self.index[last] == 0 {
            return bytes.first_chunk::<N>().copied();
        }
        if first == last {
            let page = &self.pages[self.index[first] as usize - 1];
            return page.bytes[at % PAGE..].first_chunk::<N>().copied();
        }
        let mut out = [0; N];
        out.iter_mut().enumerate().for_each(|(i, b)| *b = self.byte(at + i));
        Some(out)
    }

    fn byte(&self, at: usize) -> u8 {
        match self.index[at / PAGE] {
            0 => self.base[at],
            copy => self.pages[copy as usize - 1].bytes[at % PAGE],
        }
    }

    /// Up to eight bytes from `at` on, as a number.
    #[inline]
    pub fn word(&self, at: usize, bytes: u32) -> Option<u64> {
        if bytes == 4 {
            return self.load::<4>(at).map(|b| u32::from_le_bytes(b).into());
        }
        let at = at.wrapping_add(self.shift);
        let end = at.checked_add(bytes as usize).filter(|&end| at < end && end <= self.base.len())?;
        self.read.mark(at, bytes as usize);
        Some((at..end).rev().fold(0, |word, i| word << 8 | u64::from(self.byte(i))))
    }

    /// Writes bytes from `at` on; none if they do not exist.
    #[inline]
    pub fn store(&mut self, at: usize, data: &[u8]) -> Option<()> {
        let at = at.wrapping_add(self.shift);
        let end = at.checked_add(data.len()).filter(|&end| end <= self.base.len())?;
        let (mut from, mut data) = (at, data);
        while from < end {
            let (here, now) = data.split_at(data.len().min(PAGE - from % PAGE));
            self.page(from / PAGE).write(from % PAGE, here);
            (from, data) = (from + here.len(), now);
        }
        Some(())
    }

    pub fn fill(&mut self, mut at: usize, mut size: usize, value: u8) {
        let bytes = [value; 64];
        while size > 0 {
            let n = size.min(bytes.len());
            if self.store(at, &bytes[..n]).is_none() {
                return;
            }
            (at, size) = (at.wrapping_add(n), size - n);
        }
    }

    /// The copy of a page, made if there is none.
    fn page(&mut self, number: usize) -> &mut Page {
        if self.index[number] == 0 {
            let from = number * PAGE;
            let mut bytes = Box::new([0; PAGE]);
            let there = &self.base[from..self.base.len().min(from + PAGE)];
            bytes[..there.len()].copy_from_slice(there);
            self.pages.push(Page { number, bytes, written: [0; PAGE / 64] });
            self.index[number] = self.pages.len() as u32;
        }
        let copy = self.index[number] as usize - 1;
        &mut self.pages[copy]
    }

    /// What was written and read.
    pub fn into_written(self) -> Written {
        Written { pages: self.pages, read: self.read }
    }
}

impl Page {
    #[inline]
    fn write(&mut self, at: usize, data: &[u8]) {
        self.bytes[at..at + data.len()].copy_from_slice(data);
        let mut bit = at;
        let end = at + data.len();
        while bit < end {
            let n = (64 - bit % 64).min(end - bit);
            self.written[bit / 64] |= (u64::MAX >> (64 - n)) << (bit % 64);
            bit += n;
        }
    }
}

/// What one thread wrote, page by page, and what it read.
#[derive(Default)]
pub(crate) struct Written {
    pages: Vec<Page>,
    read: Marks,
}

impl Written {
    /// Puts together what the threads wrote, but for bytes in `private`, of which each thread had its own. False, and `bytes` as they
    /// were, if two threads wrote different values to one byte, or one wrote what another one read.
    pub fn join(all: &[Written], private: &[Range<usize>], bytes: &mut [u8]) -> bool {
        let mut pages: Vec<&Page> = all.iter().flat_map(|written| &written.pages).collect();
        // By number; pages of one number stay in the order of the threads.
        pages.sort_by_key(|page| page.number);
        let differ = pages.chunk_by(|a, b| a.number == b.number).any(|same| {
            (1..same.len()).any(|i| same[..i].iter().any(|other| clash(same[i], other, private)))
        });
        let met = all.iter().enumerate().any(|(i, writer)| {
            let others = || all.iter().enumerate().filter(|other| other.0 != i);
            writer.pages.iter().any(|page| others().any(|other| page.was_read(&other.1.read, private)))
        });
        if differ || met {
            return false;
        }
        for page in pages {
            page.put(private, bytes);
        }
        true
    }
}

impl Page {
    /// Whether somebody who read these words met a byte that was written here.
    fn was_read(&self, read: &Marks, private: &[Range<usize>]) -> bool {
        const BLOCKS: usize = PAGE / READ;
        (0..BLOCKS).map(|i| (i, read.word(self.number * BLOCKS + i))).any(|(i, words)| {
            words != 0 && {
                let written = &self.written[i * READ / 64..(i + 1) * READ / 64];
                let bytes = written
                    .iter()
                    .enumerate()
                    .flat_map(|(n, &bytes)| wb_isa::lanes::bits(bytes).map(move |bit| n * 64 + bit as usize));
                let mut both = bytes.filter(|at| words >> (at / WORD) & 1 == 1);
                both.any(|at| !is_private(private, self.number * PAGE + i * READ + at))
            }
        })
    }

    /// Writes what was written to the whole.
    fn put(&self, private: &[Range<usize>], bytes: &mut [u8]) {
        let from = self.number * PAGE;
        let Some(to) = bytes.get_mut(from..) else { return };
        let apart = private.iter().any(|range| range.start < from + PAGE && range.end > from);
        for (i, &written) in self.written.iter().enumerate().filter(|w| *w.1 != 0) {
            let part = i * 64..i * 64 + 64;
            if written == u64::MAX && !apart && part.end <= to.len() {
                to[part.clone()].copy_from_slice(&self.bytes[part]);
                continue;
            }
            let own = wb_isa::lanes::bits(written).map(|bit| i * 64 + bit as usize);
            for at in own.filter(|at| !is_private(private, from + at)) {
                if let Some(byte) = to.get_mut(at) {
                    *byte = self.bytes[at];
                }
            }
        }
    }
}

fn is_private(private: &[Range<usize>], at: usize) -> bool {
    private.iter().any(|range| range.contains(&at))
}

/// Whether two threads wrote different values to a byte of a page.
fn clash(a: &Page, b: &Page, private: &[Range<usize>]) -> bool {
    let both = a.written.iter().zip(&b.written).enumerate().map(|(i, (a, b))| (i, a & b));
    both.filter(|(_, both)| *both != 0).any(|(i, both)| {
        wb_isa::lanes::bits(both)
            .map(|bit| i * 64 + bit as usize)
            .any(|at| a.bytes[at] != b.bytes[at] && !is_private(private, a.number * PAGE + at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads and a plain memory that gets the same writes: all of them see what they should.
    #[test]
    fn copies_are_as_memory() {
        let mut state = 1u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let size = 3 * PAGE + 100;
        let base: Vec<u8> = (0..size).map(|i| i as u8).collect();
        let shared = Arc::new(base.clone());
        let mut copies = [Copies::new(Arc::clone(&shared), 0), Copies::new(Arc::clone(&shared), 0)];
        let mut plain = [base.clone(), base.clone()];
        for _ in 0..4000 {
            let (who, bytes) = (random(2), 1 + random(8));
            // Each its own half of every 64 bytes.
            let at = random(size / 64) * 64 + who * 32 + random(24);
            let data: Vec<u8> = (0..bytes).map(|_| random(256) as u8).collect();
            let fits = at + bytes <= size;
            assert_eq!(copies[who].store(at, &data).is_some(), fits);
            if fits {
                plain[who][at..at + bytes].copy_from_slice(&data);
            }
            // And reads there, but at the end of memory.
            let look = random(size / 64 + 1) * 64 + who * 32 + random(28);
            let wanted = plain[who].get(look..look + 4).map(|b| b.to_vec());
            assert_eq!(copies[who].load::<4>(look).map(|b| b.to_vec()), wanted);
            let number = wanted.map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
            assert_eq!(copies[who].word(look, 4), number);
        }
        let mut bytes = base.clone();
        let written = copies.map(Copies::into_written);
        assert!(Written::join(&written, &[], &mut bytes));
        for (i, &byte) in bytes.iter().enumerate() {
            let who = i / 32 % 2;
            assert_eq!(byte, plain[who][i], "byte {i}");
        }
    }

    /// Whoever reads what another one writes depends on who comes first; it does not matter who reads what nobody else writes.
    #[test]
    fn reads_of_what_others_write_are_found() {
        let shared = Arc::new(vec![0; 2 * PAGE]);
        let thread = |reads: &[usize], writes: &[usize]| {
            let mut copies = Copies::new(Arc::clone(&shared), 0);
            writes.iter().for_each(|&at| assert!(copies.store(at, &[1; 4]).is_some()));
            reads.iter().for_each(|&at| assert!(copies.load::<4>(at).is_some()));
            copies.into_written()
        };
        let joins =
            |all: &[Written], private: &[Range<usize>]| Written::join(all, private, &mut vec![0; 2 * PAGE]);
        let far = PAGE + 260;
        assert!(joins(&[thread(&[0, far], &[8]), thread(&[0, far], &[16, PAGE])], &[]));
        assert!(joins(&[thread(&[8], &[8]), thread(&[16], &[16])], &[]), "its own");
        assert!(!joins(&[thread(&[far], &[]), thread(&[], &[far])], &[]));
        assert!(!joins(&[thread(&[], &[far]), thread(&[far - 2], &[])], &[]), "half of it");
        assert!(
            joins(&[thread(&[far], &[]), thread(&[], &[far])], std::slice::from_ref(&(far..far + 4))),
            "each has its own there"
        );
    }

    #[test]
    fn different_values_are_found_and_private_bytes_forgotten() {
        let shared = Arc::new(vec![0; 2 * PAGE]);
        let written = |at: usize, value: u8| {
            let mut copies = Copies::new(Arc::clone(&shared), 0);
            copies.store(at, &[value; 4]);
            copies.into_written()
        };
        let mut bytes = vec![0; 2 * PAGE];
        assert!(Written::join(&[written(PAGE - 2, 7), written(PAGE, 7)], &[], &mut bytes));
        assert_eq!(bytes[PAGE - 3..PAGE + 5], [0, 7, 7, 7, 7, 7, 7, 0]);
        let mut bytes = vec![0; 2 * PAGE];
        assert!(!Written::join(&[written(PAGE - 2, 7), written(PAGE, 8)], &[], &mut bytes));
        assert!(bytes.iter().all(|&b| b == 0), "nothing was written");
        let private = PAGE..PAGE + 4;
        let all = [written(PAGE - 2, 7), written(PAGE, 8)];
        assert!(Written::join(&all, std::slice::from_ref(&private), &mut bytes));
        assert_eq!(bytes[PAGE - 2..PAGE + 4], [7, 7, 0, 0, 0, 0]);
    }
}
