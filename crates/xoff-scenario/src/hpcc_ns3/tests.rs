use xoff_core::{BitRate, HostId, NodeId, Ps};

use super::config::{Config, Control, rate, seconds};
use super::files::{flows, topology};
use crate::resources::Memory;

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
            "CC_MODE 7",
            "config.txt:3: CC_MODE 7 is not modelled: only 1 (DCQCN), 3 (HPCC) and 8 (DCTCP) are",
        ),
        ("L2_BACK_TO_ZERO 1", "config.txt:3: L2_BACK_TO_ZERO 1 is not modelled: only 0 is"),
        ("MIN_RATE -1Mb/s", "config.txt:3: a rate cannot be negative: \"-1Mb/s\""),
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
    // The binary number nearest to 2.0002 is a little smaller.
    assert_eq!(seconds("2.0002"), Ok(Ps(2_000_199_999_000)));
    assert_eq!(seconds("2.0001"), Ok(Ps(2_000_100_000_000)));
    assert_eq!(seconds("0"), Ok(Ps(0)));
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
    let read = flows("1\n0 1 3 100 5000 2.0\n", "f.txt", 2).unwrap();
    assert_eq!((read[0].bytes, read[0].priority), (5000, 3));
    let far = flows("1\n0 7 3 100 5000 2.0\n", "f.txt", 2).unwrap_err();
    assert_eq!(far, "f.txt:2: a flow from host 0 to host 7: hosts are 0 to 1");
    let short = flows("2\n0 1 3 100 5000 2.0\n", "f.txt", 2).unwrap_err();
    assert_eq!(short, "f.txt:2: the file ends where a source host should be");
}

#[test]
fn flows_begin_before_the_order_of_setting_ends() {
    let config = parse("SIMULATOR_STOP_TIME 900000\n").unwrap();
    let ends = |start| {
        let flows = flows(&format!("1\n0 1 3 100 5000 {start}\n"), "f.txt", 2).unwrap();
        super::run(&config, &flows).map(|run| (run.warmup + run.measure + run.drain).0)
    };
    assert_eq!(ends("2.0"), Ok(super::END.0));
    let late = ends("275").unwrap_err();
    assert!(late.starts_with("f.txt: the last flow begins at 275s: "), "{late}");
}
