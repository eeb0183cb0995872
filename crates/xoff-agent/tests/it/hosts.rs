//! Hosts from two network namespaces of this machine, with an allocator of the test's own that
//! gives every flowlet one rate. They need root and `ip`; otherwise tests are skipped, and say why.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use xoff_control::{EndpointId, Event, Key, Sessions, SessionsConfig};

const KEY: [u8; 32] = [0xab; 32];
pub(crate) const SINK: &str = "10.213.7.2:4001";
const ALLOCATOR: &str = "10.213.7.2:4000";
/// 100 Mbit/s of payload.
pub(crate) const PAYLOAD_RATE: u64 = 12_500_000;

/// An agent's keeper. It ends with the test, however that ends.
pub(crate) struct Agent(pub(crate) Child);

impl Agent {
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(process, signal).unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.signal(rustix::process::Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

/// Two namespaces with a link between them, deleted at the end.
pub(crate) struct Hosts {
    /// All tests share one process, whose sockets some agents pace: they run one at a time.
    _turn: MutexGuard<'static, ()>,
    names: [String; 2],
    pub(crate) folder: PathBuf,
}

fn sh(command: &str) -> bool {
    let status = Command::new("sh").args(["-c", command]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

impl Hosts {
    /// None, and a message, where the machine does not allow it.
    pub(crate) fn new(test: &str) -> Option<Self> {
        let id = std::process::id();
        let names = ["a", "b"].map(|side| format!("xofftest{id}{test}{side}"));
        let [a, b] = &names;
        let folder = std::env::temp_dir().join(format!("xoff-agent-{id}-{test}"));
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let hosts = Self { _turn: turn, names: names.clone(), folder };
        let made = rustix::process::geteuid().is_root()
            && sh(&format!(
                "set -e; ip netns add {a}; ip netns add {b}
                 ip link add v netns {a} type veth peer name v netns {b}
                 ip -n {a} addr add 10.213.7.1/24 dev v; ip -n {b} addr add 10.213.7.2/24 dev v
                 ip -n {a} link set v up; ip -n {b} link set v up; ip -n {a} link set lo up"
            ));
        if !made {
            eprintln!("skipped: needs root, `ip` and network namespaces");
            return None;
        }
        fs::create_dir_all(&hosts.folder).unwrap();
        let key = KEY.map(|byte| format!("{byte:02x}")).concat();
        fs::write(hosts.folder.join("key"), key).unwrap();
        assert!(sh(&format!("chmod 600 {}/key", hosts.folder.display())));
        Some(hosts)
    }

    /// Runs a function in a thread of one of the two hosts.
    pub(crate) fn on<T: Send + 'static>(
        &self,
        host: usize,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> thread::JoinHandle<T> {
        let path = format!("/run/netns/{}", self.names[host]);
        thread::spawn(move || {
            let namespace = fs::File::open(path).unwrap();
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), kind).unwrap();
            run()
        })
    }

    /// Starts an agent with more settings.
    pub(crate) fn start(&self, more: &str) -> Agent {
        let config = self.folder.join("agent.toml");
        let text = format!(
            "endpoint = 1\nkey = \"key\"\nallocators = [\"{ALLOCATOR}\"]\n\
             {more}\n[endpoints]\n\"10.213.7.2\" = 2\n"
        );
        fs::write(&config, text).unwrap();
        let start = move || {
            let program = env!("CARGO_BIN_EXE_agent");
            Command::new(program).arg(config).stderr(Stdio::piped()).spawn().unwrap()
        };
        Agent(self.on(0, start).join().unwrap())
    }

    /// A sink for one connection on the second host.
    pub(crate) fn listen(&self) {
        let (listening, is_listening) = std::sync::mpsc::channel();
        self.on(1, move || {
            let listener = TcpListener::bind(SINK).unwrap();
            listening.send(()).unwrap();
            let (mut connection, _) = listener.accept().unwrap();
            let mut buffer = vec![0; 1 << 20];
            while connection.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {}
        });
        is_listening.recv().unwrap();
    }

    /// A connection from the first host to a sink on the second.
    pub(crate) fn connect(&self) -> TcpStream {
        self.listen();
        self.on(0, || TcpStream::connect(SINK).unwrap()).join().unwrap()
    }

    /// Gives every flowlet the same rate, until `stop` is set.
    pub(crate) fn allocator(&self, stop: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
        let stop = Arc::clone(stop);
        self.on(1, move || {
            let socket = UdpSocket::bind(ALLOCATOR).unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            let keys = [(EndpointId(1), Key::new(KEY))];
            let mut sessions = Sessions::new(SessionsConfig::default(), &keys, [3; 32]).unwrap();
            let origin = Instant::now();
            let (mut buffer, mut events) = ([0; 1500], Vec::new());
            let mut agent = None;
            while !stop.load(Ordering::Relaxed) {
                let now = origin.elapsed().as_nanos() as u64;
                if let Ok((length, from)) = socket.recv_from(&mut buffer) {
                    agent = Some(from);
                    sessions.receive(&buffer[..length], now, &mut events).unwrap();
                }
                sessions.advance(now, &mut events);
                for event in events.drain(..) {
                    if let Event::Started { flow, .. } = event {
                        sessions.set_rate(flow, PAYLOAD_RATE);
                    }
                }
                while let Some((_, length)) = sessions.transmit(now, &mut buffer) {
                    socket.send_to(&buffer[..length], agent.unwrap()).unwrap();
                }
            }
        })
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            sh(&format!("ip netns del {name}"));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Sends for a time; returns the rate in bytes per second, without the first tenth.
pub(crate) fn rate_of(connection: &mut TcpStream, time: Duration) -> f64 {
    let chunk = [7; 16384];
    let start = Instant::now();
    let mut counted = (0.0, start);
    let mut bytes = 0;
    while start.elapsed() < time {
        connection.write_all(&chunk).unwrap();
        if start.elapsed() < time / 10 {
            counted.1 = Instant::now();
            bytes = 0;
        }
        bytes += chunk.len();
        counted.0 = bytes as f64 / counted.1.elapsed().as_secs_f64();
    }
    counted.0
}

/// Sends until the connection has its allocated rate. On a machine that is too busy for the agent,
/// leases end, and the connection sends at several times that rate for a while.
pub(crate) fn expect_allocated_rate(connection: &mut TcpStream) {
    let share = |rate: f64| rate / PAYLOAD_RATE as f64;
    let mut shares = (0..20).map(|_| share(rate_of(connection, Duration::from_millis(200))));
    assert!(shares.any(|share| (0.5..1.2).contains(&share)), "never the allocated rate");
}
