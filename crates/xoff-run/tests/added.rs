//! A congestion control of another crate. These tests are a program of their own, as every run of a
//! program has the control.

use xoff_core::knobs;
use xoff_host::cc::{ControlConfig, ControlSettings, Dctcp, DctcpConfig, Pace, Path, Start};
use xoff_host::tcp::TcpConfig;
use xoff_run::Run;
use xoff_sim::Threads;

knobs! {
    /// DCTCP under another name.
    pub struct TwinConfig in "twin" {
        /// Gain of the moving average of the marked fraction.
        gain: f64 = 0.0625,
    }
}

xoff_host::add_control!(TwinConfig);

const PRESET: &str = r#"# DCTCP under another name
[switch]
scheduler = "fifo"
hop = "pfc"
ecn = true
[ecn]
pmax = 1.0
[transport]
congestion = "twin"
window = "bdp"
window_follows_rate = true
"#;

impl ControlSettings for TwinConfig {
    fn preset(&self) -> Option<&'static str> {
        Some(PRESET)
    }

    fn reacts_to_marks(&self, tcp: &TcpConfig) -> bool {
        DctcpConfig::default().reacts_to_marks(tcp)
    }

    fn sets_rate(&self) -> bool {
        DctcpConfig::default().sets_rate()
    }

    fn uses_base_rtt(&self) -> bool {
        DctcpConfig::default().uses_base_rtt()
    }
}

impl Start for TwinConfig {
    type Control = Dctcp;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (Dctcp, Pace) {
        DctcpConfig { gain: self.gain, ..DctcpConfig::default() }.start(path, tcp)
    }
}

const SCENARIO: &str = r#"
[run]
warmup = "0us"
measure = "40us"
drain = "1ms"
[[traffic]]
kind = "open-loop"
load = 0.6
stop = "40us"
"#;

fn open(overrides: &[&str], threads: Threads) -> Result<Run, String> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Run::open(SCENARIO, "test.toml", &overrides, threads).map_err(|problems| problems.to_string())
}

fn digest(overrides: &[&str], threads: Threads) -> u64 {
    let mut run = open(overrides, threads).unwrap();
    while run.step().unwrap() {
        run.rows().flows.clear();
        run.rows().samples.clear();
    }
    run.digest()
}

#[test]
fn an_added_control_acts_as_one_of_the_engine() {
    let expected = digest(&["scheme=dctcp"], Threads::ONE);
    assert_eq!(digest(&["scheme=twin"], Threads::ONE), expected);
    assert_eq!(digest(&["scheme=twin"], Threads::up_to(2)), expected);
    assert_eq!(digest(&["scheme=dctcp", "transport.congestion=twin"], Threads::ONE), expected);
}

#[test]
fn its_settings_are_read_and_checked() {
    let gain = digest(&["scheme=dctcp", "dctcp.gain=0.5"], Threads::ONE);
    assert_eq!(digest(&["scheme=twin", "twin.gain=0.5"], Threads::ONE), gain);
    let refused = |overrides: &[&str]| open(overrides, Threads::ONE).err().expect("is refused");
    let unknown = refused(&["scheme=twin", "twin.gian=0.5"]);
    assert!(unknown.contains("unknown key \"gian\" in [twin]"), "{unknown}");
    let unused = refused(&["scheme=dctcp", "twin.gain=0.5"]);
    assert!(unused.contains("transport.congestion = \"dctcp\""), "{unused}");
}

#[test]
fn it_is_documented_with_the_others() {
    assert!(xoff_scenario::presets().contains(&("twin".into(), "DCTCP under another name".into())));
    assert!(xoff_scenario::schema().contains("Gain of the moving average of the marked fraction."));
    let wrong = open(&["scheme=dctcp", "transport.congestion=twim"], Threads::ONE).err().unwrap();
    assert!(wrong.contains("did you mean \"twin\"?"), "{wrong}");
    assert!(matches!(ControlConfig::default(), ControlConfig::None(_)));
}
