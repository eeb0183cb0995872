//! Links at a lower rate, in whole runs.

use crate::common::{finish, open, over_hosts, over_switches, run};
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_sim::Threads;

/// Time of a packet of 1048 B on a link of 40 Gb/s (ps).
const PACKET: u64 = 209_600;
/// Delay of a link (ps).
const DELAY: u64 = 700_000;
const US: u64 = 1_000_000;

/// A flow of `packets` packets from host 0 to host 3 at 10 us, and a link of half its rate.
fn half(packets: u64, link: &str) -> String {
    with(packets, &format!("rate = \"20Gbps\"\n{link}"))
}

/// The same flow, and a link at a lower rate.
fn with(packets: u64, fault: &str) -> String {
    format!(
        "scheme = \"pfc\"\nnetwork = {{ topology = \"star\" }}\n\
         star = {{ hosts = 4, rate = \"40Gbps\", delay = \"700ns\" }}\n\
         run = {{ warmup = \"0us\", measure = \"1ms\" }}\n{}\
         [[fault]]\nkind = \"degrade\"\n{fault}",
        long(0, 3, packets * 1000, 10)
    )
}

fn long(src: u32, dst: u32, bytes: u64, start_us: u64) -> String {
    format!(
        "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"{bytes}B\"\n\
         start = \"{start_us}us\"\n"
    )
}

#[test]
fn a_flow_over_a_link_of_half_the_rate_takes_twice_the_time_of_its_packets() {
    for (link, first, slow) in [
        // The sender's link: the last packet leaves it, and then takes the fast one.
        ("link = \"0,leaf:0\"\ndirection = \"there\"\n", 0, PACKET),
        ("link = \"leaf:0,3\"\ndirection = \"there\"\n", PACKET, 0),
    ] {
        let rows = run(&half(25, link), &[]).1;
        assert_eq!(rows[0].rx_fct_ps, first + 25 * 2 * PACKET + slow + 2 * DELAY, "{link}");
        let other = link.replace("there", "back");
        let rows = run(&half(25, &other), &[]).1;
        assert_eq!(rows[0].rx_fct_ps, 26 * PACKET + 2 * DELAY, "only acknowledgements: {link}");
        assert!(rows[0].fct_ps > rows[0].ideal_fct_ps, "{link}");
    }
}

/// The packet under way when the link has its own rate again keeps its time.
#[test]
fn a_link_has_its_own_rate_again_after_until() {
    let fault = "link = \"3,leaf:0\"\nuntil = \"19us\"\n";
    let (run, rows) = run(&(half(100, fault) + &long(1, 3, 7_000, 200)), &[]);
    let start = 10 * US + PACKET + DELAY;
    // `until` is rounded up to the grid.
    let slow = (20 * US - start).div_ceil(2 * PACKET);
    assert_eq!(slow, 22);
    let sent = start + slow * 2 * PACKET + (100 - slow) * PACKET;
    assert_eq!(rows[0].rx_fct_ps, sent + DELAY - 10 * US);
    assert_eq!(rows[1].fct_ps, rows[1].ideal_fct_ps, "a flow that starts later");
    assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0);
}

/// Of several faults of a link the lowest rate counts, and a fault that ends leaves the others.
#[test]
fn the_lowest_of_several_rates_counts() {
    let link = "link = \"3,leaf:0\"\n";
    let lower = "[[fault]]\nkind = \"degrade\"\nlink = \"all\"\nrate = \"8Gbps\"\nat = \"10us\"\n\
         until = \"500us\"\n[[traffic]]\nkind = \"long\"\nsrc = 1\ndst = 3\n\
         bytes = \"25KB\"\nstart = \"600us\"\n";
    let rows = run(&(half(25, link) + lower), &[]).1;
    assert_eq!(rows[0].rx_fct_ps, 26 * 5 * PACKET + 2 * DELAY);
    assert_eq!(rows[1].rx_fct_ps, PACKET + 25 * 2 * PACKET + 2 * DELAY);
}

/// Credits of ExpressPass, pull requests of NDP and rates of Flowtune's allocator follow the rate
/// of the receiver's link: nothing queues up in front of it, and it is busy.
#[test]
fn receivers_and_allocators_follow_the_rate_of_a_link() {
    for scheme in ["expresspass", "ndp", "flowtune"] {
        let text = half(2_000, "link = \"3,leaf:0\"\n");
        let mut run = open(&text, &[&format!("scheme={scheme}"), "run.measure=2ms"]);
        let rows = finish(&mut run);
        let most = run.simulation().watermarks().run_max();
        assert!(most <= 30 * 1048, "{scheme}: {most} bytes in the switch");
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0, "{scheme}");
        assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0, "{scheme}");
        let slowdown = rows[0].slowdown();
        assert!((1.95..2.2).contains(&slowdown), "{scheme}: {slowdown}");
    }
}

#[test]
fn rates_that_are_not_lower_are_refused() {
    for (fault, said) in [
        (
            "rate = \"40Gbps\"\nlink = \"all\"",
            "rate is 40Gbps, which is not lower than the 40Gbps of the link from ",
        ),
        ("rate = \"1Kbps\"\nlink = \"all\"", "rate is 1Kbps: it must be at least 1Mbps"),
        ("link = \"all\"\ndirection = \"there\"", "direction has no meaning for link = \"all\""),
        ("", "link: \"\" does not name two ends"),
    ] {
        let Err(problems) = Run::open(&with(1, fault), "test.toml", &[], Threads::ONE) else {
            panic!("{fault} is accepted");
        };
        assert!(problems.to_string().contains(said), "{said}:\n{problems}");
    }
}
