//! Tests of the traffic sources from outside.

mod chains;
mod files;
mod settings;
mod sizes;
mod sources;
