//! The data plane for programs that report their flowlets, with a program in C.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::hosts::{Agent, Hosts, PAYLOAD_RATE, SINK};

/// Builds the program; none, and a message, without compiler.
fn build(folder: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("transfer");
    let built = Command::new("cc")
        .args(["-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-I"])
        .arg(root.join("include"))
        .arg(root.join("tests/it/transfer.c"))
        .arg("-o")
        .arg(&program)
        .status();
    let Ok(status) = built else {
        eprintln!("skipped: needs a C compiler, `cc`");
        return None;
    };
    assert!(status.success(), "the header compiles without warnings");
    Some(program)
}

fn start(hosts: &Hosts) -> Agent {
    let path = hosts.folder.join("flowlets");
    let mut agent = hosts.start(&format!("plane = \"programs\"\nprograms = {path:?}"));
    // Its first line, `ready`.
    agent.0.stderr.as_mut().unwrap().read_exact(&mut [0; 9]).unwrap();
    agent
}

fn transfer(hosts: &Hosts, program: PathBuf) -> std::thread::JoinHandle<Output> {
    hosts.listen();
    let path = hosts.folder.join("flowlets");
    let (address, port) = SINK.split_once(':').unwrap();
    hosts.on(0, move || Command::new(program).args([address, port]).arg(path).output().unwrap())
}

#[test]
fn a_program_that_reports_a_flowlet_is_paced_in_it() {
    let Some(hosts) = Hosts::new("p") else { return };
    let Some(program) = build(&hosts.folder) else { return };
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let mut agent = start(&hosts);
    let output = transfer(&hosts, program).join().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    let rates: Vec<f64> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.parse::<f64>().unwrap() / PAYLOAD_RATE as f64)
        .collect();
    let (paced, free) = rates.split_at(20);
    // On a busy machine some are slower.
    assert!(paced.iter().filter(|rate| (0.5..1.2).contains(*rate)).count() > 10, "{rates:?}");
    assert!(free.iter().any(|&rate| rate > 1.3), "{rates:?}");
    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    assert!(!hosts.folder.join("flowlets").exists());
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}

#[test]
fn a_program_goes_on_without_its_agent() {
    let Some(hosts) = Hosts::new("q") else { return };
    let Some(program) = build(&hosts.folder) else { return };
    let stop = Arc::new(AtomicBool::new(false));
    let allocator = hosts.allocator(&stop);
    let mut agent = start(&hosts);
    let transfer = transfer(&hosts, program);
    std::thread::sleep(std::time::Duration::from_millis(500));
    agent.signal(rustix::process::Signal::KILL);
    agent.0.wait().unwrap();
    // Its report of the end fails, and it says so.
    assert_eq!(transfer.join().unwrap().status.code(), Some(6));
    // What the killed agent has left does not keep the next one from listening.
    let mut agent = start(&hosts);
    agent.signal(rustix::process::Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    stop.store(true, Ordering::Relaxed);
    allocator.join().unwrap();
}
