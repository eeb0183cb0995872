//! The systems that a scenario can name: compositions with the papers' parameters, as TOML.
//!
//! A preset is one text, or the text of its basic preset with another text on top.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_host::cc::{Congestion, ControlConfig};

macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("../presets/", $name, ".toml"))
    };
}

/// Name of every preset and its texts, the basic one first. The first line of the last text
/// describes the preset.
pub const PRESETS: &[(&str, &[&str])] = &[
    ("bfc", &[text!("bfc")]),
    ("bfc-128", &[text!("bfc"), text!("bfc-128")]),
    ("bfc-stochastic", &[text!("bfc"), text!("bfc-stochastic")]),
    ("bfc-single", &[text!("bfc"), text!("bfc-single")]),
    ("bfc-cc", &[text!("bfc"), text!("bfc-cc")]),
    ("bfc-sampling", &[text!("bfc"), text!("bfc-sampling")]),
    ("bfc-tofino", &[text!("bfc"), text!("bfc-tofino")]),
    ("bfc-switches", &[text!("bfc"), text!("bfc-switches")]),
    ("bfc-strawman", &[text!("bfc"), text!("bfc-strawman")]),
    ("bfc-flow-id", &[text!("bfc"), text!("bfc-flow-id")]),
    ("bfc-incast-label", &[text!("bfc"), text!("bfc-incast-label")]),
    ("bfc-srf", &[text!("bfc"), text!("bfc-srf")]),
    ("bfc-classes", &[text!("bfc"), text!("bfc-classes")]),
    ("ideal-fq", &[text!("ideal-fq")]),
    ("ideal-srf", &[text!("ideal-fq"), text!("ideal-srf")]),
    ("dctcp", &[text!("dctcp")]),
    ("dctcp-ss", &[text!("dctcp"), text!("dctcp-ss")]),
    ("dctcp-classes", &[text!("dctcp"), text!("dctcp-classes")]),
    ("dcqcn", &[text!("dcqcn")]),
    ("dcqcn-rdma15", &[text!("dcqcn"), text!("dcqcn-rdma15")]),
    ("hpcc", &[text!("hpcc")]),
    ("hpcc-pfc", &[text!("hpcc"), text!("hpcc-pfc")]),
    ("hpcc-classes", &[text!("hpcc"), text!("hpcc-classes")]),
    ("hpcc-pfc-dqa", &[text!("hpcc"), text!("hpcc-pfc"), text!("hpcc-pfc-dqa")]),
    (
        "hpcc-pfc-sfq",
        &[text!("hpcc"), text!("hpcc-pfc"), text!("hpcc-pfc-dqa"), text!("hpcc-pfc-sfq")],
    ),
    ("pfc", &[text!("pfc")]),
    ("irn", &[text!("irn")]),
    ("sfc", &[text!("irn"), text!("sfc")]),
    ("onramp", &[text!("irn"), text!("onramp")]),
    ("irn-dcqcn", &[text!("irn"), text!("dcqcn-w")]),
    ("sfc-dcqcn", &[text!("irn"), text!("dcqcn-w"), text!("sfc")]),
    ("onramp-dcqcn", &[text!("irn"), text!("dcqcn-w"), text!("onramp")]),
    ("pfc-gbn", &[text!("irn"), text!("pfc-gbn")]),
    ("sfc-p", &[text!("rocev2"), text!("sfc-p")]),
    ("pfc-dcqcn-w", &[text!("rocev2"), text!("pfc-dcqcn-w")]),
    ("ndp", &[text!("ndp")]),
    ("homa", &[text!("homa")]),
    ("homa-ecmp", &[text!("homa"), text!("homa-ecmp")]),
    ("expresspass", &[text!("expresspass")]),
    ("tcp-newreno", &[text!("tcp-newreno")]),
    ("tcp-cubic", &[text!("tcp-newreno"), text!("tcp-cubic")]),
    ("tcp-dctcp", &[text!("tcp-newreno"), text!("tcp-dctcp")]),
    ("ns3-newreno", &[text!("ns3-newreno")]),
    ("ns3-cubic", &[text!("ns3-newreno"), text!("ns3-cubic")]),
    ("ns3-dctcp", &[text!("ns3-newreno"), text!("ns3-dctcp")]),
    ("htsim-ndp", &[text!("htsim-ndp")]),
    ("htsim-eqds", &[text!("htsim-eqds")]),
    ("htsim-dctcp", &[text!("htsim-dctcp")]),
    ("htsim-tcp", &[text!("htsim-dctcp"), text!("htsim-tcp")]),
    ("htsim-swift", &[text!("htsim-swift")]),
    ("xcp", &[text!("xcp")]),
    ("ns2-xcp", &[text!("xcp"), text!("ns2-xcp")]),
    ("ns2-newreno", &[text!("tcp-newreno"), text!("ns2-newreno")]),
    ("ns2-sack1", &[text!("tcp-newreno"), text!("ns2-newreno"), text!("ns2-sack1")]),
    ("sfqcodel", &[text!("tcp-newreno"), text!("tcp-cubic"), text!("sfqcodel")]),
    ("pfabric", &[text!("pfabric")]),
    ("flowtune", &[text!("flowtune")]),
    ("pfc-wdrop", &[text!("pfc-wdrop")]),
    ("pfc-wstop", &[text!("pfc-wdrop"), text!("pfc-wstop")]),
    ("capfc-max", &[text!("pfc-wdrop"), text!("capfc-max")]),
    ("capfc-cal", &[text!("pfc-wdrop"), text!("capfc-cal")]),
    ("pfc-wdrop-shared", &[text!("pfc-wdrop"), text!("pfc-wdrop-shared")]),
    (
        "pfc-wstop-shared",
        &[text!("pfc-wdrop"), text!("pfc-wdrop-shared"), text!("pfc-wstop-shared")],
    ),
    (
        "capfc-max-shared",
        &[text!("pfc-wdrop"), text!("pfc-wdrop-shared"), text!("capfc-max-shared")],
    ),
    (
        "capfc-cal-shared",
        &[text!("pfc-wdrop"), text!("pfc-wdrop-shared"), text!("capfc-cal-shared")],
    ),
    ("detail-baseline", &[text!("detail-baseline")]),
    ("detail-priority", &[text!("detail-baseline"), text!("detail-priority")]),
    ("detail-fc", &[text!("detail-baseline"), text!("detail-fc")]),
    ("detail-pfc", &[text!("detail-baseline"), text!("detail-pfc")]),
    ("detail", &[text!("detail-baseline"), text!("detail-pfc"), text!("detail")]),
];

/// The texts of a preset, the basic one first.
#[must_use]
pub fn find(name: &str) -> Option<Vec<&'static str>> {
    all().into_iter().find(|(own, _)| *own == name).map(|(_, texts)| texts)
}

/// A preset as TOML: its texts one after another, the basic one first. A later text overrides
/// settings of those before it.
#[must_use]
pub fn preset_text(name: &str) -> Option<String> {
    find(name).map(|texts| texts.join("\n"))
}

/// The name of every preset.
#[must_use]
pub fn names() -> Vec<&'static str> {
    all().into_iter().map(|(name, _)| name).collect()
}

/// Name and one-line description of every preset.
#[must_use]
pub fn presets() -> Vec<(String, String)> {
    let line = |texts: &[&str]| {
        let last = texts.last().and_then(|text| text.lines().next()).unwrap_or("");
        last.trim_start_matches("# ").to_string()
    };
    all().into_iter().map(|(name, texts)| (name.to_string(), line(&texts))).collect()
}

/// The presets listed here, and the presets of congestion controls.
fn all() -> Vec<(&'static str, Vec<&'static str>)> {
    let listed = PRESETS.iter().map(|&(name, texts)| (name, texts.to_vec()));
    let names = Congestion::choices().iter().zip(ControlConfig::all());
    let of_controls = names.filter_map(|(&name, control)| Some((name, vec![control.preset()?])));
    listed.chain(of_controls).collect()
}
