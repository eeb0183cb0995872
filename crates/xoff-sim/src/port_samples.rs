//! Port samples: backlog at the end of each interval of the measurement, and counters over it.

use xoff_core::{NodeId, Ps};

use crate::tables::PortSampleRow;

/// Totals of a port at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTotals {
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets lost at this port.
    pub drops: u64,
    /// Their bytes on the wire.
    pub drop_bytes: u64,
    /// Time with at least one queue paused by the neighbour.
    pub paused_ps: u64,
}

impl PortTotals {
    /// What was added since an earlier instant.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            tx_bytes: self.tx_bytes - before.tx_bytes,
            tx_packets: self.tx_packets - before.tx_packets,
            drops: self.drops - before.drops,
            drop_bytes: self.drop_bytes - before.drop_bytes,
            paused_ps: self.paused_ps - before.paused_ps,
        }
    }
}

/// A port at one instant.
#[derive(Clone, Copy, Debug)]
pub struct PortState {
    /// Its node.
    pub node: NodeId,
    /// Its number there.
    pub port: u16,
    /// Bytes in all its queues.
    pub queue_bytes: u64,
    /// Those of paused queues.
    pub held_bytes: u64,
    /// Totals since the run began.
    pub totals: PortTotals,
}

/// Samples all ports.
#[derive(Clone, Debug)]
pub struct PortSamples {
    interval: Ps,
    /// End of the current interval; `None` before the measurement.
    end: Option<Ps>,
    /// Totals of each port at the start of the interval.
    before: Vec<PortTotals>,
}

impl PortSamples {
    /// Creates it with this interval; `None` if the interval is 0.
    #[must_use]
    pub fn new(interval: Ps) -> Option<Self> {
        (interval > Ps(0)).then(|| Self { interval, end: None, before: Vec::new() })
    }

    /// The measurement begins, with the totals of each port in the order of the topology.
    pub fn begin(&mut self, now: Ps, totals: impl Iterator<Item = PortTotals>) {
        self.end = Some(now + self.interval);
        self.before = totals.collect();
    }

    /// True if an interval ends now.
    #[must_use]
    pub fn is_due(&self, now: Ps) -> bool {
        self.end == Some(now)
    }

    /// Ends an interval and begins the next: adds a row for each port.
    pub fn next(
        &mut self,
        now: Ps,
        ports: impl Iterator<Item = PortState>,
        rows: &mut Vec<PortSampleRow>,
    ) {
        self.end = Some(now + self.interval);
        rows.extend(self.before.iter_mut().zip(ports).map(|(before, state)| {
            let PortState { node: NodeId(node), port, queue_bytes, held_bytes, totals } = state;
            let PortTotals { tx_bytes, tx_packets, drops, drop_bytes, paused_ps } =
                totals.since(std::mem::replace(before, totals));
            let time_ps = now.0;
            PortSampleRow {
                time_ps,
                node,
                port,
                queue_bytes,
                held_bytes,
                tx_bytes,
                tx_packets,
                paused_ps,
                drops,
                drop_bytes,
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(tx_bytes: u64, drop_bytes: u64) -> PortTotals {
        let (tx_packets, drops, paused_ps) = (tx_bytes / 100, drop_bytes / 100, drop_bytes / 50);
        PortTotals { tx_bytes, tx_packets, drops, drop_bytes, paused_ps }
    }

    #[test]
    fn rows_cover_their_interval() {
        let mut samples = PortSamples::new(Ps(10)).unwrap();
        samples.begin(Ps(100), [totals(1000, 0), totals(0, 100)].into_iter());
        let mut interval = |now, found: [PortTotals; 2]| {
            let (node, port, queue_bytes, held_bytes) = (NodeId(0), 0, 5, 3);
            let state = |totals| PortState { node, port, queue_bytes, held_bytes, totals };
            let mut rows = Vec::new();
            assert!(samples.is_due(Ps(now)) && !samples.is_due(Ps(now + 1)));
            samples.next(Ps(now), found.map(state).into_iter(), &mut rows);
            assert!(rows.iter().all(|row| (row.time_ps, row.queue_bytes) == (now, 5)));
            assert!(rows.iter().all(|row| row.held_bytes == 3));
            let totals = |row: &PortSampleRow| PortTotals {
                tx_bytes: row.tx_bytes,
                tx_packets: row.tx_packets,
                drops: row.drops,
                drop_bytes: row.drop_bytes,
                paused_ps: row.paused_ps,
            };
            rows.iter().map(totals).collect::<Vec<_>>()
        };
        let found = interval(110, [totals(1500, 0), totals(0, 300)]);
        assert_eq!(found, [totals(500, 0), totals(0, 200)]);
        let found = interval(120, [totals(1500, 200), totals(100, 300)]);
        assert_eq!(found, [totals(0, 200), totals(100, 0)]);
    }
}
