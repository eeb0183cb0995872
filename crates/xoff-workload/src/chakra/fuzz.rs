//! Traces, whatever their files have.

use prost::Message as _;

use super::frames::Frames;
use super::groups::Groups;
use super::schema::{GlobalMetadata, Node};
use super::{ChakraConfig, trace};
use crate::fuzz_network::offer;

/// Stands between the files of a trace.
const NEXT: &[u8] = b"\n=== next file\n";

/// Reads a Chakra trace: the files of its ranks. One that begins with `{` has the groups.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If it is another trace after its messages are written again.
pub fn chakra(file: &str, bytes: &[u8]) -> Result<(), String> {
    let (groups, files): (Vec<_>, Vec<_>) =
        divided(bytes).into_iter().partition(|one| one.starts_with(b"{"));
    let mut config = ChakraConfig { file: file.into(), ..ChakraConfig::default() };
    let names: Vec<String> = (0..files.len()).map(|rank| trace::name(file, rank)).collect();
    let mut given: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(files.iter().map(Vec::as_slice)).collect();
    if let Some(groups) = groups.first() {
        config.groups = file.into();
        given.push((file, groups));
    }
    offer(&config, &given)?;
    let groups = match groups.first() {
        Some(json) => Groups::read(file, str::from_utf8(json).expect("it was read before"))?,
        None => Groups::default(),
    };
    let trace = trace::from_bytes(&config, &groups, &files, None)?;
    let written: Vec<Vec<u8>> = files.iter().map(|file| written_again(file)).collect();
    let again = trace::from_bytes(&config, &groups, &written, None);
    let again = again.unwrap_or_else(|refused| panic!("written again: {refused}"));
    assert_eq!((&again.version, &again.collectives), (&trace.version, &trace.collectives));
    assert_eq!(again.schedule.ranks.len(), trace.schedule.ranks.len());
    for (again, rank) in again.schedule.ranks.iter().zip(&trace.schedule.ranks) {
        assert_eq!((&again.ops, &again.places), (&rank.ops, &rank.places));
        assert_eq!(again.edges, rank.edges);
    }
    Ok(())
}

fn divided(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    while let Some(end) = bytes.windows(NEXT.len()).position(|part| part == NEXT) {
        files.push(bytes[..end].to_vec());
        bytes = &bytes[end + NEXT.len()..];
    }
    files.push(bytes.to_vec());
    files
}

/// The messages of a file, with the fields that are read.
fn written_again(file: &[u8]) -> Vec<u8> {
    let mut frames = Frames::of(file);
    let metadata: GlobalMetadata = frames.take("metadata").expect("it was read before");
    let mut written = metadata.encode_length_delimited_to_vec();
    while !frames.is_over() {
        let node: Node = frames.take("node").expect("it was read before");
        written.extend(node.encode_length_delimited_to_vec());
    }
    written
}
