//! Counts of a switch of any architecture.

/// Counts of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchStats {
    /// Packets lost, mostly for lack of room: data and headers of data, and acknowledgements that
    /// queue with data.
    pub drops: u64,
    /// Packets of the control queue, except headers, that were lost for lack of room.
    pub control_drops: u64,
    /// Data packets trimmed.
    pub trimmed: u64,
    /// Headers sent back to their senders.
    pub returned: u64,
    /// Data packets marked.
    pub marks: u64,
    /// Pause frames sent.
    pub pauses: u64,
    /// Link-control frames lost by impairment, or that waited when their link went down.
    pub control_lost: u64,
}
