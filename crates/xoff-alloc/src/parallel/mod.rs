//! NED on many cores (§4): the paper's design for a two-stage Clos.
//!
//! Racks are cut into n blocks. Flows are cut into n x n FlowBlocks, by the block of their source and
//! that of their destination; links into n upward and n downward LinkBlocks. "Each FlowBlock works on
//! private, local copies of its upward and downward LinkBlocks. The local copies are then aggregated
//! into global copies. The algorithm then proceeds to update link prices on the global copies, and
//! distributes the results back to FlowBlocks." F-NORM goes along: with each link's price its
//! normalisation factor is distributed.
//!
//! Rates depend on the number of blocks, in their last bits, because that decides in which order
//! loads are added up. They do not depend on the number of threads.

mod allocator;
mod bundles;
mod clos;
mod crew;
mod flow_block;
mod flow_set;
mod pattern;
mod square;
mod state;

pub use allocator::{Exchange, ParallelAllocator, ParallelConfig};
pub use clos::{Clos, ClosLink};
