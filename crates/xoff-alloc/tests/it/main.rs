//! Tests of the allocator from outside.

mod allocator;
mod common;
mod properties;
