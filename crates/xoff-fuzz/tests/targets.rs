//! Each target with its seeds and changes of them. A failure prints the input.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{catch_unwind, resume_unwind};
use std::path::Path;

use xoff_fuzz::{Input, Reading, TARGETS, Target, mutate};

/// Seeds of a target at least.
const FEWEST: usize = 3;
/// Bytes of all seeds that are kept for this test alone.
const MOST_BYTES: u64 = 100_000;

fn check(target: &Target, number: u64, input: &[u8]) -> Reading {
    catch_unwind(|| target.check(input)).unwrap_or_else(|panic| {
        eprintln!("{}, input {number}:\n{}", target.name, input.escape_ascii());
        resume_unwind(panic)
    })
}

#[test]
fn every_reader_bears_changes_of_its_seeds() {
    for target in TARGETS {
        let seeds = target.seeds();
        for number in 0..seeds.len() as u64 + target.changes {
            check(target, number, &mutate::input(&seeds, number));
        }
    }
}

/// Laws of what can be read hold for something, and so do those of what is refused.
#[test]
fn some_seeds_are_read_and_some_changes_are_refused() {
    for target in TARGETS {
        let seeds = target.seeds();
        assert!(seeds.len() >= FEWEST, "{}: {} seeds", target.name, seeds.len());
        let read = seeds.iter().filter(|seed| check(target, 0, seed).is_read).count();
        assert!(2 * read > seeds.len(), "{}: {read} of {} can be read", target.name, seeds.len());
        let mut changed = (1..100).map(|number| mutate::input(&seeds, number * 1000));
        let is_refused = changed.any(|input| !check(target, 0, &input).is_read);
        assert!(is_refused || matches!(target.input, Input::Program(_)), "{}", target.name);
    }
}

#[test]
fn every_folder_of_seeds_has_a_target_and_is_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
    let folders: BTreeSet<_> = entries.map(|entry| entry.file_name()).collect();
    let names: BTreeSet<_> = TARGETS.iter().map(|target| target.name.into()).collect();
    assert_eq!(folders, names);
    assert_eq!(names.len(), TARGETS.len(), "two targets have one name");
    let own = TARGETS.iter().flat_map(Target::seed_paths);
    let sizes = own.filter(|path| path.starts_with(&folder)).map(|path| path.metadata().unwrap());
    let bytes: u64 = sizes.map(|file| file.len()).sum();
    assert!(bytes <= MOST_BYTES, "seeds have {bytes} bytes");
}
