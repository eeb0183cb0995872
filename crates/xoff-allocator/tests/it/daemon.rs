//! The daemon with endpoints over UDP.

use std::io::{Read as _, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use xoff_allocator::{Daemon, PAYLOAD};
use xoff_control::{Endpoint, EndpointConfig, EndpointId, Key, Nanos, Rate};

use crate::place::{Place, config, free, key_text, read};

/// A log in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn events(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let event = |line: &str| -> String {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["event"].as_str().unwrap().to_owned()
        };
        text.lines().map(event).filter(|event| event != "warning").collect()
    }
}

/// A daemon on a thread of its own.
struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), String>>>,
    metrics: Option<SocketAddr>,
    log: Lines,
}

impl Running {
    fn start(path: &Path) -> Self {
        let (config, stop, log) = (read(path), Arc::new(AtomicBool::new(false)), Lines::default());
        let (stopped, lines) = (Arc::clone(&stop), log.clone());
        let (ready, is_ready) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut daemon = Daemon::start(&config, Box::new(lines))?;
            ready.send(daemon.metrics_address()).unwrap();
            daemon.run(&mut || !stopped.load(Ordering::Relaxed))
        });
        let metrics = is_ready.recv().expect("the daemon starts");
        Self { stop, thread: Some(thread), metrics, log }
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.metrics.unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// The first metrics with this text.
    fn metrics_with(&self, expected: &str) -> String {
        let began = Instant::now();
        loop {
            let text = self.metrics();
            if text.contains(expected) {
                return text;
            }
            assert!(began.elapsed().as_secs() < 10, "{expected}{text}");
        }
    }
}

/// An endpoint with a socket.
struct Agent {
    endpoint: Endpoint,
    socket: UdpSocket,
    allocators: Vec<SocketAddr>,
    origin: Instant,
    rate: Rate,
}

impl Agent {
    fn new(id: u32, address: SocketAddr, allocators: &[SocketAddr]) -> Self {
        let socket = UdpSocket::bind(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let config =
            EndpointConfig { allocators: allocators.len(), ..EndpointConfig::new(EndpointId(id)) };
        let key = Key::parse(&key_text(id)).unwrap();
        Self {
            endpoint: Endpoint::new(config, &key, [id as u8; 32]),
            socket,
            allocators: allocators.to_vec(),
            origin: Instant::now(),
            rate: Rate::FallBack,
        }
    }

    fn now(&self) -> Nanos {
        self.origin.elapsed().as_nanos() as Nanos
    }

    fn transmit(&mut self) {
        let mut buffer = [0; 2048];
        while let Some((to, length)) = self.endpoint.transmit(self.now(), &mut buffer) {
            let _ = self.socket.send_to(&buffer[..length], self.allocators[to]);
        }
    }

    /// Runs until something is true of its allocator and its rate.
    fn run_until(&mut self, is_done: impl Fn(Option<usize>, Rate) -> bool) {
        let (began, mut buffer) = (Instant::now(), [0; 2048]);
        while !is_done(self.endpoint.allocator(), self.rate) {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", self.endpoint.stats);
            self.transmit();
            if let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
                let allocator = self.allocators.iter().position(|&address| address == from);
                let now = self.now();
                let _ = self.endpoint.receive(allocator.unwrap(), &buffer[..length], now);
            }
            while let Some(change) = self.endpoint.next_rate() {
                self.rate = change.rate;
            }
        }
    }
}

/// The rate of this share of a link of 10 Gbit/s.
fn is_share(rate: Rate, share: f64) -> bool {
    // A hundredth is left free, and changes of a hundredth are not reported.
    let full = 10e9 / 8.0 * PAYLOAD * 0.99 * share;
    matches!(rate, Rate::Paced(rate) if (rate as f64 / full - 1.0).abs() < 0.011)
}

#[test]
fn a_flowlet_gets_its_rate_and_metrics_count_it() {
    let place = Place::new();
    let (listen, addresses) = (free(), [free(), free()]);
    let path = config(&place, listen, addresses, "metrics = \"127.0.0.1:0\"", "");
    let mut daemon = Running::start(&path);
    let mut agent = Agent::new(0, addresses[0], &[listen]);
    agent.endpoint.start(1, EndpointId(1), 0, 0);
    agent.run_until(|_, rate| is_share(rate, 1.0));
    // Another endpoint's number, from this address; and nonsense.
    let mut stranger = Agent::new(1, free(), &[listen]);
    let mut buffer = [0; 2048];
    let (_, length) = stranger.endpoint.transmit(0, &mut buffer).unwrap();
    agent.socket.send_to(&buffer[..length], listen).unwrap();
    agent.socket.send_to(b"nonsense", listen).unwrap();
    let text = daemon.metrics_with("reason=\"address\"} 1\n");
    for line in [
        "HTTP/1.1 200 OK\r\n",
        "xoff_allocator_endpoints 2\n",
        "xoff_allocator_connections 1\n",
        "xoff_allocator_flowlets 1\n",
        "xoff_allocator_starts_total 1\n",
        "refused_datagrams_total{reason=\"length\"} 1\n",
        "refused_datagrams_total{reason=\"address\"} 1\n",
        "xoff_allocator_link_demand_ratio{link=\"from 0\"} ",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    agent.endpoint.end(1, agent.now());
    agent.transmit();
    let text = daemon.metrics_with("xoff_allocator_flowlets 0\n");
    assert!(!text.contains("link_demand_ratio{"), "{text}");
    agent.endpoint.start(2, EndpointId(1), 0, agent.now());
    agent.rate = Rate::FallBack;
    agent.run_until(|_, rate| is_share(rate, 1.0));
    daemon.stop();
    assert_eq!(daemon.log.events(), ["started", "status", "stopped"]);
    // No allocator: the rate expires.
    agent.run_until(|_, rate| rate == Rate::FallBack);
}

#[test]
fn a_backup_takes_over_and_gives_way() {
    let place = Place::new();
    let (first, second, addresses) = (free(), free(), [free(), free()]);
    let path = config(&place, first, addresses, "silence = \"300ms\"", "");
    let backup = format!(
        "[backup]\nprimary = \"{first}\"\nid = 1\nkey = \"1.key\"\naddress = \"{}\"\n\
         takeover = \"50ms\"\n",
        addresses[1]
    );
    let backup = config(&place, second, addresses, "", &backup);
    let mut primary = Running::start(&path);
    let mut standby = Running::start(&backup);
    let mut agent = Agent::new(0, addresses[0], &[first, second]);
    agent.endpoint.start(1, EndpointId(1), 0, 0);
    agent.run_until(|allocator, rate| allocator == Some(0) && is_share(rate, 1.0));
    primary.stop();
    agent.run_until(|allocator, rate| allocator == Some(1) && is_share(rate, 1.0));
    let mut primary = Running::start(&path);
    agent.run_until(|allocator, rate| allocator == Some(0) && is_share(rate, 1.0));
    standby.stop();
    primary.stop();
    // On a machine that lets the first one wait, it may take over more often.
    let events = standby.log.events();
    let place = |event| events.iter().position(|found| found == event);
    assert!(place("takes over") < place("stands by") && place("takes over").is_some());
}

#[test]
fn a_wrong_start_says_why() {
    let place = Place::new();
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let taken_again = UdpSocket::bind(taken).unwrap();
    let path = config(&place, taken, [free(), free()], "", "");
    let start = |path: &Path| match Daemon::start(&read(path), Box::new(std::io::sink())) {
        Ok(_) => panic!("it starts"),
        Err(error) => error,
    };
    assert!(start(&path).contains("Address already in use"));
    drop(taken_again);
    place.write("1.key", &key_text(1), 0o644);
    assert!(start(&path).contains("chmod 600"));
    place.key(1);
    let path = config(&place, taken, [free(), free()], "user = \"no-such-user\"", "");
    assert!(start(&path).contains("there is no such user"));
    assert!(Daemon::check(&read(&path)).unwrap_err().contains("there is no such user"));
    let path = config(&place, taken, [free(), free()], "", "");
    assert_eq!(Daemon::check(&read(&path)), Ok(()));
}
