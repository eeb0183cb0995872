//! Received throughput: the payload that arrives at each host in each interval of the measurement.

use xoff_core::{HostId, Ps};

use crate::measure::Distribution;

/// Length of an interval; rounded up to a multiple of the grid.
const INTERVAL: Ps = Ps::from_us(100);

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Throughput of hosts that have received data, in the intervals so far.
#[derive(Clone, Debug)]
pub struct Throughput {
    interval: Ps,
    /// End of the current interval; `None` before the first one begins.
    end: Option<Ps>,
    /// Payload bytes that each host had received at the start of the current interval.
    before: Vec<u64>,
    /// Intervals that each host has waited for its first byte; they count once it has arrived.
    idle: Vec<u64>,
    distribution: Distribution,
}

impl Throughput {
    /// Creates it without data.
    #[must_use]
    pub fn new(grid: Ps, hosts: u32) -> Self {
        Self {
            interval: Ps(INTERVAL.0.div_ceil(grid.0) * grid.0),
            end: None,
            before: vec![0; hosts as usize],
            idle: vec![0; hosts as usize],
            distribution: Distribution::default(),
        }
    }

    /// Begins the first interval; `received` are the payload bytes of each host so far.
    pub fn begin(&mut self, now: Ps, received: impl Iterator<Item = (HostId, u64)>) {
        self.end = Some(now + self.interval);
        received.for_each(|(host, bytes)| self.before[host.index()] = bytes);
    }

    /// True if an interval ends now.
    #[must_use]
    pub fn is_due(&self, now: Ps) -> bool {
        self.end == Some(now)
    }

    /// Ends an interval and begins the next.
    pub fn next(&mut self, now: Ps, received: impl Iterator<Item = (HostId, u64)>) {
        self.end = Some(now + self.interval);
        received.for_each(|(host, bytes)| self.add(host, bytes));
    }

    fn add(&mut self, host: HostId, bytes: u64) {
        let got = bytes - std::mem::replace(&mut self.before[host.index()], bytes);
        if bytes == 0 {
            self.idle[host.index()] += 1;
            return;
        }
        self.distribution.add_many(0, std::mem::take(&mut self.idle[host.index()]));
        let bits_per_second = u128::from(got) * 8 * PS_PER_SECOND / u128::from(self.interval.0);
        self.distribution.add(bits_per_second as u64);
    }

    /// Length of an interval.
    #[must_use]
    pub fn interval(&self) -> Ps {
        self.interval
    }

    /// Bits per second, one sample per host and interval.
    #[must_use]
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_intervals_count_once_it_has_received_something() {
        let mut throughput = Throughput::new(Ps::from_us(10), 3);
        let hosts = |bytes: [u64; 3]| (0..).map(HostId).zip(bytes);
        // Host 0 received data earlier, host 1 never will.
        throughput.begin(Ps::from_us(500), hosts([7, 0, 0]));
        assert!(!throughput.is_due(Ps::from_us(590)) && throughput.is_due(Ps::from_us(600)));
        throughput.next(Ps::from_us(600), hosts([7, 0, 0]));
        assert_eq!(throughput.distribution().cdf(), [(0, 1.0)]);
        throughput.next(Ps::from_us(700), hosts([7, 0, 1_250_000]));
        assert!(throughput.is_due(Ps::from_us(800)));
        // Two idle intervals each, and one of 1.25 MB in 100 us: 100 Gb/s.
        let distribution = throughput.distribution();
        assert_eq!((distribution.count(), distribution.quantile(0.75)), (4, Some(0)));
        assert!((distribution.mean() / 25e9 - 1.0).abs() < 1e-3, "{}", distribution.mean());
    }

    #[test]
    fn an_interval_is_a_multiple_of_the_grid() {
        assert_eq!(Throughput::new(Ps::from_us(30), 1).interval(), Ps::from_us(120));
        assert_eq!(Throughput::new(Ps::from_us(1_000), 1).interval(), Ps::from_us(1_000));
    }
}
