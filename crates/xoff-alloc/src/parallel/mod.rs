//! NED on many cores (§4): the paper's design for a two-stage Clos.
//!
//! Racks are divided into n blocks. Flows are divided into n x n FlowBlocks by the blocks of their
//! source and destination, and links into n upward and n downward LinkBlocks. "Each FlowBlock works
//! on private, local copies of its upward and downward LinkBlocks. The local copies are then
//! aggregated into global copies. The algorithm then proceeds to update link prices on the global
//! copies, and distributes the results back to FlowBlocks." F-NORM uses the same exchange: each
//! link's normalisation factor is distributed with its price.
//!
//! The last bits of rates depend on the number of blocks, which decides the order of summation.
//! They do not depend on the number of threads.

mod allocator;
mod bundles;
mod clos;
mod flow_block;
mod flow_set;
mod pattern;
mod square;
mod state;
mod worker_pool;

pub use allocator::{Exchange, ParallelAllocator, ParallelConfig};
pub use clos::{Clos, ClosLink};
