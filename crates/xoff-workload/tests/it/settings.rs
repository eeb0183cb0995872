//! Wrong settings, with their messages.

use std::path::Path;

use xoff_core::{BitRate, Bytes, Ps};
use xoff_workload::{
    Capacity, ChakraConfig, CollectiveConfig, ConnectionsConfig, Context, DependentConfig,
    GoalConfig, Incast, IncastConfig, ListConfig, LongLivedConfig, OpenLoop, OpenLoopConfig,
    Permutation, PermutationConfig, StaggeredConfig, TrafficSettings, tables,
};

const HOSTS: u32 = 128;

fn capacity(core: BitRate, hosts: u32) -> Capacity {
    Capacity::new(core, vec![BitRate::from_gbps(100); hosts as usize])
}

#[test]
fn wrong_background_settings_say_why() {
    let error_in = |config: OpenLoopConfig, capacity: Capacity| {
        let sizes = tables::find(&config.sizes, &Path::new(".")).expect("a shipped table");
        OpenLoop::new(&config, sizes, &capacity, 1, 0).unwrap_err()
    };
    let core = BitRate::from_gbps(6_400);
    let error = |config| error_in(config, capacity(core, HOSTS));
    let default = OpenLoopConfig::default;
    for load in [0.0, 2.1, f64::NAN] {
        let found = error(OpenLoopConfig { load, ..default() });
        assert_eq!(found, format!("load is {load}: it must be above 0 and at most 2"));
    }
    assert_eq!(
        error(OpenLoopConfig { sigma: 6.0, ..default() }),
        "sigma is 6: it must be from 0 to 5"
    );
    let (start, stop) = (Ps(2_000), Ps(1_000));
    assert_eq!(
        error(OpenLoopConfig { start, stop, ..default() }),
        "stop is 1ns, which is not after start (2ns); 0s means the end of the run"
    );
    assert_eq!(
        error_in(default(), capacity(core, 1)),
        "traffic needs at least 2 hosts, the network has 1"
    );
    assert_eq!(
        error_in(default(), capacity(BitRate(0), HOSTS)),
        "the network has no core links: set load_on = \"hosts\""
    );
    assert_eq!(
        error_in(default(), capacity(BitRate(u64::MAX), HOSTS)),
        "more than one flow per picosecond: lower load or use larger sizes"
    );
}

#[test]
fn wrong_senders_and_receivers_say_why() {
    let error = |senders: &str, receivers: &str| {
        let (senders, receivers) = (senders.to_owned(), receivers.to_owned());
        OpenLoopConfig { senders, receivers, ..Default::default() }.check(16).unwrap_err()
    };
    assert_eq!(error("17", "all"), "senders: host 17 does not exist: hosts are 0 to 15");
    assert_eq!(error("all", "3-1"), "receivers: the range 3-1 runs backwards: write 1-3");
    assert_eq!(error("5", "5"), "host 5 is the only sender and the only receiver: add a host");
}

#[test]
fn wrong_incast_and_long_lived_settings_say_why() {
    let incast = |config| Incast::new(config, HOSTS, 1, 0).unwrap_err();
    let default = IncastConfig::default;
    assert_eq!(
        incast(IncastConfig { degree: 0, ..default() }),
        "degree is 0: an incast needs at least 1 sender"
    );
    assert_eq!(
        incast(IncastConfig { bytes: Bytes(99), ..default() }),
        "bytes is 99B, which leaves some of the 100 flows empty: give at least 1 B each"
    );
    let one = IncastConfig { degree: 1, bytes: Bytes(1 << 63), ..default() };
    assert_eq!(
        incast(one),
        "bytes is 9223372036854775808B: a flow has at most 9223372036854775807B"
    );
    assert_eq!(
        incast(IncastConfig { period: Ps(0), ..default() }),
        "period is 0: give the time from one event to the next"
    );
    assert_eq!(
        incast(IncastConfig { victims: "0-128".into(), ..default() }),
        "victims: host 128 does not exist: hosts are 0 to 127"
    );
    assert_eq!(
        incast(IncastConfig { flows_per_sender: 0, ..default() }),
        "flows_per_sender is 0: a sender needs at least 1 flow"
    );
    assert_eq!(
        incast(IncastConfig { victims: "6-7".into(), victims_per_event: 3, ..default() }),
        "victims_per_event is 3, but victims has 2: give at most 2, or 0 for all"
    );
    let only = |senders: &str| IncastConfig { senders: senders.into(), ..default() };
    assert_eq!(incast(only("0-3,x")), {
        "senders: \"x\" is not a host or a range of hosts: write all, or numbers and ranges such \
         as 0-3,7,9-12"
    });
    assert_eq!(
        incast(IncastConfig { victims: "6-7".into(), ..only("7") }),
        "host 7 is the only sender and may be the victim: add a host"
    );
    assert_eq!(
        incast(IncastConfig { flows_per_sender: 2, degree: 8, ..only("0-7") }),
        "degree is 8, but only 7 hosts are left to send"
    );
    assert_eq!(
        default().check(1).unwrap_err(),
        "traffic needs at least 2 hosts, the network has 1"
    );
    assert_eq!(
        Permutation::new(&PermutationConfig::default(), 1, 1, 0).unwrap_err(),
        "traffic needs at least 2 hosts, the network has 1"
    );
    let long =
        |src, dst, count| LongLivedConfig { src, dst, count, ..Default::default() }.check(16);
    assert_eq!(long(17, 0, 1).unwrap_err(), "host 17 does not exist: hosts are 0 to 15");
    assert_eq!(long(5, 5, 1).unwrap_err(), "host 5 cannot send to itself: choose another dst");
    assert_eq!(
        long(0, 1, 0).unwrap_err(),
        "count is 0: give at least 1 flow or leave the section out"
    );
}

#[test]
fn wrong_staggered_settings_say_why() {
    let error = |config: StaggeredConfig| config.check(16).unwrap_err();
    let default = StaggeredConfig::default;
    for (senders, receiver, said) in [
        ("1-16", 0, "senders: host 16 does not exist: hosts are 0 to 15"),
        ("1-5", 16, "receiver: host 16 does not exist: hosts are 0 to 15"),
        ("0-5", 3, "host 3 is the receiver: leave it out of senders"),
    ] {
        let senders = senders.to_owned();
        assert_eq!(error(StaggeredConfig { senders, receiver, ..default() }), said);
    }
    let found = error(StaggeredConfig { interval: Ps(0), ..default() });
    assert_eq!(found, "interval is 0: give the time from one start to the next");
    let found = error(StaggeredConfig { interval: Ps(u64::MAX / 8), ..default() });
    assert!(found.contains("the last stop is beyond the end of time"), "{found}");
}

/// Two settings of a kind may name files: the message says which of them is wrong.
#[test]
fn a_missing_file_is_named_by_its_setting() {
    let capacity = capacity(BitRate::from_gbps(6_400), HOSTS);
    let error = |settings: &dyn TrafficSettings| {
        let files = &Path::new("/nonexistent");
        let context = Context { capacity: &capacity, seed: 1, source: 0, files, one_class: None };
        settings.offer(&context).map(drop).unwrap_err()
    };
    let file = "f".to_owned();
    let groups = ChakraConfig { file: "t".into(), groups: file.clone(), ..Default::default() };
    let loads = CollectiveConfig { loads: file.clone(), ..Default::default() };
    let of_file: [Box<dyn TrafficSettings>; 4] = [
        Box::new(ListConfig { file: file.clone(), ..Default::default() }),
        Box::new(ConnectionsConfig { file: file.clone(), ..Default::default() }),
        Box::new(DependentConfig { file: file.clone(), ..Default::default() }),
        Box::new(GoalConfig { file, ..Default::default() }),
    ];
    let mut cases: Vec<(&str, &dyn TrafficSettings)> =
        of_file.iter().map(|settings| ("file", &**settings)).collect();
    cases.extend([("groups", &groups as &dyn TrafficSettings), ("loads", &loads)]);
    for (key, settings) in cases {
        let expected = format!("{key} = \"f\": /nonexistent/f: ");
        let found = error(settings);
        assert!(found.starts_with(&expected), "{found}");
    }
}
