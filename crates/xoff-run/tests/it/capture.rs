//! The capture of a run is complete, does not depend on partitions, and does not affect the run.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{self, data, open_on, packets};
use xoff_formats::{Bts, PfcFrame};
use xoff_run::Run;
use xoff_sim::Threads;

/// Two incasts over background traffic. All flows end well before the measured time.
fn scenario(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"400us\"\ncapture = \"0-1,leaf:2\"\n\
         [leaf_spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
         [[traffic]]\nkind = \"open-loop\"\nload = 0.5\nstop = \"20us\"\n\
         [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 12\nbytes = \"1.2MB\"\n\
         events = 1\n\
         [[traffic]]\nkind = \"incast\"\nvictims = \"2\"\ndegree = 12\nbytes = \"1.2MB\"\n\
         events = 1\n\
         start = \"20us\"\n"
    )
}

fn captured(scheme: &str, threads: Threads, overrides: &[&str]) -> (Run, Vec<u8>) {
    let mut run = open_on(threads, &scenario(scheme), overrides);
    let (_, file) = common::captured(&mut run);
    (run, file)
}

/// Signals in a file, or the PFC frames with a duration that replace them.
fn signals(scheme: &str, file: &[u8]) -> usize {
    let is_signal = |frame: &[u8]| {
        let quanta =
            PfcFrame::decode(frame).ok().and_then(|pause| pause.quanta.into_iter().flatten().max());
        if scheme == "sfc-p" { quanta > Some(0) } else { Bts::decode(frame).is_ok() }
    };
    packets(file).iter().filter(|packet| is_signal(packet.2)).count()
}

#[test]
fn a_capture_depends_on_no_cut_and_changes_nothing() {
    for scheme in ["bfc", "hpcc-pfc", "dcqcn", "sfc", "sfc-p"] {
        let (run, file) = captured(scheme, Threads::ONE, &[]);
        if scheme.starts_with("sfc") {
            assert!(signals(scheme, &file) > 20, "{scheme}: signals to hosts 8 to 11");
        }
        assert_eq!(file, captured(scheme, Threads::ONE, &["run.partitions=3"]).1, "{scheme}");
        let threads = Threads { count: 3, jitter: Some((1, 20)), ..Threads::ONE };
        assert_eq!(file, captured(scheme, threads, &["run.partitions=3"]).1, "{scheme}");
        let (without, nothing) = captured(scheme, Threads::ONE, &["run.capture=\"\""]);
        assert_eq!((without.digest(), nothing.len()), (run.digest(), 0), "{scheme}");
    }
}

#[test]
fn everything_that_captured_ports_send_is_there_in_order() {
    let (run, file) = captured("dcqcn", Threads::ONE, &[]);
    let packets = packets(&file);
    assert!(packets.is_sorted_by_key(|&(interface, time, _)| (time, interface)));
    // Hosts 0 and 1 and their leaf's ports to them, the third leaf's six ports and their peers.
    let mut sent = vec![0u64; 16];
    packets.iter().for_each(|&(interface, ..)| sent[interface as usize] += 1);
    let topology = &run.simulation().setup().topology;
    let ports = xoff_scenario::links::ports("0-1,leaf:2", topology).unwrap();
    let rows = run.ports();
    let counted: Vec<u64> = ports.iter().map(|&port| rows[port.index()].tx_packets).collect();
    assert_eq!(sent, counted);
}

#[test]
fn pauses_and_signals_can_be_read_back() {
    let (run, file) = captured("pfc", Threads::ONE, &["buffer.size=400kB", "run.capture=leaf:0"]);
    let pauses = |resume: bool| {
        let pauses =
            packets(&file).into_iter().filter_map(|packet| PfcFrame::decode(packet.2).ok());
        pauses.filter(|pause| pause.quanta[0] == Some(if resume { 0 } else { 0xffff })).count()
    };
    let paused: u64 =
        run.ports().iter().filter(|port| port.peer == 16).map(|port| port.pauses).sum();
    assert!(pauses(false) > 0 && pauses(false) as u64 == paused);
    assert_eq!(pauses(true), pauses(false));

    let signals = ["switch.hop=sfc", "sfc.trigger=20kB", "sfc.target=10kB", "run.capture=all"];
    let (run, file) = captured("hpcc", Threads::ONE, &signals);
    let signals: Vec<Bts> =
        packets(&file).into_iter().filter_map(|packet| Bts::decode(packet.2).ok()).collect();
    let heard = run.simulation().partitions()[0].hosts().stats.signals;
    assert!(heard.count > 0 && signals.len() as u64 == heard.count);
    // The congestion is at the victim's leaf, which faces a server.
    assert!(signals.iter().any(|bts| bts.cacheable && bts.src_ip == xoff_net::balance::address(0)));
}

/// A signal answers a data packet of its flow: the addresses are swapped; ports and class are those
/// of the packet (SFC 3.3, 4).
#[test]
fn a_signal_tells_which_data_it_answers() {
    let (_, file) = captured("sfc", Threads::ONE, &["run.capture=all", "traffic.2.priority=2"]);
    let mut sent = BTreeMap::new();
    let mut classes = BTreeSet::new();
    for (_, _, frame) in packets(&file) {
        if let Some((datagram, queue_pair)) = data(frame) {
            sent.insert(queue_pair, datagram);
        } else if let Ok(bts) = Bts::decode(frame) {
            let data = sent.get(&bts.queue_pair).expect("data of the queue pair was sent before");
            assert_eq!((bts.src_mac, bts.dst_mac), (data.dst_mac, data.src_mac));
            assert_eq!((bts.src_ip, bts.dst_ip), (data.dst_ip, data.src_ip));
            assert_eq!((bts.src_port, bts.dst_port), (data.src_port, data.dst_port));
            assert_eq!(bts.dscp, data.dscp);
            assert!(bts.pause_us > 0);
            classes.insert(bts.dscp);
        }
    }
    assert_eq!(classes, [0, 2].into(), "both incasts are signalled");
}
