//! The protocol between endpoints and allocator, over networks that lose, reorder, duplicate and
//! forge.

mod backup;
mod convergence;
mod golden;
mod hostile;
mod tagged;
mod world;
