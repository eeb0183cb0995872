//! Shortest remaining flow first over whole networks (BFC App. A.2).

use crate::common::{open, run};
use xoff_sim::FlowRow;

/// A full packet on a link of 100 Gb/s (ps).
const PACKET: u64 = 1048 * 80;

const STAR: &str = "[network]\ntopology = \"star\"\n[star]\nhosts = 41\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"3ms\"\n";

const SCHEMES: [&str; 2] = ["scheme=bfc-srf", "scheme=ideal-srf"];

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

/// Four long flows fill the receiver's port. A short one waits for the packet that is being sent.
#[test]
fn a_short_flow_passes_long_ones() {
    for scheme in SCHEMES {
        for bytes in ["1000B", "20KB", "200KB"] {
            let long: String = (1..5).map(|src| flow(src, "4MB", "0us")).collect();
            let rows =
                by_size(run(&(STAR.to_owned() + &long + &flow(5, bytes, "300us")), &[scheme]).1);
            let waited = rows[0].fct_ps - rows[0].ideal_fct_ps;
            assert!(waited <= PACKET, "{scheme} {bytes}: {waited} ps");
        }
    }
}

/// Three flows of 1, 2 and 3 MB to one host end in that order. The first takes little longer than
/// alone.
#[test]
fn flows_end_in_the_order_of_their_sizes() {
    let flows = flow(1, "3MB", "0us") + &flow(2, "2MB", "0us") + &flow(3, "1MB", "0us");
    for scheme in SCHEMES {
        let rows = by_size(run(&(STAR.to_owned() + &flows), &[scheme]).1);
        assert!(rows[0].slowdown() < 1.05, "{scheme}: {}", rows[0].slowdown());
        let mut sent = 0;
        for row in &rows {
            sent += row.size_bytes;
            let end = row.fct_ps as f64 / (sent / 1000 * PACKET) as f64;
            assert!((1.0..1.1).contains(&end), "{scheme}: {sent} B took {end} of the link's time");
        }
    }
}

/// Under BFC, flows of one host are in different queues of its NIC, and the shortest still goes
/// first.
#[test]
fn a_host_sends_its_shortest_flow_first() {
    let long: String = (0..4).map(|_| flow(1, "2MB", "0us")).collect();
    let text = STAR.to_owned() + &long + &flow(1, "20KB", "100us");
    let waited = |scheme: &str, order: &str| {
        let order = format!("transport.round_robin={order}");
        let rows = by_size(run(&text, &[scheme, &order]).1);
        rows[0].fct_ps - rows[0].ideal_fct_ps
    };
    for scheme in SCHEMES {
        assert!(waited(scheme, "shortest") <= PACKET, "{scheme}");
        assert!(waited(scheme, "ready") >= 60 * PACKET, "{scheme}");
    }
}

/// "An incoming short flow arrives when there are no free queues, and ends up sharing the queue
/// with a long flow" (App. A.2): priority inversion, which the ideal does not have.
#[test]
fn a_short_flow_that_shares_a_queue_is_held_up() {
    let long: String = (1..40).map(|src| flow(src, "300KB", "0us")).collect();
    let short: String =
        (0..8).map(|turn| flow(40, "1000B", &format!("{}us", 30 + 20 * turn))).collect();
    let slowest = |scheme: &str| {
        let rows = by_size(run(&(STAR.to_owned() + &long + &short), &[scheme]).1);
        rows[..8].iter().map(FlowRow::slowdown).fold(0.0, f64::max)
    };
    assert!(slowest("scheme=ideal-srf") < 1.1);
    assert!(slowest("scheme=bfc-srf") > 3.0);
}

/// A monitored FIFO port counts the flows in its one queue, as it would with one queue per flow.
#[test]
fn a_watched_fifo_port_counts_its_flows() {
    let flows: String = (1..6).map(|src| flow(src, "100KB", "0us")).collect();
    let most = |scheduler: &str| {
        let scheduler = format!("switch.scheduler={scheduler}");
        let overrides = ["scheme=ideal-fq", &scheduler, "run.monitor=\"0\"", "run.grid=1us"];
        let mut run = open(&(STAR.to_owned() + &flows), &overrides);
        let mut most = 0;
        while run.step().unwrap() {
            let watched = run.rows().samples.drain(..).filter(|row| row.port != u16::MAX);
            most = watched.map(|row| row.active).fold(most, u32::max);
        }
        most
    };
    // With SRF the flow being served does not wait.
    assert_eq!(["fifo", "per-flow", "per-flow-srf"].map(most), [5, 5, 4]);
}
