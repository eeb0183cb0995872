//! Flowtune's allocator: rates for all flows of a network, kept near the optimum as flows come and
//! go.
//!
//! It solves network utility maximisation (NUM): find the rates `x` that maximise the sum of the
//! flows' utilities `U(x)` such that no link exceeds its capacity. Each link has a price. Each flow
//! takes the rate that is optimal at the price of its path. Each iteration moves the prices towards
//! those at which demand equals capacity. The [`Optimizer`] is the rule that moves prices; the
//! default is the paper's Newton-Exact-Diagonal. Prices are never fully converged, so a
//! [`Normalizer`] scales down rates that exceed a capacity before they are handed out.
//!
//! ```
//! use xoff_alloc::{Allocator, Config, LinkId};
//!
//! // Two links of 10 Gb/s; one flow over both, and one over each.
//! let config = Config { threshold: 0.0, ..Config::default() };
//! let mut allocator = Allocator::new(&[10.0, 10.0], config)?;
//! let long = allocator.add_flow(&[LinkId(0), LinkId(1)], 1.0)?;
//! let short = allocator.add_flow(&[LinkId(0)], 1.0)?;
//! allocator.add_flow(&[LinkId(1)], 1.0)?;
//! for _ in 0..100 {
//!     allocator.iterate();
//! }
//! // Proportional fairness: the flow over both links gets half the rate of the others.
//! assert!((allocator.rate(long).unwrap() - 10.0 / 3.0).abs() < 1e-6);
//! assert!((allocator.rate(short).unwrap() - 20.0 / 3.0).abs() < 1e-6);
//!
//! allocator.remove_flow(long)?;
//! allocator.iterate();
//! for (flow, gbps) in allocator.changed_rates() {
//!     println!("{flow} may send {gbps} Gb/s");
//! }
//! # Ok::<(), xoff_alloc::Error>(())
//! ```
//!
//! The allocator uses no clock, socket or random number: the same calls give the same rates, to the
//! last bit, on any machine.
//!
//! The paper is Perry, Balakrishnan and Shah, "Flowtune: Flowlet Control for Datacenter Networks"
//! (NSDI 2017). Cases that the paper leaves open are documented at their code: a link without flows
//! (`rules/ned.rs`), a flow with a price of zero ([`Config::rate_bound`]), and a flow whose links
//! all have spare capacity ([`Normalizer`]).

mod allocator;
mod bench;
mod config;
mod engine;
mod error;
mod flows;
mod link;
mod network;
mod normalize;
mod parallel;
mod real;
mod rules;
mod slots;
mod threshold;
mod utility;

pub use allocator::Allocator;
pub use bench::{Figures, bench};
pub use config::{Config, Normalizer, Optimizer, OptimizerKind, Precision};
pub use error::Error;
pub use link::LinkId;
pub use parallel::{Clos, ClosLink, Exchange, ParallelAllocator, ParallelConfig};
pub use slots::FlowId;
pub use utility::Utility;
