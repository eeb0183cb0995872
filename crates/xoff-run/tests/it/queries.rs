//! Web requests and successive flows over whole networks.

use std::collections::BTreeMap;

use crate::common::{open, open_on, over_hosts, over_switches, without_priorities};
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_scenario::Memory;
use xoff_sim::{FlowRow, QueryRow, RequestRow, Threads};

#[derive(Debug, Default, PartialEq)]
struct Rows {
    flows: Vec<FlowRow>,
    queries: Vec<QueryRow>,
    requests: Vec<RequestRow>,
}

impl Rows {
    fn flow(&self, number: u64) -> &FlowRow {
        self.flows.iter().find(|row| row.flow == number).expect("a flow that has ended")
    }

    /// The queries of a web request, in their order.
    fn queries_of(&self, request: u64) -> Vec<&QueryRow> {
        let mut found: Vec<_> = self.queries.iter().filter(|row| row.request == request).collect();
        found.sort_by_key(|row| row.query);
        found
    }
}

fn finish(run: &mut Run) -> Rows {
    let mut rows = Rows::default();
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        rows.flows.append(&mut run.rows().flows);
        rows.queries.append(&mut run.rows().queries);
        rows.requests.append(&mut run.rows().requests);
        run.rows().samples.clear();
        if !more {
            return rows;
        }
    }
}

fn run(text: &str, overrides: &[&str]) -> (Run, Rows) {
    let mut run = open(text, overrides);
    let rows = finish(&mut run);
    (run, rows)
}

const STAR: &str = "[network]\ntopology = \"star\"\n[star]\nhosts = 12\nrate = \"1Gbps\"\n\
                    delay = \"6600ns\"\n";
const FABRIC: &str = "[network]\ntopology = \"leaf-spine\"\n[leaf_spine]\nleaves = 4\nspines = 2\n\
                      hosts_per_leaf = 4\nhost_rate = \"1Gbps\"\nspine_rate = \"1Gbps\"\n";
/// Settings of a scheme here: a round trip shorter than Flowtune's timeouts; a timeout for
/// go-back-N; no PFC if links lose packets; a rate below that of the links for a control with a
/// lowest rate.
fn settings(scheme: &str) -> Vec<&'static str> {
    match scheme {
        "flowtune" => vec!["leaf_spine.host_rate=10Gbps", "leaf_spine.spine_rate=10Gbps"],
        "dcqcn" => vec!["switch.hop=none", "transport.timeout=2ms", "dcqcn.min_rate=10Mbps"],
        "irn-dcqcn" => vec!["dcqcn.min_rate=10Mbps"],
        "irn" => vec!["hpcc.min_rate=10Mbps"],
        "tcp-newreno" => vec!["tcp.initial_window_packets=4"],
        "detail-fc" => vec!["pause.outstanding=6KB", "pause.generation_delay=48us"],
        _ => Vec::new(),
    }
}

const FRAMES: &str = "[frame]\npayload = \"1460B\"\nheader = \"70B\"\nack = \"84B\"\n";

fn text(scheme: &str, network: &str, traffic: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n{network}{FRAMES}[run]\nwarmup = \"0us\"\nmeasure = \"50ms\"\n\
         drain = \"2s\"\n[[traffic]]\nkind = \"queries\"\n{traffic}"
    )
}

/// Times of packets at 1 Gb/s (ps), and a link's delay.
const PACKET: u64 = 1530 * 8_000;
const ACK: u64 = 84 * 8_000;
const DELAY: u64 = 6_600_000;

/// Time of full packets alone on two links: from the first bit to the last at the receiver.
fn arrives(packets: u64) -> u64 {
    (packets + 1) * PACKET + 2 * DELAY
}

/// A request, the acknowledgement that the server's port sends before the response, and the
/// response.
fn query_alone(packets: u64) -> u64 {
    arrives(1) + ACK + arrives(packets)
}

#[test]
fn a_query_on_an_idle_network_meets_the_closed_form_to_the_picosecond() {
    for scheme in ["pfc", "tcp-newreno", "irn-dcqcn", "ndp"] {
        let text = text(scheme, STAR, "sizes = \"1460B,4380B\"\nclients = \"3\"\nrate = 20.0\n");
        let (_, rows) = run(&text, &[&["run.measure=1s"], &settings(scheme)[..]].concat());
        assert!(rows.queries.len() > 10 && rows.requests.len() == rows.queries.len());
        for (query, request) in rows.queries.iter().zip(&rows.requests) {
            let packets = query.size_bytes / 1460;
            assert_eq!(query.completion_ps, query_alone(packets), "{scheme} {packets}");
            let (ask, answer) = (rows.flow(query.query), rows.flow(query.query + 1));
            assert_eq!(ask.start_ps + ask.rx_fct_ps, answer.start_ps, "{scheme}");
            assert_eq!(query.completion_ps, ask.rx_fct_ps + answer.rx_fct_ps);
            assert_eq!((query.client, answer.src), (3, query.server));
            assert_eq!(
                (request.start_ps, request.completion_ps),
                (query.start_ps, query.completion_ps)
            );
            assert_eq!((request.request, request.queries), (query.query, 1));
        }
    }
}

#[test]
fn sequential_queries_add_up_and_parallel_ones_take_as_long_as_the_longest() {
    let sizes = "sizes = \"1460B,4380B\"\nqueries = \"5\"\nclients = \"3\"\nrate = 20.0\n";
    let sequential = format!("{sizes}workflow = \"sequential\"\n");
    let (_, rows) = run(&text("pfc", STAR, &sequential), &["run.measure=1s"]);
    assert!(rows.requests.len() > 10);
    for request in &rows.requests {
        let queries = rows.queries_of(request.request);
        assert_eq!((queries.len(), request.queries), (5, 5));
        let each = queries.iter().map(|query| query_alone(query.size_bytes / 1460));
        // The acknowledgement of a response leaves the client before the next request.
        assert_eq!(request.completion_ps, each.sum::<u64>() + 4 * ACK);
        assert!(queries.windows(2).all(|pair| ended(pair[0]) == pair[1].start_ps));
        assert_eq!(queries[0].start_ps, request.start_ps);
    }
    let parallel = format!("{sizes}workflow = \"parallel\"\n");
    let (_, rows) = run(&text("pfc", STAR, &parallel), &["run.measure=1s"]);
    assert!(rows.requests.len() > 10);
    for request in &rows.requests {
        let queries = rows.queries_of(request.request);
        assert!(queries.len() == 5 && queries.iter().all(|one| one.start_ps == request.start_ps));
        let last = queries.iter().map(|query| query.completion_ps).max();
        assert_eq!(Some(request.completion_ps), last);
        let least = queries.iter().map(|query| query.completion_ps).min();
        assert!(least < last && least >= Some(query_alone(1)));
    }
}

fn ended(query: &QueryRow) -> u64 {
    query.start_ps + query.completion_ps
}

const BUSY: &str = "workflow = \"sequential\"\nqueries = \"3,6\"\nrate = 60.0\nburst_rate = 600.0\n\
                    burst = \"5ms\"\npriorities = \"0,3\"\n\
                    [[traffic]]\nkind = \"queries\"\nworkflow = \"parallel\"\nqueries = \"4\"\n\
                    rate = 40.0\n\
                    class = \"aggregate\"\nclients = \"0-7\"\nservers = \"8-15\"\n\
                    [[traffic]]\nkind = \"successive\"\nbytes = \"100KB\"\nsenders = \"0-3\"\n\
                    priority = 7\n";

/// Every query starts once, after the event it waits for, and all end, even if packets are lost and
/// sent again.
#[test]
fn no_flow_begins_before_the_one_it_waits_for_and_all_end() {
    let faults = "[[fault]]\nkind = \"loss\"\nlink = \"all\"\nshare = 0.01\n";
    let lossy = format!("{BUSY}{faults}");
    for (scheme, traffic) in [
        ("pfc", BUSY),
        ("bfc", BUSY),
        ("ideal-fq", BUSY),
        ("flowtune", BUSY),
        ("ndp", BUSY),
        ("irn", &lossy),
        ("dcqcn", &lossy),
        ("tcp-newreno", &lossy),
        ("pfabric", &lossy),
    ] {
        let text = text(scheme, FABRIC, traffic);
        let text = if scheme == "bfc" { without_priorities(&text) } else { text };
        let overrides = [settings(scheme), vec!["run.measure=20ms"]].concat();
        let (run, rows) = run(&text, &overrides);
        let lost = over_hosts(&run, |stats| stats.retransmitted) > 0;
        assert!(lost || traffic == BUSY, "{scheme}: nothing was lost");
        assert!(rows.requests.len() > 40, "{scheme}: {}", rows.requests.len());
        let of_all: u32 = rows.requests.iter().map(|request| request.queries).sum();
        assert_eq!(of_all as usize, rows.queries.len(), "{scheme}");
        let warnings = run.summary().warnings;
        let of_requests = warnings.iter().any(|text| text.contains("web requests of class"));
        assert!(!of_requests, "{scheme}: {warnings:?}");
        let by_number: BTreeMap<u64, &FlowRow> =
            rows.flows.iter().map(|row| (row.flow, row)).collect();
        assert_eq!(by_number.len(), rows.flows.len(), "{scheme}: a flow ended twice");
        for request in &rows.requests {
            let queries = rows.queries_of(request.request);
            assert_eq!(
                queries.iter().map(|query| ended(query)).max(),
                Some(request.start_ps + request.completion_ps)
            );
            for pair in queries.windows(2) {
                let begins = if request.class == 0 { ended(pair[0]) } else { request.start_ps };
                assert_eq!(pair[1].start_ps, begins, "{scheme}");
            }
            for query in queries {
                let Some(answer) = by_number.get(&(query.query + 1)) else { continue };
                if let Some(ask) = by_number.get(&query.query) {
                    // The sender learns the arrival of the last of several copies.
                    assert!(answer.start_ps <= ask.start_ps + ask.rx_fct_ps, "{scheme}");
                    assert!(answer.start_ps > ask.start_ps + PACKET / 10, "{scheme}");
                }
                assert!(ended(query) <= answer.start_ps + answer.rx_fct_ps, "{scheme}");
            }
        }
    }
}

/// Results do not depend on partitions or threads.
#[test]
fn the_cut_does_not_matter() {
    for scheme in ["tcp-newreno", "bfc", "flowtune", "ndp", "detail", "detail-fc"] {
        let text = text(scheme, FABRIC, BUSY);
        let one_class = matches!(scheme, "bfc" | "detail-fc");
        let text = if one_class { without_priorities(&text) } else { text };
        let outcome = |count: usize, threads: usize| {
            let threads = Threads { count: threads, ..Threads::ONE };
            let partitions = format!("run.partitions={count}");
            let mut overrides = settings(scheme);
            overrides.extend(["run.measure=10ms", "run.flow_series=1ms", &partitions]);
            let mut run = open_on(threads, &text, &overrides);
            let rows = finish(&mut run);
            assert_eq!(run.simulation().partitions().len(), count);
            let series = std::mem::take(&mut run.rows().flow_series);
            (run.digest(), rows, series, run.summary().json())
        };
        let one = outcome(1, 1);
        assert!(one.1.requests.len() > 20);
        for (partitions, threads) in [(2, 1), (4, 1), (4, 2)] {
            let other = outcome(partitions, threads);
            assert_eq!(one.0, other.0, "{scheme}: digest");
            assert!(one == other, "{scheme} {partitions} {threads}");
        }
    }
}

#[test]
fn a_sender_keeps_so_many_successive_flows_under_way_until_it_stops() {
    let traffic = "kind = \"successive\"\nbytes = \"100KB\"\nsenders = \"0-3\"\nflows = 2\n\
                   start = \"1ms\"\nstop = \"30ms\"\n";
    let text = text("tcp-newreno", FABRIC, traffic).replace("kind = \"queries\"\n", "");
    let (run, rows) = run(&text, &[]);
    let mut by_sender: BTreeMap<u32, Vec<&FlowRow>> = BTreeMap::new();
    rows.flows.iter().for_each(|row| by_sender.entry(row.src).or_default().push(row));
    assert!(by_sender.keys().copied().eq(0..4));
    for flows in by_sender.values() {
        assert!(flows.len() > 15, "{}", flows.len());
        let end = |row: &FlowRow| row.start_ps + row.fct_ps;
        let mut begins: Vec<u64> = flows.iter().map(|row| row.start_ps).collect();
        let mut ends: Vec<u64> = flows.iter().map(|row| end(row)).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        assert_eq!(begins[..2], [1_000_000_000; 2]);
        assert_eq!(begins[2..], ends[..ends.len() - 2], "each begins when another ends");
        assert!(begins.iter().all(|&start| start < 30_000_000_000));
        assert!(ends[ends.len() - 2] >= 30_000_000_000);
    }
    assert_eq!(rows.flows.len() as u64, run.progress().flows_started);
}

/// Inside a server a flow takes a link nine times as fast as that of the host to its leaf.
#[test]
fn successive_flows_take_the_fastest_link_of_a_host() {
    let text = "scheme = \"pfc\"\nnetwork = { topology = \"rail\" }\n\
                run = { warmup = \"0us\", measure = \"300us\", drain = \"20ms\" }\n\
                [[traffic]]\nkind = \"successive\"\nsenders = \"0\"\nreceivers = \"1-7\"\n";
    let (_, rows) = run(text, &[]);
    let mut flows: Vec<(u64, u64)> =
        rows.flows.iter().map(|row| (row.start_ps, row.start_ps + row.fct_ps)).collect();
    flows.sort_unstable();
    assert!(flows.len() > 50, "{}", flows.len());
    assert!(flows.windows(2).all(|pair| pair[0].1 == pair[1].0), "each begins at an end");
}

/// If the run ends too early, unfinished queries count as infinite, even if they never began.
#[test]
fn what_does_not_end_counts_as_infinite() {
    let traffic = "workflow = \"sequential\"\nqueries = \"40\"\nrate = 100.0\n";
    let (run, rows) = run(&text("pfc", STAR, traffic), &["run.measure=20ms", "run.drain=0us"]);
    let results = &run.simulation().requests()[0];
    let all = &results.requests[&None];
    let queries = &results.queries[&xoff_sim::requests::QueryGroup::All];
    assert_eq!(all.finished(), rows.requests.len() as u64);
    assert!(all.flows() > 15 && all.finished() < all.flows() && all.mean().is_none());
    assert_eq!(queries.flows(), 40 * all.flows());
    assert!(queries.finished() > 0 && queries.finished() < queries.flows());
    assert_eq!(queries.quantile(0.99), None);
    let warnings = run.summary().warnings.join("\n");
    assert!(warnings.contains("web requests of class query did not finish"), "{warnings}");
    // Only flows that began count as flows.
    assert!(run.progress().flows_started < 2 * queries.flows());
}

/// A timeout shorter than the queueing delay resends packets that have arrived.
#[test]
fn packets_that_arrive_twice_are_counted() {
    let traffic = "sizes = \"100KB\"\nrate = 20.0\nclients = \"0\"\nworkflow = \"parallel\"\n\
                   queries = \"40\"\n";
    let text = text("tcp-newreno", STAR, traffic);
    let repeated = |overrides: &[&str]| {
        let (run, _) = run(&text, overrides);
        let found: u64 =
            run.simulation().partitions().iter().map(|part| part.hosts().repeated()).sum();
        let drops = over_switches(&run, |switch| switch.stats().drops);
        assert_eq!(drops, 0);
        let transport = run.summary().transport.expect("selective acknowledgements");
        assert_eq!(transport.spurious_retransmissions, found);
        (found, over_hosts(&run, |stats| stats.retransmitted))
    };
    let patient = repeated(&["tcp.min_rto=50ms", "tcp.initial_rto=50ms", "buffer.size=12MB"]);
    assert_eq!(patient, (0, 0));
    let (found, sent) =
        repeated(&["tcp.min_rto=100us", "tcp.initial_rto=100us", "buffer.size=12MB"]);
    assert!(found > 0 && found <= sent, "{found} {sent}");
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (traffic, said) in [
        ("clients = \"3\"\nservers = \"3\"\n", "host 3 is the only server and a client"),
        ("sizes = \"\"\n", "sizes is empty"),
        ("rate = 0.0\n", "rate and burst_rate are 0"),
        ("queries = \"2\"\n", "has no effect with workflow = \"single\""),
        ("workflow = \"serial\"\n", "sequential"),
    ] {
        let text = text("pfc", STAR, traffic);
        let problems = Run::open(&text, "test.toml", &[], Threads::ONE).err().expect(traffic);
        assert!(problems.to_string().contains(said), "{problems}");
    }
    let fluid = format!("engine = \"fluid\"\n{FABRIC}[[traffic]]\nkind = \"queries\"\n");
    let problems =
        xoff_run::check(&fluid, "test.toml", &[], Memory::of_machine()).unwrap_err().to_string();
    assert!(problems.contains("need packets"), "{problems}");
}
