//! Rules that every kind of traffic obeys with its default settings.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use xoff_core::seam::Seam;
use xoff_core::{BitRate, Files, Ps};
use xoff_workload::{
    After, Arrival, Capacity, ChakraConfig, ConnectionsConfig, Context, DependentConfig,
    GoalConfig, Grouping, Offer, Racks, TrafficConfig, TrafficSettings,
};

const HOSTS: u32 = 128;
const SOURCE: u16 = 3;

/// A folder in which every file is a list of two flows, or a connection matrix of two.
struct Lists;

impl Files for Lists {
    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let ends_with = |ending: &str| path.extension().is_some_and(|found| found == ending);
        Ok(if ends_with("goal") {
            "num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n".into()
        } else if ends_with("et") {
            // The metadata and one node, a COMP_NODE of 1 us with the id 2.
            let is_first = path.file_stem().is_some_and(|stem| stem == "two.0");
            let found = is_first.then(|| b"\x07\x0a\x050.0.4\x06\x08\x02\x18\x04\x38\x01".into());
            return found.ok_or(io::ErrorKind::NotFound.into());
        } else if ends_with("deps") {
            "id,src,dst,size_bytes,after,delay_ps\n1,0,1,7,,0\n2,1,5,9,1,30\n".into()
        } else if ends_with("cm") {
            "Nodes 128\nConnections 2\n5->2 start 30 size 9\n0->1 start 0 size 7\n".into()
        } else {
            "src,dst,size_bytes,start_ps\n0,1,7,0\n5,2,9,30\n".into()
        })
    }
}

/// The kinds with flows of their own. Those of a job come from its hosts.
fn kinds() -> impl Iterator<Item = TrafficConfig> {
    all().filter(|settings| offer(&**settings, 1).job.is_none())
}

fn all() -> impl Iterator<Item = TrafficConfig> {
    TrafficConfig::kinds().into_iter().map(|kind| match TrafficConfig::with_defaults(kind) {
        TrafficConfig::Connections(config) => {
            TrafficConfig::Connections(ConnectionsConfig { file: "two.cm".into(), ..config })
        }
        TrafficConfig::Chakra(config) => {
            TrafficConfig::Chakra(ChakraConfig { file: "two".into(), ..config })
        }
        TrafficConfig::Dependent(config) => {
            TrafficConfig::Dependent(DependentConfig { file: "two.deps".into(), ..config })
        }
        TrafficConfig::Goal(config) => {
            TrafficConfig::Goal(GoalConfig { file: "two.goal".into(), ..config })
        }
        settings => settings,
    })
}

fn offer(settings: &dyn TrafficSettings, seed: u64) -> Offer {
    let gbps = BitRate::from_gbps;
    let capacity = Capacity {
        racks: Some(Racks { hosts: 16, uplinks: gbps(800) }),
        grouping: Grouping { leaves: (0..HOSTS).map(|host| host / 16).collect(), in_server: None },
        ..Capacity::new(gbps(6_400), vec![gbps(100); HOSTS as usize])
    };
    let context =
        Context { capacity: &capacity, seed, source: SOURCE, files: &Lists, one_class: None };
    settings.offer(&context).expect("the defaults fit")
}

fn flows(settings: &dyn TrafficSettings, seed: u64) -> Vec<Arrival> {
    let mut source = offer(settings, seed).source;
    std::iter::from_fn(|| source.next()).take(2_000).collect()
}

#[test]
fn flows_run_between_two_hosts_and_never_go_back_in_time() {
    for settings in kinds() {
        let (kind, found) = (settings.kind(), flows(&*settings, 1));
        assert!(!found.is_empty(), "{kind:?}");
        assert!(found.is_sorted_by_key(|flow| flow.start), "{kind:?}");
        for flow in &found {
            let ends = flow.src != flow.dst && flow.src.0 < HOSTS && flow.dst.0 < HOSTS;
            assert!(ends && flow.bytes > 0 && flow.source == SOURCE, "{kind:?}: {flow:?}");
        }
        assert_eq!(found, flows(&*settings, 1), "{kind:?}");
    }
}

#[test]
fn settings_say_what_their_flows_do() {
    for settings in kinds() {
        let (kind, found) = (settings.kind(), flows(&*settings, 1));
        assert_eq!(found.iter().any(|flow| flow.after.is_some()), settings.waits(), "{kind:?}");
        assert_eq!(found.iter().any(|flow| flow.stop < Ps::NEVER), settings.stops(), "{kind:?}");
        let endless = found.iter().any(|flow| flow.bytes == xoff_workload::ENDLESS);
        assert_eq!(endless, settings.is_endless(), "{kind:?}");
        let ends = |flow: &Arrival| matches!(flow.after, Some(After::End { .. }));
        assert_eq!(found.iter().any(ends), settings.fills(), "{kind:?}");
    }
}

#[test]
fn kinds_have_names_sections_and_classes_of_their_own() {
    let classes: BTreeSet<String> = all().map(|settings| settings.class().to_owned()).collect();
    assert_eq!(classes.len(), TrafficConfig::kinds().len());
    assert_eq!(TrafficConfig::all_sections().len(), TrafficConfig::kinds().len());
}

#[test]
fn jobs_of_files_say_what_they_consist_of() {
    let counted = |kind: &str| {
        let settings = all().find(|settings| settings.class() == kind).expect("a kind");
        let derived: BTreeMap<_, _> = offer(&*settings, 1).derived.into_iter().collect();
        ["ranks", "messages", "message_bytes", "computations", "computing", "collectives"]
            .map(|name| derived[name].clone())
    };
    assert_eq!(counted("goal"), ["2", "1", "9B", "0", "0ps", "0"]);
    assert_eq!(counted("dependent"), ["3", "2", "16B", "1", "30ps", "0"]);
    assert_eq!(counted("chakra"), ["1", "0", "0B", "1", "1us", "0"]);
}
