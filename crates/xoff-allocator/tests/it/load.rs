//! The load that measures the daemon.

use std::time::Duration;

use xoff_allocator::load::{Load, measure};

#[test]
fn a_load_has_its_events_and_its_rates() {
    let load = Load {
        endpoints: 20,
        flowlets: 60,
        events_per_second: 1000,
        iteration: 1_000_000,
        polls: false,
        time: Duration::from_millis(500),
    };
    let measured = measure(&load).unwrap();
    assert!((300.0..1700.0).contains(&measured.events_per_second), "{measured:?}");
    assert!(measured.rated > 50 && measured.latency_p50_us > 1.0, "{measured:?}");
    assert!(measured.cpu_share > 0.0 && measured.latency_p999_us >= measured.latency_p50_us);
    assert!(measure(&Load { endpoints: 1, ..load }).is_err());
}
