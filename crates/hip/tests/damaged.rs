//! Damaged fat binaries and messages, many and always the same: errors or nothing, never a crash or lost memory. The same
//! functions are fuzz targets.

use std::path::Path;
use wb_hip::fuzzing;

fn bundle() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gcn3/abi/axpy.bundle");
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
