use xoff_core::{BitRate, Ps, choices, knobs};

use super::*;
use crate::document::Document;

choices! {
    /// A scheme.
    pub enum Scheme {
        /// One.
        Dctcp = "dctcp",
        /// Another.
        Hpcc = "hpcc",
    }
}

knobs! {
    /// The wires.
    pub struct Topology in "topology" {
        /// How long a link takes.
        delay: Ps = Ps::from_us(1),
        /// How fast a link is.
        rate: BitRate = BitRate::from_gbps(100),
        /// How many hosts.
        hosts: u16 = 2,
    }
}

knobs! {
    /// How senders react.
    pub struct Transport in "transport" {
        /// Their congestion control.
        congestion: Scheme = Scheme::Dctcp,
    }
}

knobs! {
    /// Flows at random times.
    pub struct Poisson in "traffic" {
        /// How full the links are.
        load: f64 = 0.5,
        /// When it starts.
        start: Ps = Ps(0),
    }
}

const SECTIONS: [&str; 4] = ["topology", "transport", "traffic", "dctcp"];

fn file(text: &str) -> Document {
    Document::parse("f.toml", text).unwrap()
}

fn layers(preset: &str, text: &str, overrides: &[&str]) -> Layers {
    let mut documents = vec![Document::preset("preset", preset).unwrap(), file(text)];
    documents.extend(Document::from_overrides(overrides).unwrap());
    Layers::new(documents)
}

fn section<K: Knobs + Default>(layers: &mut Layers) -> K {
    let mut section = K::default();
    layers.fill(&mut section);
    section
}

/// The errors of a file with the sections above.
fn wrong(text: &str, overrides: &[&str]) -> String {
    let mut layers = layers("", text, overrides);
    let _ = layers.scalar::<u64>("seed");
    let _: Topology = section(&mut layers);
    let _: Transport = section(&mut layers);
    for table in layers.tables("traffic") {
        let _ = table.kind(&mut layers);
        table.fill(&mut layers, &mut Poisson::default());
    }
    layers.finish(&SECTIONS, true).unwrap_err().to_string()
}

#[test]
fn a_misspelt_key_names_the_nearest() {
    let expected = r#"error: unknown key "dealy" in [topology]
 --> f.toml:3:2
  |
3 |     dealy = "1us"
  |     ^^^^^
help: did you mean "delay"?"#;
    assert_eq!(wrong("# wires\r\n[topology]\r\n\tdealy = \"1us\"\r\n", &[]), expected);
}

#[test]
fn a_key_like_no_other_lists_the_valid_ones() {
    let expected = r#"error: unknown key "größe" in [topology]
 --> f.toml:2:1
  |
2 | "größe" = [1, 2]
  | ^^^^^^^
help: valid names: delay, rate, hosts"#;
    assert_eq!(wrong("[topology]\n\"größe\" = [1, 2]", &[]), expected);
}

#[test]
fn a_wrong_value_says_what_was_expected() {
    let expected = r#"error: wrong value for "delay" in [topology]: expected a duration with its unit (s, ms, us, ns or ps), such as "2us", found the number 2 without a unit
 --> f.toml:2:9
  |
2 | delay = 2
  |         ^"#;
    assert_eq!(wrong("[topology]\ndelay = 2", &[]), expected);
}

#[test]
fn a_misspelt_choice_names_the_nearest() {
    let expected = r#"error: wrong value for "congestion" in [transport]: expected one of dctcp, hpcc, found the text "hpc"
 --> --set:1:22
  |
1 | transport.congestion=hpc
  |                      ^^^
help: did you mean "hpcc"?"#;
    assert_eq!(wrong("", &["transport.congestion=hpc"]), expected);
}

#[test]
fn what_is_no_scalar_is_described() {
    for (value, described) in [
        ("[1]", "a list of values"),
        ("{a = 1}", "a section"),
        ("[{a = 1}]", "a list of sections"),
        ("2020-01-01", "a date"),
        ("9223372036854775808", "a number of more than 64 bits"),
        ("1e999", "the number inf without a unit"),
    ] {
        let expected = format!(
            "error: wrong value for \"hosts\" in [topology]: expected a whole number from 0 to 65535, found {described}
 --> f.toml:2:9
  |
2 | hosts = {value}
  |         {}",
            "^".repeat(value.len())
        );
        assert_eq!(wrong(&format!("[topology]\nhosts = {value}"), &[]), expected);
    }
}

#[test]
fn an_unknown_section_names_the_nearest() {
    let expected = r#"error: unknown section [topolgy]
 --> f.toml:1:2
  |
1 | [topolgy]
  |  ^^^^^^^
help: did you mean "topology"?

error: unknown section [[trafic]]
 --> f.toml:2:3
  |
2 | [[trafic]]
  |   ^^^^^^
help: did you mean "traffic"?

error: unknown key "sed"
 --> --set:1:1
  |
1 | sed=1
  | ^^^
help: did you mean "seed"?"#;
    assert_eq!(wrong("[topolgy]\n[[trafic]]\n", &["sed=1"]), expected);
}

#[test]
fn a_name_of_the_wrong_form_is_an_error() {
    let expected = r#"error: expected a list of sections [[traffic]], found the number 3 without a unit
 --> f.toml:1:1
  |
1 | traffic = 3
  | ^^^^^^^

error: wrong value for "seed": expected a whole number from 0 to 9223372036854775807, found a section
 --> f.toml:2:1
  |
2 | [seed]
  | ^^^^^^

error: expected a section [topology], found a list of sections
 --> f.toml:3:3
  |
3 | [[topology]]
  |   ^^^^^^^^"#;
    let text = "traffic = 3\n[seed]\n[[topology]]\n";
    assert_eq!(wrong(text, &[]), expected);
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_text() {
    let text = "zeed = 1\n[transport]\ncongestion = 1\n[topology]\nrat = 1\nhosts = -1\n";
    let wrong = wrong(text, &["topology.hosts=many", "seed=x"]);
    let places: Vec<_> = wrong.lines().filter_map(|line| line.strip_prefix(" --> ")).collect();
    let expected =
        ["f.toml:1:1", "f.toml:3:14", "f.toml:5:1", "f.toml:6:9", "--set:1:16", "--set:1:6"];
    assert_eq!(places, expected);
}

#[test]
fn higher_layers_override_lower_ones_key_by_key() {
    let preset = "seed = 1\n[topology]\ndelay = \"2us\"\nhosts = 10\n";
    let text = "seed = 2\n[topology]\nhosts = 20\nrate = \"10Gbps\"\n";
    let overrides = ["topology.rate=25 Gbps", "topology.rate=\"40Gbps\"", " seed = 3"];
    let mut layers = layers(preset, text, &overrides);
    assert_eq!(layers.scalar::<u64>("seed"), Ok(Some(3)));
    assert_eq!(layers.scalar::<u64>("absent"), Ok(None));
    let rate = BitRate::from_gbps(40);
    assert_eq!(
        section::<Topology>(&mut layers),
        Topology { delay: Ps::from_us(2), rate, hosts: 20 }
    );
    assert_eq!(section::<Transport>(&mut layers), Transport::default());
    let highest = layers.has("topology", "rate").unwrap();
    assert_eq!((&*highest.text, highest.span), ("topology.rate=\"40Gbps\"", 9..13));
    assert_eq!(&*layers.has("topology", "delay").unwrap().file, "preset");
    assert_eq!(&*layers.has("", "seed").unwrap().text, " seed = 3");
    assert_eq!(layers.has("transport", "congestion"), None);
    assert_eq!(layers.finish(&SECTIONS, true), Ok(()));
}

#[test]
fn an_overridden_value_must_still_be_right() {
    let mut layers = layers("", "seed = -1", &["seed=1"]);
    assert_eq!(layers.scalar::<u64>("seed"), Err(Reported));
    assert_eq!(layers.finish(&[], true).unwrap_err().0.len(), 1);
}

#[test]
fn dead_settings_of_the_user_are_errors() {
    let expected = r#"error: setting has no effect: [dctcp] is not used because transport.congestion = "hpcc"
 --> f.toml:1:2
  |
1 | [dctcp]
  |  ^^^^^
"#;
    let why = "transport.congestion = \"hpcc\"";
    let dead = "[dctcp]\ng = 1\n";
    let mut blamed = layers(dead, dead, &["dctcp.g=2", "topology.rate=1Gbps"]);
    let _: Topology = section(&mut blamed);
    blamed.unused("dctcp", why);
    blamed.unused_key("topology", "rate", "links are ideal");
    let expected_key = r#"error: setting has no effect: "rate" in [topology] is not used because links are ideal
 --> --set:1:10
  |
1 | topology.rate=1Gbps
  |          ^^^^"#;
    let shown = blamed.finish(&SECTIONS, true).unwrap_err().to_string();
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.contains(" --> --set:1:1\n  |\n1 | dctcp.g=2\n  | ^^^^^\n"), "{shown}");
    assert!(shown.ends_with(expected_key), "{shown}");
}

#[test]
fn a_dead_key_of_the_top_level_is_reported_once() {
    let mut layers = layers("seed = 1", "seed = 2", &[]);
    layers.unused_key("", "seed", "nothing is random");
    let expected = r#"error: setting has no effect: "seed" is not used because nothing is random
 --> f.toml:1:1
  |
1 | seed = 2
  | ^^^^"#;
    assert_eq!(layers.finish(&SECTIONS, true).unwrap_err().to_string(), expected);
}

#[test]
fn a_preset_is_not_blamed_for_dead_settings() {
    let mut layers = layers("[dctcp]\ng = 1\n[topology]\nrate = \"1Gbps\"\n[transport]\n", "", &[]);
    let _: Topology = section(&mut layers);
    layers.unused("dctcp", "");
    layers.unused_key("topology", "rate", "");
    assert_eq!(layers.finish(&SECTIONS, true), Ok(()));
}

#[test]
fn a_section_that_nothing_reads_is_an_error() {
    let expected = r#"error: setting has no effect: [dctcp] is not used because nothing in this scenario reads it
 --> f.toml:1:2
  |
1 | [dctcp]
  |  ^^^^^"#;
    assert_eq!(wrong("[dctcp]", &[]), expected);
}

#[test]
fn a_section_read_twice_reports_once() {
    let mut layers = layers("", "[topology]\nrat = 1", &[]);
    let _: Topology = section(&mut layers);
    let _: Topology = section(&mut layers);
    assert_eq!(layers.finish(&SECTIONS, true).unwrap_err().0.len(), 1);
}

#[test]
fn errors_of_the_composition_are_sorted_in() {
    let mut layers = layers("", "[topology]\nhosts = 3\nrat = 1", &[]);
    layers.problem(None, "no flows", None);
    let _: Topology = section(&mut layers);
    let place = layers.has("topology", "hosts");
    layers.problem(place, "hosts must be even", Some("add one".into()));
    let Problems(problems) = layers.finish(&SECTIONS, true).unwrap_err();
    let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["hosts must be even", "unknown key \"rat\" in [topology]", "no flows"]);
}

#[test]
fn the_highest_list_wins_whole_and_overrides_change_entries() {
    let preset = "[[traffic]]\nkind = \"incast\"\n[[traffic]]\n[[traffic]]\n";
    let text = "[[traffic]]\nkind = \"poisson\"\nload = 0.1\n[[traffic]]\nkind = \"b\"\n";
    let mut layers = layers(preset, text, &["traffic.0.load=0.8", "traffic.1.kind=c"]);
    let tables = layers.tables("traffic");
    let kinds: Vec<_> = tables.iter().map(|t| t.kind(&mut layers).unwrap().0).collect();
    assert_eq!(kinds, ["poisson", "c"]);
    let mut load = |table: &TableRef| {
        let mut traffic = Poisson::default();
        table.fill(&mut layers, &mut traffic);
        traffic.load
    };
    let loads: Vec<_> = tables.iter().map(&mut load).collect();
    assert_eq!(loads, [0.8, 0.5]);
    assert_eq!(&*tables[0].has("load").unwrap().file, "--set");
    assert_eq!(tables[1].has("load"), None);
    assert_eq!(tables[1].place().span, 40..51);
    assert_eq!(layers.finish(&SECTIONS, true), Ok(()));
}

#[test]
fn an_override_can_replace_a_list() {
    let mut layers = layers("", "[[traffic]]\n", &["traffic=[]"]);
    assert!(layers.tables("traffic").is_empty());
    assert_eq!(layers.finish(&SECTIONS, true), Ok(()));
}

#[test]
fn errors_in_a_list_name_the_entry() {
    let expected = r#"error: wrong value for "kind" in [[traffic]]: expected a quoted string, found the number 1 without a unit
 --> f.toml:2:8
  |
2 | kind = 1
  |        ^

error: missing key "kind" in [[traffic]]
 --> f.toml:3:1
  |
3 | [[traffic]]
  | ^^^^^^^^^^^

error: unknown key "laod" in [[traffic]]
 --> f.toml:4:1
  |
4 | laod = 0.5
  | ^^^^
help: did you mean "load"?

error: [[traffic]] has no entry 2
 --> --set:1:9
  |
1 | traffic.2.load=0.8
  |         ^
help: the entries are numbered 0 to 1

error: [[traffic]] is a list: name the entry to change
 --> --set:1:9
  |
1 | traffic.load=0.8
  |         ^^^^
help: traffic.0.key=value changes the first entry"#;
    let text = "[[traffic]]\nkind = 1\n[[traffic]]\nlaod = 0.5\n";
    assert_eq!(wrong(text, &["traffic.2.load=0.8", "traffic.load=0.8"]), expected);
}

#[test]
fn a_file_cannot_change_entries_by_number() {
    let expected = r#"error: expected a list of sections [[traffic]], found a section
 --> f.toml:1:2
  |
1 | [traffic.0]
  |  ^^^^^^^"#;
    assert_eq!(wrong("[traffic.0]\nload = 1", &[]), expected);
}

#[test]
fn a_reading_cut_short_blames_only_what_it_can_judge() {
    let text = "[run]\nmeasure = \"1ms\"\n[runn]\nmeasure = \"1ms\"\n";
    let layers = Layers::new(vec![Document::parse("a.toml", text).unwrap()]);
    let Problems(problems) = layers.finish(&["run", "traffic"], false).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("runn"), "{problems:?}");
}
