#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wb_testgen::fuzzing::harp_assembler(data));
