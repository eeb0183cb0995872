//! The Python module `xoff._native`, which only `xoff.engine` imports: see `_native.pyi` there.
//!
//! `bindings` is compiled with the feature `extension-module` only, which maturin turns on, so
//! that the exporter is built and tested without a Python interpreter.

#[cfg(feature = "extension-module")]
pub mod agent;
#[cfg(feature = "extension-module")]
pub mod alloc;
#[cfg(feature = "extension-module")]
pub mod allocator;
#[cfg(feature = "extension-module")]
mod apart;
pub mod arrow;
#[cfg(feature = "extension-module")]
pub mod batch;
#[cfg(feature = "extension-module")]
pub mod bindings;
#[cfg(feature = "extension-module")]
mod errors;
#[cfg(feature = "extension-module")]
pub mod numerical;
#[cfg(feature = "extension-module")]
pub mod run;
