//! The capture of a run: the same whatever the cut, complete, and without effect on the run.

mod common;

use common::open_on;
use xoff_formats::{Bts, PfcFrame};
use xoff_scenario::Run;
use xoff_sim::Threads;

/// An incast over an amount of background traffic; all is over well before the measured time ends.
fn scenario(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"400us\"\ncapture = \"0-1,leaf:2\"\n\
         [leaf_spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
         [[traffic]]\nkind = \"open-loop\"\nload = 0.5\nstop = \"20us\"\n\
         [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 12\nbytes = \"1.2MB\"\nevents = 1\n"
    )
}

/// Runs it, taking what was captured every few steps.
fn captured(scheme: &str, threads: Threads, overrides: &[&str]) -> (Run, Vec<u8>) {
    let mut run = open_on(threads, &scenario(scheme), overrides);
    let (mut file, mut steps) = (Vec::new(), 0);
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        steps += 1;
        if !more || steps % 3 == 0 {
            file.extend(run.take_capture().unwrap_or_default());
        }
        if !more {
            return (run, file);
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Interface, time and bytes of each packet.
fn packets(mut file: &[u8]) -> Vec<(u32, u64, &[u8])> {
    let mut found = Vec::new();
    while !file.is_empty() {
        let (block, rest) = file.split_at(word(file, 4) as usize);
        if word(block, 0) == 6 {
            let time = u64::from(word(block, 12)) << 32 | u64::from(word(block, 16));
            found.push((word(block, 8), time, &block[28..28 + word(block, 20) as usize]));
        }
        file = rest;
    }
    found
}

#[test]
fn a_capture_depends_on_no_cut_and_changes_nothing() {
    for scheme in ["bfc", "hpcc-pfc", "dcqcn"] {
        let (run, file) = captured(scheme, Threads::ONE, &[]);
        assert_eq!(file, captured(scheme, Threads::ONE, &["run.partitions=3"]).1, "{scheme}");
        let threads = Threads { count: 3, jitter: Some((1, 20)) };
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
    // Hosts 0 and 1 and their leaf's ports to them, the third leaf's six and those opposite.
    let mut sent = vec![0u64; 16];
    packets.iter().for_each(|&(interface, ..)| sent[interface as usize] += 1);
    let topology = &run.simulation().setup().topology;
    let ports = xoff_scenario::capture::ports("0-1,leaf:2", topology).unwrap();
    let rows = run.ports();
    let counted: Vec<u64> = ports.iter().map(|&port| rows[port as usize].tx_packets).collect();
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
    let paused = run.ports().iter().filter(|port| port.peer == 16).map(|port| port.pauses).sum();
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
