//! Schedules, whatever the file has.

use std::fmt::Write as _;

use super::GoalConfig;
use crate::dag::{Op, Schedule};
use crate::fuzz_network::{HOSTS, offer};

/// Reads a GOAL schedule of either form.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If it is another schedule after it is written as text.
pub fn goal(file: &str, bytes: &[u8]) -> Result<(), String> {
    let config = GoalConfig { file: file.into(), ..GoalConfig::default() };
    let schedule = config.schedule(bytes, HOSTS)?;
    let written = as_text(&schedule);
    let again = config.schedule(written.as_bytes(), HOSTS);
    let again = again.unwrap_or_else(|refused| panic!("{refused}\n{written}"));
    assert_eq!(again.ranks.len(), schedule.ranks.len());
    for (again, rank) in again.ranks.iter().zip(&schedule.ranks) {
        assert_eq!((&again.ops, &again.edges), (&rank.ops, &rank.edges), "{written}");
    }
    offer(&config, &[(file, bytes)])
}

fn as_text(schedule: &Schedule) -> String {
    let mut text = format!("num_ranks {}\n", schedule.ranks.len());
    let or_any = |number: Option<u32>| number.map_or("-1".into(), |number| number.to_string());
    for (rank, own) in schedule.ranks.iter().enumerate() {
        let _ = writeln!(text, "rank {rank} {{");
        for (number, op) in own.ops.iter().enumerate() {
            let _ = match *op {
                Op::Send { bytes, to, tag } => {
                    writeln!(text, "o{number}: send {bytes}b to {to} tag {tag}")
                }
                Op::Recv { from, tag } => {
                    let (from, tag) = (or_any(from), or_any(tag));
                    writeln!(text, "o{number}: recv 0b from {from} tag {tag}")
                }
                Op::Calc { time, cpu } => {
                    writeln!(text, "o{number}: calc {} cpu {cpu}", time.0 / 1000)
                }
                Op::Join | Op::Collective(_) => unreachable!("a GOAL schedule has no {op:?}"),
            };
        }
        for edge in &own.edges {
            let word = if edge.at_begin { "irequires" } else { "requires" };
            let _ = writeln!(text, "o{} {word} o{}", edge.waits, edge.before);
        }
        text += "}\n";
    }
    text
}
