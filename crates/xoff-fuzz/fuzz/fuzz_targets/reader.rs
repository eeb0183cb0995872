//! The target of `xoff_fuzz` that the environment names: `XOFF_FUZZ=goal`.
#![no_main]

use std::sync::LazyLock;

use xoff_fuzz::Target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("XOFF_FUZZ").expect("XOFF_FUZZ names a target");
    named(&name).expect("`fuzz --list` lists all targets")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    TARGET.check(bytes);
});
