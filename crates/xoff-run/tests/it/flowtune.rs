//! Rates from an allocator: their accuracy, their delivery, and runs without them.

use std::collections::BTreeMap;

use crate::common::{finish, open, over_hosts, over_switches, run};
use xoff_alloc::{Allocator, Config, LinkId};
use xoff_core::{HostId, PortId};
use xoff_net::Kind;
use xoff_net::arch::Switch;
use xoff_net::fabric::Captured;
use xoff_run::Run;
use xoff_scenario::resolve::{Resolved, resolve};
use xoff_sim::FlowSeriesRow;
use xoff_sim::flowtune::FlowtuneCounts;
use xoff_sim::{FlowRow, Simulation, Threads};

const US: u64 = 1_000_000;

/// Hosts around a switch, with the paper's rate and round trip.
const STAR: &str = "scheme = \"flowtune\"\n[network]\ntopology = \"star\"\n\
                    [star]\nhosts = 8\nrate = \"10Gbps\"\ndelay = \"3500ns\"\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n";

/// Two racks of four under two spines.
const FABRIC: &str = "scheme = \"flowtune\"\n\
                      [leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
                      host_rate = \"10Gbps\"\nspine_rate = \"10Gbps\"\n\
                      host_delay = \"3500ns\"\nspine_delay = \"2us\"\n\
                      [run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n";

/// A flow of `bytes`.
fn long(src: u32, dst: u32, bytes: &str) -> String {
    format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"{bytes}\"\n")
}

fn counts(run: &Run) -> FlowtuneCounts {
    run.simulation().flowtune().expect("there is an allocator")
}

/// Runs it to its end and returns its series of flows.
fn series(run: &mut Run) -> Vec<FlowSeriesRow> {
    let mut rows = Vec::new();
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        rows.append(&mut run.rows().flow_series);
        run.rows().flows.clear();
        run.rows().samples.clear();
        if !more {
            return rows;
        }
    }
}

/// Five flows start and stop one after another. "N flows each get 1/N of bandwidth. This changes
/// happens within one averaging interval (100 us)" (§5.3.1).
#[test]
fn n_flows_get_one_nth_within_an_interval() {
    let text = STAR.replace("5ms", "10ms")
        + "flow_series = \"100us\"\n\
           [[traffic]]\nkind = \"staggered\"\nsenders = \"1-5\"\nreceiver = 0\n\
           interval = \"1ms\"\n";
    let mut run = open(&text, &[]);
    let mut by_time: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in series(&mut run) {
        by_time.entry(row.time_ps / (100 * US)).or_default().push(row.received_bytes);
    }
    // 99 % of 10 Gb/s for 100 us, less headers.
    let all = 0.99 * 125_000.0 * 1460.0 / 1538.0;
    for (interval, got) in by_time.iter().filter(|(interval, _)| **interval < 90) {
        let step = (interval - 1) / 10;
        let flows = if step < 5 { step + 1 } else { 9 - step };
        // The interval in which a flow starts or stops, and the next one: a round trip to the
        // allocator and an iteration take less than half of one.
        let first = (interval - 1) % 10;
        if first == 0 {
            continue;
        }
        let got: Vec<f64> = got.iter().map(|&bytes| bytes as f64).filter(|&b| b > 0.0).collect();
        assert_eq!(got.len() as u64, flows, "interval {interval}");
        for bytes in got {
            let share = bytes * flows as f64 / all;
            assert!((share - 1.0).abs() < 0.1, "interval {interval}, {flows} flows: {share}");
        }
    }
    assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0);
}

/// The allocator's path of a flow equals the path of its packets, and so does the path of its
/// acknowledgements.
#[test]
fn paths_are_those_of_the_packets() {
    for shape in ["leaf-spine\"\n[leaf_spine]\nspines = 4", "fat-tree\"\n[fat_tree]\nk = 4"] {
        let text = format!(
            "scheme = \"flowtune\"\n[network]\ntopology = \"{shape}\n\
             [run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
             [[traffic]]\nkind = \"open-loop\"\nload = 0.8\nload_on = \"hosts\"\nstop = \"20us\"\n"
        );
        let Resolved { setup, plan, traffic, classes, class_of, .. } =
            resolve(&text, "test.toml", &[], Threads::ONE.into())
                .unwrap_or_else(|problems| panic!("{problems}"));
        let mut simulation =
            Simulation::new(setup, plan, traffic, &classes, class_of, &[], Threads::ONE).unwrap();
        let ports: Vec<PortId> = simulation.setup().topology.port_ids().collect();
        simulation.capture(&ports);
        while simulation.step().unwrap() {}
        let setup = simulation.setup().clone();
        let paths = setup.paths();
        let mut lengths = BTreeMap::new();
        for Captured { port, packet, .. } in simulation.take_captured() {
            let route = (HostId(packet.src), HostId(packet.dst), packet.label);
            let path: Vec<PortId> = paths.follow(&setup.topology, &setup.routes, route).collect();
            assert!(path.contains(&PortId(port)), "{shape}: {packet:?} leaves by port {port}");
            *lengths.entry((packet.kind == Kind::Segment, path.len())).or_insert(0) += 1;
        }
        // Data and acknowledgements, and the control connections, within a rack and between racks.
        assert!(lengths.len() > 3 && lengths.values().all(|&count| count > 20), "{lengths:?}");
    }
}

/// The senders of flows in progress, with their rates (bit/s).
fn rates(run: &Run) -> Vec<((HostId, HostId, u32), u64)> {
    let partitions = run.simulation().partitions().iter();
    let flows = partitions.flat_map(|part| part.hosts().alive()).filter(|flow| !flow.open);
    flows.map(|f| ((f.start.src, f.start.dst, f.start.label), f.pace.rate)).collect()
}

/// In a small fabric, servers end up with the rates of an optimizer that runs until it converges.
#[test]
fn rates_are_optimal() {
    let pairs = [(0, 4), (0, 5), (1, 4), (2, 6), (2, 3), (3, 7), (7, 0), (6, 0), (5, 1)];
    let flows: String = pairs.iter().map(|&(src, dst)| long(src, dst, "0B")).collect();
    let mut run = open(&(FABRIC.to_owned() + &flows), &["flowtune.reserve_acks=false"]);
    finish(&mut run);
    let setup = run.simulation().setup();
    let capacities: Vec<f64> =
        setup.topology.ports().iter().map(|port| port.rate.0 as f64 / 1e9).collect();
    let mut optimizer = Allocator::new(&capacities, Config::default()).unwrap();
    let paths = setup.paths();
    let mut flows = Vec::new();
    for (route, rate) in rates(&run) {
        let path = paths.follow(&setup.topology, &setup.routes, route);
        let path: Vec<LinkId> = path.map(|port| LinkId(port.0)).collect();
        flows.push((optimizer.add_flow(&path, 1.0).unwrap(), rate));
    }
    (0..1000).for_each(|_| optimizer.iterate());
    assert_eq!(flows.len(), pairs.len());
    for (flow, rate) in flows {
        let optimal = optimizer.rate(flow).unwrap() * 1e9;
        // Servers receive changes by more than 1 %.
        assert!((rate as f64 / optimal - 1.0).abs() < 0.02, "{rate} instead of {optimal}");
    }
}

/// A rate waits behind data on its way to the server, while seven others send it their first
/// windows.
#[test]
fn rates_share_the_queues_of_the_data() {
    let flow = long(1, 2, "1MB");
    let crowd: String = [0, 3, 4, 5, 6, 7].map(|src| long(src, 1, "14600B")).concat();
    let first_rate = |text: &str| {
        let mut run = open(text, &["flowtune.reserve=0.2"]);
        while rates(&run)
            .iter()
            .all(|((src, ..), rate)| *src != HostId(1) || *rate == 10_000_000_000)
        {
            run.step().unwrap();
        }
        run.progress().sim_ps
    };
    let (alone, crowded) =
        (first_rate(&(STAR.to_owned() + &flow)), first_rate(&(STAR.to_owned() + &crowd + &flow)));
    // 14 us for the round trip, and up to 10 us until the next iteration.
    assert!(alone <= 30 * US, "{alone}");
    // Six windows of ten packets; one packet leaves every 1.2 us.
    assert!(crowded >= 70 * US, "{crowded}");
}

/// The allocator stops. Whether it restarts or not, no flow stalls: TCP continues from the last
/// rates, so that the link stays busy.
#[test]
fn flows_go_on_when_the_allocator_stops() {
    let flows: String = (1..5).map(|src| long(src, 0, "0B")).collect();
    let late =
        "[[traffic]]\nkind = \"long\"\nsrc = 5\ndst = 0\nbytes = \"100KB\"\nstart = \"2ms\"\n";
    let text = STAR.to_owned() + "flow_series = \"200us\"\n" + &flows + late;
    for (resume, expiries) in [("0us", 5), ("3ms", 5)] {
        let resume_at = format!("flowtune.resume_at={resume}");
        let mut run = open(&text, &["flowtune.stop_at=1ms", &resume_at]);
        let mut by_time: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for row in series(&mut run).iter().filter(|row| row.src < 5) {
            by_time.entry(row.time_ps / (200 * US)).or_default().push(row.received_bytes);
        }
        let counts = counts(&run).agents;
        assert!(counts.expiries >= 4 && counts.expiries <= expiries, "{counts:?}");
        assert_eq!(counts.fallbacks, 4);
        for (interval, got) in &by_time {
            let (sum, least) = (got.iter().sum::<u64>(), got.iter().min().unwrap());
            // The late flow gets its share in about two intervals.
            let line = 250_000.0 * 1460.0 / 1538.0;
            assert!(*interval == 1 || sum as f64 > 0.5 * line, "{interval}: {got:?}");
            assert!(*least > 0, "a flow stalls in {interval}: {got:?}");
        }
        let over: f64 = by_time.values().skip(2).map(|got| got.iter().sum::<u64>() as f64).sum();
        assert!(over > 0.9 * 250_000.0 * 1460.0 / 1538.0 * 23.0 - 100_000.0, "{over}");
        let equal =
            |got: &[u64]| got.iter().all(|&bytes| bytes * 4 * 10 > 9 * got.iter().sum::<u64>());
        if resume != "0us" {
            for (interval, got) in by_time.iter().filter(|(interval, _)| **interval > 17) {
                assert!(equal(got), "{interval}: {got:?}");
            }
        }
        assert_eq!(run.simulation().classes()[0].all.finished(), 1);
    }
}

/// Control packets are lost: all flows end.
#[test]
fn flows_end_whatever_is_lost_of_messages() {
    let text = FABRIC.replace("5ms", "1ms")
        + "[[traffic]]\nkind = \"open-loop\"\nsizes = \"hadoop\"\nload = 0.5\nload_on = \"hosts\"\n\
           stop = \"1ms\"\n";
    let mut slowest = Vec::new();
    for loss in ["0", "0.01", "0.1", "0.5"] {
        let (run, rows) = run(&text, &[&format!("flowtune.message_loss={loss}")]);
        assert_eq!(rows.len() as u64, run.progress().flows_started, "{loss}");
        let counts = counts(&run);
        assert_eq!(counts.streams[0].lost > 0, loss != "0");
        assert_eq!(counts.streams[1].lost > 0, loss != "0");
        slowest.push(rows.iter().map(FlowRow::slowdown).fold(0.0, f64::max));
    }
    assert!(slowest.iter().all(|&slowest| slowest < 50.0), "{slowest:?}");
}

/// Flows of one server to another at the same time: "the allocator will output the same rate if
/// there are two back-to-back flowlets or one large flowlet, and coalescing helps reduce
/// communication overhead" (§6).
#[test]
fn flows_that_join_a_flowlet_cost_no_messages() {
    let text = STAR.to_owned() + &long(1, 0, "400KB").repeat(5);
    let (apart, apart_rows) = run(&text, &[]);
    let (joined, joined_rows) = run(&text, &["flowtune.coalesce=true"]);
    let (apart, joined) = (counts(&apart), counts(&joined));
    assert_eq!((apart.agents.flowlets, apart.agents.joined), (5, 0));
    assert_eq!((joined.agents.flowlets, joined.agents.joined), (1, 4));
    assert_eq!((apart.streams[0].messages, joined.streams[0].messages), (10, 2));
    let last = |rows: &[FlowRow]| rows.iter().map(|row| row.fct_ps).max().unwrap() as f64;
    let ratio = last(&joined_rows) / last(&apart_rows);
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    // One after the other: the first ends after a fifth of the time.
    let first = joined_rows.iter().map(|row| row.fct_ps).min().unwrap() as f64;
    assert!(first < 0.25 * last(&joined_rows), "{first}");
}

/// With a timer, flows that follow each other closely are one flowlet, which ends with the timer.
#[test]
fn an_idle_threshold_ends_flowlets() {
    let at = |start: u32| long(1, 0, "5KB") + &format!("start = \"{start}us\"\n");
    let text = STAR.to_owned() + &[0, 40, 80, 400].map(at).concat();
    let (run, rows) = run(&text, &["flowtune.detection=idle", "flowtune.idle_threshold=60us"]);
    let counts = counts(&run);
    assert_eq!(rows.len(), 4);
    assert_eq!((counts.agents.flowlets, counts.agents.joined), (2, 2));
    assert_eq!(counts.streams[0].messages, 4);
    assert_eq!(counts.allocators.flowlets, 2);
}

/// The allocator knows the servers' links only. Its rates are upper limits then, and TCP finds the
/// capacity of the core.
#[test]
fn as_one_big_switch_tcp_sees_to_the_core() {
    let flows: String = (0..4).map(|src| long(src, src + 4, "2MB")).collect();
    // The queue that TCP fills is longer than the default lifetime.
    let lifetime = "flowtune.lifetime=1ms";
    let narrow = ["leaf_spine.spines=1", "flowtune.paths=big-switch", lifetime];
    let mut run = open(&(FABRIC.to_owned() + &flows), &narrow);
    while run.progress().sim_ps < 500 * US {
        run.step().unwrap();
    }
    // Without knowledge of the core, the allocator gives each of them its server's link.
    for (route, rate) in rates(&run) {
        assert!((9_700_000_000..=9_900_000_000).contains(&rate), "{route:?}: {rate}");
    }
    let rows = finish(&mut run);
    assert_eq!(rows.len(), 4);
    let last = rows.iter().map(|row| row.fct_ps).max().unwrap() as f64;
    let ideal = 8e6 * 8.0 * (1538.0 / 1460.0) / 10e9 * 1e12;
    assert!(last < 1.5 * ideal, "{last}");
}

/// If the end is known in advance, the allocator learns of it earlier.
#[test]
fn ends_can_be_told_in_advance() {
    let text = STAR.to_owned() + &long(1, 0, "1MB") + &long(2, 0, "2MB");
    let time = |advance: &str| {
        let (run, rows) = run(&text, &[&format!("flowtune.advance_notice={advance}")]);
        assert_eq!(counts(&run).streams[0].messages, 4);
        rows.iter().map(|row| row.fct_ps).max().unwrap()
    };
    let (late, early) = (time("0us"), time("20us"));
    assert!(early < late && late - early < 20 * US, "{early} {late}");
}

/// The same with a flow longer than 64 bits of its time can express, and with a flow without an
/// end.
#[test]
fn no_end_is_expected_too_early() {
    for bytes in ["20MB", "0B"] {
        let text = STAR.to_owned() + &long(1, 0, bytes) + &long(2, 0, "2MB");
        let active = |advance: &str| {
            let set = [&format!("flowtune.advance_notice={advance}")[..], "run.drain=0us"];
            let mut run = open(&text, &set);
            finish(&mut run);
            counts(&run).allocators.active_flowlets
        };
        let (late, early) = (active("0us"), active("20us"));
        assert!(late.abs_diff(early) < 10, "{bytes}: {late} and {early} flowlet-iterations");
    }
}

/// Allocators exchange messages before the first flow starts, across partitions as well.
#[test]
fn what_is_said_before_the_first_flow_is_the_same_however_it_is_cut() {
    let text = FABRIC.replace("warmup = \"0us\"", "warmup = \"1ms\"")
        + "[[traffic]]\nkind = \"long\"\n\
                src = 0\ndst = 4\nbytes = \"1MB\"\nstart = \"1ms\"\n";
    let digest = |parts: &str| {
        let faults = ["flowtune.stop_at=20us", "flowtune.resume_at=40us"];
        let mut run = open(&text, &[faults[0], faults[1], &format!("run.partitions={parts}")]);
        finish(&mut run);
        assert_eq!(over_hosts(&run, |stats| stats.timeouts), 0);
        run.simulation().digest()
    };
    assert_eq!(digest("1"), digest("2"));
}

/// A link goes down, and half a millisecond later switches route around it. With notice the
/// allocator moves flowlets to their new paths. Without notice it allocates more than the remaining
/// capacity, and the windows of the rates limit the queue. In both cases nothing more is lost, and
/// all flows end.
#[test]
fn a_link_that_fails_with_and_without_notice() {
    let flows: String = (0..4).map(|src| long(src, src + 4, "1500KB")).collect();
    let fault = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:0\"\nat = \"1ms\"\n\
                 detection = \"500us\"\n";
    let text = FABRIC.to_owned() + &flows + fault;
    let waiting_after_detection = |overrides: &[&str]| {
        let mut run = open(&text, overrides);
        let drops = |run: &Run| over_switches(run, |switch| switch.stats().drops);
        while run.progress().sim_ps < 2000 * US {
            run.step().unwrap();
        }
        let (before, mut most) = (drops(&run), 0);
        while run.progress().sim_ps < 3000 * US {
            run.step().unwrap();
            most = most.max(over_switches(&run, |switch| switch.used_bytes()));
        }
        let mut rows = std::mem::take(&mut run.rows().flows);
        rows.extend(finish(&mut run));
        assert_eq!(rows.len(), 4, "{overrides:?}");
        assert_eq!(drops(&run), before, "{overrides:?}");
        most
    };
    let known = waiting_after_detection(&[]);
    let later = waiting_after_detection(&["flowtune.path_discovery=200us"]);
    let unknown = waiting_after_detection(&["flowtune.failures=unknown"]);
    assert!(known < 10_000 && later < 10_000, "{known} {later}");
    // One link carries the allocation of two: 20 Gb/s in windows of two base RTTs of 27 us are 135
    // KB.
    assert!((50_000..140_000).contains(&unknown), "{unknown}");
}

/// Before the first flow begins, time passes in few steps, but none goes beyond the next fault.
#[test]
fn a_fault_before_the_first_flow_begins_at_its_time() {
    let fault = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:0\"\nat = \"100us\"\n\
                 until = \"500us\"\n";
    let late = long(0, 4, "15KB").replace("[[traffic]]\n", "[[traffic]]\nstart = \"1ms\"\n");
    let mut run = open(&(FABRIC.to_owned() + &late + fault), &["run.warmup=1ms"]);
    let mut times = Vec::new();
    while run.progress().sim_ps < 1000 * US {
        run.step().unwrap();
        times.push(run.progress().sim_ps);
    }
    assert!([100, 500].iter().all(|at| times.contains(&(at * US))), "{times:?}");
    assert!(times.len() < 20, "{times:?}");
    assert_eq!(finish(&mut run).len(), 1);
}

/// The switches at the ends of a failed link move flows at once, but the allocator hears of the
/// failure when all others do. Until then it allocates what two links carry.
#[test]
fn a_local_repair_is_unknown_to_the_allocator() {
    let flows: String = (0..4).map(|src| long(src, src + 4, "0B")).collect();
    let fault = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:0\"\nat = \"1ms\"\n\
                 detection = \"500us\"\nlocal_repair = true\n";
    let mut run = open(&(FABRIC.to_owned() + &flows + fault), &[]);
    let mut sum_at = |until_us: u64| -> u64 {
        while run.progress().sim_ps < until_us * US {
            run.step().unwrap();
        }
        rates(&run).iter().map(|(_, rate)| rate).sum()
    };
    let [before, repaired, known] = [900, 1040, 2500].map(&mut sum_at);
    assert!(before > 18_000_000_000 && known < 11_000_000_000, "{before} {known}");
    // Later, a flow whose messages were lost is under its own congestion control for a while.
    assert_eq!(repaired, before);
}

#[test]
fn timeouts_shorter_than_a_round_trip_are_refused() {
    let text = FABRIC.replace("3500ns", "7us") + &long(0, 4, "1MB");
    let Err(problems) = Run::open(&text, "test.toml", &[], Threads::ONE) else {
        panic!("a base RTT of 36 us is accepted");
    };
    assert!(problems.to_string().contains("or every message would be retransmitted"), "{problems}");
}

/// Each pod has an allocator. Allocators announce flows from other pods and subtract them from the
/// capacities. So a flow from another pod and one of the pod share a server's link. When the former
/// has ended, the latter gets the whole link.
#[test]
fn allocators_of_pods_leave_room_for_each_other() {
    let text = "scheme = \"flowtune\"\n[network]\ntopology = \"fat-tree\"\n\
                [fat_tree]\nk = 4\nhost_rate = \"10Gbps\"\naggregation_rate = \"10Gbps\"\n\
                core_rate = \"10Gbps\"\n[run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n"
        .to_owned()
        + &long(2, 0, "0B")
        + &long(4, 0, "1MB");
    let greedy = ["flowtune.allocators=per-pod", "flowtune.transit_share=0.95"].map(String::from);
    let problems = Run::open(&text, "test.toml", &greedy, Threads::ONE).err().unwrap().to_string();
    assert!(problems.contains("leave no capacity for the flowlets of its own"), "{problems}");
    let mut run = open(&text, &["flowtune.allocators=per-pod"]);
    assert_eq!(run.simulation().setup().topology.attached, 8);
    let local = |run: &Run| rates(run).iter().find(|((src, ..), _)| *src == HostId(2)).unwrap().1;
    while run.progress().sim_ps < 500 * US {
        run.step().unwrap();
    }
    // The acknowledgements of its own data take other links.
    assert!((4_900_000_000..=4_950_000_000).contains(&local(&run)), "{}", local(&run));
    let rows = finish(&mut run);
    let ideal = 8e6 * (1538.0 / 1460.0) / 5e9 * 1e12;
    assert!((rows[0].fct_ps as f64) < 1.3 * ideal, "{}", rows[0].fct_ps);
    assert!((9_800_000_000..=9_900_000_000).contains(&local(&run)), "{}", local(&run));
    let [_, _, between] = counts(&run).streams;
    assert!((2..10).contains(&between.messages), "{between:?}");
}

/// A flow with a long lifetime that receives no rates, because its allocator has stopped.
#[test]
fn a_flow_that_is_held_is_named() {
    let text = FABRIC.to_owned() + &long(0, 4, "1MB");
    let sets = [
        "flowtune.start_before_allocation=false",
        "flowtune.stop_at=1us",
        "flowtune.lifetime=1s",
        "run.watchdog=2ms",
    ];
    let mut run = open(&text, &sets);
    let error = loop {
        match run.step() {
            Ok(true) => {}
            Ok(false) => panic!("the flow has ended"),
            Err(error) => break error,
        }
    };
    assert!(error.contains("held until the allocator gives it a rate"), "{error}");
}

/// Pods are what the core joins, by one link or by several.
#[test]
fn pods_may_have_parallel_links_to_a_core() {
    let text = "scheme = \"flowtune\"\n\
                [network]\ntopology = \"clos\"\n[clos]\npods = 2\ncore_links = 4\n\
                [flowtune]\nallocators = \"per-pod\"\n\
                [run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\n"
        .to_owned();
    let (run, rows) = run(&(text + &long(0, 7, "100KB")), &[]);
    assert_eq!(rows.len(), 1);
    let [_, _, between] = counts(&run).streams;
    assert!(between.messages >= 2, "{between:?}");
}
