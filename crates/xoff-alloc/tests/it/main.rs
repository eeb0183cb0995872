//! Tests of the allocator from outside.

mod allocator;
mod common;
mod convergence;
mod optimal;
mod parallel;
mod properties;
