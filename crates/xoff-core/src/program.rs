//! Applications whose hosts send when something has arrived: the interface between the traffic,
//! which has the programs, and the hosts, which run them.
//!
//! A job is an application on some hosts. Each of them runs a [`Program`], which sees what happens
//! at its own host only. So a host needs no message from another partition to go on, and results
//! do not depend on the partitioning. A program makes its messages when it needs them: a job needs
//! memory for messages under way, not for all of its messages.

use std::fmt::Debug;

use crate::{HostId, Ps};

/// An event at the host of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The job begins.
    Begin,
    /// All bytes of this message have arrived, perhaps not for the first time.
    Arrived(u64),
    /// All bytes of this message of the host have left it, perhaps not for the first time.
    Left(u64),
    /// All bytes of this message of the host are acknowledged. `Left` may not have come before.
    Sent(u64),
    /// A computation with this key is over.
    Computed(u64),
}

/// What a program does at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends a message.
    Send {
        /// Its number among those of the job, used once.
        message: u64,
        /// Its receiver, another host.
        to: HostId,
        /// Its payload, at least 1.
        bytes: u64,
    },
    /// Computes for some time.
    Compute {
        /// The key of its end.
        key: u64,
        /// The time that it takes.
        time: Ps,
    },
    /// The host has finished a round of the job. A host finishes the rounds in order, from 0.
    Finish {
        /// The round.
        round: u32,
    },
}

/// The most messages of all jobs of a run. They have the upper half of the flow numbers of packets,
/// which have 32 bits.
pub const MESSAGES_MAX: u64 = 1 << 31;

/// What one host of a job does.
pub trait Program: Debug + Send {
    /// Appends what the host does at an event.
    fn react(&mut self, event: Event, acts: &mut Vec<Act>);
}

/// A job: an application on some hosts.
pub trait Job: Debug + Send + Sync {
    /// When it begins.
    fn start(&self) -> Ps;
    /// Its hosts. The place of a host among them is its rank.
    fn hosts(&self) -> &[HostId];
    /// The number of all messages.
    fn messages(&self) -> u64;
    /// The priority of its packets.
    fn priority(&self) -> u8;
    /// How often it does the same.
    fn rounds(&self) -> u32;
    /// The round and the step of a message.
    fn step(&self, message: u64) -> (u32, u32);
    /// The number of messages in a step of a round.
    fn messages_of_step(&self, step: u32) -> u64;
    /// Bytes of a round by which its users measure it, and the factor by which these are multiplied
    /// for the bus bandwidth; `None`: its users measure its time.
    fn measure(&self) -> Option<(u64, f64)>;
    /// Calls `see` with the sender and the receiver of every message, perhaps more than once.
    fn each_pair(&self, see: &mut dyn FnMut(HostId, HostId));
    /// The program of a rank.
    fn program(&self, rank: u32) -> Box<dyn Program>;
}
