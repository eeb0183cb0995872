//! Port samples: backlog at the end of each interval of the measurement, and counters over it.

use xoff_core::Ps;

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
}

/// A port in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSampleRow {
    /// When the interval ends.
    pub time_ps: u64,
    /// The node the port belongs to.
    pub node: u32,
    /// Its number there.
    pub port: u16,
    /// Bytes that wait in all its queues at that instant; at a host, without the data of its flows,
    /// which are made into packets when they are sent.
    pub queue_bytes: u64,
    /// What it sent and lost in the interval.
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

    /// Ends an interval and begins the next: converts the totals in `rows` from the run to this
    /// interval.
    pub fn next(&mut self, now: Ps, rows: &mut [PortSampleRow]) {
        self.end = Some(now + self.interval);
        for (before, row) in self.before.iter_mut().zip(rows) {
            let PortTotals { tx_bytes, tx_packets, drops, drop_bytes } = row.totals;
            row.totals = PortTotals {
                tx_bytes: tx_bytes - before.tx_bytes,
                tx_packets: tx_packets - before.tx_packets,
                drops: drops - before.drops,
                drop_bytes: drop_bytes - before.drop_bytes,
            };
            *before = PortTotals { tx_bytes, tx_packets, drops, drop_bytes };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(tx_bytes: u64, drop_bytes: u64) -> PortTotals {
        PortTotals { tx_bytes, tx_packets: tx_bytes / 100, drops: drop_bytes / 100, drop_bytes }
    }

    #[test]
    fn rows_cover_their_interval() {
        let mut samples = PortSamples::new(Ps(10)).unwrap();
        samples.begin(Ps(100), [totals(1000, 0), totals(0, 100)].into_iter());
        let mut interval = |now, found: [PortTotals; 2]| {
            let row =
                |totals| PortSampleRow { time_ps: now, node: 0, port: 0, queue_bytes: 5, totals };
            let mut rows = found.map(row);
            assert!(samples.is_due(Ps(now)) && !samples.is_due(Ps(now + 1)));
            samples.next(Ps(now), &mut rows);
            rows.map(|row| row.totals)
        };
        let found = interval(110, [totals(1500, 0), totals(0, 300)]);
        assert_eq!(found, [totals(500, 0), totals(0, 200)]);
        let found = interval(120, [totals(1500, 200), totals(100, 300)]);
        assert_eq!(found, [totals(0, 200), totals(100, 0)]);
    }
}
