use xoff_core::{Bytes, Ps, Rng};

use super::*;

fn context(longest_delays: (Ps, Option<Ps>)) -> HopContext {
    let host_rate = BitRate::from_gbps(100);
    HopContext {
        base_rtt: Ps::from_us(8),
        bandwidth_delay_product: Bytes(100_000),
        slowest: host_rate,
        host_rate,
        queue_limit: None,
        longest_delays,
    }
}

/// A 1-hop RTT is twice the delay of the longest link and the processing.
#[test]
fn derived_settings_follow_the_longest_link() {
    let hop_processing = Ps::from_ns(500);
    let config = BfcConfig { hop_processing, ..BfcConfig::default() };
    let mut bfc = BfcSettings { config, tofino: None };
    let found = bfc.derive(&context((Ps::from_us(1), Some(Ps::from_us(5))))).unwrap();
    let expected = [
        ("bfc_1_hop_rtt_of_gateways", Ps::from_ns(10_500).to_string()),
        ("bfc_1_hop_rtt", Ps::from_ns(2_500).to_string()),
        ("bfc_pause_threshold_one_queue", Bytes(31_250).to_string()),
        ("bfc_data_queues", "31".to_owned()),
        ("bfc_table_entries_a_port", "3200".to_owned()),
    ];
    assert_eq!(found, expected);
}

/// 31 queues of 24 B at each port of a switch and each host, and 400 B of each table of a port.
#[test]
fn memory_grows_with_the_tables_of_a_port() {
    let network = NetworkSize { hosts: 16, switches: 1, racks: 1, switch_ports: 16 };
    let config = BfcConfig::default();
    for (tofino, bytes) in [(None, 30_208), (Some(TofinoConfig::default()), 49_408)] {
        let bfc = BfcSettings { config: config.clone(), tofino };
        assert_eq!(bfc.bytes(&network), bytes);
    }
}

/// A frame of 64 B takes 5120 ps at 100 Gb/s.
#[test]
fn bitmaps_must_be_rarer_than_frames_can_leave() {
    let check = |refresh_period, backpressure| {
        let config = BfcConfig { refresh_period, backpressure, ..BfcConfig::default() };
        let bfc = BfcSettings { config, tofino: None };
        bfc.check_rate(BitRate::from_gbps(100)).map_err(|(key, _)| key)
    };
    let queues = BackpressureKind::Queues;
    assert_eq!(check(Ps(5_120), queues), Err("refresh_period"));
    assert_eq!(check(Ps(5_121), queues), Ok(()));
    assert_eq!(check(Ps(5_120), BackpressureKind::None), Ok(()), "it sends none");
}

#[test]
fn samples_and_hardware_need_counters() {
    let check = |change: fn(&mut BfcConfig)| {
        let mut config = BfcConfig::default();
        change(&mut config);
        BfcSettings { config, tofino: None }.check().map_err(|(key, _)| key)
    };
    assert_eq!(check(|bfc| bfc.sampling = 0.5), Ok(()));
    assert_eq!(check(|bfc| bfc.hardware = Hardware::Tofino), Ok(()));
    let flows = |change: fn(&mut BfcConfig)| {
        let mut config = BfcConfig { backpressure: BackpressureKind::Flows, ..Default::default() };
        change(&mut config);
        BfcSettings { config, tofino: None }.check().map_err(|(key, _)| key)
    };
    assert_eq!(flows(|_| {}), Ok(()));
    assert_eq!(flows(|bfc| bfc.sampling = 0.5), Err("backpressure"));
    assert_eq!(flows(|bfc| bfc.hardware = Hardware::Tofino), Err("backpressure"));
}

/// What is left out are the counters of every packet, of one class.
#[test]
fn only_counters_can_be_left_out() {
    let can = |change: fn(&mut BfcSettings)| {
        let mut bfc = BfcSettings::default();
        change(&mut bfc);
        bfc.can_elide().is_ok()
    };
    assert!(can(|_| {}));
    assert!(!can(|bfc| bfc.config.backpressure = BackpressureKind::Flows));
    assert!(!can(|bfc| bfc.config.sampling = 0.99));
    assert!(!can(|bfc| bfc.tofino = Some(TofinoConfig::default())));
    assert!(!can(|bfc| bfc.config.classes = 2));
}

/// The kind of BFC that a switch gets, and whether it counts and names its pauses.
#[test]
fn settings_build_their_kind_of_bfc() {
    let port = crate::hop::HopPort { rate: 100_000_000_000, delay_ps: 1_000_000, host: true };
    let build = |change: fn(&mut BfcSettings), elided: &[(u16, u16)]| {
        let mut bfc = BfcSettings::default();
        change(&mut bfc);
        let site = HopSite {
            ports: vec![port; 4],
            buffer: Default::default(),
            nic_rate: port.rate,
            hosts: 4,
            elided: elided.to_vec(),
            carried_queues: false,
            rng: Rng::stream(1, xoff_core::rng::Purpose::Recirculation, 0),
        };
        bfc.build(site).unwrap()
    };
    let with = |change| build(change, &[]);
    let plain = with(|_| {});
    assert!(matches!(plain, AnyHop::Bfc(_)));
    let classes = with(|bfc| (bfc.config.classes, bfc.config.queues) = (2, 33));
    assert!(matches!(classes, AnyHop::BfcClasses(_)));
    let occupancy = with(|bfc| bfc.config.backpressure = BackpressureKind::Occupancy);
    assert!(matches!(occupancy, AnyHop::BfcOccupancy(_)));
    let flows = with(|bfc| bfc.config.backpressure = BackpressureKind::Flows);
    assert!(matches!(flows, AnyHop::BfcFlows(_)));
    let silent = with(|bfc| bfc.config.backpressure = BackpressureKind::None);
    assert!(matches!(silent, AnyHop::BfcSilent(_)));
    let sampled = with(|bfc| bfc.config.sampling = 0.5);
    assert!(matches!(sampled, AnyHop::Tofino(_)));
    let tofino = with(|bfc| bfc.tofino = Some(TofinoConfig::default()));
    assert!(matches!(tofino, AnyHop::Tofino(_)));
    let eliding = build(|_| {}, &[(1, 2)]);
    assert!(matches!(eliding, AnyHop::ElidingBfc(_)));
    for hop in [plain, classes, occupancy, flows, silent, sampled, tofino, eliding] {
        assert!(hop.bfc_stats().is_some(), "{hop:?}");
        let names = !matches!(hop, AnyHop::BfcFlows(_) | AnyHop::BfcSilent(_) | AnyHop::Tofino(_));
        assert_eq!(hop.names_pauses(), names, "{hop:?}");
        assert_eq!(hop.elision().is_some(), matches!(hop, AnyHop::ElidingBfc(_)));
    }
}

/// Pauses of flows need a sender that can pause one, and frames that are not lost.
#[test]
fn only_pauses_of_flows_have_needs() {
    let needs = |backpressure| {
        let config = BfcConfig { backpressure, ..BfcConfig::default() };
        let needs = BfcSettings { config, tofino: None }.needs();
        needs.iter().map(|need| (need.section, need.key)).collect::<Vec<_>>()
    };
    let flows = [("transport", "ack_class"), ("faults", "control_loss")];
    assert_eq!(needs(BackpressureKind::Flows), flows);
    assert_eq!(needs(BackpressureKind::Queues), []);
}
