//! Results depend only on the scenario and its seed, not on partitions or threads.

use crate::common::{finish, for_fast_links, open, open_on};
use xoff_run::Run;
use xoff_run::summary::Summary;
use xoff_scenario::presets;
use xoff_sim::{FlowRow, PortRow, SampleRow, Threads};

/// A short run with background flows in all directions and two incasts at a time, so that a switch
/// often handles several events at one instant, and ECN if the scheme uses it.
fn scenario(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"40us\"\ndrain = \"1ms\"\nmonitor = \"0-127\"\n\
         [[traffic]]\nkind = \"open-loop\"\nload = 0.6\nstop = \"40us\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = 60\nbytes = \"4MB\"\nperiod = \"30us\"\n\
         stop = \"40us\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = 60\nbytes = \"2MB\"\nperiod = \"20us\"\n\
         spread = \"10us\"\nstop = \"40us\"\n"
    )
}

struct Outcome {
    digest: u64,
    rows: Vec<FlowRow>,
    samples: Vec<SampleRow>,
    ports: Vec<PortRow>,
    summary: Summary,
}

fn outcome(scheme: &str, overrides: &[&str]) -> Outcome {
    outcome_on(Threads::ONE, scheme, overrides)
}

fn outcome_on(threads: Threads, scheme: &str, overrides: &[&str]) -> Outcome {
    outcome_of(open_on(threads, &scenario(scheme), overrides))
}

fn outcome_of(mut run: Run) -> Outcome {
    let (mut rows, mut samples) = (Vec::new(), Vec::new());
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        rows.append(&mut run.rows().flows);
        samples.append(&mut run.rows().samples);
        if !more {
            let (ports, summary) = (run.ports(), run.summary());
            return Outcome { digest: run.digest(), rows, samples, ports, summary };
        }
    }
}

fn assert_same(one: &Outcome, other: &Outcome, what: &str) {
    for (left, right) in one.rows.iter().zip(&other.rows) {
        assert_eq!(left, right, "{what}: flows");
    }
    assert_eq!(one.rows.len(), other.rows.len(), "{what}: flows");
    for (left, right) in one.samples.iter().zip(&other.samples) {
        assert_eq!(left, right, "{what}: samples");
    }
    assert_eq!(one.samples.len(), other.samples.len(), "{what}: samples");
    assert!(one.ports == other.ports, "{what}: ports");
    assert_eq!(one.digest, other.digest, "{what}: digest");
    assert_eq!(one.summary.json(), other.summary.json(), "{what}: summary");
}

fn assert_same_however_cut(scheme: &str, overrides: &[&str]) -> Outcome {
    let whole = outcome(scheme, overrides);
    assert!(whole.rows.len() > 1000 && !whole.samples.is_empty(), "{scheme}");
    for parts in [1, 2, 3, 8] {
        let cut = format!("run.partitions={parts}");
        let overrides: Vec<&str> = overrides.iter().copied().chain([cut.as_str()]).collect();
        assert_same(&whole, &outcome(scheme, &overrides), &format!("{scheme} {overrides:?}"));
    }
    whole
}

/// Three threads have partitions of unequal size. Eight have one rack each. With random waits,
/// threads meet in a different order at every window.
#[test]
fn every_preset_runs_the_same_on_any_number_of_threads() {
    for (scheme, _) in presets() {
        let overrides = for_fast_links(&scheme);
        let one = outcome(&scheme, overrides);
        let waiting = |count| Threads { count, jitter: Some((count as u64, 30)), ..Threads::ONE };
        for threads in [Threads::up_to(2), waiting(3), waiting(8)] {
            let other = outcome_on(threads, &scheme, overrides);
            assert_same(&one, &other, &format!("{scheme} {threads:?}"));
        }
    }
}

/// A run that counts what threads would gain has their partitions, windows and messages.
#[test]
fn a_modelled_run_is_the_same() {
    let one = outcome("bfc", &[]);
    let threads = Threads { modelled: true, ..Threads::up_to(8) };
    assert_same(&one, &outcome_on(threads, "bfc", &[]), "modelled");
}

#[test]
fn every_preset_runs_the_same_however_it_is_cut() {
    for (scheme, _) in presets() {
        assert_same_however_cut(&scheme, for_fast_links(&scheme));
    }
}

/// Paths cross up to five switches; only the first and the last have hosts.
#[test]
fn a_fat_tree_runs_the_same_however_it_is_cut() {
    for scheme in ["bfc", "hpcc", "expresspass"] {
        assert_same_however_cut(scheme, &["network.topology=fat-tree"]);
    }
}

/// Every switch has hosts, and neighbours in every partition.
#[test]
fn a_torus_runs_the_same_however_it_is_cut() {
    for scheme in ["bfc", "ndp"] {
        assert_same_however_cut(scheme, &["network.topology=torus", "torus.hosts_per_switch=8"]);
    }
}

/// Hosts have two links, one to a switch of their server and one to a leaf.
#[test]
fn rails_run_the_same_however_they_are_cut() {
    let rail = ["network.topology=rail", "rail.spines=4"];
    for scheme in ["bfc", "sfc", "homa"] {
        assert_same_however_cut(scheme, &rail);
    }
}

/// An allocator's messages cross partitions with their contents, are lost and repeated, and rates
/// expire.
#[test]
fn rates_from_an_allocator_are_the_same_however_it_is_cut() {
    let tree = "network.topology=fat-tree";
    for overrides in [
        &["flowtune.message_loss=0.2", "flowtune.lifetime=40us"][..],
        &["flowtune.stop_at=30us", "flowtune.resume_at=200us", "flowtune.lifetime=40us"],
        &["flowtune.coalesce=true", "flowtune.compute_time=7us", "flowtune.advance_notice=10us"],
        &["flowtune.detection=idle", "flowtune.start_before_allocation=false", tree],
        &["flowtune.allocators=per-pod", tree],
        &["flowtune.paths=big-switch", "buffer.size=20KB", "flowtune.iteration=3us"],
    ] {
        let whole = assert_same_however_cut("flowtune", overrides);
        let flowtune = whole.summary.flowtune.expect("an allocator");
        assert!(flowtune.rates_received > 0, "{overrides:?}: no rates");
    }
}

/// Signals to senders, of all kinds. Often several leave a switch at one instant.
#[test]
fn signals_to_senders_are_the_same_however_it_is_cut() {
    let tree = "network.topology=fat-tree";
    for overrides in [
        &["sfc.cache=false", "sfc.filter=false"][..],
        &["sfc.estimator=true", "transport.ack_class=control"],
        &["sfc.signal=egress", "sfc.cache=false"],
        &["sfc.bit_delay=0ps", "sfc.mirror_delay=0ps", "sfc.pause_unit=0ps"],
        &["sfc.deployment=all", tree],
        &["sfc.trigger=20KB", "sfc.target=10KB", "network.rounding=1ns-down"],
        &["sfc.to_pfc=true", "faults.control_loss=0.1", "nic.receive_rate=70Gbps"],
    ] {
        let whole = assert_same_however_cut("sfc", overrides);
        let sfc = whole.summary.sfc.expect("SFC");
        assert!(sfc.bts_sent > 0, "{overrides:?} sent no signal");
    }
    let lossy = ["buffer.size=100KB"];
    assert_same_however_cut("onramp", &lossy);
}

/// Notices of losses, timeouts and lost control frames cross partitions as well.
#[test]
fn losses_are_the_same_however_it_is_cut() {
    for (scheme, overrides) in [
        ("hpcc-pfc", &["buffer.size=\"100KB\""][..]),
        ("dctcp", &["switch.hop=\"none\"", "transport.timeout=\"50us\"", "buffer.size=\"100KB\""]),
        (
            "hpcc",
            &[
                "switch.hop=\"none\"",
                "transport.recovery=\"selective-repeat\"",
                "transport.timeout=\"50us\"",
                "transport.timeout_low=\"20us\"",
                "buffer.size=\"100KB\"",
            ],
        ),
        (
            "bfc",
            &["buffer.size=\"100KB\"", "faults.control_loss=0.1", "transport.timeout=\"50us\""],
        ),
        (
            "tcp-cubic",
            &["buffer.size=\"20KB\"", "tcp.min_rto=\"20us\"", "tcp.initial_rto=\"50us\""],
        ),
        ("ndp", &["trim.header_queue=\"500B\"", "transport.timeout=\"100us\""]),
        ("xcp", &["buffer.size=\"10KB\"", "transport.ack_class=control"]),
        ("expresspass", &["buffer.size=\"1048B\"", "transport.timeout=\"50us\""]),
    ] {
        let whole = assert_same_however_cut(scheme, overrides);
        assert!(whole.summary.drops_packets > 0, "{scheme} lost nothing");
    }
}

/// Lossy and lossless classes in one memory, with and without PFC, by strict order and by weights.
#[test]
fn shares_of_classes_are_the_same_however_it_is_cut() {
    let priorities = ["traffic.1.priority=3", "traffic.2.priority=5", "transport.timeout=50us"];
    let small = ["buffer.size=2MB", "run.check_invariants=true"];
    for overrides in [
        &["buffer.by_class=0: lossy alpha 0.1 reserve 2KB, 3: alpha 0.05 headroom 20KB"][..],
        &["switch.scheduler=ets", "pfc.headroom_oversubscription=8", "pfc.threshold=0.01"],
        &["switch.hop=none", "buffer.by_class=3: alpha 0.5 reserve 2KB, 5: alpha 0.1"],
        &["switch.scheduler=ets", "buffer.by_class=3: lossy, 5: alpha 0.5", "pfc.watchdog=drop"],
    ] {
        let overrides: Vec<&str> =
            priorities.iter().chain(&small).chain(overrides).copied().collect();
        let whole = assert_same_however_cut("dctcp", &overrides);
        assert!(whole.summary.drops_packets > 0, "{overrides:?} lost nothing");
        let refused = whole.summary.class_memory.expect("accounts of classes").refused;
        assert!(!refused.0.is_empty(), "{overrides:?}");
    }
}

/// A flow of a query often begins at a NIC where another has just ended, with a time to look for
/// its timeout. Whether it has the other's slot depends on the partition's other hosts.
#[test]
fn timeouts_of_ended_flows_are_the_same_however_it_is_cut() {
    let text = "scheme = \"htsim-eqds\"\nseed = 1050\n[network]\ntopology = \"fat-tree\"\n\
                [fat_tree]\nk = 4\nhosts_per_edge = 3\nhost_rate = \"5Gbps\"\n\
                aggregation_rate = \"1250Mbps\"\ncore_rate = \"10Gbps\"\nhost_delay = \"38ns\"\n\
                aggregation_delay = \"38ns\"\ncore_delay = \"38ns\"\n\
                [run]\nwarmup = \"546132ns\"\nmeasure = \"2730660ns\"\ngrid = \"136533ns\"\n\
                [[traffic]]\nkind = \"queries\"\nworkflow = \"parallel\"\nqueries = \"2\"\n\
                rate = 1465.0\n";
    let whole = outcome_of(open_on(Threads::ONE, text, &["run.partitions=1"]));
    for parts in [2, 3, 8] {
        let cut = format!("run.partitions={parts}");
        assert_same(&whole, &outcome_of(open_on(Threads::ONE, text, &[&cut])), &cut);
    }
}

/// Headers return to their ingress, and bitmaps are old, for any hosts in the partition.
#[test]
fn bfcs_hardware_is_the_same_however_it_is_cut() {
    let tree = "network.topology=fat-tree";
    for (scheme, overrides) in [
        ("bfc-sampling", &["bfc.sampling=0.1", tree][..]),
        ("bfc-tofino", &["bfc.sampling=0.5", "tofino.recirculation_share=0.03"]),
        ("bfc-tofino", &["tofino.bitmap_period=20us", "tofino.egress_fifo=0B", tree]),
        ("bfc-tofino", &["tofino.recirculation_delay=0ps", "tofino.pipelines=1"]),
    ] {
        assert_same_however_cut(scheme, overrides);
    }
}

/// Packets pass stages inside switches, pauses have delays, and the same event often happens at
/// several ports at once.
#[test]
fn crossbars_are_the_same_however_it_is_cut() {
    let tree = ["network.topology=fat-tree", "crossbar.ingress_size=1MB", "pause.xoff=60KB"];
    for (scheme, overrides) in [
        ("detail", &tree[..]),
        ("detail-fc", &["crossbar.forwarding_delay=0ps", "pause.response=0ps"]),
        (
            "detail-fc",
            &["pause.xoff=50KB", "pause.generation_delay=500ns", "faults.control_loss=0.1"],
        ),
        ("detail-baseline", &["crossbar.rate_limit=0.98", "crossbar.speedup=1.3"]),
        ("detail-pfc", &["crossbar.classes=2", "pause.xoff=20KB"]),
    ] {
        assert_same_however_cut(scheme, overrides);
    }
}

/// Switches draw a port, or count, for every packet.
#[test]
fn spraying_is_the_same_however_it_is_cut() {
    let spray = "switch.balance=spray";
    for (scheme, overrides) in [
        ("ndp", &[spray][..]),
        ("ndp", &[spray, "spray.order=round-robin", "network.topology=fat-tree"]),
        ("dctcp", &[spray, "transport.recovery=perfect", "buffer.size=100KB", "switch.hop=none"]),
    ] {
        let whole = assert_same_however_cut(scheme, overrides);
        assert_ne!(whole.digest, outcome(scheme, &[]).digest, "{scheme}");
    }
}

/// Tables of flowlets and estimates of links change with every packet, and packets carry headers
/// between switches. Routes have weights.
#[test]
fn flowlets_and_weights_are_the_same_however_it_is_cut() {
    let tree = "network.topology=fat-tree";
    let [letflow, conga, wcmp] =
        ["letflow", "conga", "wcmp"].map(|b| format!("switch.balance={b}"));
    let (letflow, conga, wcmp) = (letflow.as_str(), conga.as_str(), wcmp.as_str());
    for (scheme, overrides) in [
        ("dctcp", &[letflow, "flowlets.timeout=1us"][..]),
        ("irn-dcqcn", &[letflow, "flowlets.timeout=2us", "flowlets.entries=64", tree]),
        ("tcp-cubic", &[conga, "flowlets.timeout=2us", "flowlets.gaps=timestamp"]),
        ("dctcp", &[conga, "flowlets.timeout=1us", "conga.tau=8us", "conga.aging=20us"]),
        ("homa", &[conga, "flowlets.timeout=1us", "conga.bits=5"]),
        ("tcp-dctcp", &[conga, "flowlets.timeout=5us", "buffer.size=100KB"]),
    ] {
        let whole = assert_same_however_cut(scheme, overrides);
        assert_ne!(whole.digest, outcome(scheme, &[]).digest, "{scheme}");
        for count in [2, 3, 8] {
            let threads = Threads { count, jitter: Some((count as u64, 30)), ..Threads::ONE };
            let other = outcome_on(threads, scheme, overrides);
            assert_same(&whole, &other, &format!("{scheme} {threads:?}"));
        }
    }
    // A spine without one of its cores has less weight.
    let text = scenario("irn-dcqcn")
        + "[[fault]]\nkind = \"link-down\"\nlink = \"spine:0,core:0\"\nat = \"0us\"\n\
           until = \"1s\"\ndetection = \"0us\"\n";
    let of =
        |parts: u32| outcome_of(open(&text, &[wcmp, tree, &format!("run.partitions={parts}")]));
    let whole = of(1);
    for parts in [2, 3, 8] {
        assert_same(&whole, &of(parts), &format!("wcmp in {parts}"));
    }
    let ecmp = outcome_of(open(&text, &[tree]));
    assert_ne!(whole.digest, ecmp.digest);
}

/// Receivers request missing data in an order that partitions do not change.
#[test]
fn lost_packets_of_homa_are_the_same_however_it_is_cut() {
    let lossy = ["buffer.kind=shared", "buffer.size=200KB", "transport.timeout=50us"];
    let more = ["homa.overcommitment=2", "homa.boost_tail=true", "run.link_delays=true"];
    let whole = assert_same_however_cut("homa", &[&lossy[..], &more].concat());
    let homa = whole.summary.homa.expect("Homa");
    assert!(homa.resends > 0, "nothing was asked for again");
}

/// NICs that pause their switches have a timer and send frames.
#[test]
fn slow_hosts_are_the_same_however_it_is_cut() {
    let overrides = ["nic.receive_rate=70Gbps", "nic.receive_xoff=20kB", "nic.receive_xon=10kB"];
    let whole = assert_same_however_cut("hpcc", &overrides);
    assert_ne!(whole.digest, outcome("hpcc", &[]).digest);
}

/// Links of 10 ns between partitions, and some packets per millisecond: a hundred million windows,
/// almost all of them empty.
#[test]
fn empty_windows_change_nothing_and_take_no_time() {
    let network = "scheme = \"tcp-newreno\"\n[network]\ntopology = \"leaf-spine\"\n[leaf_spine]\n\
                   leaves = 3\nspines = 2\nhosts_per_leaf = 2\nhost_rate = \"10Mbps\"\n\
                   spine_rate = \"10Mbps\"\nspine_delay = \"10ns\"\n\
                   [run]\nwarmup = \"0us\"\nmeasure = \"1s\"\ngrid = \"10ms\"\n\
                   [[traffic]]\nkind = \"open-loop\"\nload = 0.1\nstop = \"1s\"\n";
    let of = |parts: u32| outcome_of(open(network, &[&format!("run.partitions={parts}")]));
    let whole = of(1);
    assert!(whole.rows.len() > 50);
    assert_same(&whole, &of(3), "three parts");
}

#[test]
fn another_seed_is_another_run() {
    let first = outcome("bfc", &[]);
    let other = outcome("bfc", &["seed=2"]);
    assert_ne!(first.digest, other.digest);
    assert!(first.rows != other.rows);
}

/// Schemes are compared under the same traffic: senders, receivers, sizes and times.
#[test]
fn every_preset_meets_the_same_traffic() {
    let arrivals = |scheme: &str| {
        // htsim's TCP waits 3 s for the answer to a lost SYN.
        let overrides = [&["run.drain=\"5s\""], for_fast_links(scheme)].concat();
        let mut run = open(&scenario(scheme), &overrides);
        let mut rows: Vec<_> = finish(&mut run)
            .iter()
            .map(|row| (row.flow, row.src, row.dst, row.size_bytes, row.start_ps))
            .collect();
        rows.sort_unstable();
        rows
    };
    let expected = arrivals("bfc");
    assert!(expected.len() > 1000);
    for (scheme, _) in presets() {
        assert!(arrivals(&scheme) == expected, "{scheme}");
    }
}

/// A random world: its BDP is less than a byte, and control queues derived from it had no room. A
/// control packet was lost where it met another event, and passed where that event was in another
/// partition.
#[test]
fn control_packets_have_room_at_an_idle_port_however_it_is_cut() {
    let text = "scheme = \"ndp\"\nseed = 4368\n\
                [network]\ntopology = \"leaf-spine\"\n\
                [leaf_spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
                host_rate = \"10Mbps\"\nspine_rate = \"10Mbps\"\n\
                [transport]\nbase_rtt = \"178ns\"\n\
                [run]\nwarmup = \"22222222ns\"\nmeasure = \"111111110ns\"\ngrid = \"22222222ns\"\n\
                [[traffic]]\nkind = \"open-loop\"\nsizes = \"alistorage\"\nload = 0.759\n\
                arrivals = \"lognormal\"\n";
    let [one, four] = ["run.partitions=1", "run.partitions=4"].map(|cut| {
        let mut run = open(text, &[cut]);
        let flows = finish(&mut run);
        (run.digest(), flows)
    });
    assert_eq!(one, four);
}
