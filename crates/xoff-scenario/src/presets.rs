//! The systems a scenario can name: compositions with the papers' parameters, as TOML.

/// Name and text of every preset; a preset's first line says what it is.
pub const PRESETS: [(&str, &str); 12] = [
    ("bfc", include_str!("../presets/bfc.toml")),
    ("bfc-128", include_str!("../presets/bfc-128.toml")),
    ("bfc-stochastic", include_str!("../presets/bfc-stochastic.toml")),
    ("bfc-single", include_str!("../presets/bfc-single.toml")),
    ("ideal-fq", include_str!("../presets/ideal-fq.toml")),
    ("dctcp", include_str!("../presets/dctcp.toml")),
    ("dctcp-ss", include_str!("../presets/dctcp-ss.toml")),
    ("dcqcn", include_str!("../presets/dcqcn.toml")),
    ("dcqcn-rdma15", include_str!("../presets/dcqcn-rdma15.toml")),
    ("hpcc", include_str!("../presets/hpcc.toml")),
    ("hpcc-pfc", include_str!("../presets/hpcc-pfc.toml")),
    ("pfc", include_str!("../presets/pfc.toml")),
];

/// A preset's text.
#[must_use]
pub fn find(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|preset| preset.0 == name).map(|preset| preset.1)
}

/// Name and one-line description of every preset.
#[must_use]
pub fn presets() -> Vec<(String, String)> {
    let line = |text: &str| text.lines().next().unwrap_or("").trim_start_matches("# ").to_string();
    PRESETS.iter().map(|(name, text)| ((*name).to_string(), line(text))).collect()
}
