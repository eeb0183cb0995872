//! Runs a scenario without the Python package, for profilers: `scenario FILE [section.key=value
//! ...]` or `scenario CASE` with the name of a benchmark case; `threads=N` for more than one
//! thread.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use xoff_run::Run;
use xoff_run::bench::Size;
use xoff_sim::Threads;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        eprintln!("usage: scenario FILE|CASE [section.key=value ...]");
        std::process::exit(2);
    };
    let mut overrides: Vec<String> = arguments.collect();
    let mut threads = Threads::ONE;
    overrides.retain(|argument| match argument.strip_prefix("threads=") {
        Some(count) => {
            threads = Threads::up_to(count.parse().unwrap_or(1));
            false
        }
        None => true,
    });
    let text = xoff_run::bench::scenario(&name, Size::Full).map_or_else(
        || std::fs::read_to_string(&name).map_err(|error| format!("{name}: {error}")),
        Ok,
    );
    let run = text.and_then(|text| {
        Run::open(&text, &name, &overrides, threads).map_err(|problems| problems.to_string())
    });
    let result = run.and_then(|mut run| {
        let begin = std::time::Instant::now();
        while run.step()? {
            run.rows().samples.clear();
            run.rows().flows.clear();
        }
        let hops = run.progress().packet_hops;
        let per_hop = begin.elapsed().as_secs_f64() * 1e9 / hops as f64;
        Ok((run.summary(), hops, per_hop))
    });
    match result {
        Ok((summary, hops, per_hop)) => {
            println!("{}", summary.json());
            eprintln!("{hops} packet-hops, {per_hop:.1} ns each");
        }
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(1);
        }
    }
}
