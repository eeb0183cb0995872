//! The functions of the fuzz targets, with their seeds and random changes of them. A failure prints
//! its bytes.

use std::fs;
use std::panic::{catch_unwind, resume_unwind};
use std::path::Path;

use xoff_control::fuzz;

use crate::world::Random;

const CHANGES: usize = 20_000;

/// The files of a target, in the order of their names.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Changes bytes as a fuzzer would.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let place = random.below(bytes.len() as u64 + 1) as usize;
    match random.below(5) {
        0 => bytes.truncate(place),
        1 => bytes.extend((0..=random.below(40)).map(|_| random.next() as u8)),
        2 => bytes.extend_from_within(place..),
        3 => bytes.insert(place, random.next() as u8),
        _ => bytes[place..].iter_mut().take(2).for_each(|byte| *byte = random.next() as u8),
    }
}

fn run(target: &str, check: fn(&[u8])) {
    let (seeds, mut random) = (seeds(target), Random(7));
    assert!(seeds.len() > 3);
    for number in 0..CHANGES {
        let mut bytes = seeds[number % seeds.len()].clone();
        // The seeds themselves come first.
        let changes = if number < seeds.len() { 0 } else { 1 + random.below(4) };
        (0..changes).for_each(|_| mutate(&mut bytes, &mut random));
        if let Err(panic) = catch_unwind(|| check(&bytes)) {
            eprintln!("{target}: {bytes:02x?}");
            resume_unwind(panic);
        }
    }
}

#[test]
fn a_datagram_is_written_in_one_way() {
    run("datagram", fuzz::datagram);
}

#[test]
fn an_allocator_bears_any_endpoint() {
    run("allocator", fuzz::allocator);
}

#[test]
fn an_endpoint_bears_any_allocator() {
    run("endpoint", fuzz::endpoint);
}
