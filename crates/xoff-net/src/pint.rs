//! PINT (Ben Basat et al., SIGCOMM 2020) for HPCC: a switch keeps the utilisation of each port, and
//! a packet carries the largest one of its path, rounded at random to a power of a base ("PINT:
//! Probabilistic In-band Network Telemetry", its use for congestion control).
//!
//! The arithmetic is that of the HPCC simulator (`SwitchNode::SwitchNotifyDequeue`,
//! `SwitchNode::log2apprx` and `Pint` of alibaba-edu/High-Precision-Congestion-Control): products
//! are sums of logarithms of numbers with 16 significant bits, for switches that cannot multiply.

use std::sync::{Arc, Mutex, PoisonError};

use xoff_core::{GlibcRand, Rng, math};

use crate::Kind;
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::record::Record;

/// Utilisations are encoded in units of this share (`max_concurrent`).
const UNITS: f64 = 512.0;
/// Random numbers below this decide.
const RANGE: f64 = 65_536.0;
/// Significant bits of a number whose logarithm is taken (`m` of `log2apprx`).
const SIGNIFICANT_BITS: i32 = 16;
/// Steps of a binary order of magnitude (`1 << logres_shift(20, 20)`).
const STEPS: f64 = 32_768.0;
const NS_PER_S: f64 = 1e9;
/// The resolution of the stored utilisation in its logarithm.
const STORED_UNITS: f64 = 8_192.0;

/// Where whole random numbers come from.
#[derive(Clone, Debug)]
pub enum WholeDraws {
    /// A stream of its own.
    Own(Rng),
    /// One sequence for all switches and hosts, in the order of their draws. Only for a network in
    /// one partition.
    Shared(Arc<Mutex<GlibcRand>>),
}

impl WholeDraws {
    /// A number of 16 bits, and more above them.
    pub fn draw(&mut self) -> u32 {
        match self {
            Self::Own(rng) => (rng.u64() >> 33) as u32,
            Self::Shared(random) => random.lock().unwrap_or_else(PoisonError::into_inner).draw(),
        }
    }

    /// A number below 65 536.
    pub fn below_65536(&mut self) -> u32 {
        self.draw() % 65_536
    }
}

/// The code of a utilisation: a power of a base.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    base: f64,
    /// 1 / ln(base).
    factor: f64,
    /// The codes that fit into the header's bytes.
    mask: u16,
}

impl Code {
    /// Powers of this base, above 1.
    #[must_use]
    pub fn new(base: f64) -> Self {
        let factor = 1.0 / math::ln(base);
        let mask = if Self::bits_at(factor) > 8.0 { u16::MAX } else { 0xff };
        Self { base, factor, mask }
    }

    /// Bits that the largest code takes (`Pint::get_n_bits`).
    #[must_use]
    pub fn bits(base: f64) -> f64 {
        Self::bits_at(1.0 / math::ln(base))
    }

    fn bits_at(factor: f64) -> f64 {
        math::log2(math::ln(UNITS * UNITS) * factor).ceil()
    }

    /// Encodes a utilisation (`Pint::encode_u`).
    fn encode(&self, utilisation: f64, draws: &mut WholeDraws) -> u16 {
        let units = (utilisation * UNITS).ceil().max(1.0);
        let power = math::ln(units) * self.factor;
        let (upper, lower) = (power.ceil(), power.floor());
        let mut above = math::pow(self.base, upper);
        let below = math::pow(self.base, lower);
        if upper <= lower {
            above *= self.base;
        }
        let share = (units - below) / (above - below) * RANGE;
        let code = if f64::from(draws.below_65536()) < share { upper } else { lower };
        code as u16
    }

    /// The utilisation of a code (`Pint::decode_u`).
    #[must_use]
    pub fn decode(&self, code: u16) -> f64 {
        math::pow(self.base, f64::from(code)) / UNITS
    }

    /// What a packet carries after a switch with this code.
    fn larger(&self, carried: u16, code: u16) -> u16 {
        if code > carried { code & self.mask } else { carried }
    }
}

/// What a switch remembers of a port.
#[derive(Clone, Copy, Debug)]
struct Port {
    /// log2 of its bytes per second, in steps.
    log_rate: f64,
    utilisation: f64,
    /// The last packet of any kind: its bytes, and when it left (ns).
    last_bytes: u32,
    last_ns: u64,
}

/// PINT of a switch.
#[derive(Debug)]
pub struct Meter {
    code: Code,
    draws: WholeDraws,
    /// T of HPCC (ns).
    interval_ns: u64,
    log_interval: f64,
    log_ns_per_s: f64,
    ports: Vec<Port>,
}

/// log2 in steps.
fn steps(value: f64) -> f64 {
    math::log2(value) * STEPS
}

/// log2 of the bytes per second at `rate` (bit/s), in steps.
fn log_rate(rate: u64) -> f64 {
    steps((rate / 8) as f64)
}

impl Meter {
    /// For ports of these rates (bit/s). `interval_ns` is HPCC's T.
    #[must_use]
    pub fn new(code: Code, interval_ns: u64, rates: &[u64], draws: WholeDraws) -> Self {
        let port = |&rate: &u64| Port {
            log_rate: log_rate(rate),
            utilisation: 0.0,
            last_bytes: 0,
            last_ns: 0,
        };
        Self {
            code,
            draws,
            interval_ns,
            log_interval: steps(interval_ns as f64),
            log_ns_per_s: steps(NS_PER_S),
            ports: rates.iter().map(port).collect(),
        }
    }

    /// Port `egress` works at `rate` (bit/s) from now on.
    pub(crate) fn set_rate(&mut self, egress: u16, rate: u64) {
        self.ports[egress as usize].log_rate = log_rate(rate);
    }

    /// Takes its random numbers from here.
    pub fn draw_from(&mut self, draws: WholeDraws) {
        self.draws = draws;
    }

    /// A packet starts to leave a port, where `queue_bytes` stay behind.
    #[inline(never)]
    pub(crate) fn on_departure(
        &mut self,
        fabric: &mut Fabric,
        egress: u16,
        id: u32,
        queue_bytes: u32,
    ) {
        let (now_ns, packet) = (fabric.now / 1_000, &fabric.packets[id]);
        let (bytes, record) = (u32::from(packet.wire_bytes), packet.record);
        if packet.kind == Kind::Data && record != NONE {
            let utilisation = self.utilisation(egress, now_ns, queue_bytes);
            let code = self.code.encode(utilisation, &mut self.draws);
            if let Record::Pint(carried) = &mut fabric.records[record] {
                *carried = self.code.larger(*carried, code);
            }
            self.ports[egress as usize].utilisation = utilisation;
        }
        let port = &mut self.ports[egress as usize];
        (port.last_bytes, port.last_ns) = (bytes, now_ns);
    }

    /// The utilisation of a port: a moving average over T. The bytes of its queue count as if they
    /// were sent within T.
    fn utilisation(&mut self, egress: u16, now_ns: u64, queue_bytes: u32) -> f64 {
        let port = self.ports[egress as usize];
        let draws = &mut self.draws;
        let since = (now_ns - port.last_ns).min(self.interval_ns);
        let (log_rate, log_interval) = (port.log_rate, self.log_interval);
        let power = |sum: f64| math::pow(2.0, sum / STEPS);
        let mut utilisation = 0.0;
        if queue_bytes >> 8 > 0 {
            // dt x qlen / (B T^2)
            let sum = log(since, draws) + log(u64::from(queue_bytes >> 8), draws);
            let sum = f64::from(sum) + self.log_ns_per_s - log_rate - 2.0 * log_interval;
            utilisation += power(sum) * 256.0;
        }
        if port.last_bytes > 0 {
            // bytes / (B T)
            let sum = f64::from(log(u64::from(port.last_bytes), draws));
            utilisation += power(sum + self.log_ns_per_s - log_rate - log_interval);
        }
        if self.interval_ns > since && port.utilisation > 0.0 {
            // (T - dt) U / T
            let rest = log(self.interval_ns - since, draws);
            let stored = (port.utilisation * STORED_UNITS).round() as u64;
            if stored > 0 {
                let sum = f64::from(rest + log(stored, draws));
                utilisation += power(sum - log_interval) / STORED_UNITS;
            }
        }
        utilisation
    }
}

/// log2 of a number in steps, from its 16 leading bits. The bits below round it at random
/// (`log2apprx`).
fn log(value: u64, draws: &mut WholeDraws) -> i32 {
    let mut value = value as i32;
    let excess = 32 - value.leading_zeros() as i32 - SIGNIFICANT_BITS;
    if excess > 0 {
        let mask = (1 << excess) - 1;
        let rounds_up = value & mask > draws.draw() as i32 & mask;
        value = (value >> excess << excess) + (i32::from(rounds_up) << excess);
    }
    (math::log2(f64::from(value)) * STEPS) as i32
}

#[cfg(test)]
mod tests {
    use xoff_core::rng::Purpose;

    use super::*;

    fn own() -> WholeDraws {
        WholeDraws::Own(Rng::stream(1, Purpose::Telemetry, 0))
    }

    #[test]
    fn codes_are_right_on_average() {
        let (code, mut draws) = (Code::new(1.05), own());
        for utilisation in [0.0, 0.3, 0.95, 1.7, 20.0] {
            let count = 20_000;
            let sum: f64 =
                (0..count).map(|_| code.decode(code.encode(utilisation, &mut draws))).sum();
            let (mean, exact) = (sum / f64::from(count), utilisation.max(1.0 / UNITS));
            assert!((mean / exact - 1.0).abs() < 0.01, "{utilisation} {mean}");
        }
    }

    #[test]
    fn a_header_has_one_byte_for_a_base_of_1_05_and_two_below() {
        assert_eq!([1.05, 1.01, 1.0002].map(Code::bits), [8.0, 11.0, 16.0]);
        assert_eq!(Code::new(1.05).larger(3, 300), 300 & 0xff);
        assert_eq!(Code::new(1.01).larger(3, 300), 300);
        assert_eq!(Code::new(1.01).larger(3, 2), 3);
    }

    #[test]
    fn logarithms_keep_16_bits() {
        let mut draws = own();
        assert_eq!(log(1 << 10, &mut draws), 10 * 32_768);
        assert_eq!(log(3, &mut draws), (3f64.log2() * 32_768.0) as i32);
        let (low, high) = (log(1 << 19, &mut draws), log((1 << 19) + 16, &mut draws));
        let mean = (0..4_000).map(|_| f64::from(log((1 << 19) + 4, &mut draws))).sum::<f64>();
        let share = (mean / 4_000.0 - f64::from(low)) / f64::from(high - low);
        assert!((share - 0.25).abs() < 0.05, "{share}");
    }

    fn meter() -> Meter {
        Meter::new(Code::new(1.05), 8_000, &[100_000_000_000], own())
    }

    /// The utilisation after 2000 packets of 1000 B, one every `gap` ns.
    fn after_packets(meter: &mut Meter, gap: u64) -> f64 {
        for packet in 1..2_000 {
            let utilisation = meter.utilisation(0, packet * gap, 0);
            meter.ports[0].utilisation = utilisation;
            (meter.ports[0].last_bytes, meter.ports[0].last_ns) = (1_000, packet * gap);
        }
        meter.ports[0].utilisation
    }

    #[test]
    fn a_port_at_half_its_rate_is_full_with_half_the_packets() {
        let mut meter = meter();
        meter.set_rate(0, 50_000_000_000);
        let full = after_packets(&mut meter, 160);
        assert!((full - 1.0).abs() < 0.03, "{full}");
    }

    #[test]
    fn a_port_that_sends_without_a_pause_is_full() {
        let mut meter = meter();
        let full = after_packets(&mut meter, 80);
        assert!((full - 1.0).abs() < 0.02, "{full}");
        // Half a bandwidth-delay product of queue counts as half of T.
        for packet in 2_000..6_000 {
            meter.ports[0].utilisation = meter.utilisation(0, packet * 80, 50_000);
            meter.ports[0].last_ns = packet * 80;
        }
        assert!((meter.ports[0].utilisation - full - 0.5).abs() < 0.02);
    }
}
