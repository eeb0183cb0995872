//! Helpers of the integration tests.

use xoff_formats::headers::Datagram;
use xoff_formats::roce;
use xoff_net::hop::{AnyHop, BfcStats};
use xoff_scenario::Run;
use xoff_sim::{FlowRow, Threads};

/// Opens a scenario given as text.
pub(crate) fn open(text: &str, overrides: &[&str]) -> Run {
    open_on(Threads::ONE, text, overrides)
}

/// The same with a number of threads.
pub(crate) fn open_on(threads: Threads, text: &str, overrides: &[&str]) -> Run {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_string()).collect();
    Run::open(text, "test.toml", &overrides, threads)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// Runs it to its end and returns the rows of its flows.
pub(crate) fn finish(run: &mut Run) -> Vec<FlowRow> {
    let mut rows = Vec::new();
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        rows.append(&mut run.rows().flows);
        run.rows().samples.clear();
        if !more {
            return rows;
        }
    }
}

/// Opens and finishes a scenario.
pub(crate) fn run(text: &str, overrides: &[&str]) -> (Run, Vec<FlowRow>) {
    let mut run = open(text, overrides);
    let rows = finish(&mut run);
    (run, rows)
}

/// Settings of a scheme on links of 100 Gb/s, where thresholds for Gigabit links are too high and
/// the memory is too small. Also settings of its traffic: the second source is an incast.
pub(crate) fn for_fast_links(scheme: &str) -> &'static [&'static str] {
    match scheme {
        "detail" | "detail-pfc" => &["crossbar.ingress_size=1MB", "pause.xoff=60KB"],
        "pfc-wdrop" | "pfc-wstop" | "capfc-max" | "capfc-cal" => {
            &["pipeline.ingress_size=1MB", "pause.xoff=900KB", "pipeline.packet_rate=1e9"]
        }
        "bfc-incast-label" => &["traffic.1.labelled=true"],
        "pfc-wdrop-shared" | "pfc-wstop-shared" | "capfc-max-shared" | "capfc-cal-shared" => {
            &["pipeline.packet_rate=1e9"]
        }
        _ => &[],
    }
}

/// The same scenario for a scheme without classes.
pub(crate) fn without_priorities(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("priority = "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Sums a counter over all switches.
pub(crate) fn over_switches(run: &Run, count: fn(&xoff_net::arch::AnySwitch) -> u64) -> u64 {
    let partitions = run.simulation().partitions().iter();
    partitions.flat_map(|part| part.switches()).map(|(_, switch)| count(switch)).sum()
}

/// Sums BFC's counts over all switches.
pub(crate) fn bfc_stats(run: &Run) -> BfcStats {
    let mut sum = BfcStats::default();
    for (_, switch) in run.simulation().partitions().iter().flat_map(|part| part.switches()) {
        if let Some(stats) = switch.hop().and_then(AnyHop::bfc_stats) {
            sum.add(&stats);
        }
    }
    sum
}

/// Sums a counter of the hosts.
pub(crate) fn over_hosts(run: &Run, count: fn(&xoff_host::hosts::HostStats) -> u64) -> u64 {
    run.simulation().partitions().iter().map(|part| count(&part.hosts().stats)).sum()
}

/// Payload bytes that arrived at hosts.
pub(crate) fn received_bytes(run: &Run) -> u64 {
    let partitions = run.simulation().partitions().iter();
    partitions.flat_map(|part| part.hosts().nics()).map(|nic| nic.received_bytes).sum()
}

/// Runs it to its end, and takes captured packets every few steps. Returns the rows of its flows,
/// and the file.
pub(crate) fn captured(run: &mut Run) -> (Vec<FlowRow>, Vec<u8>) {
    let (mut rows, mut file, mut steps) = (Vec::new(), Vec::new(), 0);
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        rows.append(&mut run.rows().flows);
        steps += 1;
        if !more || steps % 3 == 0 {
            file.extend(run.take_capture().unwrap_or_default());
        }
        if !more {
            return (rows, file);
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The packets of a capture file: interface, time (ps) and bytes.
pub(crate) fn packets(mut file: &[u8]) -> Vec<(u32, u64, &[u8])> {
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

/// The headers and the queue pair of a data packet.
pub(crate) fn data(frame: &[u8]) -> Option<(Datagram, u32)> {
    let datagram = Datagram::read(frame).ok().filter(|datagram| datagram.dst_port == roce::PORT)?;
    let header = &frame[Datagram::BYTES..];
    // The operations of a SEND come first (InfiniBand, base transport header).
    let is_data = header[0] <= 4;
    is_data.then(|| (datagram, u32::from_be_bytes([0, header[5], header[6], header[7]])))
}
