//! Web requests: queries, each a request to a server and its response, one after another or all at
//! once (DeTail §8.1).

use std::collections::VecDeque;

use xoff_core::knobs::{Knob, Value};
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, HostId, Ps, Rng};

use crate::bursts::Bursts;
use crate::candidates::Candidates;
use crate::{
    After, Arrival, Context, Crowd, ENDLESS, Offer, Priority, Role, Source, TrafficSettings,
    checks, host_set,
};

xoff_core::choices! {
    /// The order of the queries in a web request.
    pub enum Workflow {
        /// There is only one.
        Single = "single",
        /// Each starts when the response to the one before has arrived.
        Sequential = "sequential",
        /// All start at once.
        Parallel = "parallel",
    }
}

xoff_core::knobs! {
    /// Web requests at `clients`. Each has a number of queries. In a query, a client sends
    /// `request` to a server; once that has arrived, the server sends a response. Requests and
    /// responses are flows.
    ///
    /// A query's server is drawn uniformly among `servers` without the client. Servers of parallel
    /// queries are distinct if there are enough of them.
    pub struct QueriesConfig in "queries" {
        /// The order of the queries in a web request.
        workflow: Workflow = Workflow::Single,
        /// Number of queries in a web request, drawn uniformly from this list, such as 10,20,40.
        queries: String = "1".to_owned(),
        /// The hosts at which web requests arrive: all, or numbers and ranges such as 0-3,7,9-12.
        clients: String = "all".to_owned(),
        /// The hosts that answer: all, or numbers and ranges such as 0-3,7,9-12.
        servers: String = "all".to_owned(),
        /// The payload of a request (DeTail 8.1: a full packet).
        request: Bytes = Bytes(1460),
        /// The payload of a response, drawn uniformly from this list (DeTail 8.1.1).
        sizes: String = "2KB,8KB,32KB".to_owned(),
        /// Web requests per second and client outside bursts, a Poisson process.
        rate: f64 = 1000.0,
        /// Web requests per second and client in a burst.
        burst_rate: f64 = 0.0,
        /// Duration of a burst; 0: no bursts.
        burst: Ps = Ps(0),
        /// Time from one burst to the next, for all clients at once. The first burst is at `start`.
        period: Ps = Ps::from_us(50_000),
        /// The priority of the packets of a web request, drawn uniformly from this list.
        priorities: String = "0".to_owned(),
        /// Start of the web requests.
        start: Ps = Ps(0),
        /// End of the web requests; 0 is the end of the run.
        stop: Ps = Ps(0),
        /// The name of these flows, queries and web requests in the results.
        class: String = "query".to_owned(),
    }
}

/// The most queries of one web request.
const MOST_QUERIES: u32 = 10_000;

/// The settings applied to a network.
#[derive(Clone, Debug)]
struct Choices {
    clients: Vec<HostId>,
    servers: Candidates,
    counts: Vec<u32>,
    sizes: Vec<u64>,
    priorities: Vec<u8>,
    bursts: Bursts,
}

/// The values of a list such as 10,20,40.
fn list<T>(
    name: &str,
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    if text.trim().is_empty() {
        return Err(format!("{name} is empty: give at least one value"));
    }
    let values = text.split(',').map(|part| read(part.trim()));
    values.collect::<Result<_, _>>().map_err(|problem| format!("{name} = {text:?}: {problem}"))
}

fn whole(text: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("\"{text}\" is not a whole number from {least} to {most}"))
}

fn size(text: &str) -> Result<u64, String> {
    let Bytes(bytes) = Bytes::read(&Value::Text(text.to_owned()))?;
    check_size(bytes)
}

/// Beyond 4 GB, packets cannot carry the bytes left of their flow.
fn check_size(bytes: u64) -> Result<u64, String> {
    let allowed = (1..=u64::from(u32::MAX)).contains(&bytes) && bytes < ENDLESS;
    if allowed { Ok(bytes) } else { Err("a size is from 1B to 4GB".into()) }
}

impl QueriesConfig {
    /// Checks the settings for a network with `hosts` hosts.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<(), String> {
        self.choices(hosts).map(drop)
    }

    /// The mean payload of all web requests (bit/s).
    ///
    /// # Errors
    /// As `check`.
    pub fn bits_per_second(&self, hosts: u32) -> Result<f64, String> {
        let choices = self.choices(hosts)?;
        let counts = choices.counts.iter().map(|&count| f64::from(count));
        let queries = counts.sum::<f64>() / choices.counts.len() as f64;
        let sizes = choices.sizes.iter().map(|&size| size as f64);
        let response = sizes.sum::<f64>() / choices.sizes.len() as f64;
        let per_second = choices.bursts.in_period() / choices.bursts.period as f64 * 1e12;
        Ok(per_second * queries * (self.request.0 as f64 + response) * 8.0)
    }

    /// The number of flows.
    ///
    /// # Errors
    /// As `check`.
    pub fn crowd(&self, hosts: u32) -> Result<Crowd, String> {
        let choices = self.choices(hosts)?;
        let counts = choices.counts.iter().map(|&count| f64::from(count));
        let (mean, most) =
            (counts.clone().sum::<f64>() / choices.counts.len() as f64, counts.fold(0.0, f64::max));
        // A request and a response for each query.
        let per_second =
            2.0 * mean * choices.bursts.in_period() / choices.bursts.period as f64 * 1e12;
        let mean_bytes = self.bits_per_second(hosts)? / 8.0 / per_second;
        let crowd = Crowd { together: 2.0 * most, ..Crowd::arriving(per_second, mean_bytes) };
        Ok(crowd.between(self.start, self.stop))
    }

    fn choices(&self, hosts: u32) -> Result<Choices, String> {
        checks::hosts(hosts)?;
        checks::window(self.start, self.stop)?;
        let counts = list("queries", &self.queries, |text| whole(text, 1, MOST_QUERIES))?;
        if self.workflow == Workflow::Single && counts.iter().any(|&count| count != 1) {
            return Err(format!(
                "queries = {:?} has no effect with workflow = \"single\"",
                self.queries
            ));
        }
        check_size(self.request.0).map_err(|problem| format!("request: {problem}"))?;
        let priority = |text: &str| {
            let class = text.parse().ok().and_then(Priority::new).map(Priority::number);
            class.ok_or_else(|| format!("\"{text}\" is not {}", Priority::expects()))
        };
        let (clients, servers) = self.hosts(hosts)?;
        Ok(Choices {
            bursts: self.bursts(clients.len())?,
            clients,
            servers: Candidates::new(servers),
            counts,
            sizes: list("sizes", &self.sizes, size)?,
            priorities: list("priorities", &self.priorities, priority)?,
        })
    }

    /// Clients and servers. For every client there is a server other than itself.
    fn hosts(&self, hosts: u32) -> Result<(Vec<HostId>, Vec<HostId>), String> {
        let parse = |name: &str, text: &str| {
            host_set::parse(text, hosts).map_err(|problem| format!("{name}: {problem}"))
        };
        let (clients, servers) =
            (parse("clients", &self.clients)?, parse("servers", &self.servers)?);
        if let [only] = servers[..]
            && clients.contains(&only)
        {
            return Err(format!("host {only} is the only server and a client: add a server"));
        }
        Ok((clients, servers))
    }

    /// The rate of all clients together.
    fn bursts(&self, clients: usize) -> Result<Bursts, String> {
        let Self { burst, period, burst_rate, .. } = *self;
        if burst == Ps(0) && burst_rate > 0.0 {
            return Err("burst_rate has no effect with burst = \"0s\"".into());
        }
        if burst >= period {
            return Err(format!("burst is {burst}: it must be shorter than period ({period})"));
        }
        let per_ps = |rate: f64| rate * clients as f64 / 1e12;
        let (rate, burst_rate) = (per_ps(self.rate), per_ps(burst_rate));
        if rate.max(burst_rate) > 1.0 {
            return Err("more than one web request per picosecond: lower rate".into());
        }
        let bursts = Bursts { rate, burst_rate, burst: burst.0, period: period.0 };
        if bursts.in_period() <= 0.0 {
            return Err("rate and burst_rate are 0: no web request would ever arrive".into());
        }
        Ok(bursts)
    }
}

impl TrafficSettings for QueriesConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let hosts = context.hosts();
        let queries = Queries::new(self, hosts, context.seed, context.source)?;
        let bits_per_second = self.bits_per_second(hosts)?;
        Ok(Offer { bits_per_second, ..Offer::new(queries, self.crowd(hosts)?) })
    }

    fn waits(&self) -> bool {
        true
    }
}

/// Makes web requests.
#[derive(Clone, Debug)]
pub struct Queries {
    rng: Rng,
    choices: Choices,
    workflow: Workflow,
    request: u64,
    source: u16,
    start: Ps,
    /// Arrival of the last web request, relative to `start`.
    elapsed: Ps,
    end: Ps,
    /// Flows of that web request that have not been taken.
    flows: VecDeque<Arrival>,
}

fn draw<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.below(values.len() as u64) as usize]
}

impl Queries {
    /// The web requests of `config` among `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(config: &QueriesConfig, hosts: u32, seed: u64, source: u16) -> Result<Self, String> {
        Ok(Self {
            rng: Rng::stream(seed, Purpose::Traffic, u64::from(source)),
            choices: config.choices(hosts)?,
            workflow: config.workflow,
            request: config.request.0,
            source,
            start: config.start,
            elapsed: Ps(0),
            end: checks::end_of(config.stop),
            flows: VecDeque::new(),
        })
    }

    /// Draws all flows of a web request at `now`.
    fn draw_request(&mut self, now: Ps) {
        let Choices { clients, servers, counts, sizes, priorities, .. } = &mut self.choices;
        let client = draw(&mut self.rng, clients);
        let count = draw(&mut self.rng, counts);
        let priority = draw(&mut self.rng, priorities);
        let mut others = servers.without(client);
        for query in 0..count {
            let server = match self.workflow {
                // A shuffle of as many servers as needed, repeated once all are used.
                Workflow::Parallel => {
                    others.shuffle_at(query as usize % others.count(), &mut self.rng)
                }
                Workflow::Single | Workflow::Sequential => others.any(&mut self.rng),
            };
            let bytes = draw(&mut self.rng, sizes);
            let after = After::Arrival { back: 1 };
            let waits = query > 0 && self.workflow == Workflow::Sequential;
            let first_of = if query == 0 { count } else { 0 };
            self.flows.push_back(Arrival {
                priority,
                after: waits.then_some(after),
                role: Role::Request { first_of },
                ..Arrival::new(now, client, server, self.request, self.source)
            });
            self.flows.push_back(Arrival {
                priority,
                after: Some(after),
                role: Role::Response,
                ..Arrival::new(now, server, client, bytes, self.source)
            });
        }
    }
}

impl Source for Queries {
    fn next(&mut self) -> Option<Arrival> {
        if self.flows.is_empty() {
            self.elapsed = self.choices.bursts.next(self.elapsed, &mut self.rng);
            let now = Ps(self.start.0.saturating_add(self.elapsed.0));
            if now >= self.end {
                return None;
            }
            self.draw_request(now);
        }
        self.flows.pop_front()
    }
}
