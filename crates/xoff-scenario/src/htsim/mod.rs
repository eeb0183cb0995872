//! Runs a connection matrix of htsim (`.cm`) on a network of its grammar (`.topo`).
//!
//! Both become a scenario: the matrix is its traffic (`connections`), the network its topology
//! (`clos`). A matrix does not say which transport runs, as htsim has a program for each: that is
//! the scheme, which `--set scheme=htsim-ndp` gives. Other settings may be set too. The run ends
//! with the last flow.

mod topo;

use std::path::Path;

use xoff_core::Ps;
use xoff_workload::ConnectionMatrix;

use crate::diagnostic::{Diagnostic, Problems};
use crate::resolve::{self, Resolved};
use crate::resources::{Memory, Resources};
use topo::Network;

const GRID: Ps = Ps::from_us(10);

/// The key of the network's file among the overrides.
const TOPOLOGY: &str = "topology";

/// htsim's programs and the presets that stand for them.
const PRESETS: &str = "htsim-ndp, htsim-eqds, htsim-swift, htsim-tcp or htsim-dctcp";

/// Reads `text`, the content of the matrix `file`, with overrides on top: settings of scenarios,
/// and `topology=FILE`.
///
/// # Errors
/// What is wrong with a file or with the scenario made of them.
pub fn resolve(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, Problems> {
    let (files, settings): (Vec<&String>, Vec<&String>) =
        overrides.iter().partition(|text| text.contains('=') && key_of(text) == TOPOLOGY);
    let settings: Vec<String> = settings.into_iter().cloned().collect();
    let topology = files.last().and_then(|text| text.split_once('=')).map(|(_, name)| name.trim());
    let scenario = scenario(text, file, topology, &settings, resources.memory)
        .map_err(|message| Problems(vec![Diagnostic { message, place: None, help: None }]))?;
    // Problems show lines of the scenario. It is in the folder of the matrix.
    resolve::resolve(&scenario, &format!("{file} as a scenario"), &settings, resources)
}

/// The key of an override.
fn key_of(text: &str) -> &str {
    text.split('=').next().unwrap_or_default().trim()
}

/// The scenario of a matrix, as TOML.
fn scenario(
    text: &str,
    file: &str,
    topology: Option<&str>,
    settings: &[String],
    memory: Memory,
) -> Result<String, String> {
    let matrix = ConnectionMatrix::parse(file, text).map_err(|error| error.to_string())?;
    let sets = |key: &str| settings.iter().any(|one| key_of(one) == key);
    if !sets("scheme") {
        return Err(format!(
            "{file}: a connection matrix does not name its transport: add --set scheme=NAME, with \
             {PRESETS} for htsim's programs, or another preset"
        ));
    }
    if let Some(line) = matrix.first_endless().filter(|_| !sets("run.measure")) {
        return Err(format!(
            "{file}, line {line}: size 0 is a flow without end: add --set run.measure=1ms, the \
             time to simulate"
        ));
    }
    let network = match topology {
        Some(name) => {
            let text = crate::files::read(Path::new(name), memory)
                .map_err(|error| format!("{name}: {error}"))?;
            Network::parse(name, &text)?
        }
        None => Network::fat_tree(matrix.nodes).ok_or_else(|| {
            format!(
                "{file}: Nodes is {}, and without a network htsim has a fat-tree of k^3/4 hosts: \
                 add --topology FILE.topo",
                matrix.nodes
            )
        })?,
    };
    if network.hosts() != matrix.nodes {
        let topology = topology.unwrap_or_default();
        return Err(format!(
            "{file}: Nodes is {}, but {topology} has {}: both must be the same",
            matrix.nodes,
            network.hosts()
        ));
    }
    let last = matrix.connections.iter().map(|flow| flow.start_ps).max().unwrap_or(0);
    let measure = Ps((last / GRID.0 + 1) * GRID.0);
    let path = Path::new(file);
    let name = |part: Option<&std::ffi::OsStr>| quoted(&part.unwrap_or_default().to_string_lossy());
    Ok(format!(
        "name = {}\n{}[run]\nwarmup = \"0ps\"\nmeasure = \"{}ps\"\ndrain = \"100s\"\n\
         watchdog = \"10s\"\n[[traffic]]\nkind = \"connections\"\nfile = {}\n",
        name(path.file_stem()),
        network.sections(),
        measure.0,
        name(path.file_name()),
    ))
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
