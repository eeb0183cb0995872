//! The configuration file.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use xoff_control::{EndpointId, Nanos, SessionsConfig};
use xoff_core::knobs::{Knob as _, Value};
use xoff_core::units::{BitRate, Ps};

/// A duration such as "1ms".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub Nanos);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let Ps(ps) = Ps::read(&Value::Text(text.clone()))
            .map_err(|_| format!("\"{text}\": write {}", Ps::expects()))?;
        if ps < 1000 {
            return Err(format!("\"{text}\": must be at least 1ns"));
        }
        Ok(Self(ps / 1000))
    }
}

/// A rate such as "10Gbps": bits per second on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct LinkRate(pub u64);

impl TryFrom<String> for LinkRate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match BitRate::read(&Value::Text(text.clone())) {
            Ok(BitRate(rate)) if rate > 0 => Ok(Self(rate)),
            _ => Err(format!("\"{text}\": write {}, above 0", BitRate::expects())),
        }
    }
}

/// How the allocator waits for its next iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Waiting {
    /// It sleeps.
    #[default]
    Block,
    /// It polls its socket all the time, on a core of its own.
    Poll,
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointEntry {
    /// Its number.
    pub id: u32,
    /// Where its agent sends from and receives at.
    pub address: SocketAddr,
    /// File with its key, relative to the configuration file.
    pub key: PathBuf,
    /// Its rack, in a Clos network only.
    pub rack: Option<u32>,
    /// Rate of its link, if it differs from that of the network. Listed paths have rates of links.
    pub rate: Option<LinkRate>,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkEntry {
    /// "The servers connected to one big switch" (§6): a link from and a link to each endpoint.
    BigSwitch {
        /// Rate of each of these links.
        rate: LinkRate,
    },
    /// Two tiers: racks, and spines with a link from and to each rack. Path number *p* takes spine
    /// *p* modulo the number of spines. An unknown path takes the links to all spines as one.
    Clos {
        /// Rate of endpoints' links.
        rate: LinkRate,
        /// Number of spines.
        spines: u32,
        /// Rate of the links between racks and spines.
        spine_rate: LinkRate,
    },
    /// Links and paths as listed.
    Paths {
        /// Rate of each link by name.
        links: BTreeMap<String, LinkRate>,
        /// The paths. Path number *p* of two endpoints is the *p*th of theirs, modulo their number.
        /// An unknown path is the first one.
        paths: Vec<PathEntry>,
    },
}

/// A path from one endpoint to another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathEntry {
    /// The source.
    pub from: u32,
    /// The destination.
    pub to: u32,
    /// Names of links.
    pub links: Vec<String>,
}

/// A backup allocator is an endpoint of the first one, without flowlets. It allocates while that
/// one is silent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupEntry {
    /// Address of the first allocator.
    pub primary: SocketAddr,
    /// The number that this one has there as an endpoint.
    pub id: u32,
    /// File with its key.
    pub key: PathBuf,
    /// Where it sends from, as the first allocator's file has it.
    pub address: SocketAddr,
    /// Silence of the first allocator after which this one allocates.
    #[serde(default = "default_takeover")]
    pub takeover: Time,
}

fn default_takeover() -> Time {
    Time(100_000_000)
}

/// What the file says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address of the allocator.
    pub listen: SocketAddr,
    /// Time between two iterations.
    #[serde(default = "default_iteration")]
    pub iteration: Time,
    /// How it waits.
    #[serde(default)]
    pub wait: Waiting,
    /// Change of a rate that is reported, and share of each link that is left free (§5.3.2).
    #[serde(default = "default_threshold")]
    pub threshold: f64,
    /// Step size of prices (§5.3), if it is not the network's.
    pub gamma: Option<f64>,
    /// Lifetime of rates.
    pub lifetime: Option<Time>,
    /// Time after which a rate without acknowledgement is sent again.
    pub resend: Option<Time>,
    /// Silence after which an endpoint's flowlets are forgotten.
    pub silence: Option<Time>,
    /// Flowlets of an endpoint.
    pub flowlets: Option<u32>,
    /// Reports, starts and ends of an endpoint per second.
    pub events_per_second: Option<u64>,
    /// The most of them at once.
    pub events_at_once: Option<u64>,
    /// Address for Prometheus, on this machine.
    pub metrics: Option<SocketAddr>,
    /// The user that it becomes after set-up.
    pub user: Option<String>,
    /// The network.
    pub network: NetworkEntry,
    /// If it is a backup: of what.
    pub backup: Option<BackupEntry>,
    /// The endpoints.
    #[serde(rename = "endpoint", default)]
    pub endpoints: Vec<EndpointEntry>,
}

fn default_iteration() -> Time {
    Time(1_000_000)
}

fn default_threshold() -> f64 {
    xoff_alloc::Config::default().threshold
}

/// Step size of prices where paths have two links. On a link that all flows share, an error of the
/// price shrinks by the factor `1 - gamma` per iteration. The prices of several full links with the
/// same flows move together, so that their sum moves by a multiple of gamma, which must stay below
/// [`STEP_LIMIT`] (tests/it/convergence.rs). The paper's 0.4 does with four links.
const TWO_LINK_GAMMA: f64 = 0.7;
/// The most that the prices of a path may move together, in errors: beyond it they never settle.
pub(crate) const STEP_LIMIT: f64 = 2.0;
/// What the paper's step comes to on four links. Longer paths have the same.
const PATH_STEP: f64 = 1.6;

impl Config {
    /// Reads a configuration file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// What is wrong, where, and what to write instead.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        let mut config = Self::parse(&text).map_err(|error| format!("{name}: {error}"))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        for endpoint in &mut config.endpoints {
            endpoint.key = folder.join(&endpoint.key);
        }
        if let Some(backup) = &mut config.backup {
            backup.key = folder.join(&backup.key);
        }
        Ok(config)
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// What is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check()?;
        Ok(config)
    }

    /// A configuration of defaults, without endpoints.
    pub(crate) fn default_values() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            iteration: default_iteration(),
            wait: Waiting::default(),
            threshold: default_threshold(),
            gamma: None,
            lifetime: None,
            resend: None,
            silence: None,
            flowlets: None,
            events_per_second: None,
            events_at_once: None,
            metrics: None,
            user: None,
            network: NetworkEntry::BigSwitch { rate: LinkRate(10_000_000_000) },
            backup: None,
            endpoints: Vec::new(),
        }
    }

    /// Settings of the protocol.
    #[must_use]
    pub fn sessions(&self) -> SessionsConfig {
        let default = SessionsConfig::default();
        let time = |time: Option<Time>, default| time.map_or(default, |time| time.0);
        SessionsConfig {
            lifetime: time(self.lifetime, default.lifetime),
            resend: time(self.resend, default.resend.max(3 * self.iteration.0)),
            silence: time(self.silence, default.silence),
            flowlets: self.flowlets.unwrap_or(default.flowlets),
            events_per_second: self.events_per_second.unwrap_or(default.events_per_second),
            events_at_once: self.events_at_once.unwrap_or(default.events_at_once),
            ..default
        }
    }

    /// Settings of the optimizer.
    #[must_use]
    pub fn optimizer(&self) -> xoff_alloc::Config {
        let default = xoff_alloc::Config::default();
        let by_paths = match self.network {
            NetworkEntry::BigSwitch { .. } => TWO_LINK_GAMMA,
            NetworkEntry::Clos { .. } | NetworkEntry::Paths { .. } => {
                default.gamma.min(PATH_STEP / self.longest_path() as f64)
            }
        };
        xoff_alloc::Config {
            threshold: self.threshold,
            gamma: self.gamma.unwrap_or(by_paths),
            ..default
        }
    }

    /// Links of the longest path.
    pub(crate) fn longest_path(&self) -> usize {
        match &self.network {
            NetworkEntry::BigSwitch { .. } => 2,
            NetworkEntry::Clos { .. } => {
                let mut racks = self.endpoints.iter().map(|endpoint| endpoint.rack);
                let first = racks.next();
                if racks.all(|rack| Some(rack) == first) { 2 } else { 4 }
            }
            NetworkEntry::Paths { paths, .. } => {
                paths.iter().map(|path| path.links.len()).max().unwrap_or(1)
            }
        }
    }

    /// The number of an endpoint.
    #[must_use]
    pub fn id(endpoint: &EndpointEntry) -> EndpointId {
        EndpointId(endpoint.id)
    }
}
