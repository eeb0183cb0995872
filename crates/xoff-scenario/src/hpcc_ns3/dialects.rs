//! Cases of simulators that were made from the HPCC simulator. Their `config.txt` has keys of its
//! own, which are translated into that simulator's, known to affect only output, or refused with
//! the name of the simulator that they belong to. The key lists come from the comparisons in
//! each program.
//!
//! Not modelled: what these programs do differently without a key. ConWeave's switches have another
//! shared buffer, and its flows take a port of their own at the receiver, which changes their
//! paths. So its cases run, but with HPCC's switches and hashes. [`Translated::note`] says so.

use std::borrow::Cow;

use super::config;

/// What a key of a dialect means here.
#[derive(Clone, Copy)]
enum Meaning {
    /// It only chooses output, or tunes what another key switches off.
    Output,
    /// A single value is modelled; the reason why others are not.
    Only(f64, &'static str),
    /// The end of arrivals (s): that program stops this many seconds later.
    StopsAfter(f64),
}

use Meaning::{Only, Output, StopsAfter};

struct Dialect {
    name: &'static str,
    keys: &'static [(&'static str, Meaning)],
    /// What a case of it does not share with the HPCC simulator's.
    note: &'static str,
    /// Why its configuration may lack `TOPOLOGY_FILE` or `FLOW_FILE`.
    without_files: &'static str,
}

const DIALECTS: [Dialect; 2] = [
    // conweave-project/conweave-ns3, commit 236a801a, scratch/network-load-balance.cc and run.py.
    Dialect {
        name: "ConWeave's simulator (conweave-ns3)",
        keys: &[
            ("FLOW_INPUT_FILE", Output),
            ("CNP_OUTPUT_FILE", Output),
            ("CONN_MON_FILE", Output),
            ("EST_ERROR_MON_FILE", Output),
            ("UPLINK_MON_FILE", Output),
            ("VOQ_MON_FILE", Output),
            ("VOQ_MON_DETAIL_FILE", Output),
            ("SW_MONITORING_INTERVAL", Output),
            ("LOAD", Output),
            // Read with LB_MODE 9 alone.
            ("CONWEAVE_TX_EXPIRY_TIME", Output),
            ("CONWEAVE_REPLY_TIMEOUT_EXTRA", Output),
            ("CONWEAVE_PATH_PAUSE_TIME", Output),
            ("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", Output),
            ("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", Output),
            (
                "LB_MODE",
                Only(0.0, "2 (DRILL), 3 (CONGA), 6 (LetFlow) and 9 (ConWeave) balance the load"),
            ),
            ("ENABLE_PFC", Only(1.0, "without PFC its buffer drops by thresholds of its own")),
            ("ENABLE_IRN", Only(0.0, "its IRN has timeouts and windows of its own")),
            ("RANDOM_SEED", Only(1.0, "the HPCC simulator has this seed")),
            ("FLOWGEN_START_TIME", Only(2.0, "failures of links are relative to 2 s")),
            ("FLOWGEN_STOP_TIME", StopsAfter(10.0)),
        ],
        note: "with HPCC's shared buffer and hashes, which differ from those of its switches",
        without_files: "",
    },
    // aliyun/SimAI, commit cef83f9d, astra-sim-alibabacloud/astra-sim/network_frontend/ns3/common.h
    // and inputs/config/SimAI.conf.
    Dialect {
        name: "SimAI",
        keys: &[
            ("BW_MON_FILE", Output),
            ("BW_MON_INTERVAL", Output),
            ("CNP_MON_FILE", Output),
            ("MON_START", Output),
            ("MON_END", Output),
            ("QLEN_MON_INTERVAL", Output),
            ("QP_MON_INTERVAL", Output),
            ("RATE_MON_FILE", Output),
            ("NIC_TOTAL_PAUSE_TIME", Only(0.0, "NICs that pause by themselves are not")),
        ],
        note: "with flows from a file in place of its workload",
        without_files: ": SimAI takes the topology from its command line and flows from a \
                        workload; name files in the format of the HPCC simulator",
    },
];

/// A configuration in the keys of the HPCC simulator.
#[derive(Debug)]
pub(super) struct Translated<'a> {
    /// The same lines, with those of the dialect translated or empty.
    pub(super) text: Cow<'a, str>,
    /// For the effective scenario: the dialect, and what its program does differently. Empty for
    /// the HPCC simulator.
    pub(super) note: String,
    /// Appended to errors about the rest.
    pub(super) context: String,
}

/// Translates a configuration.
///
/// # Errors
/// File, line and key of a value that is not modelled, or of a key of a second dialect.
pub(super) fn translate<'a>(text: &'a str, file: &str) -> Result<Translated<'a>, String> {
    let mut found: Option<(&Dialect, &str)> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fail = |what: String| format!("{file}:{}: {what}", index + 1);
        if let Some(key) = second_key(line) {
            return Err(fail(format!("{key} is a second key on this line: give it its own")));
        }
        let mut words = line.split_whitespace();
        let known = words.next().and_then(of_key);
        let Some((dialect, key, meaning)) = known else {
            lines.push(Cow::Borrowed(line));
            continue;
        };
        if let Some((first, earlier)) = found.filter(|found| found.0.name != dialect.name) {
            let (one, other) = (first.name, dialect.name);
            return Err(fail(format!(
                "{key} is a key of {other}, but {earlier} is one of {one}: remove those of one"
            )));
        }
        found = Some((dialect, key));
        lines.push(meaning.line(dialect, key, words.next()).map_err(fail)?.into());
    }
    let Some((dialect, _)) = found else {
        return Ok(Translated { text: text.into(), note: String::new(), context: String::new() });
    };
    let missing = ["TOPOLOGY_FILE", "FLOW_FILE"]
        .into_iter()
        .find(|key| !lines.iter().any(|line| line.split_whitespace().next() == Some(key)));
    if let Some(key) = missing {
        return Err(format!("{file}: {key} is missing{}", dialect.without_files));
    }
    Ok(Translated {
        text: lines.join("\n").into(),
        note: format!("# Its keys are those of {}; it runs {}.\n", dialect.name, dialect.note),
        context: format!(" (the file has keys of {})", dialect.name),
    })
}

fn of_key(word: &str) -> Option<(&'static Dialect, &'static str, Meaning)> {
    DIALECTS.iter().find_map(|dialect| {
        let &(key, meaning) = dialect.keys.iter().find(|(key, _)| *key == word)?;
        Some((dialect, key, meaning))
    })
}

/// A key behind the first value of a line. That simulator reads words, whatever line they are on,
/// and ignores words without a meaning.
fn second_key(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip(2);
    words.find(|word| config::is_key(word) || of_key(word).is_some())
}

impl Meaning {
    /// The line of the HPCC simulator for a line of a dialect.
    fn line(self, dialect: &Dialect, key: &str, value: Option<&str>) -> Result<String, String> {
        let number = || {
            let text = value.ok_or_else(|| format!("{key} has no value"))?;
            let number: Option<f64> = text.parse().ok().filter(|value: &f64| value.is_finite());
            number.ok_or_else(|| format!("{key}: expected a number, found {text:?}"))
        };
        match self {
            Output => Ok(String::new()),
            Only(only, reason) => match number()? {
                value if value == only => Ok(String::new()),
                value => Err(format!(
                    "{key} {value}, a key of {}, is not modelled: only {only} is ({reason})",
                    dialect.name
                )),
            },
            StopsAfter(seconds) => Ok(format!("SIMULATOR_STOP_TIME {}", number()? + seconds)),
        }
    }
}

/// Flows in the columns of the HPCC simulator. ConWeave's have no destination port: `src dst pg
/// bytes start`.
pub(super) fn flows(text: &str) -> Cow<'_, str> {
    let columns = text.lines().nth(1).map_or(0, |line| line.split_whitespace().count());
    if columns != 5 {
        return text.into();
    }
    let with_port = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [src, dst, pg, bytes, start] => format!("{src} {dst} {pg} 100 {bytes} {start}"),
        _ => line.into(),
    };
    text.lines().map(with_port).collect::<Vec<_>>().join("\n").into()
}

/// Refuses a topology whose first line is that of another simulator.
///
/// # Errors
/// The simulator, and what its line has.
pub(super) fn check_topology(text: &str, file: &str) -> Result<(), String> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let switches: Option<usize> = first.get(1).and_then(|word| word.parse().ok());
    let listed = switches == Some(second.len());
    let dialect = match first[..] {
        // inet-tub/ns3-datacenter, commit 6ddb4a40, examples/PowerTCP/powertcp-evaluation-burst.cc.
        [_, _, _, _] if listed => {
            "ns3-datacenter (ABM, PowerTCP): nodes, switches, ToR switches and links. Its flows \
             have ports of their own, which decide their paths. Scheme \"powertcp\" is its control"
        }
        // aliyun/SimAI, commit cef83f9d, network_frontend/ns3/common.h.
        [_, _, _, _, _, gpu] if gpu.parse::<f64>().is_err() => {
            "SimAI: nodes, GPUs per server, NVSwitches, switches, links and the type of GPU. \
             Servers with NVSwitches are not modelled"
        }
        _ => return Ok(()),
    };
    Err(format!("{file}:1: this is the first line of {dialect}; write nodes, switches and links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &str = "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\n";

    fn fails(text: &str) -> String {
        translate(&format!("{FILES}{text}"), "config.txt").unwrap_err()
    }

    #[test]
    fn the_hpcc_simulators_own_keys_are_left_alone() {
        let translated = translate("CC_MODE 3\nFOO 1\n", "config.txt").unwrap();
        assert_eq!((&*translated.text, &*translated.note), ("CC_MODE 3\nFOO 1\n", ""));
    }

    #[test]
    fn keys_of_conweave_are_translated_or_leave_an_empty_line() {
        let text = format!(
            "{FILES}LB_MODE 0\nCC_MODE 1\nFLOWGEN_STOP_TIME 2.1\nVOQ_MON_FILE v.txt\nENABLE_IRN 0\n"
        );
        let translated = translate(&text, "config.txt").unwrap();
        let expected = format!("{FILES}\nCC_MODE 1\nSIMULATOR_STOP_TIME 12.1\n\n");
        assert_eq!(translated.text, expected);
        assert!(translated.note.contains("conweave-ns3"), "{}", translated.note);
    }

    #[test]
    fn values_that_are_not_modelled_are_refused_with_their_simulator() {
        assert_eq!(
            fails("LB_MODE 9\n"),
            "config.txt:3: LB_MODE 9, a key of ConWeave's simulator (conweave-ns3), is not \
             modelled: only 0 is (2 (DRILL), 3 (CONGA), 6 (LetFlow) and 9 (ConWeave) balance the \
             load)"
        );
        assert!(fails("ENABLE_IRN 1\n").contains("conweave-ns3"));
        assert!(fails("NIC_TOTAL_PAUSE_TIME 5\n").contains("a key of SimAI"));
        assert_eq!(fails("ENABLE_PFC\n"), "config.txt:3: ENABLE_PFC has no value");
        assert_eq!(
            fails("ENABLE_PFC yes\n"),
            "config.txt:3: ENABLE_PFC: expected a number, found \"yes\""
        );
    }

    #[test]
    fn keys_of_two_simulators_are_refused() {
        assert_eq!(
            fails("LB_MODE 0\nMON_END 5\n"),
            "config.txt:4: MON_END is a key of SimAI, but LB_MODE is one of ConWeave's simulator \
             (conweave-ns3): remove those of one"
        );
    }

    #[test]
    fn a_second_key_on_a_line_is_refused() {
        for (line, key) in [
            ("CC_MODE 8 HAS_WIN 0", "HAS_WIN"),
            ("LINK_DOWN 37 4 3 VAR_WIN 1", "VAR_WIN"),
            ("KMAX_MAP 1 1000 4 thresholds TRACE_FILE t.txt", "TRACE_FILE"),
            ("LB_MODE 0 HAS_WIN 1", "HAS_WIN"),
            ("CC_MODE 8 LB_MODE 9", "LB_MODE"),
            ("CNP_OUTPUT_FILE c.txt ENABLE_IRN 1", "ENABLE_IRN"),
        ] {
            let error =
                format!("config.txt:3: {key} is a second key on this line: give it its own");
            assert_eq!(fails(line), error);
        }
        for line in ["CC_MODE 8 {HAS_WIN}", "CC_MODE 8 {no window}", "CC_MODE 8 DCTCP"] {
            let text = format!("{FILES}{line}");
            assert_eq!(translate(&text, "config.txt").unwrap().text, text);
        }
    }

    #[test]
    fn simai_lacks_the_names_of_files() {
        let error = translate("FLOW_FILE f.txt\nMON_START 0\n", "SimAI.conf").unwrap_err();
        assert!(error.starts_with("SimAI.conf: TOPOLOGY_FILE is missing: SimAI takes"), "{error}");
    }

    #[test]
    fn flows_without_a_port_get_that_of_the_hpcc_simulator() {
        assert_eq!(flows("1\n0 1 3 5000 2.0\n"), "1\n0 1 3 100 5000 2.0");
        assert_eq!(flows("1\n0 1 3 100 5000 2.0\n"), "1\n0 1 3 100 5000 2.0\n");
    }

    #[test]
    fn topologies_of_other_simulators_are_refused_by_name() {
        let error = check_topology("33 1 1 32\n32\n0 32 25Gbps 1us 0\n", "t.txt").unwrap_err();
        assert!(error.starts_with("t.txt:1: this is the first line of ns3-datacenter"), "{error}");
        let error = check_topology("20 8 2 4 48 A100\n16 17\n", "t.txt").unwrap_err();
        assert!(error.contains("SimAI"), "{error}");
        assert_eq!(check_topology("3 1 2\n2\n0 2 100Gbps 1us 0\n", "t.txt"), Ok(()));
        assert_eq!(check_topology("", "t.txt"), Ok(()));
    }
}
