//! Headers, estimates and tables of CONGA, packet by packet.

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;

use super::*;
use crate::destination::Destination;
use crate::packet::Kind;

const GBPS: u64 = 1_000_000_000;
const MTU: u16 = 1000;
/// Host 0 hangs on leaf 0, hosts 1 and 2 on leaves 1 and 2.
const HOSTS: [Destination; 3] = [on_leaf(0), on_leaf(1), on_leaf(2)];
/// Ports of a leaf: one host, then the uplinks.
const UPLINKS: [u16; 4] = [1, 2, 3, 4];

const fn on_leaf(group: u32) -> Destination {
    Destination { group, access_port: 0 }
}

fn switch(own: Option<u32>) -> Conga {
    let mut settings = CongaSettings::default();
    settings.flowlets.timeout = Ps::from_us(500);
    let ports = UPLINKS.len() + 1;
    let place = Place {
        groups: 3,
        own,
        rates: vec![10 * GBPS; ports],
        trunks: if own.is_some() { UPLINKS.to_vec() } else { (0..ports as u16).collect() },
        rng: Rng::stream(1, Purpose::Spraying, u64::from(own.unwrap_or(9))),
    };
    Conga::new(&settings, place)
}

fn packet(src: u32, dst: u32, label: u32) -> Packet {
    let mut packet = Packet::new(Kind::Data, MTU);
    (packet.src, packet.dst, packet.label) = (src, dst, label);
    packet
}

/// A packet from a host of the leaf leaves it. Returns the port, and the packet on its link.
fn leaves(leaf: &mut Conga, now: u64, mut packet: Packet, ports: &[u16]) -> (u16, Packet) {
    let to = HOSTS[packet.dst as usize].group;
    let arrival = Arrival { now, id: 0, packet: &packet, ingress: 0, to, ports, hosts: &HOSTS };
    let port = ports[leaf.choose(&arrival).unwrap() as usize];
    leaf.on_departure(now, port, 0, &mut packet);
    (port, packet)
}

/// A packet from another leaf arrives for a host of this one.
fn ends(leaf: &mut Conga, now: u64, packet: &Packet) {
    let to = HOSTS[packet.dst as usize].group;
    let arrival = Arrival { now, id: 0, packet, ingress: 1, to, ports: &[], hosts: &HOSTS };
    assert_eq!(leaf.choose(&arrival), None);
}

fn header(packet: &Packet) -> Header {
    Header::unpack(packet.ingress, 3)
}

/// A load that is a third of a link is more than the whole of one with a quarter of its rate.
#[test]
fn a_metric_follows_the_rate_of_a_degraded_link() {
    let mut leaf = switch(Some(0));
    let (config, mut now) = (CongaConfig::default(), 0);
    for _ in 0..3_000 {
        now += u64::from(MTU) * 800 * 3;
        leaves(&mut leaf, now, packet(0, 1, 7), &UPLINKS[..1]);
    }
    let mut metric = |rate| {
        leaf.on_rate(UPLINKS[0], rate);
        leaf.on_rate(0, rate);
        leaf.links[UPLINKS[0] as usize].as_mut().unwrap().metric(now, &config)
    };
    let rates = [10 * GBPS, 10 * GBPS / 4, 10 * GBPS];
    assert_eq!(rates.map(&mut metric), [2, 7, 2]);
}

/// In the steady state, the register is the rate times tau, up to the packet that has just
/// been added and the decay of a tick.
#[test]
fn an_estimate_follows_the_rate() {
    let config = CongaConfig::default();
    for share in [0.0, 0.2, 0.45, 0.7, 0.95] {
        let mut link = Dre::new(&config, 10 * GBPS);
        let mut now = 0;
        if share > 0.0 {
            let gap = (f64::from(MTU) * 800.0 / share) as u64;
            for _ in 0..3_000 {
                now += gap;
                link.add(now, MTU, &config);
            }
        }
        let found = link.register * link.steps_per_byte / 8.0;
        assert!((found - share).abs() < 0.06, "{share}: {found}");
        assert_eq!(link.metric(now + Ps::from_us(20_000).0, &config), 0);
    }
    let mut full = Dre::new(&config, 10 * GBPS);
    (0..5_000).for_each(|n| full.add(n * 800_000, MTU, &config));
    assert_eq!(full.metric(4_000_000_000, &config), 7);
}

/// The metric of a path is the largest of its links.
#[test]
fn a_packet_collects_the_most_congested_link() {
    let (mut leaf, mut spine, mut far) = (switch(Some(0)), switch(None), switch(Some(1)));
    let now = Ps::from_us(1_000).0;
    // The spine's link to leaf 1 carries its full rate.
    (0..2_000).for_each(|n| {
        let mut other = packet(2, 1, n as u32);
        let arrival = Arrival {
            now: n * 800_000,
            id: 0,
            packet: &other,
            ingress: 2,
            to: 1,
            ports: &[1],
            hosts: &HOSTS,
        };
        assert_eq!(spine.choose(&arrival), None, "a spine hashes");
        spine.on_departure(n * 800_000, 1, 0, &mut other);
    });
    let now = now.max(1_600_000_000);
    let (port, mut sent) = leaves(&mut leaf, now, packet(0, 1, 1), &UPLINKS);
    assert_eq!(header(&sent).path, Report { tag: port as u8 - 1, metric: 0 });
    let arrival =
        Arrival { now, id: 7, packet: &sent, ingress: 0, to: 1, ports: &[1], hosts: &HOSTS };
    spine.choose(&arrival);
    spine.on_departure(now, 1, 7, &mut sent);
    assert_eq!(header(&sent).path, Report { tag: port as u8 - 1, metric: 7 });
    ends(&mut far, now, &sent);
    // An answer returns it to leaf 0, which avoids the path from then on.
    let (_, answer) = leaves(&mut far, now, packet(1, 0, 1), &UPLINKS);
    assert_eq!(header(&answer).feedback, Report { tag: port as u8 - 1, metric: 7 });
    ends(&mut leaf, now, &answer);
    for label in 2..200 {
        let (chosen, _) = leaves(&mut leaf, now, packet(0, 1, label), &UPLINKS);
        assert_ne!(chosen, port, "flow {label} takes the congested path");
    }
    // The other leaf is behind the same uplink, but its path has not been congested.
    let chosen = |label| leaves(&mut switch(Some(0)), now, packet(0, 2, label), &UPLINKS).0;
    assert!((0..50).any(|label| chosen(label) == port));
}

#[test]
fn a_flow_stays_unless_another_uplink_is_better() {
    let mut leaf = switch(Some(0));
    let gap = Ps::from_us(2_000).0;
    let (port, _) = leaves(&mut leaf, 0, packet(0, 1, 1), &UPLINKS);
    for n in 1..50 {
        let (again, _) = leaves(&mut leaf, n * gap, packet(0, 1, 1), &UPLINKS);
        assert_eq!(again, port, "all uplinks are equally good");
    }
    let tag = leaf.leaf.as_ref().unwrap().tag(port).unwrap();
    let worse = UPLINKS.len() + tag;
    leaf.leaf.as_mut().unwrap().to[worse].update(49 * gap, 1);
    let (same, _) = leaves(&mut leaf, 49 * gap + 1, packet(0, 1, 1), &UPLINKS);
    assert_eq!(same, port, "a flowlet keeps its path");
    let (moved, _) = leaves(&mut leaf, 51 * gap, packet(0, 1, 1), &UPLINKS);
    assert_ne!(moved, port);
}

/// Metrics that have changed come first, then all in turn; an old one has decayed.
#[test]
fn feedback_goes_round_and_prefers_changes() {
    let mut far = switch(Some(1));
    let metrics = &mut far.leaf.as_mut().unwrap().from[0];
    metrics.resize(4, Metric::default());
    metrics[2].update(0, 6);
    metrics[3].update(0, 0);
    let mut tag_at = |now| {
        let (_, sent) = leaves(&mut far, now, packet(1, 0, 1), &UPLINKS);
        header(&sent).feedback
    };
    assert_eq!(tag_at(0), Report { tag: 2, metric: 6 });
    let rest = [3, 0, 1, 2].map(|tag| Report { tag, metric: if tag == 2 { 3 } else { 0 } });
    assert_eq!([(); 4].map(|()| tag_at(Ps::from_us(15_000).0)), rest);
}

/// Tables of a leaf with one uplink have room for the metrics of leaves with more.
#[test]
fn leaves_may_have_different_numbers_of_uplinks() {
    let (mut leaf, mut far) = (switch(Some(1)), switch(Some(0)));
    far.leaf.as_mut().unwrap().uplinks.truncate(1);
    for label in 0..40 {
        let (port, sent) = leaves(&mut leaf, 0, packet(1, 0, label), &UPLINKS);
        ends(&mut far, 0, &sent);
        let (_, answer) = leaves(&mut far, 0, packet(0, 1, label), &UPLINKS[..1]);
        assert!(header(&answer).feedback.tag < 4, "of port {port}");
        ends(&mut leaf, 0, &answer);
    }
    let from = &far.leaf.as_ref().unwrap().from;
    assert_eq!(from.iter().map(Vec::len).collect::<Vec<_>>(), [0, 4, 0]);
}

#[test]
fn more_uplinks_than_a_header_can_name_are_refused() {
    let settings = CongaSettings::default();
    assert_eq!(settings.check_uplinks(32), Ok(()));
    assert!(settings.check_uplinks(33).unwrap_err().1.contains("can name 32"));
}

proptest! {
    #[test]
    fn headers_fit_into_their_field(bits in 1u32..8, all in any::<[u8; 4]>()) {
        let report = |tag: u8, metric: u8| Report {
            tag: (u32::from(tag) % (1 << (HALF - bits))) as u8,
            metric: (u32::from(metric) % (1 << bits)) as u8,
        };
        let header =
            Header { path: report(all[0], all[1]), feedback: report(all[2], all[3]) };
        prop_assert_eq!(Header::unpack(header.pack(bits), bits), header);
    }
}
