//! The output files of a case of the HPCC simulator, in its forms, for its analysis scripts: flows,
//! pauses and queue lengths (`qp_finish`, `get_pfc` and `monitor_buffer` of its
//! `scratch/third.cc`).

use std::fmt::Write as _;

use xoff_core::PortId;
use xoff_host::Finished;
use xoff_net::balance::address;
use xoff_net::fabric::Heard;
use xoff_net::topo::Topology;
use xoff_scenario::outputs::Outputs;
use xoff_sim::Simulation;
use xoff_sim::partition::queue_lengths::QueueLengthDump;

/// Headers of a data packet, without those of its control: PPP, IPv4, UDP, and its sequence number
/// (bytes).
const HEADERS: u64 = 48;

/// A file's name and the bytes that follow in it.
pub type FileChunk = (String, Vec<u8>);

/// The text that follows in each file.
///
/// Each file occurs, so that one without lines is there, too.
pub(crate) fn take(outputs: &Outputs, simulation: &mut Simulation) -> Vec<FileChunk> {
    let (mut ends, mut heard) = (simulation.take_ends(), simulation.take_heard());
    // A run ends with a step of the grid, which may be later.
    ends.retain(|end| end.end_ps < outputs.stop.0);
    heard.retain(|frame| frame.time_ps < outputs.stop.0);
    let lengths = simulation.take_queue_lengths();
    let topology = &simulation.setup().topology;
    let mut files = vec![
        (outputs.fct.clone(), lines(&ends, |end, text| flow(outputs, topology, end, text))),
        (outputs.pfc.clone(), lines(&heard, |frame, text| pause(topology, frame, text))),
    ];
    if let Some((name, _)) = &outputs.queue_lengths {
        files.push((name.clone(), lines(&lengths, |dump, text| dump_of(topology, dump, text))));
    }
    files
}

fn lines<T>(items: &[T], write: impl Fn(&T, &mut String)) -> Vec<u8> {
    let mut text = String::new();
    items.iter().for_each(|item| write(item, &mut text));
    text.into_bytes()
}

/// `sip dip sport dport size start_ns fct_ns standalone_fct_ns`
fn flow(outputs: &Outputs, topology: &Topology, end: &Finished, text: &mut String) {
    let start = &end.flow;
    let ip = |host: xoff_core::HostId| address(topology.given_number(host.node()));
    let (sport, dport) = (start.label & 0xffff, start.label >> 16);
    let [start_ns, fct_ns] = [start.start_ps, end.end_ps - start.start_ps].map(|ps| ps / 1000);
    let alone_ns = alone_ns(outputs, end);
    let _ = writeln!(
        text,
        "{:08x} {:08x} {sport} {dport} {} {start_ns} {fct_ns} {alone_ns}",
        ip(start.src),
        ip(start.dst),
        start.bytes,
    );
}

/// The time that a flow would take alone, by that simulator's arithmetic: bytes have 32 bits, and
/// their product with 8 x 10^9 has 64.
fn alone_ns(outputs: &Outputs, end: &Finished) -> u64 {
    let flow = &end.flow;
    let Some(pair) = outputs.pairs.get(&(flow.src, flow.dst)) else { return 0 };
    let rate = if end.end_ps < outputs.failure.0 { pair.rate } else { pair.rate_after_failure };
    let bytes = flow.bytes + flow.bytes.div_ceil(outputs.payload) * HEADERS;
    let bits = u64::from(bytes as u32).wrapping_mul(8_000_000_000);
    pair.base_rtt_ns + bits / rate
}

/// `time_ns node node_type interface paused`: a frame that a port received. Hosts have type 0.
/// Interface 0 of that simulator is the loopback.
fn pause(topology: &Topology, frame: &Heard, text: &mut String) {
    let port = topology.port(PortId(frame.port));
    let _ = writeln!(
        text,
        "{} {} {} {} {}",
        frame.time_ps / 1000,
        topology.given_number(port.node),
        u8::from(!topology.is_host(port.node)),
        port.number + 1,
        u8::from(frame.pauses()),
    );
}

/// `time: time_ns`, then `switch interface count count ...` for each port: samples with 0 to 999
/// bytes, 1000 to 1999 bytes, and so on.
fn dump_of(topology: &Topology, dump: &QueueLengthDump, text: &mut String) {
    let _ = writeln!(text, "time: {}", dump.time_ps / 1000);
    let ports = topology.switch_ids().flat_map(|node| topology.ports_of(node));
    for (port, counts) in ports.zip(&dump.ports) {
        let _ = write!(text, "{} {}", topology.given_number(port.node), port.number + 1);
        counts.iter().for_each(|count| {
            let _ = write!(text, " {count}");
        });
        text.push('\n');
    }
}
