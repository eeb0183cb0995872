//! Tests of the traffic sources from outside.

mod chains;
mod files;
mod kinds;
mod settings;
mod sizes;
mod sources;
