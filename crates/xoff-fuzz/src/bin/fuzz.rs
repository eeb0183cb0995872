//! Reads changed seeds for a time, target by target.
//!
//! ```text
//! fuzz [--seconds 60] [--first 0] [--list] [TARGET ...]
//! ```
//!
//! An input that breaks a law is written to `out/fuzz/`. The number of the current input is in
//! `out/fuzz/TARGET.number`: after an abort, or if an input takes too long, `--first NUMBER TARGET`
//! repeats it.
#![allow(clippy::print_stdout)]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use xoff_fuzz::{TARGETS, Target, mutate};

/// Findings of a target before the next one begins.
const FINDINGS: usize = 5;

struct Options {
    time: Duration,
    first: u64,
    list: bool,
    targets: Vec<&'static Target>,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let time = Duration::from_secs(60);
    let mut options = Options { time, first: 0, list: false, targets: Vec::new() };
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let number = arguments.next().and_then(|text| text.parse().ok());
            number.ok_or_else(|| format!("{argument} needs a whole number"))
        };
        match argument.as_str() {
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--first" => options.first = number()?,
            "--list" => options.list = true,
            name => {
                let target = xoff_fuzz::named(name);
                options.targets.push(target.ok_or_else(|| {
                    format!("no target is called {name}: `fuzz --list` lists all")
                })?);
            }
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().collect();
    }
    Ok(options)
}

/// Reads inputs of a target until the time is over. Returns the number of findings.
fn run(target: &Target, options: &Options, folder: &Path) -> std::io::Result<usize> {
    let seeds = target.seeds();
    let current = File::create(folder.join(format!("{}.number", target.name)))?;
    let (begin, mut number) = (Instant::now(), options.first);
    let (mut read, mut most, mut findings) = (0u64, 0, 0);
    let mut slowest = (Duration::ZERO, 0);
    while begin.elapsed() < options.time && findings < FINDINGS {
        current.write_all_at(format!("{number:<20}\n").as_bytes(), 0)?;
        let input = mutate::input(&seeds, number);
        let from = Instant::now();
        match catch_unwind(|| target.check(&input)) {
            Ok(reading) => {
                read += u64::from(reading.is_read);
                most = most.max(reading.bytes);
            }
            Err(_) => {
                findings += 1;
                let path = folder.join(format!("{}-{number}", target.name));
                fs::write(&path, &input)?;
                println!("{}: input {number} is in {}", target.name, path.display());
            }
        }
        slowest = slowest.max((from.elapsed(), number));
        number += 1;
    }
    let inputs = number - options.first;
    println!(
        "{}: {inputs} inputs, {read} read, {findings} findings, up to {} KB, up to {:?} (input {})",
        target.name,
        most / 1000,
        slowest.0,
        slowest.1,
    );
    Ok(findings)
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            println!("error: {wrong}");
            return ExitCode::from(2);
        }
    };
    if options.list {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    }
    let folder = PathBuf::from("out/fuzz");
    let run = |target: &&Target| {
        fs::create_dir_all(&folder).and_then(|()| run(target, &options, &folder))
    };
    match options.targets.iter().map(run).sum::<std::io::Result<usize>>() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {}: {error}", folder.display());
            ExitCode::from(2)
        }
    }
}
