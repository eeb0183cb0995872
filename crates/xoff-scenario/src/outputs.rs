//! Output files in the forms of another simulator, for its cases.

use std::collections::BTreeMap;

use xoff_core::{HostId, Ps};
use xoff_sim::partition::queue_lengths::QueueLengthPlan;

/// The output files of a case of the HPCC simulator.
#[derive(Debug)]
pub struct Outputs {
    /// The name of the file of flows, `FCT_OUTPUT_FILE`.
    pub fct: String,
    /// The name of the file of pauses, `PFC_OUTPUT_FILE`.
    pub pfc: String,
    /// The name of the file of queue lengths, `QLEN_MON_FILE`, and when they are sampled. Without a
    /// name there are none.
    pub queue_lengths: Option<(String, QueueLengthPlan)>,
    /// When the simulator stops: nothing of this time or later is in the files.
    pub stop: Ps,
    /// Payload of a full packet (bytes).
    pub payload: u64,
    /// What the file of flows says about each pair of hosts.
    pub pairs: BTreeMap<(HostId, HostId), Pair>,
    /// When the rates after a failure begin to count.
    pub failure: Ps,
}

/// Two hosts, for the time that a flow would take alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Base RTT (ns).
    pub base_rtt_ns: u64,
    /// The rate of the slowest link (bit/s).
    pub rate: u64,
    /// The same after a link has failed.
    pub rate_after_failure: u64,
}
