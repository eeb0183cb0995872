//! The agent's configuration file.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use xoff_control::{EndpointId, Key};
use xoff_core::knobs::{Knob as _, Knobs, Value};
use xoff_core::units::Ps;
use xoff_core::{choices, knobs};
use xoff_daemon::{User, check_address, read_key};

use crate::name::Name;

const LEAST_LEASE_PS: u64 = 5_000_000_000;

choices! {
    /// Where flowlets are seen and paced.
    pub enum Plane {
        /// An eBPF congestion control, for every connection of the network namespace.
        Bpf = "bpf",
        /// Sockets of given processes, which are polled.
        Sockets = "sockets",
        /// Sockets whose programs report their flowlets.
        Programs = "programs",
    }
}

knobs! {
    /// Settings of an agent.
    pub struct Settings in "agent" {
        /// Number of this host at the allocator.
        endpoint: u32 = 0,
        /// File with the key that this host shares with the allocator: 64 hexadecimal digits.
        key: String = String::new(),
        /// Local address and port of the control messages, as the allocator's file has them.
        listen: String = "0.0.0.0:4301".to_owned(),
        /// Data plane: "bpf", "sockets" or "programs".
        plane: Plane = Plane::Bpf,
        /// Unix socket to which programs report their flowlets, for `plane = "programs"`.
        programs: String = "/run/xoff/flowlets".to_owned(),
        /// Name of the congestion control in the kernel. Agents of a machine need different names.
        congestion_control: String = "xoff_ft".to_owned(),
        /// A flowlet ends after its socket buffer was empty for this time.
        idle: Ps = Ps(1_000_000_000),
        /// Rates end this time after the agent.
        lease: Ps = Ps(50_000_000_000),
        /// User that the agent's network process becomes.
        user: String = "daemon".to_owned(),
        /// Interval of the log's lines with counters; "0s" writes none.
        report: Ps = Ps(10_000_000_000_000),
        /// Address for Prometheus, on this machine; "" serves no metrics.
        metrics: String = String::new(),
        /// Whether the log has a line for each start, end and enforced rate.
        trace: bool = false,
    }
}

/// A configuration that has been checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Settings with defaults.
    pub settings: Settings,
    /// The name of the congestion control.
    pub name: Name,
    /// The key of this host.
    pub key: Key,
    /// Local address of the control messages.
    pub listen: SocketAddr,
    /// The allocators, in the order in which they take over.
    pub allocators: Vec<SocketAddr>,
    /// Numbers of the other hosts. Flowlets to other addresses are left alone.
    pub endpoints: HashMap<IpAddr, EndpointId>,
    /// The user that the network process becomes.
    pub user: User,
    /// Address for Prometheus.
    pub metrics: Option<SocketAddr>,
    /// Processes whose sockets are paced, for `plane = "sockets"`.
    pub processes: Vec<i32>,
}

impl Config {
    /// Reads a file, and the key file that it names, which only its owner may read.
    ///
    /// # Errors
    /// What is wrong, in which file, and what to write instead.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| in_file(path, error))?;
        Self::parse(&text, path.parent().unwrap_or(Path::new(".")))
            .map_err(|error| in_file(path, error))
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let mut table: toml::Table =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let allocators = table.remove("allocators");
        let allocators = allocators.ok_or("`allocators` is missing: write [\"ADDRESS:PORT\"]")?;
        let endpoints = table.remove("endpoints");
        let endpoints =
            endpoints.ok_or("section `[endpoints]` is missing: \"ADDRESS\" = NUMBER")?;
        let allocators = list(allocators, "allocators", |value| value.as_str()?.parse().ok())?;
        let processes = table.remove("processes");
        let has_endpoint = table.contains_key("endpoint");
        let planes = [
            ("programs", Plane::Programs),
            ("lease", Plane::Bpf),
            ("congestion_control", Plane::Bpf),
        ];
        let of_planes = planes.map(|(key, plane)| (key, plane, table.contains_key(key)));
        let mut settings = Settings::default();
        for (name, value) in table {
            set(&mut settings, &name, value)?;
        }
        if !has_endpoint {
            return Err("`endpoint` is missing: the number of this host at the allocator".into());
        }
        if processes.is_some() != (settings.plane == Plane::Sockets) {
            return Err("`processes` goes with `plane = \"sockets\"`: process ids to pace".into());
        }
        for (key, plane, is_there) in of_planes {
            if is_there && settings.plane != plane {
                return Err(format!("`{key}` goes with `plane = {}`", plane.show()));
            }
        }
        if settings.lease.0 < LEAST_LEASE_PS {
            return Err("`lease` must be at least 5ms: rates would end between two renewals".into());
        }
        Ok(Self {
            name: settings.congestion_control.parse().map_err(in_key("congestion_control"))?,
            key: read_key(&folder.join(&settings.key), None).map_err(in_key("key"))?,
            listen: read_listen(&settings.listen, &allocators)?,
            allocators,
            processes: processes.map_or(Ok(Vec::new()), |value| {
                list(value, "processes", |value| i32::try_from(value.as_integer()?).ok())
            })?,
            endpoints: read_endpoints(endpoints)?,
            user: User::find(&settings.user)?,
            metrics: read_metrics(&settings.metrics)?,
            settings,
        })
    }
}

fn in_file(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

fn in_key<E: std::fmt::Display>(key: &str) -> impl Fn(E) -> String {
    move |error| format!("`{key}`: {error}")
}

fn set(settings: &mut Settings, name: &str, value: toml::Value) -> Result<(), String> {
    let value = match value {
        toml::Value::String(text) => Value::Text(text),
        toml::Value::Integer(number) => Value::Int(number),
        toml::Value::Float(number) => Value::Float(number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        other => return Err(format!("`{name}`: {} is no value here", other.type_str())),
    };
    settings.set(name, &value).map_err(|expected| {
        expected.map_or_else(
            || {
                let fields = settings.fields().into_iter().map(|field| field.name);
                let known: Vec<_> = fields.chain(["allocators", "endpoints"]).collect();
                format!("`{name}` is no setting; there are {}", known.join(", "))
            },
            in_key(name),
        )
    })
}

fn list<T>(
    value: toml::Value,
    key: &str,
    read: impl Fn(&toml::Value) -> Option<T>,
) -> Result<Vec<T>, String> {
    let wrong = |value: &toml::Value| {
        let said =
            value.as_str().map_or_else(|| value.type_str().into(), |text| format!("{text:?}"));
        format!("`{key}`: {said} cannot be read")
    };
    let toml::Value::Array(values) = value else { return Err(wrong(&value)) };
    let read = values.iter().map(|value| read(value).ok_or_else(|| wrong(value)));
    let list: Vec<T> = read.collect::<Result<_, _>>()?;
    if list.is_empty() { Err(format!("`{key}` is empty")) } else { Ok(list) }
}

/// The address to listen at, from which every allocator can be reached and recognised.
fn read_listen(text: &str, allocators: &[SocketAddr]) -> Result<SocketAddr, String> {
    let listen: SocketAddr = text.parse().map_err(in_key("listen"))?;
    let first = allocators.first();
    if let Some(first) = first
        && let Some(other) = allocators.iter().find(|other| other.is_ipv4() != first.is_ipv4())
    {
        return Err(format!(
            "`allocators`: {first} and {other} must both be IPv4, or both IPv6: remove one"
        ));
    }
    if let Some(other) = allocators.iter().find(|other| other.is_ipv4() != listen.is_ipv4()) {
        let any = if other.is_ipv4() { "0.0.0.0" } else { "[::]" };
        let port = listen.port();
        return Err(format!(
            "`allocators`: {other} and `listen` ({listen}) must both be IPv4, or both IPv6: write \
             listen = \"{any}:{port}\" or another address of this host"
        ));
    }
    let twice = |&(place, address): &(usize, &SocketAddr)| allocators[..place].contains(address);
    match allocators.iter().enumerate().find(twice) {
        Some((_, address)) => Err(format!("`allocators`: {address} is there twice: remove one")),
        None => Ok(listen),
    }
}

fn read_endpoints(value: toml::Value) -> Result<HashMap<IpAddr, EndpointId>, String> {
    let wrong = |what: &str| format!("`endpoints`: {what}; write \"10.0.0.2\" = 2");
    let toml::Value::Table(table) = value else { return Err(wrong("it is no section")) };
    let mut endpoints = HashMap::new();
    for (address, number) in &table {
        let parsed = address.parse::<IpAddr>();
        // The data plane has IPv4 addresses that are mapped into IPv6 as IPv4.
        let parsed = parsed.map_err(|_| wrong(&format!("`{address}` is no address")))?;
        let parsed = parsed.to_canonical();
        let number = number.as_integer().and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| wrong(&format!("`{address}` has no number")))?;
        if endpoints.insert(parsed, EndpointId(number)).is_some() {
            return Err(format!("`endpoints`: {parsed} is there twice: remove one"));
        }
    }
    Ok(endpoints)
}

fn read_metrics(address: &str) -> Result<Option<SocketAddr>, String> {
    if address.is_empty() {
        return Ok(None);
    }
    let address = address.parse().map_err(in_key("metrics"))?;
    check_address(address).map(|()| Some(address))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    const TEXT: &str = "endpoint = 3\nkey = \"k\"\nallocators = [\"10.0.0.9:4000\"]\n\
                        idle = \"2ms\"\n[endpoints]\n\"10.0.0.2\" = 2\n";

    fn folder(name: &str, mode: u32) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xoff-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("k"), "0123456789abcdef".repeat(4)).unwrap();
        fs::set_permissions(folder.join("k"), fs::Permissions::from_mode(mode)).unwrap();
        folder
    }

    /// A configuration for tests.
    pub(crate) fn example(name: &str) -> Config {
        let folder = folder(name, 0o600);
        let config = Config::parse(TEXT, &folder).unwrap();
        fs::remove_dir_all(folder).unwrap();
        config
    }

    #[test]
    fn a_mapped_address_of_an_endpoint_is_its_ipv4_address() {
        let folder = folder("mapped", 0o600);
        let text = TEXT.replace("\"10.0.0.2\"", "\"::ffff:10.0.0.2\"");
        let config = Config::parse(&text, &folder).unwrap();
        assert_eq!(config.endpoints[&"10.0.0.2".parse::<IpAddr>().unwrap()], EndpointId(2));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_has_settings_addresses_and_numbers() {
        let folder = folder("settings", 0o600);
        let config = Config::parse(TEXT, &folder).unwrap();
        assert_eq!((config.settings.endpoint, config.settings.idle), (3, Ps(2_000_000_000)));
        assert_eq!(config.allocators, ["10.0.0.9:4000".parse().unwrap()]);
        assert_eq!(config.endpoints[&"10.0.0.2".parse::<IpAddr>().unwrap()], EndpointId(2));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named() {
        let folder = folder("wrong", 0o600);
        for (from, to, said) in [
            ("idle", "idel", "`idel` is no setting"),
            ("\"2ms\"", "2", "`idle`: expected a duration with its unit"),
            ("endpoint = 3", "", "`endpoint` is missing"),
            ("10.0.0.9:4000", "10.0.0.9", "`allocators`: \"10.0.0.9\" cannot be read"),
            ("10.0.0.9:4000", "[fd00::9]:4000", "write listen = \"[::]:4301\""),
            ("idle", "listen = \"[::]:4302\"\nidle", "write listen = \"0.0.0.0:4302\""),
            ("[\"10.0.0.9:4000\"", "[\"10.0.0.9:4000\", \"10.0.0.9:4000\"", "is there twice"),
            ("[\"10.0.0.9:4000\"", "[\"10.0.0.9:4000\", \"[fd00::9]:4000\"", "remove one"),
            (
                "\"10.0.0.2\" = 2",
                "\"10.0.0.2\" = 2\n\"::ffff:10.0.0.2\" = 7",
                "10.0.0.2 is there twice",
            ),
            ("\"10.0.0.2\"", "\"host2\"", "`host2` is no address"),
            ("idle", "processes = [1]\nidle", "`processes` goes with"),
            ("idle", "programs = \"p\"\nidle", "`programs` goes with"),
            (
                "idle",
                "plane = \"programs\"\nlease = \"50ms\"\nidle",
                "`lease` goes with `plane = \"bpf\"`",
            ),
            (
                "idle",
                "plane = \"sockets\"\nprocesses = [1]\ncongestion_control = \"xoff_ft\"\nidle",
                "`congestion_control` goes with `plane = \"bpf\"`",
            ),
            ("key = \"k\"", "key = \"none\"", "No such file"),
            ("idle", "user = \"root\"\nidle", "without privileges"),
            ("idle", "metrics = \"10.0.0.1:9431\"\nidle", "must be a loopback address"),
            ("idle", "metrics = \"9431\"\nidle", "`metrics`: invalid socket address"),
            ("idle", "congestion_control = \"cubic\"\nidle", "must begin with `xoff_ft`"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            let error = Config::parse(&text, &folder).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = folder("modes", 0o640);
        let error = Config::parse(TEXT, &folder).unwrap_err();
        assert!(error.contains("chmod 600"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
