//! Numerical studies of a rate allocator, without packets, and the names of its settings.

pub mod config;
