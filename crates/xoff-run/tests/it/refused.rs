//! Settings that would hang, overflow or have no meaning are refused with their place.

mod architectures;
mod values;

use xoff_run::Run;
use xoff_sim::Threads;

const SCENARIO: &str = "[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
                        [[traffic]]\nkind = \"open-loop\"\nload = 0.5\n";

/// The same on Gigabit links.
const SLOW: &str = "[leaf_spine]\nhost_rate = \"1Gbps\"\nspine_rate = \"1Gbps\"\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
                    [[traffic]]\nkind = \"open-loop\"\nload = 0.5\n";

/// The problems of a scenario under a scheme that refuses a setting.
fn problems_of(scenario: &str, scheme: &str, setting: &str) -> String {
    let overrides = [format!("scheme={scheme}"), setting.into()];
    let Err(problems) = Run::open(scenario, "test.toml", &overrides, Threads::ONE) else {
        panic!("{setting} is accepted");
    };
    problems.to_string()
}

/// A scheme refuses a setting, with its place and a message.
fn assert_refused(scheme: &str, setting: &str, said: &str) {
    let text = problems_of(SCENARIO, scheme, setting);
    assert!(text.contains(said) && text.contains("--set"), "{setting}:\n{text}");
}

#[test]
fn settings_without_effect_are_refused() {
    let one = "bfc.assignment = \"single\" has one queue";
    for (scheme, setting, said) in [
        ("dctcp", "switch.quantum=2KB", "\"fifo\" serves its queues without turns"),
        ("pfabric", "switch.quantum=2KB", "\"pfabric\" serves its queues without turns"),
        ("homa", "switch.quantum=2KB", "\"strict\" serves its queues without turns"),
        ("bfc-single", "switch.quantum=2KB", "one queue takes no turns"),
        ("irn", "faults.control_loss=0.1", "switches send no frames of a flow control"),
        ("hpcc-pfc-dqa", "faults.control_loss=0.1", "switches send no frames"),
        ("detail-priority", "faults.control_loss=0.1", "switches send no frames"),
        ("bfc", "transport.base_rtt=9us", "depends on the base RTT"),
        ("dcqcn", "transport.base_rtt=9us", "depends on the base RTT"),
        ("tcp-newreno", "transport.base_rtt=9us", "depends on the base RTT"),
        ("expresspass", "transport.base_rtt=9us", "depends on the base RTT"),
        ("bfc", "transport.base_rtt_of=pair", "of a flow depends on its base RTT"),
        ("xcp", "transport.base_rtt_of=pair", "of a flow depends on its base RTT"),
        ("sfqcodel", "transport.base_rtt_of=pair", "of a flow depends on its base RTT"),
        ("bfc", "transport.window_follows_rate=true", "\"unlimited\" cannot follow a rate"),
        ("dcqcn", "transport.window_follows_rate=true", "\"unlimited\" cannot follow a rate"),
        ("ideal-fq", "transport.window_follows_rate=true", "\"none\" sets no rate"),
        ("bfc", "switch.ecn=true", "congestion = \"none\" ignores ECN marks"),
        ("hpcc", "switch.ecn=true", "congestion = \"hpcc\" ignores ECN marks"),
        ("bfc", "transport.congestion=dctcp", "\"dctcp\" needs ECN marks"),
        ("pfc", "transport.congestion=dcqcn", "\"dcqcn\" needs ECN marks"),
        ("dctcp", "switch.ecn=false", "\"dctcp\" needs ECN marks"),
        ("tcp-dctcp", "switch.ecn=false", "\"dctcp-tcp\" needs ECN marks"),
        ("dctcp", "dctcp.initial_window_packets=5", "dctcp.start = \"line-rate\""),
        ("tcp-dctcp", "ecn.pmax=0.5", "ecn.kmin = ecn.kmax is a single threshold"),
        ("bfc-single", "bfc.queues=16", one),
        ("bfc-single", "bfc.reserve_control_queue=false", one),
        ("bfc-single", "bfc.table_factor=10", "flows of one table entry share a queue in any case"),
        ("bfc-single", "bfc.threshold=fixed", "there is only one queue"),
        ("hpcc-pfc-sfq", "bfc.table_factor=10", "flows of one table entry share a queue"),
        ("bfc", "traffic.0.sigma=1", "arrivals = \"poisson\" has gaps of one parameter"),
        ("bfc", "traffic.0.priority=1", "bfc.classes = 1: queues are those of flows"),
        ("detail-baseline", "traffic.0.priority=1", "crossbar.classes = 1"),
        ("bfc", "frame.ack_header=50B", "\"none\" puts no header of its own into ack"),
        ("homa", "frame.ack_header=50B", "Homa puts no header of its own into ack"),
    ] {
        assert_refused(scheme, setting, said);
    }
    let overrides = ["scheme=bfc", "traffic.0.locality=balanced", "traffic.0.load_on=core"];
    let problems = Run::open(SCENARIO, "test.toml", &overrides.map(String::from), Threads::ONE);
    let text = problems.err().expect("load_on is accepted").to_string();
    assert!(text.contains("locality = \"balanced\" puts the load on all links"), "{text}");
}

/// A source that does something once has no use for the time to the next one.
#[test]
fn periods_of_what_happens_once_are_refused() {
    let opened = |traffic: &str| {
        let text = format!("scheme = \"dctcp\"\n[run]\nmeasure = \"20us\"\n[[traffic]]\n{traffic}");
        let run = Run::open(&text, "test.toml", &[], Threads::ONE);
        run.map(drop).map_err(|problems| problems.to_string())
    };
    let incast = "kind = \"incast\"\nperiod = \"10us\"\n";
    let queries = "kind = \"queries\"\nrate = 1e6\n";
    for (traffic, said) in [
        (format!("{incast}events = 1"), "\"period\" in [[traffic]] is not used because events = 1"),
        (format!("{queries}burst_rate = 5e6"), "burst_rate has no effect with burst = \"0s\""),
    ] {
        let text = opened(&traffic).expect_err(&traffic);
        assert!(text.contains(said), "{traffic}:\n{text}");
    }
    for traffic in [
        format!("{incast}events = 2"),
        format!("{incast}events = 1\narrivals = \"poisson\""),
        format!("{queries}burst_rate = 5e6\nburst = \"1us\"\nperiod = \"10us\""),
    ] {
        assert_eq!(opened(&traffic), Ok(()), "{traffic}");
    }
}

/// A preset may have settings that have no effect in a variant of it.
#[test]
fn what_a_preset_sets_is_no_mistake() {
    for overrides in [
        &["scheme=dctcp", "transport.window=unlimited", "dctcp.min_rate=10Mbps"][..],
        &["scheme=pfc-wdrop", "switch.scheduler=fifo"],
        &["scheme=tcp-dctcp", "ecn.kmax=200KB"],
    ] {
        let given: Vec<String> = overrides.iter().copied().map(String::from).collect();
        let run = Run::open(SLOW, "test.toml", &given, Threads::ONE);
        assert!(run.is_ok(), "{overrides:?}: {}", run.err().unwrap());
    }
}

/// Each recovery has its own timeouts and requests.
#[test]
fn settings_of_another_recovery_are_refused() {
    for (recovery, setting, said) in [
        ("go-back-n", "timeout_low=50us", "has one timeout"),
        ("perfect", "timeout_low_packets=5", "detects every loss"),
        ("selective-repeat", "nack_interval=50us", "does not repeat requests"),
        ("selective-repeat", "timeout=90us", "timeout_low = 100us must not be longer than"),
    ] {
        let setting = format!("transport.{setting}");
        let recovery = format!("transport.recovery={recovery}");
        let overrides = ["scheme=dctcp".into(), recovery, setting.clone()];
        let Err(problems) = Run::open(SCENARIO, "test.toml", &overrides, Threads::ONE) else {
            panic!("{setting} is accepted");
        };
        let text = problems.to_string();
        assert!(text.contains(said), "{setting}:\n{text}");
    }
    let overrides =
        ["scheme=dctcp", "transport.recovery=selective-repeat", "transport.timeout_low=9us"];
    let problems =
        Run::open(SCENARIO, "test.toml", &overrides.map(String::from), Threads::ONE).err();
    assert!(problems.unwrap().to_string().contains("transport.timeout = \"0ps\" means never"));
    for low in ["0us", "320us"] {
        let overrides = [
            "scheme=irn".into(),
            "transport.timeout=320us".into(),
            format!("transport.timeout_low={low}"),
            "transport.timeout_low_packets=5".into(),
        ];
        let text = Run::open(SCENARIO, "test.toml", &overrides, Threads::ONE).err().unwrap();
        assert!(text.to_string().contains("all flows have the same timeout"), "{text}");
    }
}

/// Only this timeout tells a sender that the credits it expected were lost.
#[test]
fn an_early_credit_stop_without_a_timeout_is_refused() {
    let overrides = ["scheme=expresspass", "expresspass.early_stop=true", "transport.timeout=0us"];
    let problems =
        Run::open(SCENARIO, "test.toml", &overrides.map(String::from), Threads::ONE).err();
    assert!(
        problems.unwrap().to_string().contains("early_stop = true requires a transport.timeout")
    );
}

/// Trimming switches and NDP's hosts require each other, and settings of other transports have no
/// effect.
#[test]
fn compositions_that_mean_nothing_are_refused() {
    for (scheme, setting, said) in [
        ("pfc", "transport.kind=ndp", "requires switch.overflow = \"trim\""),
        (
            "hpcc-pfc",
            "switch.overflow=trim",
            "overflow = \"trim\" requires transport.kind = \"ndp\" or \"eqds\"",
        ),
        ("htsim-eqds", "switch.overflow=drop", "requires switch.overflow = \"trim\""),
        ("htsim-eqds", "trim.return_to_sender=true", "requires trim.return_to_sender = false"),
        ("htsim-eqds", "ndp.pull_rate=1", "transport.kind = \"eqds\""),
        ("ndp", "switch.overflow=drop", "requires switch.overflow = \"trim\""),
        ("ndp", "switch.hop=bfc", "overflow = \"trim\" requires switch.hop = \"none\""),
        ("ndp", "switch.scheduler=drr", "overflow = \"trim\" requires switch.scheduler = \"fifo\""),
        ("ndp", "buffer.kind=unlimited", "an unlimited buffer never overflows"),
        ("ndp", "switch.ecn=true", "NDP ignores ECN marks"),
        (
            "ndp",
            "nic.receive_rate=50Gbps",
            "NDP's receivers request data at the rate of their link",
        ),
        ("ndp", "run.capture=host0-leaf0", "no frame format is known for packets of NDP"),
        ("ndp", "transport.congestion=hpcc", "receivers decide what is sent"),
        ("ndp", "transport.window=bdp", "receivers decide what is sent"),
        ("ndp", "transport.recovery=perfect", "receivers decide what is sent"),
        ("ndp", "transport.nack_interval=1us", "receivers decide what is sent"),
        ("ndp", "buffer.alpha=1", "buffer.kind = \"dedicated\""),
        ("expresspass", "switch.symmetric_ecmp=false", "requires switch.symmetric_ecmp = true"),
        (
            "expresspass",
            "switch.hop=bfc",
            "requires switch.hop = \"none\": credits keep queues of data short",
        ),
        (
            "expresspass",
            "switch.scheduler=drr",
            "requires switch.scheduler = \"fifo\": a port has one queue of data",
        ),
        (
            "expresspass",
            "switch.architecture=crossbar",
            "requires switch.architecture = \"output-queued\"",
        ),
        (
            "expresspass",
            "switch.balance=adaptive",
            "symmetric_ecmp = true requires balance = \"ecmp\"",
        ),
        ("expresspass", "switch.ecn=true", "ExpressPass ignores ECN marks"),
        ("expresspass", "transport.window=bdp", "receivers decide what is sent"),
        ("expresspass", "run.capture=host0-leaf0", "no frame format is known for packets of Exp"),
        ("expresspass", "network.topology=two-dc", "cannot be combined with topology = \"two-dc\""),
        ("detail", "switch.symmetric_ecmp=true", "requires architecture = \"output-queued\""),
        ("pfc", "transport.kind=expresspass", "requires switch.symmetric_ecmp = true"),
        ("pfc", "buffer.kind=dedicated", "PFC limits each ingress of a memory that ports share"),
        ("ideal-fq", "buffer.kind=dedicated", "no queues with their own memory"),
        ("pfc", "ndp.initial_window=1MB", "transport.kind = \"sender\""),
        ("pfc", "trim.header_weight=1", "switch.overflow = \"drop\""),
        ("pfc", "switch.scheduler=pfabric", "cannot be combined with hop = \"pfc\""),
        ("bfc", "switch.scheduler=sfqcodel", "set scheduler = \"drr\" or \"srf\""),
        ("sfc", "switch.scheduler=sfqcodel", "cannot be combined with hop = \"sfc\""),
        ("pfabric", "nic.receive_rate=50Gbps", "receive_rate requires scheduler = \"fifo\""),
        ("sfqcodel", "nic.receive_rate=50Gbps", "receive_rate requires scheduler = \"fifo\""),
        (
            "pfabric",
            "switch.overflow=trim",
            "overflow = \"trim\" requires switch.scheduler = \"fifo\"",
        ),
        ("pfabric", "buffer.kind=shared", "requires buffer.kind = \"dedicated\""),
        ("dctcp", "transport.congestion=pfabric", "requires recovery = \"sack\""),
        ("pfabric", "tcp.min_rto=1ms", "has timeouts of its own"),
        ("pfabric", "switch.ecn=true", "ignores ECN marks: set ecn = false"),
        ("pfabric", "sfqcodel.bins=8", "switch.scheduler = \"pfabric\""),
        ("tcp-newreno", "pfabric.rto=1us", "transport.congestion = \"newreno\""),
    ] {
        assert_refused(scheme, setting, said);
    }
}

/// A scheduler by bytes left needs packets with that field, and several queues.
#[test]
fn shortest_first_without_known_sizes_is_refused() {
    for (scheme, setting, said) in [
        ("bfc-srf", "transport.recovery=selective-repeat", "set recovery = \"go-back-n\""),
        ("bfc-srf", "transport.recovery=perfect", "counts bytes that have arrived"),
        ("ideal-srf", "transport.recovery=sack", "counts bytes that have arrived"),
        ("bfc-srf", "transport.kind=ndp", "which transport.kind = \"ndp\" does not write"),
        ("bfc-single", "switch.scheduler=srf", "has nothing to choose from in one queue"),
        ("bfc-srf", "switch.quantum=2KB", "serves its queues without turns"),
        ("ideal-srf", "switch.scheduler=srf", "needs queues to which flows are assigned"),
        ("ideal-srf", "buffer.kind=dedicated", "no queues with their own memory"),
        ("ideal-srf", "switch.ecn=true", "has no queues to mark by length"),
        ("pfc", "switch.scheduler=srf", "cannot be combined with hop = \"pfc\""),
        ("sfc", "switch.scheduler=srf", "cannot be combined with hop = \"sfc\""),
        ("ndp", "switch.scheduler=srf", "overflow = \"trim\" requires switch.scheduler = \"fifo\""),
        ("flowtune", "switch.scheduler=per-flow-srf", "requires switch.scheduler = \"fifo\""),
    ] {
        assert_refused(scheme, setting, said);
    }
    for (scheme, setting, said) in [
        ("bfc-flow-id", "switch.scheduler=srf", "not paused flows in them"),
        ("bfc-classes", "switch.scheduler=srf", "does not support classes"),
    ] {
        assert_refused(scheme, setting, said);
    }
    for traffic in ["kind = \"long\"", "kind = \"permutation\"", "kind = \"staggered\""] {
        let text = format!("{SCENARIO}[[traffic]]\n{traffic}\n");
        for scheme in ["bfc-srf", "ideal-srf"] {
            let opened = Run::open(&text, "test.toml", &[format!("scheme={scheme}")], Threads::ONE);
            let Err(problems) = opened else { panic!("{traffic} is accepted") };
            let text = problems.to_string();
            assert!(text.contains("flows without end") && text.contains("test.toml:8:8"), "{text}");
        }
        let sized = format!("{text}bytes = \"1MB\"\n");
        assert!(Run::open(&sized, "test.toml", &["scheme=bfc-srf".into()], Threads::ONE).is_ok());
    }
}

/// Classes need queues of their own.
#[test]
fn classes_that_cannot_divide_queues_are_refused() {
    for (scheme, setting, said) in [
        (
            "bfc",
            "bfc.classes=4",
            "4 classes cannot divide 31 queues equally: one of them is reserved",
        ),
        ("bfc", "bfc.classes=32", "there are 1 to 8 traffic classes"),
        ("bfc", "bfc.classes=0", "there are 1 to 8 traffic classes"),
        ("bfc-classes", "bfc.classes=32", "there are 1 to 8 traffic classes"),
        ("bfc-classes", "bfc.classes=5", "5 classes cannot divide 32 queues equally"),
        ("bfc-classes", "bfc.assignment=single", "has one queue, which classes cannot divide"),
        ("bfc-classes", "bfc.backpressure=flows", "classes require \"queues\""),
        ("bfc-classes", "bfc.backpressure=none", "classes require \"queues\""),
        ("bfc-classes", "bfc.hardware=tofino", "classes require \"ideal\""),
        ("bfc-classes", "bfc.sampling=0.5", "classes count every packet"),
        ("bfc-classes", "switch.elide=cycles", "elide leaves out counters of one class"),
        ("bfc-classes", "bfc.incast_queue=true", "puts labelled flows of all classes in one queue"),
    ] {
        assert_refused(scheme, setting, said);
    }
}

/// Shares of classes need a queue for each class, and parts that keep their accounts.
#[test]
fn shares_that_mean_nothing_are_refused() {
    let all = |own: &str| {
        let each = (0..8).map(|class| format!("{class}: {own}")).collect::<Vec<_>>();
        format!("buffer.by_class={}", each.join(","))
    };
    for (scheme, setting, said) in [
        ("bfc", "buffer.by_class=3: alpha 1", "only switch.hop = \"pfc\" or \"none\" divides"),
        ("capfc-max", "buffer.by_class=3: alpha 1", "ingress_size and egress_size"),
        ("ndp", "buffer.by_class=3: alpha 1", "buffer.kind = \"dedicated\""),
        ("ideal-fq", "buffer.by_class=3: alpha 1", "buffer.kind = \"unlimited\""),
        ("pfc", "buffer.by_class=3: alpha 65", "expected classes from 0 to 7, each once"),
        ("pfc", "buffer.by_class=3: lossy headroom 9KB", "class 3 is lossy, so it has no headroom"),
        ("pfc", "buffer.by_class=3: lossy", "waits for lost packets without limit: set transport"),
        ("pfc", "pfc.headroom_oversubscription=2", "waits for them without limit: set transport"),
        (
            "pfc",
            "pfc.headroom_oversubscription=0.5",
            "headroom_oversubscription is 0, or 1 or more",
        ),
        ("pfc", "buffer.by_class=3: reserve 1MB", "or smaller ones in buffer.by_class"),
        ("pfc", "buffer.alpha=0.5", "PFC limits each ingress instead"),
    ] {
        assert_refused(scheme, setting, said);
    }
    let own = all("alpha 0.1");
    for (settings, said) in [
        (&[&own, "pfc.threshold=0.1"][..], "buffer.by_class names every class"),
        (&[&own, "buffer.alpha=0.5"], "buffer.by_class gives every class its own alpha"),
        (&[&own, "switch.elide=cycles"], "cannot be combined with switch.elide = \"cycles\""),
        (
            &[&own, "switch.hop=none", "switch.scheduler=per-flow"],
            "set switch.scheduler = \"fifo\" or \"ets\"",
        ),
        (
            &["buffer.by_class=3: headroom 9KB", "switch.hop=none"],
            "has a headroom, but switch.hop = \"none\"",
        ),
        (&["buffer.by_class=3: reserve 9MB", "switch.hop=none"], "reserves take 216MB"),
    ] {
        let overrides: Vec<String> = settings.iter().map(|&set| set.to_owned()).collect();
        let text = format!("scheme = \"pfc\"\n{SCENARIO}");
        let problems = Run::open(&text, "test.toml", &overrides, Threads::ONE).err();
        let problems = problems.expect(said).to_string();
        assert!(problems.contains(said), "{settings:?}: {problems}");
    }
}

/// TCP's controls need loss reports. Signals that they ignore have no effect.
#[test]
fn settings_that_mean_nothing_to_tcp_are_refused() {
    for (scheme, setting, said) in [
        ("tcp-newreno", "transport.recovery=go-back-n", "no other recovery reports losses to it"),
        ("tcp-dctcp", "transport.recovery=perfect", "congestion = \"dctcp-tcp\" requires recovery"),
        (
            "pfc",
            "transport.congestion=cubic",
            "congestion = \"cubic\" requires recovery = \"sack\"",
        ),
        ("tcp-newreno", "transport.window_follows_rate=true", "\"unlimited\" cannot follow a rate"),
        ("tcp-newreno", "transport.pacing=false", "pacing = false needs window_follows_rate"),
        ("tcp-newreno", "transport.timeout=1ms", "has the timeouts of section tcp"),
        ("tcp-newreno", "transport.nack_interval=1us", "does not repeat requests"),
        ("tcp-newreno", "transport.kind=ndp", "requires switch.overflow = \"trim\""),
        ("tcp-cubic", "switch.ecn=true", "congestion = \"cubic\" ignores ECN marks"),
        (
            "tcp-newreno",
            "run.capture=leaf:0",
            "no frame format is known for TCP's acknowledgements",
        ),
        (
            "tcp-newreno",
            "tcp.initial_window_packets=0",
            "initial_window_packets must be at least 1",
        ),
        ("tcp-newreno", "tcp.limited_transmit=false", "does not count duplicates"),
        ("tcp-newreno", "tcp.rtt_samples=one", "does not count duplicates"),
        ("tcp-newreno", "tcp.after_recovery=deflated", "recovery = \"newreno\" deflates a window"),
        ("tcp-cubic", "tcp.halved=window", "halved = \"window\" requires congestion = \"newreno\""),
        ("ns2-sack1", "tcp.after_recovery=threshold", "\"newreno\" deflates a window"),
        ("ns2-newreno", "tcp.probe_after=5", "only recovery = \"sack\" sends probes"),
        ("ns2-newreno", "tcp.duplicate_acks=0", "duplicate_acks = 0 needs transport.recovery"),
        ("ns2-newreno", "transport.timeout=1ms", "\"newreno\" has the timeouts of section tcp"),
        ("ns2-sack1", "transport.timeout=1ms", "\"sack1\" has the timeouts of section tcp"),
        ("pfabric", "transport.recovery=newreno", "requires recovery = \"sack\""),
        ("tcp-newreno", "tcp.min_rto=0us", "min_rto must be above 0"),
        ("tcp-newreno", "tcp.min_rto=2s", "min_rto must be at most max_rto"),
        ("tcp-newreno", "tcp.initial_rto=1us", "initial_rto must be from min_rto to max_rto"),
        ("tcp-newreno", "tcp.initial_rto=2s", "initial_rto must be from min_rto to max_rto"),
        ("irn", "tcp.min_rto=1us", "transport.recovery = \"selective-repeat\""),
        ("tcp-newreno", "cubic.beta=0.5", "transport.congestion = \"newreno\""),
        ("tcp-cubic", "cubic.beta=1", "beta must be above 0 and below 1"),
        ("tcp-cubic", "cubic.scale=0", "scale must be above 0"),
        ("tcp-dctcp", "dctcp_tcp.gain=0", "gain must be above 0 and at most 1"),
        ("tcp-dctcp", "dctcp_tcp.initial_alpha=2", "initial_alpha must be from 0 to 1"),
    ] {
        assert_refused(scheme, setting, said);
    }
    // The recovery alone works with any control, which then has its own window.
    let overrides = ["scheme=hpcc", "transport.recovery=sack", "tcp.initial_window_packets=5"];
    let problems =
        Run::open(SCENARIO, "test.toml", &overrides.map(String::from), Threads::ONE).err();
    assert!(problems.unwrap().to_string().contains("congestion = \"hpcc\" has no TCP window"));
    let overrides = ["scheme=hpcc", "transport.recovery=sack", "tcp.min_rto=50us"];
    assert!(Run::open(SCENARIO, "test.toml", &overrides.map(String::from), Threads::ONE).is_ok());
}

/// Two packets of a link would arrive at one instant, in an undefined order.
#[test]
fn frames_that_take_no_time_are_refused() {
    let overrides = ["scheme=bfc", "network.rounding=1ns-down", "leaf_spine.spine_rate=800Gbps"]
        .map(String::from);
    let Err(problems) = Run::open(SCENARIO, "test.toml", &overrides, Threads::ONE) else {
        panic!("accepted");
    };
    let text = problems.to_string();
    assert!(text.contains("a frame of 49 bytes takes no time on a link of 800Gbps"), "{text}");
}

/// More partitions than racks count as one per rack, and 0 threads count as one.
#[test]
fn parts_and_threads_are_as_many_as_there_can_be() {
    let overrides = ["scheme=bfc", "run.partitions=60000"].map(String::from);
    let run = Run::open(SCENARIO, "test.toml", &overrides, Threads::up_to(0)).unwrap();
    assert_eq!((run.simulation().partitions().len(), run.simulation().threads()), (8, 1));
    let run = Run::open(SCENARIO, "test.toml", &["scheme=bfc".into()], Threads::up_to(99)).unwrap();
    assert_eq!((run.simulation().partitions().len(), run.simulation().threads()), (8, 8));
    assert!(run.simulation().threads_note().is_some_and(|note| note.contains("8 racks")));
}

/// A fat-tree's mistakes are shown at the key that makes them.
#[test]
fn fat_trees_that_cannot_be_built_are_refused() {
    for (setting, said) in [
        ("fat_tree.k=7", "k is 7: it must be an even number from 2 to 128"),
        ("fat_tree.k=0", "k is 0: it must be an even number from 2 to 128"),
        ("fat_tree.hosts_per_edge=70000", "a fat-tree may have 1048576"),
        ("fat_tree.core_rate=0Gbps", "core_rate must be more than zero"),
        ("leaf_spine.leaves=4", "network.topology = \"fat-tree\""),
    ] {
        let overrides = ["scheme=bfc", "network.topology=fat-tree", setting].map(String::from);
        let Err(problems) = Run::open(SCENARIO, "test.toml", &overrides, Threads::ONE) else {
            panic!("{setting} is accepted");
        };
        let text = problems.to_string();
        assert!(text.contains(said) && text.contains(setting), "{setting}:\n{text}");
    }
}

/// NDP's receivers use the size of a flow, which is unknown if the flow stops.
#[test]
fn flows_that_stop_are_refused_with_ndp() {
    let text = SCENARIO.to_owned() + "[[traffic]]\nkind = \"staggered\"\n";
    let Err(problems) = Run::open(&text, "test.toml", &["scheme=ndp".into()], Threads::ONE) else {
        panic!("accepted");
    };
    let text = problems.to_string();
    assert!(
        text.contains("cannot be combined with NDP") && text.contains("test.toml:8:8"),
        "{text}"
    );
}

/// Three flows without an end have more bytes than 64 bits can count.
#[test]
fn several_flows_without_end_run_together() {
    let long = |src: u32| format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 9\n");
    let text = SCENARIO.to_string() + &long(1) + &long(2) + &long(3);
    let overrides = ["scheme=bfc".to_string()];
    let mut run =
        Run::open(&text, "test.toml", &overrides, Threads::ONE).unwrap_or_else(|e| panic!("{e}"));
    while run.step().unwrap() {}
    assert!(run.simulation().endless_acked().iter().sum::<u64>() > 100_000);
}

#[test]
fn labels_that_nobody_reads_are_refused() {
    let scenario = SCENARIO.to_owned() + "[[traffic]]\nkind = \"incast\"\nlabelled = true\n";
    for scheme in ["bfc", "dctcp"] {
        let overrides = [format!("scheme={scheme}")];
        let problems = Run::open(&scenario, "test.toml", &overrides, Threads::ONE).err();
        let text = problems.expect("labels are accepted").to_string();
        assert!(text.contains("only bfc.incast_queue = true reads labels"), "{text}");
        assert!(text.contains("test.toml:8"), "{text}");
    }
}

/// A file's column of classes is refused where the key `priority` is.
#[test]
fn columns_of_classes_are_refused_where_there_is_one_class() {
    let folder = std::env::temp_dir().join(format!("xoff-columns-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let opened = |scenario: &str, column: &str| {
        let list = format!("src,dst,size_bytes,start_ps,{column}\n0,5,1000,0,3\n");
        std::fs::write(folder.join("flows.csv"), list).unwrap();
        let text = format!("{scenario}[[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n");
        let file = folder.join("test.toml").display().to_string();
        xoff_run::open(&text, &file, &[], Threads::ONE).map(drop).map_err(|said| said.to_string())
    };
    let run = "[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n";
    for column in ["priority", "dscp"] {
        for (engine, why) in [
            ("scheme = \"bfc\"\n", "bfc.classes = 1: queues are those of flows"),
            ("engine = \"fluid\"\n", "engine = \"fluid\" has no queues"),
        ] {
            let scenario = format!("{engine}{}", if engine.contains("bfc") { run } else { "" });
            let said = opened(&scenario, column).expect_err(column);
            let line =
                format!("flows.csv, line 2: the column {column} has no effect, because {why}");
            assert!(said.contains(&line) && said.contains("test.toml:"), "{said}");
        }
    }
    let with_classes = format!("scheme = \"bfc-classes\"\n{run}");
    assert_eq!(opened(&with_classes, "priority"), Ok(()));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Without a link, switches of a layer choose among different numbers of paths.
#[test]
fn links_that_go_down_are_refused_where_paths_are_symmetric() {
    let fault = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:1\"\nat = \"10us\"\n";
    let text = SCENARIO.to_owned() + fault;
    let overrides = ["scheme=expresspass".to_owned()];
    let Err(problems) = Run::open(&text, "test.toml", &overrides, Threads::ONE) else {
        panic!("accepted");
    };
    let text = problems.to_string();
    assert!(text.contains("symmetric_ecmp = true cannot be combined with [[fault]]"), "{text}");
}

/// The bitmaps of a port would fill its link, and queue without limit.
#[test]
fn links_too_slow_for_pause_frames_are_refused() {
    let fault = "[[fault]]\nkind = \"degrade\"\nlink = \"leaf:0,spine:1\"\nrate = \"10Mbps\"\n";
    let text = SCENARIO.to_owned() + fault;
    let Err(problems) = Run::open(&text, "test.toml", &["scheme=bfc".into()], Threads::ONE) else {
        panic!("accepted");
    };
    let text = problems.to_string();
    assert!(text.contains("rate cannot be combined with section bfc: refresh_period = "), "{text}");
    assert!(text.contains("than a pause frame takes on a link of \"10Mbps\""), "{text}");
}

/// Switches write rates into INT entries in whole Mb/s, also that of a link that works at a lower
/// rate for a while.
#[test]
fn rates_that_no_entry_can_tell_are_refused() {
    for (scheme, rate, fits) in [
        ("hpcc", "2Mbps", true),
        ("hpcc", "2500Kbps", false),
        ("powertcp", "1001Kbps", false),
        ("dctcp", "1001Kbps", true),
    ] {
        let link = format!("link = \"leaf:0,spine:1\"\nrate = \"{rate}\"\n");
        let text = format!("{SCENARIO}[[fault]]\nkind = \"degrade\"\n{link}");
        let run = Run::open(&text, "test.toml", &[format!("scheme={scheme}")], Threads::ONE);
        let problems = run.err().map_or_else(String::new, |problems| problems.to_string());
        assert_eq!(problems.is_empty(), fits, "{problems}");
        let said = format!("in whole Mbps: a link of {rate} does not fit");
        assert!(fits || problems.contains(&said), "{problems}");
    }
}
