//! Elementary functions that return the same bits on every machine.
//!
//! The standard library's `exp`, `ln` and `pow` call the platform's C library, and C libraries
//! differ in the last bit. `libm` is compiled from the same source everywhere.

pub use libm::{cbrt, exp, log as ln, log1p as ln_1p, log2, pow, sqrt};
