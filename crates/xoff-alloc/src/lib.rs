//! Flowtune's allocator: rates for all flows of a network, kept near the optimum as flows come and go.
//!
//! It solves network utility maximisation: rates `x` that maximise the sum of each flow's utility
//! `U(x)`, where no link carries more than its capacity. Links have prices; each flow takes the
//! rate that is worth most to it at the price of its path; and each iteration moves prices towards
//! those at which demand meets capacity. How prices are moved is the [`Optimizer`]: by default the
//! paper's Newton-Exact-Diagonal. As prices are never quite there, a [`Normalizer`] scales down what
//! exceeds a capacity before rates are handed out.
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
//! // Proportional fairness: the flow that uses twice the network gets half the rate.
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
//! There is no clock, no socket and no randomness in it: the same calls give the same rates, to the
//! last bit, on any machine.
//!
//! The paper is Perry, Balakrishnan and Shah, "Flowtune: Flowlet Control for Datacenter Networks"
//! (NSDI 2017). What it leaves open is said where it is decided: a link without flows
//! (`rules/ned.rs`), a flow that pays nothing ([`Config::rate_bound`]), flows whose links all have
//! capacity to spare ([`Normalizer`]).

mod allocator;
mod bench;
mod config;
mod engine;
mod error;
mod flows;
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
pub use network::LinkId;
pub use parallel::{Clos, ClosLink, Exchange, ParallelAllocator, ParallelConfig};
pub use slots::FlowId;
pub use utility::Utility;
