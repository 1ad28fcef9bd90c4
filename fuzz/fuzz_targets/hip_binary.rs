#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wb_hip::fuzzing::fat_binary(data));
