//! The eBPF data plane on a host. Skipped where the kernel allows no eBPF congestion control.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt;
use xoff_agent::host;

use crate::hosts::{Agent, Hosts, PAYLOAD_RATE, expect_allocated_rate, rate_of};

impl Hosts {
    /// Starts an agent; returns it once it has changed the default. None if it cannot run here.
    fn agent(&self, name: &'static str) -> Option<Agent> {
        let mut agent = self.start(&format!("congestion_control = \"{name}\""));
        for _ in 0..500 {
            if self.default() == name {
                return Some(agent);
            }
            if agent.0.try_wait().unwrap().is_some() {
                let mut said = String::new();
                agent.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
                let is_refused = said.contains("Operation not permitted");
                assert!(is_refused, "the agent ended: {said}");
                eprintln!("skipped: the kernel allows no eBPF congestion control here");
                return None;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the agent did not become ready");
    }

    /// The default congestion control of the sender.
    fn default(&self) -> String {
        let read = || host::read_setting(host::CONGESTION_CONTROL).unwrap();
        self.on(0, read).join().unwrap()
    }
}

fn registered(name: &str) -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    fs::read_to_string(path).unwrap().split_whitespace().any(|known| known == name)
}

#[test]
fn rates_are_enforced_and_an_orderly_exit_restores_the_host() {
    let Some(hosts) = Hosts::new("x") else { return };
    let before = hosts.default();
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let Some(mut agent) = hosts.agent("xoff_ft_tx") else { return };
    let mut connection = hosts.connect();
    connection.set_nodelay(true).unwrap();
    // Without this, the sender counts what only fills its buffer.
    sockopt::set_socket_send_buffer_size(&connection, 65536).unwrap();
    expect_allocated_rate(&mut connection);
    assert_eq!(sockopt::tcp_congestion(&connection).unwrap(), "xoff_ft_tx");

    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    assert!(!registered("xoff_ft_tx"));
    assert_eq!(hosts.default(), before);
    // The open connection goes on, under the congestion control that was the default.
    assert_eq!(sockopt::tcp_congestion(&connection).unwrap(), before);
    assert!(rate_of(&mut connection, Duration::from_millis(300)) > 1.3 * PAYLOAD_RATE as f64);
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}

#[test]
fn a_limit_of_the_application_outlives_allocated_rates() {
    let Some(hosts) = Hosts::new("m") else { return };
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let Some(mut agent) = hosts.agent("xoff_ft_tm") else { return };
    let mut connection = hosts.connect();
    connection.set_nodelay(true).unwrap();
    sockopt::set_socket_send_buffer_size(&connection, 65536).unwrap();
    expect_allocated_rate(&mut connection);
    limit(&connection, 2 * PAYLOAD_RATE);
    expect_allocated_rate(&mut connection);

    // Without the allocator, rates expire after 0.1 s.
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
    rate_of(&mut connection, Duration::from_millis(300));
    let rate = rate_of(&mut connection, Duration::from_millis(500)) / PAYLOAD_RATE as f64;
    assert!((1.2..2.5).contains(&rate), "{rate}");
    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    let rate = rate_of(&mut connection, Duration::from_millis(500)) / PAYLOAD_RATE as f64;
    assert!((1.2..2.5).contains(&rate), "{rate}");
}

/// Limits a socket as an application does.
#[allow(unsafe_code)]
fn limit(connection: &std::net::TcpStream, rate: u64) {
    let (fd, size) = (connection.as_raw_fd(), size_of::<u64>() as libc::socklen_t);
    let (level, option) = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);
    // SAFETY: the pointer is to a value of the given size, which lives during the call.
    let result = unsafe { libc::setsockopt(fd, level, option, (&raw const rate).cast(), size) };
    assert_eq!(result, 0);
}

#[test]
fn a_killed_agent_slows_nothing_and_can_be_cleaned_up() {
    let Some(hosts) = Hosts::new("k") else { return };
    let before = hosts.default();
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let Some(mut agent) = hosts.agent("xoff_ft_tk") else { return };
    let mut connection = hosts.connect();
    sockopt::set_socket_send_buffer_size(&connection, 65536).unwrap();
    rate_of(&mut connection, Duration::from_millis(200));

    agent.signal(rustix::process::Signal::KILL);
    agent.0.wait().unwrap();
    // The lease of 50 ms ends, then CUBIC is free.
    let rate = rate_of(&mut connection, Duration::from_millis(500));
    assert!(rate > 1.3 * PAYLOAD_RATE as f64, "{rate} bytes/s");
    assert_eq!(sockopt::tcp_congestion(&connection).unwrap(), "xoff_ft_tk");
    assert_eq!(hosts.default(), "xoff_ft_tk");

    assert!(Command::new(env!("CARGO_BIN_EXE_agent")).arg("--cleanup").status().unwrap().success());
    assert!(!registered("xoff_ft_tk"));
    assert_eq!(hosts.default(), before);
    assert_eq!(sockopt::tcp_congestion(&connection).unwrap(), before);
    connection.write_all(&[7; 16384]).unwrap();
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}
