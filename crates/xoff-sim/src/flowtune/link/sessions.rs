//! Datagrams: the allocator's side of the protocol of real hosts, as `xoff allocator` runs it.

use xoff_control::{EndpointId, Event, Key, Sessions, SessionsConfig, wire};
use xoff_core::{Bytes, HostId};
use xoff_host::Hosts;
use xoff_host::flowtune::Message;
use xoff_host::flowtune::datagram::{endpoint_id, key, nanos, secret};
use xoff_host::flowtune::stream_id::{Direction, StreamId};
use xoff_net::Fabric;

use super::super::allocator::{Allocator, Work};
use super::super::{FlowtuneConfig, Site};

/// The sessions of an allocator with its servers.
#[derive(Debug)]
pub(in crate::flowtune) struct ServerSessions {
    sessions: Sessions,
    config: SessionsConfig,
    flowtune: FlowtuneConfig,
    endpoints: Vec<(EndpointId, Key)>,
    /// The NIC that names the allocator, and the seed of the run: for secrets.
    nic: HostId,
    seed: u64,
    /// Starts of the allocator so far.
    lives: u32,
    /// The server of each flowlet, by the index that the sessions give it.
    servers: Vec<HostId>,
    events: Vec<Event>,
}

impl ServerSessions {
    pub(super) fn new(
        (flowtune, payload): (&FlowtuneConfig, Bytes),
        site: &Site,
        seed: u64,
    ) -> Self {
        let config = flowtune.sessions(payload);
        let endpoints: Vec<(EndpointId, Key)> =
            site.server_ids().map(|server| (endpoint_id(server), key(seed, server))).collect();
        let nic = site.nics.start;
        Self {
            sessions: start(config, &endpoints, secret(seed, nic, 0)),
            config,
            flowtune: flowtune.clone(),
            endpoints,
            nic,
            seed,
            lives: 1,
            servers: Vec::new(),
            events: Vec::new(),
        }
    }

    /// A datagram has arrived. Those to a stopped allocator are lost.
    pub(super) fn receive(&mut self, now: u64, datagram: &[u8], allocator: &mut Allocator) {
        if !self.flowtune.is_running(now) {
            return;
        }
        let received = self.sessions.receive(datagram, nanos(now), &mut self.events);
        allocator.stats.refused += u64::from(received.is_err());
        self.pass_events(now, allocator);
    }

    /// An iteration begins.
    pub(super) fn begin(&mut self, now: u64, work: Work, allocator: &mut Allocator) {
        if work == Work::Restarts {
            let secret = secret(self.seed, self.nic, self.lives);
            self.lives += 1;
            self.sessions = start(self.config, &self.endpoints, secret);
        }
        self.sessions.advance(nanos(now), &mut self.events);
        self.pass_events(now, allocator);
    }

    /// Tells the allocator which flowlets have started and ended.
    fn pass_events(&mut self, now: u64, allocator: &mut Allocator) {
        for event in self.events.drain(..) {
            let (server, message) = match event {
                Event::Started { flow, source, destination, path } => {
                    let (server, dst) = (HostId(source.0), HostId(destination.0));
                    if flow as usize >= self.servers.len() {
                        self.servers.resize(flow as usize + 1, HostId(0));
                    }
                    self.servers[flow as usize] = server;
                    (server, Message::Start { flowlet: flow, dst, label: path })
                }
                Event::Ended { flow } => {
                    (self.servers[flow as usize], Message::End { flowlet: flow })
                }
                Event::Opened { .. } | Event::Closed { .. } => continue,
            };
            allocator.on_message(now, StreamId::to_allocator(server), message);
        }
    }

    /// The rates of an iteration leave, with all else that is due.
    pub(super) fn say(
        &mut self,
        messages: &[(StreamId, Message)],
        fabric: &mut Fabric,
        hosts: &mut Hosts,
    ) {
        for &(stream, message) in messages {
            match (stream.direction(), message) {
                // A rate that rounds to zero must differ from that of a failed path.
                (Direction::FromAllocator(_), Message::Rate { flowlet, rate }) => {
                    self.sessions.set_rate(flowlet, rate.div_ceil(8));
                }
                _ => hosts.tell(fabric, stream, message),
            }
        }
        if !self.flowtune.is_running(fabric.now) {
            return;
        }
        let mut buffer = [0; wire::DATAGRAM];
        let now = nanos(fabric.now);
        while let Some((endpoint, length)) = self.sessions.transmit(now, &mut buffer) {
            let stream = StreamId::from_allocator(HostId(endpoint.0));
            hosts.send_datagram(fabric, stream, &buffer[..length]);
        }
    }
}

fn start(config: SessionsConfig, endpoints: &[(EndpointId, Key)], secret: [u8; 32]) -> Sessions {
    Sessions::new(config, endpoints, secret).expect("servers have numbers of their own")
}
