//! The data plane without eBPF on a host.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt;

use crate::hosts::{Hosts, PAYLOAD_RATE, expect_allocated_rate, rate_of};

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

#[test]
fn sockets_of_a_process_are_paced_without_ebpf() {
    let Some(hosts) = Hosts::new("s") else { return };
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let own = std::process::id();
    let mut connection = hosts.connect();
    sockopt::set_socket_send_buffer_size(&connection, 65536).unwrap();
    let mut agent = hosts
        .start(&format!("plane = \"sockets\"\nprocesses = [{own}]\nmetrics = \"127.0.0.1:9431\""));
    // Its first line, `ready`.
    agent.0.stderr.as_mut().unwrap().read_exact(&mut [0; 9]).unwrap();
    expect_allocated_rate(&mut connection);
    expect_metric(&hosts, "xoff_agent_allocator{address=\"10.213.7.2:4000\"} 1\n");
    let text = metrics(&hosts);
    assert!(!text.contains("xoff_agent_rates_total 0\n"), "{text}");
    assert!(!text.contains("xoff_agent_received_datagrams_total 0\n"), "{text}");
    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    assert!(rate_of(&mut connection, Duration::from_millis(300)) > 1.3 * PAYLOAD_RATE as f64);
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}
