//! ExpressPass in whole networks: the effects of credits, and their fates.

use crate::common::{open, over_hosts, over_switches, received_bytes, run};
use xoff_core::rng::{Purpose, Rng};
use xoff_core::{FlowId, HostId, PortId};
use xoff_host::receiver_driven::AnyDriven;
use xoff_host::receiver_driven::expresspass::CreditCounts;
use xoff_net::arch::Switch;
use xoff_run::Run;

const STAR: &str = "scheme = \"expresspass\"\n[network]\ntopology = \"star\"\n[star]\nhosts = 8\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"4ms\"\n";

/// Time of a credit and its packet on a link of 100 Gb/s (ps).
const PERIOD: u64 = (84 + 1048) * 80;

fn long(src: u32, dst: u32, bytes: u64, start_us: u64) -> String {
    format!(
        "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"{bytes}B\"\n\
         start = \"{start_us}us\"\n"
    )
}

/// An incast of 200 kB from each sender to one host of BFC's fabric.
fn incast(degree: u32) -> String {
    let bytes = degree * 200_000;
    format!(
        "scheme = \"expresspass\"\n[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = {degree}\nbytes = \"{bytes}B\"\nperiod = \"1s\"\n"
    )
}

/// Counts of hosts and switches together, and waiting credits.
fn credits(run: &Run) -> (CreditCounts, u64) {
    let (mut sum, mut waiting) = (CreditCounts::default(), 0);
    for partition in run.simulation().partitions() {
        let Some(AnyDriven::ExpressPass(hosts)) = partition.hosts().receiver_driven() else {
            panic!()
        };
        sum.add(&hosts.counts());
        waiting += hosts.waiting();
        for credits in partition.switches().iter().flat_map(|(_, switch)| switch.credits()) {
            sum.dropped += credits.dropped;
            waiting += u64::from(credits.waiting());
        }
    }
    (sum, waiting)
}

/// A request, its credit, the packet and its acknowledgement, each over two links of 1 us. The stop
/// leaves before the packet.
#[test]
fn a_flow_of_one_packet_takes_two_round_trips() {
    let text = format!("{STAR}{}", long(0, 1, 400, 10));
    let (run, rows) = run(&text, &["expresspass.credit_size_spread=0B"]);
    let bytes = 2 * (60 + 84 + 448 + 60) + 60;
    assert_eq!(rows[0].fct_ps, 8 * 1_000_000 + bytes * 80);
    assert_eq!(rows[0].rx_fct_ps, 6 * 1_000_000 + (bytes - 120) * 80);
    let (credits, waiting) = credits(&run);
    assert_eq!((credits.sent, credits.used, credits.wasted, waiting), (1, 1, 0, 0));
}

/// "Bounded queue": a hundred flows to one host never queue more than a few packets at any port.
/// Under other transports their first windows alone would be 10 MB.
#[test]
fn an_incast_neither_drops_data_nor_queues_it() {
    for degree in [20, 100] {
        let (run, rows) = run(&incast(degree), &[]);
        assert_eq!(rows.len() as u32, degree);
        assert_eq!(received_bytes(&run), u64::from(degree) * 200_000);
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0);
        assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0);
        let most = run.simulation().watermarks().run_max();
        assert!(most <= 30 * 1048, "{degree} senders: {most} bytes in a switch");
        // The receiver's link carries the rest of its capacity after credits, except for round
        // trips at the start and the end.
        let last = rows.iter().map(|row| row.rx_fct_ps).max().unwrap_or(0);
        let least = u64::from(degree) * 200 * PERIOD;
        assert!(last >= least && last < least * 5 / 4, "{degree}: {last} ps, at least {least}");
        let (credits, waiting) = credits(&run);
        assert!(credits.dropped > 0 && waiting == 0, "{credits:?}");
        assert_eq!(credits.sent, credits.used + credits.wasted + credits.dropped);
    }
}

/// At any time each credit has triggered a packet, was wasted, was dropped, waits or is on a link.
#[test]
fn every_credit_is_accounted_for() {
    let text = "scheme = \"expresspass\"\n[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\n\
                [[traffic]]\nkind = \"open-loop\"\nload = 0.6\nstop = \"100us\"\n";
    for overrides in [&[][..], &["expresspass.early_stop=true"], &["expresspass.alpha=1"]] {
        let mut run = open(text, overrides);
        let mut steps = 0;
        while run.step().unwrap_or_else(|message| panic!("{message}")) {
            run.rows().samples.clear();
            let (credits, waiting) = credits(&run);
            let known = credits.used + credits.wasted + credits.dropped + waiting;
            let partitions = run.simulation().partitions().iter();
            let packets: usize = partitions.map(|part| part.fabric().packets.len()).sum();
            assert!(credits.sent >= known && credits.sent - known <= packets as u64, "{credits:?}");
            steps += 1;
        }
        let (credits, _) = credits(&run);
        assert!(steps > 5 && credits.wasted > 0 && credits.used > 10_000, "{credits:?}");
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0);
        let summary = run.summary().expresspass.expect("ExpressPass");
        assert_eq!(summary.credits_sent, credits.sent);
        assert_eq!(summary.credits_wasted, credits.wasted);
        let share = credits.wasted as f64 / (credits.used + credits.wasted) as f64;
        assert_eq!(summary.waste_share, share);
    }
}

/// Seven flows to one host, which starts with half of a link's credits for each. Its NIC never
/// sends more than the bucket allows, and sends nearly all of that.
#[test]
fn a_receivers_nic_shapes_its_credits() {
    let flows: Vec<String> = (1..8).map(|src| long(src, 0, 100_000_000, 0)).collect();
    let mut run =
        open(&format!("{STAR}{}", flows.concat()), &["expresspass.credit_size_spread=0B"]);
    let gone = |run: &Run| {
        let hosts = run.simulation().partitions()[0].hosts();
        let Some(AnyDriven::ExpressPass(transport)) = hosts.receiver_driven() else { panic!() };
        let counts = transport.counts();
        // Senders' NICs are idle, so credits wait only at the receiver's.
        counts.sent - counts.dropped - transport.waiting()
    };
    while run.progress().sim_ps < 1_000_000_000 {
        run.step().unwrap_or_else(|message| panic!("{message}"));
        run.rows().samples.clear();
        let (now, gone) = (run.progress().sim_ps, gone(&run));
        // The first credits come when the requests have arrived.
        let most = now.saturating_sub(2_000_000) / PERIOD + 2;
        assert!(
            gone <= most && gone + most / 20 + 10 > most,
            "{gone} credits by {now} ps, at most {most}"
        );
    }
}

/// Bytes of two flows that arrived in the last millisecond of four.
fn last_millisecond(network: &str, flows: [(u32, u32); 2]) -> [u64; 2] {
    let flows = [
        long(flows[0].0, flows[0].1, 100_000_000, 0),
        long(flows[1].0, flows[1].1, 100_000_000, 300),
    ];
    let mut run = open(&format!("{network}{}{}", flows[0], flows[1]), &[]);
    let got = |run: &Run| {
        let hosts = run.simulation().partitions()[0].hosts();
        let received = |flow| hosts.rx_progress(0, flow).map_or(0, |progress| progress.received);
        [0, 1].map(FlowId).map(received)
    };
    let mut before = [0; 2];
    while run.progress().sim_ps < 4_000_000_000 {
        run.step().unwrap_or_else(|message| panic!("{message}"));
        run.rows().samples.clear();
        if run.progress().sim_ps == 3_000_000_000 {
            before = got(&run);
        }
    }
    let after = got(&run);
    [0, 1].map(|flow| after[flow] - before[flow])
}

/// A second flow gets the same share as the first, whether they share the receiver's NIC or a link
/// between switches. Together they get the rest of the capacity after credits.
#[test]
fn two_flows_converge_to_equal_shares() {
    let dumbbell =
        STAR.replace("topology = \"star\"\n[star]\nhosts = 8\n", "topology = \"dumbbell\"\n");
    let possible = 1_000_000_000 / PERIOD * 1000;
    for (network, flows) in [(STAR, [(0, 2), (1, 2)]), (&dumbbell, [(0, 2), (1, 3)])] {
        let [one, other] = last_millisecond(network, flows);
        let ratio = one as f64 / other as f64;
        assert!((0.8..1.25).contains(&ratio), "{one} and {other} bytes over {network}");
        let share = (one + other) as f64 / possible as f64;
        assert!((0.9..1.005).contains(&share), "{share} of the link over {network}");
    }
}

/// Lost packets are sent again by their source: data, credits, requests, stops and answers.
#[test]
fn flows_end_where_links_lose_packets() {
    let text = format!("{}[[fault]]\nkind = \"loss\"\nshare = 0.02\n", incast(20));
    let (run, rows) = run(&text, &["run.drain=200ms"]);
    assert_eq!(rows.len(), 20);
    assert!(over_hosts(&run, |stats| stats.retransmitted) > 0);
    assert!(over_hosts(&run, |stats| stats.timeouts) > 0);
}

/// A flow that loses its last packets sends these again, not all of its packets.
#[test]
fn a_lost_end_costs_no_second_flow() {
    let bytes = 20_000_000;
    // Links lose every packet while the flow's last packets are on them.
    let text = format!("{STAR}{}", long(0, 1, bytes, 0));
    let (_, rows) = run(&text, &[]);
    let end = rows[0].rx_fct_ps - 1_500_000;
    let fault = format!(
        "[[fault]]\nkind = \"loss\"\nshare = 0.99999\nat = \"{end}ps\"\nuntil = \"{}ps\"\n",
        end + 1_000_000
    );
    let (run, rows) = run(&format!("{text}{fault}"), &["run.drain=10ms", "run.grid=500ns"]);
    assert_eq!(rows.len(), 1);
    assert!(over_hosts(&run, |stats| stats.timeouts) > 0);
    let again = over_hosts(&run, |stats| stats.retransmitted);
    assert!(again > 0 && again < 500, "{again} packets of 20 000 were sent again");
}

/// Credits take the links of their data, in the other direction, and flows still spread over all
/// paths.
#[test]
fn both_directions_take_the_same_links() {
    for network in [
        "[network]\ntopology = \"leaf-spine\"\n",
        "[network]\ntopology = \"leaf-spine\"\n[leaf_spine]\nlinks = 3\nspines = 2\n",
        "[network]\ntopology = \"fat-tree\"\n[fat_tree]\nk = 8\n",
        "[network]\ntopology = \"dumbbell\"\n",
    ] {
        let text = format!("scheme = \"expresspass\"\n{network}{}", long(0, 1, 1_000, 0));
        let run = open(&text, &[]);
        let setup = run.simulation().setup();
        let (topology, routes, paths) = (&setup.topology, &setup.routes, setup.paths());
        let mut rng = Rng::stream(1, Purpose::Traffic, 0);
        let mut used = vec![0u32; topology.ports().len()];
        for _ in 0..20_000 {
            let src = HostId(rng.below(u64::from(topology.hosts)) as u32);
            let dst = HostId(rng.below(u64::from(topology.hosts)) as u32);
            let label = rng.u64() as u32;
            if src == dst {
                continue;
            }
            let there: Vec<PortId> = paths.follow(topology, routes, (src, dst, label)).collect();
            let back = (dst, src, label.rotate_left(16));
            let mut back: Vec<PortId> = paths.follow(topology, routes, back).collect();
            back.iter_mut().for_each(|port| *port = topology.port(*port).peer);
            back.reverse();
            assert_eq!(there, back, "{src} to {dst} over {network}");
            there.iter().for_each(|&port| used[port.index()] += 1);
        }
        // All links of each kind carry about the same, in each direction.
        let names: Vec<String> =
            topology.ports().iter().map(|port| topology.link_name(port)).collect();
        for name in &names {
            let of_kind = names.iter().zip(&used).filter(|(other, _)| *other == name);
            let counts: Vec<u32> = of_kind.map(|(_, &count)| count).collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*least * 3 > *most, "{least} to {most} flows on {name} of {network}");
        }
    }
}
