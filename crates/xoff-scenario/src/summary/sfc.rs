//! Source Flow Control: signals of switches and their arrival at senders.

use xoff_host::hosts::SignalStats;
use xoff_net::hop::SfcStats;

use super::keys::keys;
use super::share;

/// Counters over all switches; peaks are maxima over switches.
#[derive(Clone, Copy, Default)]
pub(super) struct SfcCounts {
    stats: SfcStats,
    filter_peak: usize,
    false_positives: u64,
    cache_peak: usize,
    cache_collisions: u64,
}

impl SfcCounts {
    pub(super) fn add(&mut self, switch: &xoff_net::hop::Sfc) {
        self.stats.add(&switch.stats);
        self.filter_peak = self.filter_peak.max(switch.filter_peak());
        self.false_positives += switch.false_positives();
        self.cache_peak = self.cache_peak.max(switch.cache_peak());
        self.cache_collisions += switch.cache_collisions();
    }
}

keys! {
    /// Source Flow Control, over all switches and the whole run.
    pub struct Sfc {
        /// Data packets that triggered a signal.
        bts_triggered: u64,
        /// Triggers without a signal, which the filter suppressed.
        bts_suppressed: u64,
        /// `bts_suppressed` over `bts_triggered`.
        bts_suppressed_share: f64,
        /// Signals sent.
        bts_sent: u64,
        /// Signals triggered by the cache or the estimator, not by the switch's own queue.
        bts_from_cache: u64,
        /// `bts_from_cache` over `bts_sent`.
        bts_from_cache_share: f64,
        /// Bytes of the signals on the wire.
        bts_bytes: u64,
        /// Signals converted to PFC frames (SFC-P).
        bts_to_pfc: u64,
        /// Flows in the filter in one period, maximum over switches.
        filter_peak: usize,
        /// Signals suppressed for flows that the filter did not hold.
        false_positives: u64,
        /// Receivers in the cache, maximum over switches.
        cache_peak: usize,
        /// Signals without room in the cache.
        cache_collisions: u64,
        /// Signals that arrived at hosts.
        signals_heard: u64,
        /// Mean time from the start of the packet that triggered a signal to the signal's arrival
        /// at the packet's sender.
        signal_delay_mean_ps: f64,
        /// Maximum of this time.
        signal_delay_max_ps: u64,
    }
}

impl Sfc {
    pub(super) fn of(counts: &SfcCounts, signals: &SignalStats) -> Self {
        let stats = &counts.stats;
        Self {
            bts_triggered: stats.triggered,
            bts_suppressed: stats.suppressed,
            bts_suppressed_share: share(stats.suppressed, stats.triggered),
            bts_sent: stats.sent,
            bts_from_cache: stats.sent_near_source,
            bts_from_cache_share: share(stats.sent_near_source, stats.sent),
            bts_bytes: stats.sent_bytes,
            bts_to_pfc: stats.converted,
            filter_peak: counts.filter_peak,
            false_positives: counts.false_positives,
            cache_peak: counts.cache_peak,
            cache_collisions: counts.cache_collisions,
            signals_heard: signals.count,
            signal_delay_mean_ps: share(signals.sum_ps, signals.count),
            signal_delay_max_ps: signals.max_ps,
        }
    }
}
