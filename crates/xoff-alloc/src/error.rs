//! Errors of invalid calls.

use std::fmt;

use crate::link::LinkId;
use crate::slots::FlowId;

/// A rejected call; the allocator is unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error {
    /// A setting is invalid.
    Setting {
        /// Name in [`Config`](crate::Config), or `alpha` of the utility.
        name: &'static str,
        /// The given value.
        value: f64,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// The rule has no single-precision form.
    NoSingleForm,
    /// The path of a flow is empty.
    EmptyPath,
    /// The link does not exist.
    UnknownLink {
        /// The given link.
        link: LinkId,
        /// Number of links.
        links: usize,
    },
    /// The server, rack or spine does not exist.
    UnknownNode {
        /// Kind of node.
        kind: &'static str,
        /// The given index.
        index: u32,
        /// Number of nodes of this kind.
        count: usize,
    },
    /// The path of a flow contains a link twice.
    RepeatedLink {
        /// The repeated link.
        link: LinkId,
    },
    /// The weight of a flow is not positive or is outside the range of the precision.
    Weight {
        /// The given weight.
        weight: f64,
        /// Smallest valid weight.
        least: f64,
        /// Largest valid weight.
        most: f64,
    },
    /// The capacity of a link is negative, not finite, or outside the range of the precision.
    Capacity {
        /// The link.
        link: LinkId,
        /// The given capacity.
        capacity: f64,
        /// Smallest valid capacity other than zero.
        least: f64,
        /// Largest valid capacity.
        most: f64,
        /// The utility's alpha, which affects both limits.
        alpha: f64,
        /// The rate bound, which affects the largest capacity.
        rate_bound: f64,
    },
    /// The reserved capacity of a link is negative or not finite.
    Reserve {
        /// The link.
        link: LinkId,
        /// The given amount.
        amount: f64,
    },
    /// The flow does not exist or has been removed.
    UnknownFlow {
        /// The given flow.
        flow: FlowId,
    },
}

/// Formats a number, with an exponent instead of many digits.
fn shown(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-4..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, value, expected } => {
                write!(f, "setting `{name}` is {}; it must be {expected}", shown(*value))
            }
            Self::NoSingleForm => write!(
                f,
                "only NED and Gradient have a single-precision form; \
                 use one of them, or `precision: Precision::Double`"
            ),
            Self::EmptyPath => {
                write!(f, "the path of the flow has no link; give at least one link that limits it")
            }
            Self::UnknownLink { link, links } => write!(
                f,
                "there is no link {}; the network has {links} links, numbered from 0",
                link.0
            ),
            Self::UnknownNode { kind, index, count } => {
                write!(f, "there is no {kind} {index}; there are {count}, numbered from 0")
            }
            Self::RepeatedLink { link } => {
                write!(f, "link {} is in the path twice; give each link once", link.0)
            }
            Self::Weight { weight, least, most } => write!(
                f,
                "the flow's weight is {weight}; it must be a number from {least:e} to {most:e}"
            ),
            Self::Capacity { link, capacity, least, most, alpha, rate_bound } => write!(
                f,
                "capacity of link {} is {capacity}; it must be 0 (a failed link) or a number from \
                 {least:e} to {most:e} (with `alpha` {alpha} and `rate_bound` {rate_bound:e}); if \
                 necessary, use another unit for all capacities",
                link.0
            ),
            Self::Reserve { link, amount } => write!(
                f,
                "the capacity reserved on link {} is {amount}; it must be a number of at least 0",
                link.0
            ),
            Self::UnknownFlow { flow } => {
                write!(
                    f,
                    "{flow} is not in this allocator; it was removed, or belongs to another one"
                )
            }
        }
    }
}

impl std::error::Error for Error {}
