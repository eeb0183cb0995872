//! The protocol between endpoints and allocator, over networks that lose, reorder, duplicate and
//! forge.

mod allocations;
mod backup;
mod convergence;
mod flood;
mod golden;
mod hostile;
mod limits;
mod tagged;
mod world;
