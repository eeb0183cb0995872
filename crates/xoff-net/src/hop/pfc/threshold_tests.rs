//! Thresholds of a shared pool, to the byte.

use xoff_core::Bytes;

use super::*;
use crate::hop::Ask;
use crate::packet::Kind;
use crate::sched::Fifo;

/// One ingress with half of what is free in 30 KB. The 10th packet of 1000 B brings it to 10 KB of
/// the 20 KB that are left. With 9 KB, 10 500 B would be half of the rest: an offset of 1500 B
/// resumes there, and one byte more does not.
#[test]
fn an_ingress_pauses_at_its_threshold_and_resumes_at_the_offset() {
    for (offset, departures) in [(1_500, 1), (1_501, 2)] {
        let config = PfcConfig {
            threshold: 0.5,
            reserve: Bytes(0),
            headroom_factor: 0,
            resume_offset: Bytes(offset),
            ..PfcConfig::default()
        };
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let buffer = BufferConfig { size: Bytes(30_000), ..BufferConfig::default() };
        let mut pfc = Pfc::new(&config, &buffer, &[port], port.rate).unwrap();
        let mut packet = Packet::new(Kind::Data, 1000);
        let mut join = || pfc.on_enqueue(0, 0, &mut packet, &Fifo::default());
        let pause = (1..20).find_map(|number| join().map(|signal| (number, signal.ask)));
        assert_eq!(pause, Some((10, Ask::Pause)));
        let mut leave = || pfc.on_dequeue(0, 0, &mut packet);
        let resume = (1..10).find_map(|number| leave().map(|signal| (number, signal.ask)));
        assert_eq!(resume, Some((departures, Ask::Resume)), "{offset}");
    }
}

/// "Double the threshold for each doubling of a port's rate over the hosts' rate", up to all that
/// is free, unless it is more than that by itself.
#[test]
fn a_threshold_doubles_with_the_rate_of_its_port() {
    let gbps = 1_000_000_000;
    for (follows, threshold, rate, ppm) in [
        (true, 0.125, 400, 500_000),
        (true, 0.125, 100, 125_000),
        (true, 0.125, 50, 125_000),
        (true, 0.3, 1_600, 1_000_000),
        (true, 8.0, 400, 8_000_000),
        (false, 0.125, 400, 125_000),
    ] {
        let config = PfcConfig { threshold_follows_rate: follows, ..PfcConfig::default() };
        let found = config.threshold_ppm(threshold, rate * gbps, 100 * gbps);
        assert_eq!(found, ppm, "{threshold} at {rate} Gb/s");
    }
}
