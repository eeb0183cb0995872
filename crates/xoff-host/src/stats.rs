//! Counters of hosts.

/// Counters over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStats {
    /// Flows begun.
    pub started: u64,
    /// Flows ended.
    pub finished: u64,
    /// Data packets of the finished flows.
    pub finished_packets: u64,
    /// Data packets sent again, including those of control connections.
    pub retransmitted: u64,
    /// Acknowledgements sent again, as a switch reported them lost.
    pub repeated_acks: u64,
    /// Frames of NICs that paused classes of their switch.
    pub pauses: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Acknowledgements of new data.
    pub acknowledged: u64,
    /// Signals from switches to senders.
    pub signals: SignalStats,
}

/// Delay of switches' signals: from the start of the packet that caused one to the signal's arrival
/// at its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalStats {
    /// Number of signals.
    pub count: u64,
    /// Sum of the delays (ps).
    pub sum_ps: u64,
    /// Largest delay (ps).
    pub max_ps: u64,
}

impl SignalStats {
    pub(crate) fn add(&mut self, delay_ps: u64) {
        self.count += 1;
        self.sum_ps += delay_ps;
        self.max_ps = self.max_ps.max(delay_ps);
    }

    /// Adds the signals of other hosts.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.max_ps = self.max_ps.max(other.max_ps);
    }
}
