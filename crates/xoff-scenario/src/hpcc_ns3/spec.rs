//! From a `config.txt` to the spec of a scenario.

use std::collections::BTreeSet;

use xoff_core::seam::Seam as _;
use xoff_core::{BitRate, Bytes, Ps};
use xoff_host::cc::{
    ControlConfig, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, TimelyConfig,
};
use xoff_host::hosts::GivenPath;
use xoff_host::recovery::{GoBackNConfig, RecoveryConfig};
use xoff_host::transport::{FrameConfig, RoundRobin, TransportConfig, Window};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::hop::{HopConfig, PfcConfig};
use xoff_net::mark::{EcnConfig, MarkAt};
use xoff_sim::setup::EcnSetup;

use super::config::{Config, Control};
use crate::resolve::Spec;
use crate::sections::RunConfig;

/// The sections of a scenario equal to this case.
/// `whole`: base RTT and window of the whole network.
pub(super) fn spec(config: &Config, run: RunConfig, whole: &GivenPath) -> Spec {
    let control = control(config, whole);
    Spec {
        run,
        frame: FrameConfig { payload: Bytes(config.payload), ..FrameConfig::default() },
        transport: TransportConfig {
            congestion: control.kind(),
            window: if whole.window == u64::MAX { Window::Unlimited } else { Window::Fixed },
            window_size: Bytes(whole.window),
            rate_bound: config.rate_bound,
            window_follows_rate: config.window_follows_rate,
            round_robin: RoundRobin::Index,
            ..TransportConfig::default()
        },
        recovery: RecoveryConfig::GoBackN(GoBackNConfig {
            ack_from: Bytes(config.ack_interval),
            chunk: Bytes(config.chunk.max(1)),
            back_to_zero: config.back_to_zero,
        }),
        control,
        buffer: Some(BufferConfig {
            kind: BufferKind::Shared,
            size: config.buffer,
            alpha: 0.0,
            ..BufferConfig::default()
        }),
        hop: HopConfig::Pfc(PfcConfig {
            threshold: 0.125,
            threshold_follows_rate: true,
            frame_size: Bytes(43),
            ..PfcConfig::default()
        }),
        ..Spec::default()
    }
}

fn control(config: &Config, whole: &GivenPath) -> ControlConfig {
    match config.control {
        Control::Dcqcn => ControlConfig::Dcqcn(DcqcnConfig {
            gain: config.gain,
            alpha_interval: config.alpha_interval,
            decrease_interval: config.decrease_interval,
            increase_interval: config.increase_interval,
            fast_recovery_steps: config.fast_recovery_steps,
            additive_increase: config.rate_ai,
            hyper_increase: config.rate_hai,
            min_rate: config.min_rate,
            clamp_target: config.clamp_target,
        }),
        Control::Hpcc => ControlConfig::Hpcc(HpccConfig {
            target_utilisation: config.target_utilisation,
            max_stage: config.max_stage,
            additive_increase: config.rate_ai,
            min_rate: config.min_rate,
            int_overhead: Bytes(42),
            int_time_unit: Ps::from_ns(1),
            int_bytes_unit: Bytes(128 * config.int_multi),
            int_queue_unit: Bytes(80 * config.int_multi),
            multi_rate: config.multi_rate,
            fast_react: config.fast_react,
            sample_feedback: config.sample_feedback,
        }),
        Control::HpccPint => ControlConfig::HpccPint(HpccPintConfig {
            target_utilisation: config.target_utilisation,
            max_stage: config.max_stage,
            additive_increase: config.rate_ai,
            min_rate: config.min_rate,
            log_base: config.pint_base,
            sampled: config.pint_share,
            header: Bytes(2),
            interval: Ps(whole.base_rtt),
        }),
        // That simulator's other settings of TIMELY are its classes' defaults, as here.
        Control::Timely => ControlConfig::Timely(TimelyConfig {
            additive_increase: config.rate_ai,
            hyper_increase: config.rate_hai,
            min_rate: config.min_rate,
            ..TimelyConfig::default()
        }),
        Control::Dctcp => ControlConfig::Dctcp(DctcpConfig {
            gain: config.gain,
            additive_increase: config.dctcp_ai,
            min_rate: config.min_rate,
            ..DctcpConfig::default()
        }),
    }
}

/// Thresholds by link rate.
pub(super) fn ecn(config: &Config) -> EcnSetup {
    if !config.ecn {
        return EcnSetup::None;
    }
    let entry = |rate: BitRate| {
        let of = |map: &[(BitRate, u64)]| {
            map.iter().rfind(|entry| entry.0 == rate).map_or(0, |entry| entry.1)
        };
        let pmax = config.pmax.iter().rfind(|entry| entry.0 == rate).map_or(0.0, |entry| entry.1);
        let ecn = EcnConfig {
            kmin: Bytes(of(&config.kmin) * 1000),
            kmax: Bytes(of(&config.kmax) * 1000),
            pmax,
            at: MarkAt::Dequeue,
            ..EcnConfig::default()
        };
        (rate.0, ecn)
    };
    let rates: BTreeSet<BitRate> = config.kmax.iter().map(|entry| entry.0).collect();
    EcnSetup::ByRate(rates.into_iter().map(entry).collect())
}
