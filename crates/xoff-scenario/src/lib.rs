//! Reads a scenario: TOML with units in its values, in layers of increasing priority (defaults, a
//! preset, the user's file, `--set` overrides).
//!
//! Nothing is silent: a misspelt key, a wrong unit, or a setting without effect is an error that
//! shows the place and names what was probably meant, and all errors are reported together.

pub mod diagnostic;
pub mod document;
pub mod layers;
pub mod nearest;
pub mod schema;
