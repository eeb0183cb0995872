//! Links and paths of the network.

use rustc_hash::{FxHashMap, FxHashSet};
use xoff_alloc::LinkId;
use xoff_control::{EndpointId, UNKNOWN_PATH};

use crate::config::{EndpointEntry, LinkRate, NetworkEntry, PathEntry};

/// Bytes of payload in a frame, and bytes of the frame on the wire: TCP with timestamps over IPv4
/// in Ethernet frames of 1,500 bytes, which take 38 more with preamble and gap. Rates are of
/// payload: that is what Linux paces. So a link's capacity for rates is this share of its bit rate.
/// Frames of IPv6 have 1,428: docs/deploy.md says what to configure for them.
pub const PAYLOAD: f64 = 1448.0 / 1538.0;

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name in metrics.
    pub name: String,
    /// Capacity for payload in Gbit/s.
    pub capacity: f64,
}

/// An endpoint's place in the network.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its link to the network; the one from the network is the next.
    up: u32,
    rack: u32,
}

#[derive(Clone, Debug)]
enum Routes {
    BigSwitch,
    Clos {
        spines: u32,
        /// The first link between racks and spines. Of a rack: to each spine, then from each, then
        /// to all of them as one link, and from all.
        first: u32,
    },
    Listed(FxHashMap<(EndpointId, EndpointId), Vec<Box<[LinkId]>>>),
}

/// The network: links, and the path of each flowlet.
#[derive(Clone, Debug)]
pub struct Topology {
    links: Vec<Link>,
    places: FxHashMap<EndpointId, Place>,
    routes: Routes,
}

fn link(name: String, LinkRate(rate): LinkRate) -> Link {
    Link { name, capacity: rate as f64 / 1e9 * PAYLOAD }
}

impl Topology {
    /// The network of a configuration.
    ///
    /// # Errors
    /// What is wrong.
    pub fn new(network: &NetworkEntry, endpoints: &[EndpointEntry]) -> Result<Self, String> {
        let (mut links, mut places) = (Vec::new(), FxHashMap::default());
        let routes = match network {
            NetworkEntry::Paths { links: rates, paths } => {
                let names: FxHashMap<&str, LinkId> =
                    rates.keys().zip(0..).map(|(name, id)| (name.as_str(), LinkId(id))).collect();
                links.extend(rates.iter().map(|(name, &rate)| link(name.clone(), rate)));
                Routes::Listed(listed(paths, endpoints, &names)?)
            }
            NetworkEntry::BigSwitch { rate } => {
                places = edge(endpoints, *rate, &mut links);
                Routes::BigSwitch
            }
            &NetworkEntry::Clos { rate, spines, spine_rate } => {
                if spines == 0 {
                    return Err("network.spines must be at least 1".into());
                }
                places = edge(endpoints, rate, &mut links);
                let first = links.len() as u32;
                let racks = places.values().map(|place| place.rack + 1).max().unwrap_or(0);
                let most = 1 << 20;
                if u64::from(racks) * u64::from(spines) > most {
                    return Err(format!("{racks} racks x {spines} spines: at most {most} links"));
                }
                for rack in 0..racks {
                    let up = |spine| link(format!("rack {rack} to spine {spine}"), spine_rate);
                    let down = |spine| link(format!("spine {spine} to rack {rack}"), spine_rate);
                    links.extend((0..spines).map(up));
                    links.extend((0..spines).map(down));
                    for name in [format!("rack {rack} to spines"), format!("spines to rack {rack}")]
                    {
                        let one = link(name, spine_rate);
                        links.push(Link { capacity: one.capacity * f64::from(spines), ..one });
                    }
                }
                Routes::Clos { spines, first }
            }
        };
        Ok(Self { links, places, routes })
    }

    /// All links, by [`LinkId`].
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Calls `then` with the links of a flowlet's path; `None` if there is no path.
    pub fn with_path<T>(
        &self,
        (from, to): (EndpointId, EndpointId),
        path: u32,
        then: impl FnOnce(&[LinkId]) -> T,
    ) -> Option<T> {
        if from == to {
            return None;
        }
        if let Routes::Listed(paths) = &self.routes {
            let paths = paths.get(&(from, to))?;
            let path = if path == UNKNOWN_PATH { 0 } else { path as usize % paths.len() };
            return Some(then(&paths[path]));
        }
        let (from, to) = (self.places.get(&from)?, self.places.get(&to)?);
        let (up, down) = (LinkId(from.up), LinkId(to.up + 1));
        Some(match self.routes {
            Routes::Clos { spines, first } if from.rack != to.rack => {
                let of_rack = |rack, link| LinkId(first + rack * 2 * (spines + 1) + link);
                let (to_spine, from_spine) = match path {
                    // A network that spreads its load puts the same part of it on each spine.
                    UNKNOWN_PATH => (2 * spines, 2 * spines + 1),
                    _ => (path % spines, spines + path % spines),
                };
                let (to_spine, from_spine) =
                    (of_rack(from.rack, to_spine), of_rack(to.rack, from_spine));
                then(&[up, to_spine, from_spine, down])
            }
            _ => then(&[up, down]),
        })
    }
}

/// A link from and a link to each endpoint.
fn edge(
    endpoints: &[EndpointEntry],
    rate: LinkRate,
    links: &mut Vec<Link>,
) -> FxHashMap<EndpointId, Place> {
    let mut places = FxHashMap::default();
    for endpoint in endpoints {
        let place = Place { up: links.len() as u32, rack: endpoint.rack.unwrap_or(0) };
        places.insert(EndpointId(endpoint.id), place);
        let rate = endpoint.rate.unwrap_or(rate);
        links.push(link(format!("from {}", endpoint.id), rate));
        links.push(link(format!("to {}", endpoint.id), rate));
    }
    places
}

type Paths = FxHashMap<(EndpointId, EndpointId), Vec<Box<[LinkId]>>>;

fn listed(
    paths: &[PathEntry],
    endpoints: &[EndpointEntry],
    names: &FxHashMap<&str, LinkId>,
) -> Result<Paths, String> {
    let mut found = Paths::default();
    for PathEntry { from, to, links } in paths {
        let wrong = |what: String| format!("path from {from} to {to}: {what}");
        for end in [from, to] {
            if !endpoints.iter().any(|endpoint| endpoint.id == *end) {
                return Err(wrong(format!("there is no endpoint {end}")));
            }
        }
        let link = |name: &String| {
            let known = names.get(name.as_str()).copied();
            known.ok_or_else(|| wrong(format!("there is no link \"{name}\"")))
        };
        let links: Box<[LinkId]> = links.iter().map(link).collect::<Result<_, _>>()?;
        if from == to {
            return Err(wrong("it ends where it begins: leave it out".into()));
        }
        if links.is_empty() {
            return Err(wrong("it has no link".into()));
        }
        if links.iter().enumerate().any(|(place, link)| links[..place].contains(link)) {
            return Err(wrong("it has a link twice".into()));
        }
        found.entry((EndpointId(*from), EndpointId(*to))).or_default().push(links);
    }
    let all = paths.iter().flat_map(|path| &path.links);
    let used: FxHashSet<&str> = all.map(String::as_str).collect();
    match names.keys().filter(|name| !used.contains(*name)).min() {
        None => Ok(found),
        Some(name) => {
            Err(format!("link \"{name}\": no path has it; add a path, or leave the link out"))
        }
    }
}
