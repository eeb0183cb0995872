use std::fmt::Write as _;

use xoff_core::{BitRate, Bytes, HostId, NodeId, Ps};
use xoff_net::balance::{address, murmur3};
use xoff_net::topo::{NextHops, Topology};
use xoff_sim::setup::EcnSetup;

use super::config::{Config, Control, rate, seconds};
use super::files::flows;
use super::{link_down, next_hops, spec};
use crate::resources::Memory;

/// The network of a file.
fn topology(text: &str, file: &str, memory: Memory) -> Result<Topology, String> {
    super::files::topology(text, file, memory).map(|(topology, _)| topology)
}

const MINIMAL: &str = "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\n";

fn parse(more: &str) -> Result<Config, String> {
    Config::parse(&format!("{MINIMAL}{more}"), "config.txt")
}

#[test]
fn keys_are_honoured_known_or_refused_by_name() {
    let config = parse("CC_MODE 8\nKMAX_MAP 2 100000000000 300 400000000000 1200\n").unwrap();
    assert_eq!(config.control, Control::Dctcp);
    assert_eq!(config.kmax[1], (BitRate::from_gbps(400), 1200));
    assert!(parse("PFC_OUTPUT_FILE pfc.txt\nLINK_DOWN 0 0 0\n").is_ok());
    for (line, error) in [
        ("CC_MOD 8", "config.txt:3: unknown key CC_MOD: did you mean \"CC_MODE\"?"),
        (
            "CC_MODE 4",
            "config.txt:3: CC_MODE 4 is not modelled: only 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 \
             (DCTCP) and 10 (HPCC-PINT) are",
        ),
        (
            "ERROR_RATE_PER_LINK 1.1",
            "config.txt:3: ERROR_RATE_PER_LINK 1.1: expected a share from 0 to 1",
        ),
        (
            "CC_MODE 10\nPINT_LOG_BASE 1",
            "config.txt: PINT_LOG_BASE 1: expected a base of at least 1.00020 and below 262144",
        ),
        (
            "L2_BACK_TO_ZERO 1",
            "config.txt: L2_ACK_INTERVAL above 1 and L2_BACK_TO_ZERO need a L2_CHUNK_SIZE: that \
             simulator divides by it",
        ),
        (
            "CC_MODE 3\nHAS_WIN 0",
            "config.txt: CC_MODE 3 needs HAS_WIN 1: that simulator divides queues by the window",
        ),
        (
            "L2_ACK_INTERVAL 0",
            "config.txt:3: L2_ACK_INTERVAL 0: senders of that simulator then ignore \
             acknowledgements, and no flow ends",
        ),
        (
            "PAUSE_TIME 0.5",
            "config.txt:3: PAUSE_TIME below 1: pause frames of that simulator then resume, and \
             nothing is lossless",
        ),
        (
            "BUFFER_SIZE 4096",
            "config.txt:3: BUFFER_SIZE must be below 4096: that simulator counts 32 bits",
        ),
        (
            "MI_THRESH 99999999999999999999",
            "config.txt:3: MI_THRESH 99999999999999999999 is too large",
        ),
        (
            "KMIN_MAP 9223372036854775808 1 1",
            "config.txt:3: KMIN_MAP announces \
          9223372036854775808 pairs but has 2 values",
        ),
        ("MIN_RATE 0Mb/s", "config.txt:3: MIN_RATE must be more than zero"),
        ("HAS_WIN", "config.txt:3: HAS_WIN has no value"),
        ("KMAX_MAP 2 1 1", "config.txt:3: KMAX_MAP announces 2 pairs but has 2 values"),
    ] {
        assert_eq!(parse(line).unwrap_err(), error);
    }
    assert!(Config::parse("CC_MODE 8\n", "c").unwrap_err().contains("TOPOLOGY_FILE is missing"));
}

#[test]
fn rates_and_times_are_read_as_that_simulator_does() {
    assert_eq!(rate("100Gbps"), Ok(BitRate::from_gbps(100)));
    assert_eq!(rate("50Mb/s"), Ok(BitRate(50_000_000)));
    assert_eq!(rate("25000000000.0"), Ok(BitRate::from_gbps(25)));
    assert!(rate("100Gzps").is_err());
    assert_eq!(rate("-1Mb/s"), Err("a rate cannot be negative: \"-1Mb/s\"".into()));
    // The binary number nearest to 2.0002 is a little smaller.
    assert_eq!(seconds("2.0002"), Ok(Ps(2_000_199_999_000)));
    assert_eq!(seconds("2.0001"), Ok(Ps(2_000_100_000_000)));
    assert_eq!(seconds("0"), Ok(Ps(0)));
    assert_eq!(seconds("-0"), Ok(Ps(0)));
    assert!(seconds("-1").is_err());
}

#[test]
fn topology_and_flows_name_file_and_line() {
    let text = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 0.001ms 0\n";
    let built = topology(text, "t.txt", Memory::of_machine()).unwrap();
    assert_eq!((built.hosts, built.nodes(), built.tier(NodeId(2))), (2, 3, 1));
    assert_eq!(built.port_of_host(HostId(0)).delay, built.port_of_host(HostId(1)).delay);
    let cut = topology("3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 fast", "t.txt", Memory::of_machine())
        .unwrap_err();
    assert!(cut.starts_with("t.txt:4: expected a rate"), "{cut}");
    let read = flows("1\n0 1 3 100 5000 2.0\nnot read", "f.txt", &built).unwrap();
    assert_eq!((read.0[0].bytes, read.0[0].priority, &read.1[..]), (5000, 3, &[100][..]));
    let far = flows("1\n0 7 3 100 5000 2.0\n", "f.txt", &built).unwrap_err();
    assert_eq!(far, "f.txt:2: a flow from 0 to 7: 7 is not a host");
    let same = flows("1\n1 1 3 100 5000 2.0\n", "f.txt", &built).unwrap_err();
    assert_eq!(same, "f.txt:2: a flow from a host to itself");
    let large = flows("1\n0 1 3 100 4294967296 2.0\n", "f.txt", &built).unwrap_err();
    assert!(large.starts_with("f.txt:2: expected a size in bytes, below 4294967296"), "{large}");
    let short = flows("2\n0 1 3 100 5000 2.0\n", "f.txt", &built).unwrap_err();
    assert_eq!(short, "f.txt:2: the file ends where a source host should be");
}

/// Switches 0 and 2 join hosts 1, 3 and 4.
const MIXED: &str = "5 2 4\n2 0\n0 1 100Gbps 1us 0\n2 0 100Gbps 1us 0\n3 2 100Gbps 1us 0\n\
    4 2 100Gbps 1us 0\nFirst line: total node #, switch node #, link #\n";

#[test]
fn switches_may_have_any_numbers() {
    let built = topology(MIXED, "t.txt", Memory::of_machine()).unwrap();
    let given: Vec<u32> = built.node_ids().map(|node| built.given_number(node)).collect();
    assert_eq!((built.hosts, given), (3, vec![1, 3, 4, 0, 2]));
    let switch_of = |host| built.neighbour(built.port_of_host(HostId(host)));
    assert_eq!([0, 1, 2].map(|host| built.given_number(switch_of(host))), [0, 2, 2]);
    let read = flows("1\n1 4 3 100 5000 2.0\n", "f.txt", &built).unwrap();
    assert_eq!((read.0[0].src, read.0[0].dst), (HostId(0), HostId(2)));
    for (line, error) in [
        ("5 2 4\n2 2\n", "t.txt:2: switch 2 is listed twice"),
        ("5 2 4\n2 5\n", "t.txt:2: switch 5: nodes are 0 to 4"),
        (
            "3 1 2\n2\n0 2 1Gbps 1us 0\n2 0 1Gbps 1us 0\n",
            "t.txt:4: a second link between two nodes is not modelled",
        ),
        (
            "3 1 2\n2\n0 2 1Gbps 1us 0\n2 2 1Gbps 1us 0\n",
            "t.txt:4: a link from a node to itself: give it two ends",
        ),
        ("0 0 1\n0 1 1Gbps 1us 0\n", "t.txt:1: there are no hosts"),
        ("2 2 1\n0 1\n0 1 1Gbps 1us 0\n", "t.txt:1: there are no hosts"),
    ] {
        assert_eq!(topology(line, "t.txt", Memory::of_machine()).unwrap_err(), error);
    }
}

/// Every switch has a table of routes to every host with several links.
#[test]
fn memory_is_checked_with_the_links_of_hosts() {
    let (hosts, switches) = (2_000, 20);
    let mut text = format!("{} {switches} {}\n", hosts + switches, 2 * hosts + switches - 1);
    (hosts..hosts + switches).for_each(|id| text += &format!("{id} "));
    text.push('\n');
    let mut link = |a: u32, b: u32| text += &format!("{a} {b} 100Gbps 1us 0\n");
    for host in 0..hosts {
        link(host, hosts + host % (switches - 1));
        link(host, hosts + host % (switches - 1) + 1);
    }
    (1..switches).for_each(|place| link(hosts + place - 1, hosts + place));
    let read = |bytes| topology(&text, "t.txt", Memory::given(Bytes(bytes)));
    let error = read(2_000_000).unwrap_err();
    assert!(error.starts_with("t.txt: the network needs about 10 MB"), "{error}");
    assert!(read(20_000_000).is_ok());
}

#[test]
fn the_last_threshold_of_a_rate_counts() {
    let config = parse(
        "KMIN_MAP 2 1000 1 1000 2\nKMAX_MAP 2 1000 10 1000 20\nPMAX_MAP 1 1000 0.1\n\
         KMAX_MAP 1 2000 50\nKMIN_MAP 1 2000 5\nPMAX_MAP 2 2000 0.5 1000 0.3\n",
    );
    let EcnSetup::ByRate(table) = spec::ecn(&config.unwrap()) else { panic!("no thresholds") };
    let found = table.iter().map(|(rate, ecn)| (*rate, ecn.kmin.0, ecn.kmax.0, ecn.pmax));
    assert_eq!(found.collect::<Vec<_>>(), [(1000, 2000, 20_000, 0.3), (2000, 5000, 50_000, 0.5)]);
}

#[test]
fn flows_begin_before_that_simulator_stops() {
    let pair =
        topology("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "t.txt", Memory::of_machine());
    let text = "3\n0 1 3 100 5000 2.0\n0 1 3 100 5000 2.5\n0 1 3 100 5000 2.5\n";
    let flows = flows(text, "f.txt", &pair.unwrap()).unwrap();
    let left = |stop: &str| {
        let ((flows, ports), said) = super::begun(flows.clone(), seconds(stop).unwrap(), "f.txt")?;
        Ok::<_, String>((flows.len(), ports.len(), said))
    };
    assert_eq!(left("3"), Ok((3, 3, "f.txt".into())));
    let said = "f.txt, without the last 2, as that simulator stops at 2500ms";
    assert_eq!(left("2.5"), Ok((1, 1, said.into())));
    assert_eq!(
        left("2").unwrap_err(),
        "f.txt: the first flow begins at 2s, but SIMULATOR_STOP_TIME is 2s: set it later"
    );
}

/// Host 0 hangs on leaves 2 and 3, host 1 on leaf 3 alone. Spine 4 joins the leaves.
const TWO_LINKS: &str = "5 3 5\n2 3 4\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n\
    1 3 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n";

#[test]
fn a_link_that_fails_leaves_no_host_alone() {
    let built = topology(TWO_LINKS, "t.txt", Memory::of_machine()).unwrap();
    let of = |line: &str| link_down::faults(&parse(line).unwrap(), &built);
    let fault = &of("LINK_DOWN 37 4 3").unwrap()[0];
    assert_eq!((fault.at, fault.until), (Ps(2_000_037_000_000), Ps::NEVER));
    let ends: Vec<u32> = fault.ports.iter().map(|&port| built.port(port).node.0).collect();
    assert_eq!(ends, [4, 3]);
    assert_eq!(of("LINK_DOWN 37 0 2").map(|faults| faults.len()), Ok(1));
    assert_eq!(of("LINK_DOWN 0 3 4").map(|faults| faults.len()), Ok(0));
    assert_eq!(of("LINK_DOWN 37 2 3").map(|faults| faults.len()), Ok(0), "there is none");
    for (line, error) in [
        ("LINK_DOWN 37 1 3", "LINK_DOWN cuts off host 1: it has no other link"),
        ("LINK_DOWN 37 5 3", "LINK_DOWN names node 5: nodes are 0 to 4"),
    ] {
        assert_eq!(of(line).unwrap_err(), error);
    }
    let bridge = "4 2 3\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n";
    let bridge = topology(bridge, "t.txt", Memory::of_machine()).unwrap();
    let error = link_down::faults(&parse("LINK_DOWN 1 2 3").unwrap(), &bridge).unwrap_err();
    assert!(error.starts_with("LINK_DOWN of 2 and 3 disconnects the network: host"), "{error}");
    for (line, error) in [
        ("LINK_DOWN 1 2", "config.txt:3: LINK_DOWN needs a time in microseconds and the numbers"),
        ("LINK_DOWN 1 2 -3", "config.txt:3: LINK_DOWN: expected a whole number"),
    ] {
        assert!(parse(line).unwrap_err().starts_with(error), "{line}");
    }
}

#[test]
fn steps_meet_the_failure() {
    let steps = [0, 200, 35, 24, 137].map(|after| {
        let config = parse(&format!("LINK_DOWN {after} 3 4")).unwrap();
        link_down::grid(&config, Ps::from_us(10)).0 / 1_000_000
    });
    assert_eq!(steps, [10, 10, 5, 2, 1]);
}

/// Leaves 4 and 5 with two hosts each, and spines 6 to 9.
fn two_leaves() -> Topology {
    let mut text = "10 6 12\n4 5 6 7 8 9\n".to_owned();
    for (a, b) in (0..4).map(|host| (host, 4 + host / 2)) {
        let _ = writeln!(text, "{a} {b} 100Gbps 1us 0");
    }
    for (leaf, spine) in (4..6).flat_map(|leaf| (6..10).map(move |spine| (leaf, spine))) {
        let _ = writeln!(text, "{leaf} {spine} 100Gbps 1us 0");
    }
    topology(&text, "t.txt", Memory::of_machine()).unwrap()
}

#[test]
fn recorded_paths_decide_the_order_of_next_hops() {
    let topology = two_leaves();
    let folder = std::env::temp_dir().join(format!("xoff-next-hops-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let choose = |asked, paths: &str| {
        std::fs::write(folder.join("paths.txt"), paths).unwrap();
        next_hops::choose(asked, &topology, &folder, Memory::of_machine())
    };
    // Leaf 4 chooses for host 0's flows to host 3, leaf 5 for their acknowledgements: the places of
    // the spines in an ascending list.
    let place = |ends: [u32; 2], ports: [u32; 2], leaf| {
        let words = [address(ends[0]), address(ends[1]), ports[0] | ports[1] << 16];
        (murmur3(words, leaf) % 4) as usize
    };
    let record = |spines: [u32; 4]| {
        (10_000..10_020).fold(String::new(), |text, sport| {
            let data = spines[place([0, 3], [sport, 100], 4)];
            let ack = spines[place([3, 0], [100, sport], 5)];
            text + &format!("data 0 3 {sport} 100 4 {data}\nack 3 0 100 {sport} 5 {ack}\n")
        })
    };
    for (spines, order) in
        [([6, 7, 8, 9], NextHops::Ascending), ([9, 8, 7, 6], NextHops::Descending)]
    {
        let chosen = choose(None, &record(spines)).unwrap();
        assert_eq!(chosen, (order, "all choices of paths.txt come out"));
    }
    let (order, reason) = choose(None, &record([7, 6, 8, 9])).unwrap();
    assert_eq!(order, NextHops::Ascending);
    assert!(reason.contains("neither"), "{reason}");
    assert_eq!(choose(None, "").unwrap().1, "the choices of paths.txt fit both orders");
    for (line, why) in [
        ("data 7 3 1 100 4 6", "7 and 3 are not both hosts"),
        ("data 0 4294967295 1 100 4 6", "0 and 4294967295 are not both hosts"),
        ("data 0 3 1 100 2 6", "2 is not a switch"),
        ("data 0 3 65536 100 4 6", "expected a source port, found \"65536\""),
    ] {
        let error = choose(None, line).unwrap_err();
        assert!(error.ends_with(&format!("paths.txt:1: {why}")), "{error}");
    }
    assert_eq!(choose(Some(NextHops::Descending), "nonsense").unwrap().0, NextHops::Descending);
    let error = choose(None, "data 0 3 10000 100 4 6\nsent 1 2 3 4 5 6\n").unwrap_err();
    assert!(error.ends_with("paths.txt:2: expected data or ack, found \"sent\""), "{error}");
    let error = choose(None, "data 0 3 10000 100").unwrap_err();
    assert!(error.ends_with("paths.txt:1: the file ends where a switch should be"), "{error}");
    std::fs::remove_file(folder.join("paths.txt")).unwrap();
    let (order, reason) =
        next_hops::choose(None, &topology, &folder, Memory::of_machine()).unwrap();
    assert_eq!(order, NextHops::Ascending);
    assert!(reason.starts_with("not recorded"), "{reason}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn flows_begin_before_the_order_of_setting_ends() {
    let config = parse("SIMULATOR_STOP_TIME 900000\n").unwrap();
    let pair = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    let pair = topology(pair, "t.txt", Memory::of_machine()).unwrap();
    let ends = |start| {
        let flows = flows(&format!("1\n0 1 3 100 5000 {start}\n"), "f.txt", &pair).unwrap().0;
        super::run(&config, "f.txt", &flows).map(|run| (run.warmup + run.measure + run.drain).0)
    };
    assert_eq!(ends("2.0"), Ok(super::END.0));
    let late = ends("275").unwrap_err();
    assert!(late.starts_with("f.txt: the last flow begins at 275s: "), "{late}");
    let none = super::run(&config, "case/f.txt", &[]).map(|_| ());
    assert_eq!(none, Err("case/f.txt: there are no flows".into()));
}
