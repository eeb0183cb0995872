//! Connection matrices, whatever the file has.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Connection, ConnectionMatrix, ConnectionsConfig};
use crate::ENDLESS;
use crate::fuzz_network::offer;

/// Reads a connection matrix.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If it is another matrix after it is written.
pub fn connections(file: &str, text: &str) -> Result<(), String> {
    let read = |text: &str| ConnectionMatrix::parse(file, text).map_err(|error| error.to_string());
    let matrix = read(text)?;
    let written = as_text(&matrix);
    let again = read(&written).unwrap_or_else(|refused| panic!("{refused}\n{written}"));
    let without_lines = |matrix: &ConnectionMatrix| -> Vec<Connection> {
        matrix.connections.iter().map(|flow| Connection { line: 0, ..*flow }).collect()
    };
    assert_eq!(again.nodes, matrix.nodes);
    assert_eq!(without_lines(&again), without_lines(&matrix), "{written}");
    let config = ConnectionsConfig { file: file.into(), ..ConnectionsConfig::default() };
    offer(&config, &[(file, text.as_bytes())])
}

fn as_text(matrix: &ConnectionMatrix) -> String {
    // The activations by which the flows of each trigger start, in the order of the file.
    let mut triggers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (trigger, activations) in matrix.connections.iter().filter_map(|flow| flow.waits) {
        triggers.entry(trigger).or_default().push(activations);
    }
    let (flows, count) = (matrix.connections.len(), triggers.len());
    let mut text = format!("Nodes {}\nConnections {flows}\nTriggers {count}\n", matrix.nodes);
    for flow in &matrix.connections {
        let bytes = if flow.bytes == ENDLESS { 0 } else { flow.bytes };
        let begins = match flow.waits {
            Some((trigger, _)) => format!("trigger {trigger}"),
            None => format!("start {}", flow.start_ps),
        };
        let _ = write!(text, "{}->{} {begins} size {bytes}", flow.src, flow.dst);
        for (token, trigger) in
            [("send_done_trigger", flow.sent), ("recv_done_trigger", flow.received)]
        {
            if trigger > 0 {
                let _ = write!(text, " {token} {trigger}");
            }
        }
        text.push('\n');
    }
    for (id, activations) in &triggers {
        let kind = match activations[..] {
            [1] => "multishot".into(),
            [count, ..] if activations.iter().all(|&one| one == count && count > 1) => {
                format!("barrier count {count}")
            }
            [1, 1, ..] => "oneshot".into(),
            _ => "multishot".into(),
        };
        let _ = writeln!(text, "trigger id {id} {kind}");
    }
    text
}
