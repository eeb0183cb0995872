//! The data plane without eBPF on a host.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt;

use crate::hosts::{Agent, Hosts, PAYLOAD_RATE, expect_allocated_rate, rate_of};

/// The metrics of an agent on the first host.
fn metrics(hosts: &Hosts) -> String {
    let get = || {
        let mut stream = TcpStream::connect("127.0.0.1:9431").unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    hosts.on(0, get).join().unwrap()
}

/// Waits until the metrics have a line.
fn expect_metric(hosts: &Hosts, line: &str) {
    let mut text = String::new();
    for _ in 0..100 {
        text = metrics(hosts);
        if text.contains(line) {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("{line}{text}");
}

/// Starts an agent that paces sockets of this process.
fn start(hosts: &Hosts) -> Agent {
    let own = std::process::id();
    let mut agent = hosts
        .start(&format!("plane = \"sockets\"\nprocesses = [{own}]\nmetrics = \"127.0.0.1:9431\""));
    // Its first line, `ready`.
    agent.0.stderr.as_mut().unwrap().read_exact(&mut [0; 9]).unwrap();
    agent
}

/// True while a connection sends at no more than the allocated rate.
fn is_limited(connection: &mut TcpStream) -> bool {
    rate_of(connection, Duration::from_millis(300)) < 1.3 * PAYLOAD_RATE as f64
}

#[test]
fn sockets_of_a_process_are_paced_without_ebpf() {
    let Some(hosts) = Hosts::new("s") else { return };
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let mut connection = hosts.connect();
    sockopt::set_socket_send_buffer_size(&connection, 65536).unwrap();
    let mut agent = start(&hosts);
    expect_allocated_rate(&mut connection);
    expect_metric(&hosts, "xoff_agent_allocator{address=\"10.213.7.2:4000\"} 1\n");
    let text = metrics(&hosts);
    assert!(!text.contains("xoff_agent_rates_total 0\n"), "{text}");
    assert!(!text.contains("xoff_agent_received_datagrams_total 0\n"), "{text}");
    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    assert!(!is_limited(&mut connection));
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}

/// Lets an agent pace a connection, and kills it while the connection sends. True if that left a
/// rate: on a busy machine the connection may be without one just then.
fn is_left_by_a_kill(hosts: &Hosts, connection: &mut TcpStream) -> bool {
    let mut agent = start(hosts);
    expect_allocated_rate(connection);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(150));
            agent.signal(rustix::process::Signal::KILL);
        });
        rate_of(connection, Duration::from_millis(300));
    });
    agent.0.wait().unwrap();
    is_limited(connection)
}

#[test]
fn rates_of_a_killed_agent_can_be_cleaned_up() {
    let Some(hosts) = Hosts::new("l") else { return };
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    // More sockets than the cleaner may have descriptors. They have lower numbers.
    let _others: Vec<_> = (0..100).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    let mut connection = hosts.connect();
    sockopt::set_socket_send_buffer_size(&connection, 65536).unwrap();
    assert!((0..5).any(|_| is_left_by_a_kill(&hosts, &mut connection)), "never a rate was left");
    let few = "ulimit -n 64 && exec \"$0\" --cleanup";
    let cleanup = Command::new("sh").args(["-c", few, env!("CARGO_BIN_EXE_agent")]).status();
    assert!(cleanup.unwrap().success());
    assert!(!is_limited(&mut connection));
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}
