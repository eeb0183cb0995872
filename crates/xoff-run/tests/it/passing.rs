//! A packet that could leave at once passes, instead of joining its queue and being picked when the
//! instant ends. That saves time and must not change results. Whether a packet may pass depends on
//! other events of the same instant, and so on the partitions of the network.
#![cfg(debug_assertions)]

use crate::common::{for_fast_links, open};
use xoff_scenario::presets;

/// Background flows, an incast, and flows of several sizes that start at one host at one instant.
const TRAFFIC: &str = "\
    [run]\nwarmup = \"0us\"\nmeasure = \"60us\"\ndrain = \"2ms\"\n\
    [[traffic]]\nkind = \"open-loop\"\nload = 0.6\nstop = \"60us\"\n\
    [[traffic]]\nkind = \"incast\"\ndegree = 12\nbytes = \"600KB\"\nperiod = \"30us\"\n\
    stop = \"60us\"\n\
    [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 9\ncount = 3\nbytes = \"40KB\"\n\
    [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 9\ncount = 3\nbytes = \"2KB\"\n\
    [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 13\ncount = 2\nbytes = \"9KB\"\n";

const LEAF_SPINE: &str = "\
    [network]\ntopology = \"leaf-spine\"\n\
    [leaf_spine]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\n";

const FAT_TREE: &str = "[network]\ntopology = \"fat-tree\"\n[fat_tree]\nk = 4\n";

/// Whether a run is the same if all packets join their queues.
fn is_same_if_nothing_passes(network: &str, scheme: &str, overrides: &[&str]) -> bool {
    let outcome = |joins: bool| {
        let mut run = open(&format!("scheme = \"{scheme}\"\n{network}{TRAFFIC}"), overrides);
        if joins {
            run.let_nothing_pass();
        }
        while run.step().unwrap_or_else(|message| panic!("{scheme}: {message}")) {
            run.rows().samples.clear();
        }
        (run.digest(), run.summary().json())
    };
    outcome(false) == outcome(true)
}

#[test]
fn every_preset_does_the_same_if_nothing_passes() {
    let mut differ = presets();
    differ.retain(|(scheme, _)| {
        !is_same_if_nothing_passes(LEAF_SPINE, scheme, for_fast_links(scheme))
    });
    assert!(differ.is_empty(), "{differ:?}");
}

/// Several messages arrive in one packet, and their contents affect several flows of a NIC at one
/// instant.
#[test]
fn rates_from_an_allocator_are_obeyed_in_one_order() {
    for (network, overrides) in [
        (LEAF_SPINE, &["buffer.size=50KB"][..]),
        (LEAF_SPINE, &["flowtune.message_loss=0.2", "flowtune.lifetime=40us"]),
        (
            LEAF_SPINE,
            &[
                "flowtune.coalesce=true",
                "flowtune.compute_time=7us",
                "flowtune.advance_notice=10us",
            ],
        ),
        (FAT_TREE, &["flowtune.detection=idle", "flowtune.start_before_allocation=false"]),
        (FAT_TREE, &["flowtune.allocators=per-pod"]),
    ] {
        assert!(is_same_if_nothing_passes(network, "flowtune", overrides), "{overrides:?}");
    }
}

/// Timeouts of several flows of a host fire at one instant.
#[test]
fn lost_packets_are_asked_for_in_one_order() {
    for (scheme, overrides) in [
        ("homa", &["buffer.kind=shared", "buffer.size=40KB", "transport.timeout=50us"][..]),
        ("ndp", &["trim.header_queue=500B", "transport.timeout=100us"]),
        ("expresspass", &["buffer.size=1048B", "transport.timeout=50us"]),
        ("hpcc-pfc", &["buffer.size=100KB"]),
        ("irn", &["buffer.size=30KB"]),
        ("tcp-cubic", &["buffer.size=20KB", "tcp.min_rto=20us", "tcp.initial_rto=50us"]),
        ("pfabric", &["buffer.size=20KB"]),
        ("xcp", &["buffer.size=10KB", "transport.ack_class=control"]),
        ("bfc", &["buffer.size=60KB", "faults.control_loss=0.1", "transport.timeout=50us"]),
    ] {
        assert!(is_same_if_nothing_passes(LEAF_SPINE, scheme, overrides), "{scheme} {overrides:?}");
    }
}
