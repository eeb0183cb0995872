//! What a caller can do wrong.

use std::fmt;

use crate::{FlowId, LinkId};

/// A call that was refused; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error {
    /// A setting has no sense.
    Setting {
        /// Its name in [`Config`](crate::Config), or `alpha`, which is the utility's.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// This rule has no form in single precision.
    NoSingleForm,
    /// A flow's path has no link.
    EmptyPath,
    /// There is no such link.
    UnknownLink {
        /// The link that was named.
        link: LinkId,
        /// How many links there are.
        links: usize,
    },
    /// There is no such server, rack or spine.
    UnknownNode {
        /// What it is.
        kind: &'static str,
        /// The number that was named.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// A flow's path has a link twice.
    RepeatedLink {
        /// The link.
        link: LinkId,
    },
    /// A flow's weight is not a positive number in the range of the precision.
    Weight {
        /// What it is.
        weight: f64,
        /// The smallest it may be.
        least: f64,
        /// The largest it may be.
        most: f64,
    },
    /// A link's capacity is negative, not finite, or too small or large for the precision.
    Capacity {
        /// The link.
        link: LinkId,
        /// What it is.
        capacity: f64,
        /// The smallest it may be, unless it is zero.
        least: f64,
        /// The largest it may be.
        most: f64,
        /// The utility's alpha, on which both depend.
        alpha: f64,
        /// The bound of rates, on which the largest depends.
        rate_bound: f64,
    },
    /// What is taken from a link is negative or not finite.
    Reserve {
        /// The link.
        link: LinkId,
        /// What is to be taken.
        amount: f64,
    },
    /// No such flow, or no longer.
    UnknownFlow {
        /// The flow that was named.
        flow: FlowId,
    },
}

/// A number, with an exponent where it would have many digits.
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
                "only NED and Gradient have a form in single precision; \
                 choose one of them, or `precision: Precision::Double`"
            ),
            Self::EmptyPath => {
                write!(f, "a flow's path has no link; name at least one that limits it")
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
                write!(f, "link {} is in the path twice; name each link once", link.0)
            }
            Self::Weight { weight, least, most } => write!(
                f,
                "a flow's weight is {weight}; it must be a number from {least:e} to {most:e}"
            ),
            Self::Capacity { link, capacity, least, most, alpha, rate_bound } => write!(
                f,
                "capacity of link {} is {capacity}; it must be 0 (a failed link) or a number from \
                 {least:e} to {most:e} (with `alpha` {alpha} and `rate_bound` {rate_bound:e}): give \
                 capacities in another unit if need be",
                link.0
            ),
            Self::Reserve { link, amount } => write!(
                f,
                "{amount} is to be taken from link {}; it must be a number of at least 0",
                link.0
            ),
            Self::UnknownFlow { flow } => {
                write!(f, "{flow} is not in the network; it was removed, or is another allocator's")
            }
        }
    }
}

impl std::error::Error for Error {}
