use super::*;

/// n greedy queues under threshold alpha settle at alpha B / (1 + n alpha) each (Choudhury and
/// Hahne 1998, eq. 3).
#[test]
fn greedy_queues_settle_at_the_fixed_point() {
    for (alpha, queues) in [(1.0, 1usize), (1.0, 3), (0.5, 4), (2.0, 8), (0.125, 16)] {
        let config = BufferConfig { alpha, size: Bytes(12_000_000), ..BufferConfig::default() };
        let mut buffer = Buffer::new(&config);
        let mut held = vec![0u32; queues];
        let mut grown = true;
        while grown {
            grown = false;
            for queue in &mut held {
                if buffer.admits(*queue, 1000) {
                    buffer.take(0, 1000);
                    *queue += 1000;
                    grown = true;
                }
            }
        }
        let fixed_point = alpha * 12e6 / (1.0 + queues as f64 * alpha);
        for queue in held {
            assert!((f64::from(queue) - fixed_point).abs() <= 2000.0, "{queue} {fixed_point}");
        }
    }
}

#[test]
fn a_watermark_starts_from_what_is_there() {
    let mut buffer = Buffer::new(&BufferConfig::default());
    let mut watermark = |changes: &[(u64, i32)]| {
        for &(now, bytes) in changes {
            let size = bytes.unsigned_abs() as u16;
            if bytes > 0 { buffer.take(now, size) } else { buffer.release(now, size) }
        }
        buffer.take_watermark()
    };
    assert_eq!(watermark(&[(1, 1000), (2, 500), (3, -1000)]), 1500);
    assert_eq!(watermark(&[(7, -200)]), 500);
    // Bytes that arrive and leave at one instant do not count; the occupancy before does.
    assert_eq!(watermark(&[(8, 400), (9, 1000), (9, -1000), (9, -500)]), 700);
    assert_eq!(watermark(&[]), 200);
}

#[test]
fn a_dedicated_memory_is_full_on_its_own() {
    let config =
        BufferConfig { kind: BufferKind::Dedicated, size: Bytes(3000), ..BufferConfig::default() };
    let mut buffer = Buffer::new(&config);
    buffer.take(0, 60_000);
    let admitted = [0, 2000, 2001, 3000].map(|queued| buffer.admits(queued, 1000));
    assert_eq!(admitted, [true, true, false, false]);
}

#[test]
fn unlimited_never_refuses() {
    let config = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
    let mut buffer = Buffer::new(&config);
    for _ in 0..100_000 {
        buffer.take(0, u16::MAX);
    }
    assert!(buffer.admits(u32::MAX, u16::MAX));
    assert_eq!(buffer.used(), 100_000 * u64::from(u16::MAX));
}

/// A queue as long as its threshold takes no more, and no packet takes more than is free.
#[test]
fn a_threshold_and_a_memory_are_exact() {
    let of = |alpha, used| {
        let config = BufferConfig { alpha, size: Bytes(10_000), ..BufferConfig::default() };
        let mut buffer = Buffer::new(&config);
        buffer.take(0, used);
        buffer
    };
    let half = of(1.0, 5_000);
    assert_eq!([4_999, 5_000].map(|queued| half.admits(queued, 1)), [true, false]);
    let unlimited = of(0.0, 9_000);
    assert_eq!([1_000, 1_001].map(|bytes| unlimited.admits(0, bytes)), [true, false]);
}

/// A single queue under alpha settles at alpha / (1 + alpha) of the memory.
#[test]
fn a_single_queue_has_a_limit_unless_the_memory_has_none() {
    let size = Bytes(12_000_000);
    let shared = |alpha| BufferConfig { alpha, size, ..BufferConfig::default() };
    let kind = |kind| BufferConfig { kind, ..shared(2.0) };
    for (config, limit, endless) in [
        (shared(2.0), Some(8_000_000), false),
        (shared(0.0), Some(12_000_000), false),
        (kind(BufferKind::Dedicated), Some(12_000_000), false),
        (kind(BufferKind::Unlimited), None, true),
    ] {
        assert_eq!(config.queue_limit(), limit.map(Bytes), "{config:?}");
        assert_eq!(Buffer::new(&config).is_endless(), endless, "{config:?}");
    }
}

#[test]
fn only_gateways_have_the_size_of_gateways() {
    let size = |gateway_size, gateway| {
        let config = BufferConfig { size: Bytes(1_000), gateway_size, ..BufferConfig::default() };
        config.of(gateway).size.0
    };
    let found = [false, true].map(|gateway| [0, 9_000].map(|bytes| size(Bytes(bytes), gateway)));
    assert_eq!(found, [[1_000, 1_000], [1_000, 9_000]]);
}

/// Shares are whole millionths, and a memory's share is computed in 63 bits.
#[test]
fn shares_and_sizes_that_cannot_be_counted_are_refused() {
    let check = |change: fn(&mut BufferConfig)| {
        let mut config = BufferConfig::default();
        change(&mut config);
        config.check().map_err(|(key, _)| key)
    };
    assert_eq!(check(|buffer| buffer.alpha = 0.0), Ok(()));
    assert_eq!(check(|buffer| buffer.alpha = 1e-6), Ok(()));
    assert_eq!(check(|buffer| buffer.alpha = 9e-7), Err("alpha"));
    assert_eq!(check(|buffer| buffer.size = Bytes(LARGEST)), Ok(()));
    assert_eq!(check(|buffer| buffer.size = Bytes(LARGEST + 1)), Err("size"));
    assert_eq!(check(|buffer| buffer.gateway_size = Bytes(u64::MAX)), Err("gateway_size"));
}
