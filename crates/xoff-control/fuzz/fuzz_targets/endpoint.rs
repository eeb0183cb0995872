//! See `xoff_control::fuzz::endpoint`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| xoff_control::fuzz::endpoint(bytes));
