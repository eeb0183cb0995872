//! Elementary functions that give the same bits on every machine.
//!
//! The standard library's `exp`, `ln` and `pow` call the platform's C library, whose last bit
//! differs from one to the next; `libm` is compiled from the same source everywhere.

pub use libm::{cbrt, exp, log as ln, pow, sqrt};
