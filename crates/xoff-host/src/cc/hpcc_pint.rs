//! HPCC with PINT (Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry", SIGCOMM
//! 2020): the rate follows the utilisation of the most loaded link, which switches compute. A
//! packet carries it in one or two bytes, rounded at random ([`xoff_net::pint`]).
//!
//! The form is that of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control,
//! `HandleAckHpPint` and `UpdateRateHpPint` of its `rdma-hw.cc`).

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, Bytes, Ps, knobs};
use xoff_net::Record;
use xoff_net::arch::InBand;
use xoff_net::pint::{Code, Meter, WholeDraws};

use super::hpcc::Reaction;
use super::{Ack, Carries, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// HPCC with PINT. Defaults: those of section `hpcc`, and for PINT the HPCC simulator's
    /// (`scratch/third.cc`).
    pub struct HpccPintConfig in "hpcc_pint" {
        /// Target utilisation eta.
        target_utilisation: f64 = 0.95,
        /// Number of additive increases before the next multiplicative one (maxStage).
        max_stage: u32 = 5,
        /// Additive increase of the rate (10 Mb/s x 100 G / 25 G).
        additive_increase: BitRate = BitRate(40_000_000),
        /// Minimum rate (the simulator's run.py: 1 Gb/s).
        min_rate: BitRate = BitRate::from_gbps(1),
        /// Utilisations are rounded to powers of this base (the simulator's PINT_LOG_BASE).
        log_base: f64 = 1.05,
        /// Share of the acknowledgements to which senders react, chosen at random (the simulator's
        /// PINT_PROB).
        sampled: f64 = 1.0,
        /// Size of the header in every data packet. The simulator's has two bytes for any base.
        header: Bytes = Bytes(2),
        /// Time over which switches average (T). 0: the base RTT of the longest path.
        interval: Ps = Ps(0),
    }
}

const PRESET: &str = r#"# HPCC with PINT over PFC: a path's utilisation in one byte (SIGCOMM 2020)
[switch]
scheduler = "fifo"
hop = "pfc"
ecn = false
[transport]
congestion = "hpcc-pint"
window = "bdp"
window_follows_rate = true
"#;

impl ControlSettings for HpccPintConfig {
    fn check(&self) -> Checked {
        if self.log_base <= 1.0 || !(1.0..=16.0).contains(&Code::bits(self.log_base)) {
            let message = "log_base must be 1.00020 or more, below 262144: codes have 1 to 16 bits";
            return Err(("log_base", message.into()));
        }
        // Acknowledgements are chosen by whole numbers of 16 bits.
        if !(1.0 / 65_536.0..=1.0).contains(&self.sampled) {
            let message = "sampled must be at least 0.0000153 (1/65536) and at most 1";
            return Err(("sampled", message.into()));
        }
        checks::positive_share("target_utilisation", self.target_utilisation)?;
        checks::header("header", self.header)
    }

    fn preset(&self) -> Option<&'static str> {
        Some(PRESET)
    }

    fn sets_rate(&self) -> bool {
        true
    }

    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        Some((Self::SECTION, self.min_rate))
    }

    fn derives_from_base_rtt(&self) -> bool {
        self.interval.0 == 0
    }

    fn derive(&mut self, base_rtt: Ps) -> Vec<(&'static str, Ps)> {
        if self.interval.0 == 0 {
            self.interval = base_rtt;
        }
        vec![("hpcc_pint_interval", self.interval)]
    }

    fn carries(&self) -> Carries {
        Carries::Pint
    }

    fn header_bytes(&self) -> Option<u64> {
        Some(self.header.0)
    }

    fn in_band(&self, rates: &[u64], draws: WholeDraws) -> InBand {
        let code = Code::new(self.log_base);
        InBand::Pint(Box::new(Meter::new(code, self.interval.0 / 1_000, rates, draws)))
    }

    fn sampled(&self) -> Option<f64> {
        Some(self.sampled)
    }
}

impl Start for HpccPintConfig {
    type Control = HpccPint;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (HpccPint, Pace) {
        (HpccPint::new(self, path), path.pace(path.line_rate))
    }
}

/// The state of one flow.
#[derive(Clone, Debug)]
pub struct HpccPint {
    /// The reference rate, updated once per window.
    reference_rate: u64,
    stage: u32,
    /// Acknowledgements up to this byte belong to the present reference rate.
    update_until: u64,
    /// True if the last acknowledgement set the rate.
    measured: bool,
    code: Code,
    reaction: Reaction,
}

impl HpccPint {
    /// A new flow's state.
    #[must_use]
    pub fn new(config: &HpccPintConfig, path: &Path) -> Self {
        Self {
            reference_rate: path.line_rate,
            stage: 0,
            update_until: 0,
            measured: false,
            code: Code::new(config.log_base),
            reaction: Reaction {
                eta: config.target_utilisation,
                max_stage: config.max_stage,
                increase: config.additive_increase.0,
                min_rate: config.min_rate.0,
            },
        }
    }
}

impl CongestionControl for HpccPint {
    /// Every sampled acknowledgement sets the rate, but only one per round trip sets the reference.
    /// Others come without their record.
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.measured = false;
        let Some(&Record::Pint(code)) = ack.record else { return };
        if self.update_until == 0 {
            self.update_until = ack.snd_nxt;
            return;
        }
        self.measured = true;
        let utilisation = self.code.decode(code);
        let (rate, stage) = self.reaction.react(path, utilisation, self.reference_rate, self.stage);
        *pace = path.pace(rate);
        if ack.seq > self.update_until {
            self.reference_rate = rate;
            self.stage = stage;
            self.update_until = self.update_until.max(ack.snd_nxt);
        }
    }

    fn rebases_pacing(&self) -> bool {
        self.measured
    }
}

/// Chooses the acknowledgements to which senders react.
#[derive(Debug)]
pub(crate) struct Sampling {
    /// Numbers of 16 bits below this choose.
    below: u32,
    draws: WholeDraws,
}

impl Sampling {
    /// A share of the acknowledgements.
    pub(crate) fn new(share: f64, draws: WholeDraws) -> Self {
        Self { below: (65_536.0 * share) as u32, draws }
    }

    /// Whether the next acknowledgement counts.
    pub(crate) fn chooses_next(&mut self) -> bool {
        self.draws.below_65536() < self.below
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::Rng;
    use xoff_core::rng::Purpose;

    use super::super::PATH;
    use super::*;

    /// Near a utilisation of 1.5.
    const CODE: u16 = 136;

    fn react(control: &mut HpccPint, seq: u64, record: Option<&Record>) -> u64 {
        let ack = Ack { seq, snd_nxt: seq + 100_000, record, ..Ack::default() };
        let mut pace = PATH.pace(PATH.line_rate);
        control.on_ack(&PATH, &ack, &mut pace);
        pace.rate
    }

    /// The rate that a reference rate becomes, and whether each acknowledgement sets one. Only that
    /// of a byte sent after the last reference sets the next.
    #[test]
    fn every_code_sets_the_rate_and_one_a_round_the_reference() {
        let mut control = HpccPint::new(&HpccPintConfig::default(), &PATH);
        let load = control.code.decode(CODE) / 0.95;
        assert!((load * 0.95 - 1.5).abs() < 0.05, "{load}");
        let after = |reference: u64| (reference as f64 / load) as u64 + 40_000_000;
        let (line, first) = (PATH.line_rate, after(PATH.line_rate));
        for (seq, has_record, rate, reference) in [
            (1_000, true, line, line),
            (2_000, true, first, line),
            (101_000, true, first, line),
            (101_001, false, line, line),
            (101_001, true, first, first),
            (201_001, true, after(first), first),
            (201_002, true, after(first), after(first)),
        ] {
            let record = has_record.then_some(&Record::Pint(CODE));
            assert_eq!(react(&mut control, seq, record), rate, "{seq}");
            assert_eq!(control.reference_rate, reference, "{seq}");
            assert_eq!(control.rebases_pacing(), has_record && seq > 1_000);
        }
    }

    #[test]
    fn a_share_of_the_acknowledgements_is_chosen() {
        let count = |share| {
            let draws = WholeDraws::Own(Rng::stream(1, Purpose::Transport, 0));
            let mut sampling = Sampling::new(share, draws);
            (0..10_000).filter(|_| sampling.chooses_next()).count()
        };
        assert_eq!(count(1.0), 10_000);
        assert!((2_300..2_700).contains(&count(0.25)), "{}", count(0.25));
    }

    /// Switches average over the control's interval, and all share its code.
    #[test]
    fn switches_know_the_interval_and_the_code() {
        let config = HpccPintConfig { interval: Ps::from_us(9), ..HpccPintConfig::default() };
        let draws = || WholeDraws::Own(Rng::stream(1, Purpose::Transport, 0));
        let rates = [PATH.line_rate, PATH.line_rate / 4];
        let expected = Meter::new(Code::new(config.log_base), 9_000, &rates, draws());
        let InBand::Pint(found) = config.in_band(&rates, draws()) else { panic!("another report") };
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let check = |change: fn(&mut HpccPintConfig)| {
            let mut config = HpccPintConfig::default();
            change(&mut config);
            config.check().map_err(|(key, _)| key)
        };
        assert_eq!(check(|pint| pint.log_base = 1.00020), Ok(()));
        assert_eq!(check(|pint| pint.log_base = 500.0), Ok(()));
        assert_eq!(check(|pint| pint.log_base = 1.0), Err("log_base"));
        assert_eq!(check(|pint| pint.log_base = 1.00019), Err("log_base"));
        assert_eq!(check(|pint| pint.log_base = 262_144.0), Err("log_base"));
        assert_eq!(check(|pint| pint.sampled = 0.0), Err("sampled"));
        assert_eq!(check(|pint| pint.sampled = 1.5e-5), Err("sampled"));
        assert_eq!(check(|pint| pint.sampled = 1.6e-5), Ok(()));
        assert_eq!(check(|pint| pint.sampled = 1.01), Err("sampled"));
        assert_eq!(check(|pint| pint.target_utilisation = 0.0), Err("target_utilisation"));
        assert_eq!(check(|pint| pint.header = Bytes(4097)), Err("header"));
    }
}
