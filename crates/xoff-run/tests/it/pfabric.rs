//! pFabric in whole networks: the shortest flow is not delayed, the others use the rest, and a flow
//! that was blocked notices when a packet gets through.

use crate::common::{over_hosts, over_switches, run};
use xoff_net::arch::Switch;
use xoff_sim::FlowRow;

/// A full packet on a link of 10 Gb/s (ps).
const PACKET: u64 = 1048 * 800;

const STAR: &str = "scheme = \"pfabric\"\n[network]\ntopology = \"star\"\n\
                    [star]\nhosts = 65\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"10ms\"\n";

fn flow(src: u32, bytes: &str, start: &str) -> String {
    format!(
        "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\nbytes = \"{bytes}\"\n\
         start = \"{start}\"\n"
    )
}

fn by_size(mut rows: Vec<FlowRow>) -> Vec<FlowRow> {
    rows.sort_by_key(|row| row.size_bytes);
    rows
}

/// Four flows fill the receiver's port. The short one's packets wait only for the packet on the
/// wire.
#[test]
fn the_shortest_flow_finishes_in_its_ideal_time() {
    for bytes in ["1000B", "20KB", "500KB"] {
        let long = (1..5).map(|src| flow(src, "2MB", "0us"));
        let text = STAR.to_owned() + &long.collect::<String>() + &flow(5, bytes, "1ms");
        let rows = by_size(run(&text, &[]).1);
        assert_eq!(rows.len(), 5);
        let waited = rows[0].fct_ps - rows[0].ideal_fct_ps;
        assert!(waited <= PACKET, "{bytes}: {waited} ps");
        let slowed = rows[1..].iter().filter(|row| row.slowdown() > 1.5).count();
        assert_eq!(slowed, 3, "one of the long ones is served first");
    }
}

/// Flows of one host take turns as at a switch.
#[test]
fn a_host_sends_its_shortest_flow_first() {
    let text = STAR.to_owned() + &flow(1, "2MB", "0us") + &flow(1, "20KB", "100us");
    let finish = |order: &str| {
        let rows = by_size(run(&text, &[&format!("transport.round_robin={order}")]).1);
        rows[0].fct_ps - rows[0].ideal_fct_ps
    };
    assert!(finish("shortest") <= PACKET);
    assert!(finish("ready") >= 15 * PACKET);
}

/// Three flows of 1, 2 and 3 MB to one host end in that order. The link is hardly ever idle, and
/// the first flow takes little longer than alone.
#[test]
fn flows_end_in_the_order_of_their_sizes() {
    let text =
        STAR.to_owned() + &flow(1, "3MB", "0us") + &flow(2, "2MB", "0us") + &flow(3, "1MB", "0us");
    let rows = by_size(run(&text, &[]).1);
    assert!(rows[0].slowdown() < 1.05, "{}", rows[0].slowdown());
    let mut sent = 0;
    for row in &rows {
        sent += row.size_bytes;
        // 48 B of headers for every 1000 B.
        let link_ps = sent * 1048 / 1000 * 800;
        let end = row.fct_ps as f64 / link_ps as f64;
        assert!((1.0..1.1).contains(&end), "{sent} B took {end} of the link's time");
    }
}

/// 64 flows start at once; a port holds some twenty packets. Most flows receive nothing for many
/// timeouts. All of them end, with fewer drops if they probe.
#[test]
fn all_flows_of_an_incast_end() {
    let text = STAR.to_owned()
        + "[[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 64\nbytes = \"6.4MB\"\n\
           period = \"1s\"\n";
    let mut dropped = Vec::new();
    for probe_after in [5, 0] {
        let overrides = [format!("pfabric.probe_after={probe_after}")];
        let (run, rows) = run(&text, &overrides.each_ref().map(String::as_str));
        assert_eq!(rows.len(), 64);
        assert!(over_hosts(&run, |stats| stats.timeouts) > 64 * 5);
        let last = rows.iter().map(|row| row.fct_ps).max().unwrap();
        assert!(last < 2 * 6_400_000 * 1048 / 1000 * 800, "{last} ps");
        dropped.push(over_switches(&run, |switch| switch.stats().drops));
    }
    // A header takes little of the port's memory.
    assert!(dropped[0] < dropped[1], "{dropped:?}");
}

/// No packet of a flow of one packet gets through for 100 us. The seventh timeout's probe does. Its
/// answer starts a whole timeout for the packet that the flow sends then, which takes longer than
/// the rest of the probe's timeout.
#[test]
fn an_answered_probe_leaves_no_timeout_running() {
    let text = STAR.to_owned()
        + &flow(1, "1000B", "0us")
        + "[[fault]]\nkind = \"loss\"\nshare = 1.0\nuntil = \"100us\"\n";
    let (run, rows) = run(&text, &["pfabric.rto=15us"]);
    // At 105 us the header, and then the packet.
    let trip = |data_ps: u64| 8_000_000 + 2 * (data_ps + 60 * 800);
    assert_eq!(rows[0].fct_ps, 105_000_000 + trip(48 * 800) + trip(PACKET));
    assert_eq!(over_hosts(&run, |stats| stats.timeouts), 7);
    // Four times the packet itself, three probes, and the packet.
    assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 8);
}
