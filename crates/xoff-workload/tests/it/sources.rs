//! The flows of sources, alone and merged.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::{BitRate, Bytes, FlowId, HostId, Ps};
use xoff_workload::{
    Arrival, Arrivals, Capacity, ENDLESS, EventArrivals, Incast, IncastConfig, LoadOn, LongLived,
    LongLivedConfig, OpenLoop, OpenLoopConfig, Permutation, PermutationConfig, Priority, SizeTable,
    Source, Staggered, StaggeredConfig, StopOrder, Traffic, tables,
};

/// BFC's network: 128 hosts on 8 racks with 8 uplinks each, all at 100 Gbps.
const HOSTS: u32 = 128;

fn capacity(hosts: u32) -> Capacity {
    let host_rates = vec![BitRate::from_gbps(100); hosts as usize];
    Capacity::new(BitRate::from_gbps(6_400), host_rates)
}

fn sizes(name: &str) -> SizeTable {
    SizeTable::from_csv(tables::builtin(name).expect(name), name).expect(name)
}

fn open_loop(config: &OpenLoopConfig, hosts: u32, seed: u64, source: u16) -> OpenLoop {
    OpenLoop::new(config, sizes(&config.sizes), &capacity(hosts), seed, source).unwrap()
}

fn flows(mut source: impl Source, count: usize) -> Vec<Arrival> {
    std::iter::from_fn(|| source.next()).take(count).collect()
}

#[test]
fn poisson_traffic_offers_the_load_asked_for() {
    let loads = [(LoadOn::Core, 6_400), (LoadOn::Hosts, 12_800), (LoadOn::Receivers, 300)];
    for (load_on, gbps) in loads {
        let receivers = if load_on == LoadOn::Receivers { "3,70-71" } else { "all" }.to_owned();
        // Google's tail needs more flows than a test should make to settle within 1 %.
        let sizes = "websearch".to_owned();
        let config = OpenLoopConfig { sizes, load_on, receivers, ..Default::default() };
        let flows = flows(open_loop(&config, HOSTS, 1, 0), 400_000);
        let bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
        let time = flows[flows.len() - 1].start;
        let load = bytes as f64 * 8.0 / (time.seconds() * f64::from(gbps) * 1e9);
        assert!((load / 0.6 - 1.0).abs() < 0.01, "{load_on:?}: {load}");
    }
}

/// At 60 % load Google's sizes give 166 million flows per second in BFC's network.
#[test]
fn google_traffic_has_the_flow_rate_of_the_paper() {
    let flows = flows(open_loop(&OpenLoopConfig::default(), HOSTS, 1, 0), 500_000);
    let rate = flows.len() as f64 / flows[flows.len() - 1].start.seconds();
    assert!((rate / 166e6 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn pairs_are_uniform_and_never_a_host_with_itself() {
    let mut seen = [[0u32; 4]; 4];
    for flow in flows(open_loop(&OpenLoopConfig::default(), 4, 1, 0), 120_000) {
        seen[flow.src.index()][flow.dst.index()] += 1;
    }
    for (src, row) in seen.iter().enumerate() {
        for (dst, count) in row.iter().enumerate() {
            let expected = if src == dst { 0..=0 } else { 9_600..=10_400 };
            assert!(expected.contains(count), "{src} to {dst}: {count}");
        }
    }
}

fn between(senders: &str, receivers: &str) -> OpenLoopConfig {
    let (senders, receivers) = (senders.to_owned(), receivers.to_owned());
    OpenLoopConfig { senders, receivers, ..Default::default() }
}

/// The number of flows between each pair of 6 hosts, of 120 000.
fn pairs(senders: &str, receivers: &str) -> Vec<(u32, u32, u32)> {
    let mut seen = BTreeMap::new();
    for flow in flows(open_loop(&between(senders, receivers), 6, 1, 0), 120_000) {
        *seen.entry((flow.src.0, flow.dst.0)).or_default() += 1;
    }
    seen.into_iter().map(|((src, dst), count)| (src, dst, count)).collect()
}

#[test]
fn flows_run_from_senders_to_receivers() {
    let check = |senders, receivers, expected: &[(u32, u32, u32)]| {
        let found = pairs(senders, receivers);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!((found.0, found.1), (expected.0, expected.1));
            assert!(found.2.abs_diff(expected.2) < 600, "{found:?}, expected {expected:?}");
        }
    };
    let k = 1_000;
    check("0,4", "2-3", &[(0, 2, 30 * k), (0, 3, 30 * k), (4, 2, 30 * k), (4, 3, 30 * k)]);
    // The source is drawn first, so the pairs of overlapping sets are not equally likely.
    check("0,5", "4-5", &[(0, 4, 30 * k), (0, 5, 30 * k), (5, 4, 60 * k)]);
    // The only receiver does not send.
    check("2-4", "3", &[(2, 3, 60 * k), (4, 3, 60 * k)]);
    check("3", "2-4", &[(3, 2, 60 * k), (3, 4, 60 * k)]);
}

#[test]
fn the_load_on_receivers_counts_the_links_that_receive() {
    let gbps = BitRate::from_gbps;
    let host_rates = vec![gbps(100), gbps(25), gbps(10), gbps(40)];
    let capacity = Capacity::new(gbps(70), host_rates);
    assert_eq!((capacity.host_count(), capacity.hosts()), (4, gbps(175)));
    assert_eq!(capacity.hosts_in(&[1, 2].map(HostId)), gbps(35));
    let make = |load_on, receivers| {
        let config = OpenLoopConfig { load_on, ..between("0", receivers) };
        flows(OpenLoop::new(&config, sizes("google"), &capacity, 1, 0).unwrap(), 1_000)
    };
    let starts = |flows: Vec<Arrival>| flows.iter().map(|flow| flow.start).collect::<Vec<_>>();
    assert_eq!(starts(make(LoadOn::Receivers, "all")), starts(make(LoadOn::Hosts, "all")),);
    // The links of hosts 1 to 3 carry 75 Gbps.
    let some = starts(make(LoadOn::Receivers, "1-3"));
    let core = Capacity { core: gbps(75), ..capacity.clone() };
    let config = between("0", "1-3");
    let core = OpenLoop::new(&config, sizes("google"), &core, 1, 0).unwrap();
    assert_eq!(some, starts(flows(core, 1_000)));
}

/// The flows that xoff made before there were host sets: results of a seed must stay the same.
#[test]
fn traffic_among_all_hosts_is_pinned() {
    let digest = |flows: &[Arrival]| {
        let numbers = flows
            .iter()
            .flat_map(|flow| [flow.start.0, flow.src.0.into(), flow.dst.0.into(), flow.bytes]);
        // FNV-1a, one number at a time.
        numbers.fold(0xcbf2_9ce4_8422_2325_u64, |hash, number| {
            (hash ^ number).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let check = |flows: Vec<Arrival>, first: [(u64, u32, u32, u64); 4], pinned| {
        let found = flows.iter().map(|flow| (flow.start.0, flow.src.0, flow.dst.0, flow.bytes));
        assert_eq!(found.take(4).collect::<Vec<_>>(), first);
        assert_eq!(digest(&flows), pinned);
    };
    let background = |arrivals| {
        let config = OpenLoopConfig { arrivals, ..Default::default() };
        flows(open_loop(&config, HOSTS, 1, 0), 100_000)
    };
    check(
        background(Arrivals::Poisson),
        [(844, 8, 1, 326), (10_045, 3, 120, 360), (10_605, 73, 104, 295), (29_701, 7, 1, 260)],
        0x52fd_4aad_206e_9c34,
    );
    check(
        background(Arrivals::LogNormal),
        [(378, 1, 100, 3_486), (5_258, 11, 55, 3), (7_545, 63, 7, 2), (8_265, 67, 48, 712)],
        0xd347_a149_3897_7162,
    );
    let config = IncastConfig { degree: 3, ..Default::default() };
    let (large, later) = (6_666_667, 500_000_000);
    check(
        flows(Incast::new(config, HOSTS, 1, 0).unwrap(), 100_000),
        [(0, 49, 16, large), (0, 9, 16, large), (0, 3, 16, large - 1), (later, 42, 100, large)],
        0x5892_eed2_e177_bdd6,
    );
}

#[test]
fn traffic_depends_on_seed_and_source_and_keeps_to_its_window() {
    let (start, stop) = (Ps::from_us(3), Ps::from_us(9));
    let arrivals = Arrivals::LogNormal;
    let config = OpenLoopConfig {
        arrivals,
        start,
        stop,
        priority: Priority::new(5).unwrap(),
        ..Default::default()
    };
    let make = |seed, source| flows(open_loop(&config, HOSTS, seed, source), usize::MAX);
    let first = make(1, 0);
    assert!(first.len() > 100 && first.is_sorted_by_key(|flow| flow.start));
    assert!(first.iter().all(|flow| (start..stop).contains(&flow.start) && flow.priority == 5));
    assert_eq!(first, make(1, 0));
    assert_ne!(first, make(2, 0));
    assert_ne!(first[0].start, make(1, 1)[0].start);
}

#[test]
fn an_incast_has_one_victim_and_distinct_senders() {
    let config = IncastConfig { degree: 100, bytes: Bytes(20_000_030), ..Default::default() };
    let flows = flows(Incast::new(config, HOSTS, 1, 4).unwrap(), 5_000);
    for (event, flows) in (0..).zip(flows.chunks(100)) {
        let victim = flows[0].dst;
        let senders: BTreeSet<HostId> = flows.iter().map(|flow| flow.src).collect();
        assert_eq!(senders.len(), 100);
        assert!(!senders.contains(&victim) && senders.iter().all(|host| host.0 < HOSTS));
        assert!(flows.iter().all(|flow| flow.dst == victim && flow.source == 4));
        assert!(flows.iter().all(|flow| flow.start == Ps::from_us(500 * event)));
        assert_eq!(flows.iter().map(|flow| flow.bytes).sum::<u64>(), 20_000_030);
        assert_eq!((flows[29].bytes, flows[30].bytes), (200_001, 200_000));
    }
    let victims: BTreeSet<HostId> = flows.iter().map(|flow| flow.dst).collect();
    assert!(victims.len() > 35, "{} of 50 draws", victims.len());
}

#[test]
fn the_victims_of_incasts_are_drawn_from_a_set() {
    let config = IncastConfig { victims: "1,5-6".into(), degree: 7, ..Default::default() };
    let flows = flows(Incast::new(config, 8, 1, 0).unwrap(), 7 * 300);
    let mut seen = BTreeMap::new();
    for event in flows.chunks(7) {
        *seen.entry(event[0].dst.0).or_insert(0) += 1;
        // The other hosts of the set send like any host.
        assert_eq!(event.iter().map(|flow| flow.src).collect::<BTreeSet<_>>().len(), 7);
    }
    assert!(seen.keys().eq(&[1, 5, 6]) && seen.values().all(|count| *count > 70), "{seen:?}");
}

/// DeTail 6.3: in an all-to-all incast every server receives from all others.
#[test]
fn an_event_may_have_several_victims() {
    for (victims_per_event, many) in [(3, 3), (0, 8)] {
        let bytes = Bytes(7_000);
        let config = IncastConfig { victims_per_event, degree: 7, bytes, ..Default::default() };
        let incast = Incast::new(config, 8, 1, 0).unwrap();
        let flows = flows(incast, 7 * many * 100);
        for (event, flows) in (0..).zip(flows.chunks(7 * many)) {
            assert!(flows.iter().all(|flow| flow.start == Ps::from_us(500 * event)));
            let pairs: BTreeSet<_> = flows.iter().map(|flow| (flow.dst, flow.src)).collect();
            let victims: BTreeSet<HostId> = flows.iter().map(|flow| flow.dst).collect();
            assert_eq!((pairs.len(), victims.len()), (7 * many, many));
            assert!(flows.iter().all(|flow| flow.src != flow.dst && flow.bytes == 1_000));
        }
    }
}

#[test]
fn a_large_incast_lets_senders_take_turns() {
    let config = IncastConfig { degree: 2_000, ..Default::default() };
    let flows = flows(Incast::new(config, HOSTS, 1, 0).unwrap(), 2_000);
    for round in flows.chunks(127) {
        let senders: BTreeSet<HostId> = round.iter().map(|flow| flow.src).collect();
        assert_eq!(senders.len(), round.len());
    }
    assert_eq!(flows[0].src, flows[127].src);
    assert!(!flows[..127].is_sorted_by_key(|flow| flow.src));
}

/// SFC 5.3: the flows of an event start within 100 us.
#[test]
fn the_flows_of_an_incast_may_be_spread() {
    let (spread, head_start) = (Ps::from_us(100), Ps::from_us(7));
    let together = IncastConfig { degree: 100, ..Default::default() };
    let config = IncastConfig { spread, head_start, ..together.clone() };
    let flows = flows(Incast::new(config, HOSTS, 1, 0).unwrap(), 100 * 200);
    assert!(flows.is_sorted_by_key(|flow| flow.start));
    let mut after = Vec::new();
    for (event, flows) in (0..).zip(flows.chunks(100)) {
        let begin = Ps::from_us(500 * event);
        assert_eq!(flows[0].start, begin);
        assert_eq!(flows.iter().map(|flow| flow.src).collect::<BTreeSet<_>>().len(), 100);
        after.extend(flows[1..].iter().map(|flow| (flow.start - begin - head_start).0));
    }
    // Uniform: every tenth of the time gets a tenth of the flows.
    let mut tenths = [0; 10];
    after.iter().for_each(|after| tenths[(after / Ps::from_us(10).0) as usize] += 1);
    assert!(tenths.iter().all(|count| (1_850..2_110).contains(count)), "{tenths:?}");
    // Hosts of the first event equal those of an incast without spread.
    let hosts = |flows: &[Arrival]| flows.iter().map(|flow| flow.src).collect::<BTreeSet<_>>();
    let first = self::flows(Incast::new(together, HOSTS, 1, 0).unwrap(), 100);
    assert_eq!((flows[0].dst, hosts(&flows[..100])), (first[0].dst, hosts(&first)));
}

/// SFC §5.3: 8 % of 51.2 Tb/s are an event of 32 MB every 62.5 us, while its flows start within 100
/// us.
#[test]
fn events_of_an_incast_may_overlap() {
    let config = IncastConfig {
        degree: 10,
        period: Ps::from_us(50),
        spread: Ps::from_us(100),
        events: 40,
        ..Default::default()
    };
    let apart = IncastConfig { period: Ps::from_us(200), ..config.clone() };
    let [flows, apart] =
        [config, apart].map(|config| flows(Incast::new(config, HOSTS, 1, 0).unwrap(), usize::MAX));
    assert_eq!(flows.len(), 400);
    assert!(flows.is_sorted_by_key(|flow| flow.start));
    assert!(!flows.is_sorted_by_key(|flow| flow.dst));
    // The same flows as with events further apart, except for the times of events.
    let mut moved: Vec<_> = (0..40u64)
        .zip(apart.chunks(10))
        .flat_map(|(event, flows)| flows.iter().map(move |flow| (event, flow)))
        .map(|(event, flow)| (flow.start.0 - event * Ps::from_us(150).0, flow.src, flow.dst))
        .collect();
    let mut found: Vec<_> = flows.iter().map(|flow| (flow.start.0, flow.src, flow.dst)).collect();
    moved.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, moved);
}

#[test]
fn each_sender_of_an_incast_may_send_several_flows() {
    let config = IncastConfig {
        victims: "5".into(),
        senders: "3-8".into(),
        degree: 4,
        flows_per_sender: 3,
        bytes: Bytes(1_201),
        events: 2,
        ..Default::default()
    };
    let flows = flows(Incast::new(config, 16, 1, 0).unwrap(), usize::MAX);
    assert_eq!(flows.len(), 24);
    for (event, flows) in (0..).zip(flows.chunks(12)) {
        let mut sent = BTreeMap::new();
        for flow in flows {
            *sent.entry(flow.src.0).or_insert(0) += 1;
            assert_eq!((flow.start, flow.dst.0), (Ps::from_us(500 * event), 5));
        }
        assert!(sent.len() == 4 && sent.values().all(|flows| *flows == 3), "{sent:?}");
        assert!(sent.keys().all(|host| (3..=8).contains(host) && *host != 5), "{sent:?}");
        assert_eq!(flows.iter().map(|flow| flow.bytes).sum::<u64>(), 1_201);
    }
}

/// CaPFC IV-B: exponential gaps, and with a degree of 1 flows of one size between random hosts.
#[test]
fn events_of_an_incast_may_be_a_poisson_process() {
    let events = 20_000;
    let (arrivals, start) = (EventArrivals::Poisson, Ps::from_us(7));
    let config = IncastConfig { arrivals, degree: 1, events, start, ..Default::default() };
    let flows = flows(Incast::new(config, HOSTS, 1, 0).unwrap(), usize::MAX);
    assert_eq!(flows.len() as u64, events);
    assert!(flows.is_sorted_by_key(|flow| flow.start) && flows[0].start > start);
    let mut before = start;
    let gaps: Vec<f64> = flows
        .iter()
        .map(|flow| {
            let gap = (flow.start - before).0 as f64 / Ps::from_us(500).0 as f64;
            before = flow.start;
            gap
        })
        .collect();
    // Mean and standard deviation equal the period; a share of 1/e is longer.
    let mean = gaps.iter().sum::<f64>() / events as f64;
    let square = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / events as f64;
    let longer = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / events as f64;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert!((square - 1.0).abs() < 0.06, "{square}");
    assert!((longer - (-1.0f64).exp()).abs() < 0.01, "{longer}");
    let pairs: BTreeSet<_> = flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    assert!(pairs.len() > 11_000, "{} of 16,256 pairs", pairs.len());
}

#[test]
fn incasts_stop() {
    let stop = Ps::from_us(1_001);
    let config = IncastConfig { degree: 2, start: Ps::from_us(1), stop, ..Default::default() };
    assert_eq!(flows(Incast::new(config, 2, 1, 0).unwrap(), 99).len(), 4);
    let (start, period) = (Ps(1), Ps(u64::MAX / 2));
    let config = IncastConfig { degree: 1, start, period, ..Default::default() };
    assert_eq!(flows(Incast::new(config, 2, 1, 0).unwrap(), 99).len(), 2);
}

#[test]
fn long_lived_flows_start_together_and_do_not_end() {
    let config = LongLivedConfig { src: 3, dst: 2, count: 2, ..Default::default() };
    let flow = Arrival::new(Ps(0), HostId(3), HostId(2), ENDLESS, 1);
    assert_eq!(flows(LongLived::new(&config, 4, 1).unwrap(), 9), [flow, flow]);
    let config = LongLivedConfig { bytes: Bytes(7), ..config };
    assert_eq!(flows(LongLived::new(&config, 4, 1).unwrap(), 1)[0].bytes, 7);
}

#[test]
fn in_a_permutation_every_host_sends_and_receives_once() {
    let make = |hosts, seed, source| {
        let config = PermutationConfig {
            start: Ps(5),
            priority: Priority::new(3).unwrap(),
            ..Default::default()
        };
        flows(Permutation::new(&config, hosts, seed, source).unwrap(), usize::MAX)
    };
    for hosts in [2, 3, 5, 128] {
        let flows = make(hosts, 1, 2);
        assert!(flows.iter().map(|flow| flow.src.0).eq(0..hosts));
        assert!(
            flows.iter().map(|flow| flow.dst.0).collect::<BTreeSet<_>>().into_iter().eq(0..hosts)
        );
        assert!(flows.iter().all(|flow| flow.src != flow.dst && flow.bytes == ENDLESS));
        assert!(flows.iter().all(|flow| (flow.start, flow.priority, flow.source) == (Ps(5), 3, 2)));
    }
    assert_eq!(make(128, 1, 0), make(128, 1, 0));
    assert_ne!(make(128, 1, 0), make(128, 2, 0));
    let small = PermutationConfig { bytes: Bytes(7), ..Default::default() };
    assert_eq!(flows(Permutation::new(&small, 2, 1, 0).unwrap(), 9)[1].bytes, 7);
}

/// Four hosts have nine derangements.
#[test]
fn all_permutations_are_equally_likely() {
    let mut seen = BTreeMap::new();
    for seed in 0..9_000 {
        let config = PermutationConfig::default();
        let flows = flows(Permutation::new(&config, 4, seed, 0).unwrap(), 4);
        let receivers: Vec<HostId> = flows.iter().map(|flow| flow.dst).collect();
        *seen.entry(receivers).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 9);
    assert!(seen.values().all(|count| (880..1_120).contains(count)), "{seen:?}");
}

/// Two incasts with events at the same instants, a long flow and background traffic.
fn mix() -> Traffic {
    let incast = |period, source| {
        let config = IncastConfig { degree: 3, period: Ps::from_us(period), ..Default::default() };
        Box::new(Incast::new(config, HOSTS, 1, source).unwrap())
    };
    let background = open_loop(&OpenLoopConfig::default(), HOSTS, 1, 2);
    let long = LongLived::new(&LongLivedConfig::default(), HOSTS, 3).unwrap();
    Traffic::new(vec![incast(4, 0), incast(2, 1), Box::new(background), Box::new(long)])
}

#[test]
fn merged_flows_are_in_the_order_of_start_and_source() {
    let (mut traffic, mut all) = (mix(), Vec::new());
    assert_eq!(traffic.next_start(), Some(Ps(0)));
    assert_eq!(traffic.take_before(Ps(0), &mut all), FlowId(0));
    assert!(all.is_empty());
    assert_eq!(traffic.take_before(Ps::from_us(10), &mut all), FlowId(0));
    assert!(all.is_sorted_by_key(|flow| (flow.start, flow.source)));
    let sources: Vec<u16> = all[..7].iter().map(|flow| flow.source).collect();
    assert_eq!(sources, [0, 0, 0, 1, 1, 1, 3]);
    let alone = flows(open_loop(&OpenLoopConfig::default(), HOSTS, 1, 2), 1_000);
    let merged = all.iter().filter(|flow| flow.source == 2);
    assert!(merged.zip(&alone).all(|(merged, alone)| merged == alone));
}

#[test]
fn the_batches_in_which_flows_are_taken_do_not_matter() {
    let (mut whole, mut cut) = (Vec::new(), Vec::new());
    mix().take_before(Ps::from_us(10), &mut whole);
    let mut traffic = mix();
    for until in [1, 2, 2, 7, 10] {
        let first = traffic.take_before(Ps::from_us(until), &mut cut);
        assert!(first.index() <= cut.len());
        assert_eq!(traffic.issued(), cut.len() as u64);
        assert!(traffic.next_start().is_some_and(|start| start >= Ps::from_us(until)));
    }
    assert_eq!(whole, cut);
    assert_eq!(Traffic::new(Vec::new()).next_start(), None);
}

/// Flowtune 5.3.1: "a flow starts every 10 ms, and then every 10 ms one stops".
#[test]
fn staggered_flows_start_one_by_one_and_stop_one_by_one() {
    let times = |stop_order| {
        let config = StaggeredConfig {
            senders: "3,5-6".to_owned(),
            receiver: 4,
            interval: Ps(10),
            start: Ps(7),
            stop_order,
            ..Default::default()
        };
        let flows = flows(Staggered::new(config, 16, 2).unwrap(), 9);
        assert!(flows.iter().all(|flow| (flow.dst.0, flow.bytes, flow.source) == (4, ENDLESS, 2)));
        flows.iter().map(|flow| (flow.src.0, flow.start.0, flow.stop.0)).collect::<Vec<_>>()
    };
    assert_eq!(times(StopOrder::First), [(3, 7, 37), (5, 17, 47), (6, 27, 57)]);
    assert_eq!(times(StopOrder::Last), [(3, 7, 57), (5, 17, 47), (6, 27, 37)]);
}

#[test]
fn a_staggered_flow_may_have_a_size() {
    let config = StaggeredConfig { bytes: Bytes(9), ..Default::default() };
    let flows = flows(Staggered::new(config, 16, 0).unwrap(), 9);
    assert_eq!(flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [9; 5]);
}
