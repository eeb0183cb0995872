//! Compares the reader of HPCC ns-3 cases with that simulator's own output (`hpcc_ns3/README.md`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use xoff_run::Run;
use xoff_sim::Threads;

const CONTROLS: [&str; 3] = ["dcqcn", "dctcp", "hpcc"];

/// Flows by source, destination and number within the pair: bytes, start and completion time (ns).
type Flows = BTreeMap<(u32, u32, usize), [u64; 3]>;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/hpcc_ns3").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

fn open(control: &str, buffer_mib: u32) -> Run {
    let name = format!("{control}.txt");
    let config = text(&name).replace("BUFFER_SIZE 32", &format!("BUFFER_SIZE {buffer_mib}"));
    Run::open(&config, file(&name).to_str().unwrap(), &[], Threads::ONE)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The output of that simulator.
fn written(control: &str) -> Flows {
    written_in(&text(&format!("{control}.fct.txt")))
}

fn written_in(fct: &str) -> Flows {
    let host = |word: &str| u32::from_str_radix(word, 16).unwrap() >> 8 & 0xffff;
    let flow = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |place: usize| words[place].parse::<u64>().unwrap();
        let key = (host(words[0]), host(words[1]), number(2) as usize - 10_000);
        (key, [number(4), number(5), number(6)])
    };
    fct.lines().map(flow).collect()
}

fn computed(control: &str) -> Flows {
    finished(open(control, 32))
}

fn finished(mut run: Run) -> Flows {
    let mut rows = Vec::new();
    while run.step().unwrap() {
        rows.append(&mut run.rows().flows);
    }
    rows.append(&mut run.rows().flows);
    rows.sort_by_key(|row| row.flow);
    let mut flows = Flows::new();
    for row in rows {
        let earlier = flows.keys().filter(|key| (key.0, key.1) == (row.src, row.dst)).count();
        let values = [row.size_bytes, row.start_ps / 1000, row.fct_ps / 1000];
        flows.insert((row.src, row.dst, earlier), values);
    }
    flows
}

#[test]
fn every_flow_ends_at_the_same_nanosecond() {
    for control in CONTROLS {
        let written = written(control);
        assert_eq!(written.len(), 17);
        assert_eq!(computed(control), written, "{control}");
    }
}

/// The files that a run writes in that simulator's forms, by name.
fn files(mut run: Run) -> BTreeMap<String, String> {
    let mut files = BTreeMap::<String, Vec<u8>>::new();
    let mut more = true;
    while more {
        more = run.step().unwrap();
        for (name, data) in run.take_files() {
            files.entry(name).or_default().extend(data);
        }
    }
    files.into_iter().map(|(name, data)| (name, String::from_utf8(data).unwrap())).collect()
}

/// Small cases, each with another setting of that simulator. All its files are the same, to the
/// byte: flows, and where they are archived, pauses and queue lengths.
#[test]
fn every_setting_gives_the_same_files() {
    let cases = std::fs::read_dir(file("settings")).unwrap();
    let (mut flows, mut pauses, mut queues) = (0, 0, 0);
    for folder in cases.map(|case| case.unwrap().path()) {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let config = folder.join("config.txt");
        let order = ["next_hops=descending".to_owned()];
        let run = Run::open(&read("config.txt"), config.to_str().unwrap(), &order, Threads::ONE)
            .unwrap_or_else(|error| panic!("{error}"));
        let found = files(run);
        for (name, count) in
            [("fct.txt", &mut flows), ("pfc.txt", &mut pauses), ("qlen.txt", &mut queues)]
        {
            if folder.join(name).exists() {
                assert_eq!(found[name], read(name), "{} {name}", folder.display());
                *count += found[name].lines().count();
            }
        }
    }
    assert_eq!((flows, pauses, queues), (173, 120, 136));
}

/// That simulator stops at a time, not at a step of the grid: later flows do not begin, and no file
/// has anything of that time or later.
#[test]
fn nothing_is_written_after_the_stop() {
    let folder = file("settings/back-to-zero-and-pauses");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let time = |line: &str, places: &[usize]| {
        let words: Vec<u64> =
            line.split_whitespace().map(|word| word.parse().unwrap_or(0)).collect();
        places.iter().map(|&place| words[place]).sum::<u64>()
    };
    let all = [("fct.txt", &[5, 6][..]), ("pfc.txt", &[0])];
    for (name, places) in all {
        let mut times: Vec<u64> = read(name).lines().map(|line| time(line, places)).collect();
        times.sort_unstable();
        let stop = times[times.len() / 2];
        let mut config = read("config.txt");
        let (seconds, ns) = (stop / 1_000_000_000, stop % 1_000_000_000);
        let _ = writeln!(config, "\nSIMULATOR_STOP_TIME {seconds}.{ns:09}");
        let (order, config_file) = (["next_hops=descending".into()], folder.join("config.txt"));
        let run = Run::open(&config, config_file.to_str().unwrap(), &order, Threads::ONE).unwrap();
        let found = files(run);
        for (name, places) in all {
            let before = |line: &&str| time(line, places) < stop;
            let expected: Vec<String> =
                read(name).lines().filter(before).map(String::from).collect();
            assert!(!expected.is_empty(), "{name}");
            assert_eq!(found[name].lines().collect::<Vec<_>>(), expected, "{name} until {stop}");
        }
    }
}

/// Each word of each file in turn becomes nonsense, and each file ends after each line. The case
/// then still runs, or an error names the file.
#[test]
fn nonsense_is_refused_with_the_name_of_the_file() {
    let case = file("settings/back-to-zero-and-pauses");
    let folder = std::env::temp_dir().join(format!("xoff-nonsense-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let names = ["config.txt", "topology.txt", "flow.txt"];
    let texts = names.map(|name| std::fs::read_to_string(case.join(name)).unwrap());
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let mut refused = 0;
    for (name, text) in names.iter().zip(&texts) {
        for (name, text) in names.iter().zip(&texts) {
            write(name, text);
        }
        for broken in broken(text) {
            write(name, &broken);
            let config = std::fs::read_to_string(folder.join("config.txt")).unwrap();
            let file = folder.join("config.txt");
            if let Err(error) = Run::open(&config, file.to_str().unwrap(), &[], Threads::ONE) {
                refused += 1;
                let error = error.to_string();
                let names_file = names.iter().any(|name| error.contains(name));
                assert!(names_file, "{name}: {error}\n{broken}");
            }
        }
    }
    assert!(refused > 500, "{refused}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A text with one word replaced, or without its end.
fn broken(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut broken: Vec<String> = (0..lines.len()).map(|end| lines[..end].join("\n")).collect();
    for (number, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for place in 0..words.len() {
            for nonsense in ["x", "-1", "1e99", "99999999999999999999", "nan", "0"] {
                let mut words = words.clone();
                words[place] = nonsense;
                let line = words.join(" ");
                let mut lines = lines.clone();
                lines[number] = &line;
                broken.push(lines.join("\n"));
            }
        }
    }
    broken
}

/// The same network with the switch as node 0 and hosts from 1.
#[test]
fn results_have_the_numbers_of_the_files() {
    let folder = std::env::temp_dir().join(format!("xoff-hpcc-ns3-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let number = |word: &str| (word.parse::<u32>().unwrap() + 1) % 18;
    let renamed = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        format!("{} {} {}", number(words[0]), number(words[1]), words[2..].join(" "))
    };
    for (name, head) in [("topology.txt", "18 1 17\n0\n"), ("flow.txt", "17\n")] {
        let whole = text(name);
        let lines = whole.lines().skip(head.lines().count()).map(renamed);
        let lines: Vec<String> = lines.collect();
        std::fs::write(folder.join(name), head.to_owned() + &lines.join("\n")).unwrap();
    }
    let config = text("dctcp.txt");
    let file = folder.join("config.txt");
    let mut run = Run::open(&config, file.to_str().unwrap(), &[], Threads::ONE)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut rows = Vec::new();
    while run.step().unwrap() {
        rows.append(&mut run.rows().flows);
    }
    rows.append(&mut run.rows().flows);
    let found: BTreeMap<_, _> =
        rows.iter().map(|row| ((row.src, row.dst, row.size_bytes), row.fct_ps / 1000)).collect();
    let expected: BTreeMap<_, _> = written("dctcp")
        .iter()
        .map(|(&(src, dst, _), &[size, _, fct])| (((src + 1), (dst + 1), size), fct))
        .collect();
    assert_eq!(found, expected);
    let (ports, samples) = (run.ports(), &run.rows().samples);
    assert!(ports.iter().any(|port| port.node == 0 && port.peer == 17), "{ports:?}");
    assert!(samples.iter().all(|row| row.node == 0), "{samples:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_small_buffer_sends_as_many_pauses() {
    for (control, pauses) in CONTROLS.into_iter().zip([280, 158, 16]) {
        let mut run = open(control, 1);
        while run.step().unwrap() {}
        assert_eq!(run.summary().pfc.pause_frames, pauses, "{control}");
    }
}

/// Two hosts with a link to each of two switches. A link that goes for good takes half of the
/// capacity with it: the hosts share their flows out again, and all of them end.
#[test]
fn flows_of_a_link_that_goes_take_the_other_one() {
    let folder = file("settings/acknowledgements");
    let config = std::fs::read_to_string(folder.join("config.txt")).unwrap();
    let last_ns = |line: &str| {
        let config = config.replace("LINK_DOWN 0 0 0", line).replace("TIME 2.02", "TIME 2.1");
        let path = file("two-links/config.txt");
        let run = Run::open(&config, path.to_str().unwrap(), &[], Threads::ONE)
            .unwrap_or_else(|error| panic!("{error}"));
        let flows = finished(run);
        assert_eq!(flows.len(), 8, "{line}");
        flows.values().map(|[_, start, fct]| start + fct).max().unwrap() - 2_000_000_000
    };
    // 32 MB at 100 Gb/s. In 100 us both links together have sent 2.5 MB.
    let one_link_ns = 2_560_000;
    assert!((one_link_ns / 2..one_link_ns).contains(&last_ns("LINK_DOWN 0 0 0")));
    for line in ["LINK_DOWN 100 0 2", "LINK_DOWN 100 3 0", "LINK_DOWN 100 1 3"] {
        let last = last_ns(line);
        assert!((one_link_ns - 200_000..one_link_ns * 5 / 4).contains(&last), "{line}: {last}");
    }
}
