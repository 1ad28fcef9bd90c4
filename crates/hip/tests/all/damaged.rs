//! Damaged fat binaries and messages, many and always the same: errors or nothing, never a crash or lost memory. The same
//! functions are fuzz targets.

use std::path::Path;
use wb_hip::fuzzing;

fn bundle() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3/abi/axpy.bundle");
    std::fs::read(path).expect("fixture")
}

/// A code object with variables that hosts copy to and from.
fn variables() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3/abi/variables.co");
    std::fs::read(path).expect("fixture")
}

/// A small random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

#[test]
fn a_whole_binary_is_taken_and_a_part_of_it_refused() {
    let whole = bundle();
    fuzzing::fat_binary(&whole);
    for cut in (0..whole.len()).step_by(97) {
        fuzzing::fat_binary(&whole[..cut]);
    }
}

#[test]
fn damage_is_survived() {
    let whole = bundle();
    let mut random = Random(7);
    for _ in 0..1500 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = [0, 0xff, 0x7f, 0x80, bytes[at] ^ 1 << random.below(8)][random.below(5)];
        }
        fuzzing::fat_binary(&bytes);
    }
}

#[test]
fn messages_of_any_words_are_survived() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let len = 8 * random.below(20);
        let letters = b"%sdfxp*.-0123 hllzc\n\0\0\xff\x80";
        let bytes: Vec<u8> = (0..len).map(|_| letters[random.below(letters.len())]).collect();
        fuzzing::message(&bytes);
    }
}

/// `.dynsym` of a code object: where each entry starts in the file.
fn dynamic_symbols(file: &[u8]) -> Vec<usize> {
    let word = |at: usize, n: usize| {
        file[at..at + n].iter().rev().fold(0u64, |value, b| value << 8 | u64::from(*b)) as usize
    };
    let (headers, size, count) = (word(40, 8), word(58, 2), word(60, 2));
    let section = (0..count).map(|i| headers + i * size).find(|&h| word(h + 4, 4) == 11).expect(".dynsym");
    (0..word(section + 32, 8) / 24).map(|i| word(section + 24, 8) + i * 24).collect()
}

/// Every byte of where a variable is and how large: copies to and from it stay on the device.
#[test]
fn variables_that_lie_elsewhere_are_refused() {
    let whole = variables();
    fuzzing::fat_binary(&whole);
    assert_eq!(
        fuzzing::copied_variables(&whole),
        6,
        "table, second, counter, factor, the descriptor, __hip_cuid_"
    );
    let symbols = dynamic_symbols(&whole);
    assert_eq!(symbols.len(), 8);
    for entry in symbols {
        // st_value and st_size.
        for at in entry + 8..entry + 24 {
            for value in [0, 1, 0x10, 0x7f, 0x80, 0xff, whole[at] ^ 1, whole[at] ^ 0x80] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                fuzzing::fat_binary(&bytes);
            }
        }
        let mut bytes = whole.clone();
        bytes[entry + 16..entry + 24].fill(0);
        fuzzing::fat_binary(&bytes);
    }
}

#[test]
fn damage_of_variables_is_survived() {
    let whole = variables();
    let mut random = Random(11);
    for _ in 0..500 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = [0, 0xff, 0x7f, 0x80, bytes[at] ^ 1 << random.below(8)][random.below(5)];
        }
        fuzzing::fat_binary(&bytes);
    }
}

/// Inputs of the fuzz targets that are kept: seeds, and what was found.
#[test]
fn the_corpus_is_survived() {
    for (target, run) in
        [("hip_binary", fuzzing::fat_binary as fn(&[u8])), ("hip_message", fuzzing::message as fn(&[u8]))]
    {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut count = 0;
        for file in files {
            let path = file.expect("a file").path();
            let start = std::time::Instant::now();
            run(&std::fs::read(&path).expect("a file"));
            assert!(start.elapsed().as_secs() < 10, "{} takes {:?}", path.display(), start.elapsed());
            count += 1;
        }
        assert!(count >= 2, "{target}: {count} files");
    }
}
