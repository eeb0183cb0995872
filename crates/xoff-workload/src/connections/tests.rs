//! Matrices and their errors.

use super::matrix::ConnectionMatrix;
use super::*;

fn parse(text: &str) -> Result<ConnectionMatrix, String> {
    ConnectionMatrix::parse("case.cm", text).map_err(|error| error.to_string())
}

/// The error of a matrix of 4 hosts with these counts and lines.
fn refused(connections: u32, triggers: u32, lines: &str) -> String {
    let text =
        format!("Nodes 4\nConnections {connections}\nTriggers {triggers}\nFailures 0\n{lines}");
    parse(&text).unwrap_err()
}

/// A ring of three steps, a barrier, and a multishot.
const TRIGGERS: &str = "\
Nodes 4
Connections 7
Triggers 4
# A step of a ring starts the next one where it arrives.
0->1 id 1 start 5000.7 size 100 recv_done_trigger 1
1->2 id 2 trigger 1 size 200 recv_done_trigger 2
2->3 id 3 trigger 2 size 300 send_done_trigger 3
0->2 id 4 start 0 size 50 recv_done_trigger 3 send_done_trigger 4
3->0 id 5 trigger 3 size 400 send_done_trigger 4

trigger id 1 oneshot
trigger id 2 oneshot
trigger id 3 barrier count 2
trigger id 4 multishot
2->0 id 6 trigger 4 size 10
2->1 id 7 trigger 4 size 20
";

#[test]
fn triggers_become_numbers_of_activations() {
    let matrix = parse(TRIGGERS).unwrap();
    assert_eq!((matrix.nodes, matrix.has_triggers(), matrix.first_endless()), (4, true, None));
    let waits: Vec<_> = matrix.connections.iter().map(|flow| flow.waits).collect();
    let expected =
        [None, Some((1, 1)), Some((2, 1)), None, Some((3, 2)), Some((4, 1)), Some((4, 2))];
    assert_eq!(waits, expected);
    let starts: Vec<u64> = matrix.connections.iter().map(|flow| flow.start_ps).collect();
    assert_eq!(starts, [5000, 0, 0, 0, 0, 0, 0]);
    let flows = ConnectionsConfig::default().arrivals(&matrix, 3);
    assert_eq!(flows[0].role, Role::Activates { sent: 0, received: 2 });
    assert_eq!(flows[0].after, Some(After::Trigger { trigger: 1, activations: 1 }));
    assert_eq!((flows[6].start, flows[6].bytes), (Ps(5000), 100));
}

/// Broadcom/csg-htsim, sim/datacenter/connection_matrices/bidir.cm, which ends with an empty line,
/// and sim/EXAMPLES, whose flows have no end.
#[test]
fn plain_matrices() {
    let matrix = parse(
        "Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n13->0 start 0 size 2000000\n\n",
    );
    let matrix = matrix.unwrap();
    assert_eq!((matrix.connections[1].src, matrix.connections[1].bytes), (13, 2_000_000));
    let endless = parse("Nodes 432\nConnections 1\n368->0 start 0.000000 size 0\n").unwrap();
    assert_eq!((endless.first_endless(), endless.connections[0].bytes), (Some(3), ENDLESS));
}

#[test]
fn a_wrong_line_is_named() {
    let flow = "0->1 start 0 size 9\n";
    for (lines, expected) in [
        ("0->4 start 0 size 9", "line 5: host 4 does not exist"),
        ("0->3 start 0 size 9\nNodes 2", "line 6: a second line Nodes"),
        ("Connections 1", "line 5: a second line Connections"),
        ("Triggers 0", "line 5: a second line Triggers"),
        ("0->0 start 0 size 9", "line 5: a flow from host 0 to itself"),
        ("0>1 start 0 size 9", "line 5: unknown \"0>1\""),
        ("0-> start 0 size 9", "line 5: host \"\" is not a whole number"),
        ("0->1 start 0 size", "line 5: size has no number behind it"),
        ("0->1 start 0 size -9", "line 5: size \"-9\" is not a whole number"),
        ("0->1 start x size 9", "line 5: start \"x\" is not a whole number"),
        ("0->1 start 0", "line 5: the flow has no size"),
        ("0->1 size 9", "line 5: the flow has neither a start nor a trigger"),
        ("0->1 size 9 start 0 trigger 1", "line 5: a flow has a start or a trigger"),
        ("0->1 size 9 start 0 prio 3", "line 5: prio is not modelled"),
        ("0->1 size 9 start 0 addon", "line 5: addon is not modelled"),
        ("0->1 size 9 start 0 colour 3", "line 5: unknown \"colour\""),
        ("0->1 size 9 start 0 id 0", "line 5: id 0 is not allowed"),
        ("0->1 size 99999999999999999999 start 0", "line 5: size \"9999"),
        ("0->1 size 9223372036854775807 start 0", "line 5: a size must be below"),
        ("0->1 size 9 start 18446744073709551615", "line 5: start 18446744073709551615 is later"),
        ("0->1 start 0 size 9 trigger", "line 5: trigger has no number"),
        ("0->1 start 0 size 0 send_done_trigger 1", "line 5: size 0 is a flow without end"),
        ("failure switch_type AGG switch_id 0 link_id 1", "line 5: link failures are not read"),
        ("Failures 1", "line 5: link failures are not read"),
        ("Nodes 4 5", "line 5: \"5\" after the number of Nodes"),
        ("0->1 start 0 size 9 size 8", "line 5: a second size: remove one"),
        ("0->1 start 0 size 9 start 0", "line 5: a second start: remove one"),
        ("trigger id 1 id 2 oneshot", "line 5: a second id: remove one"),
        ("trigger id 1 barrier count 2 count 3", "line 5: a second count: remove one"),
        ("trigger oneshot", "line 5: the trigger has no id"),
        ("trigger id 1", "line 5: the trigger has no kind"),
        ("trigger id 1 barrier", "line 5: a barrier needs a count"),
        ("trigger id 1 oneshot count 2", "line 5: only a barrier has a count"),
        ("trigger id 1 oneshot barrier", "line 5: a trigger has one kind"),
        ("", "line 2: Connections is 1, but the file has 0 of them"),
        ("0->1 start 0 size 9\n0->1 start 0 size 9", "line 2: Connections is 1, but"),
    ] {
        let error = refused(1, 0, lines);
        assert!(error.starts_with(&format!("case.cm, {expected}")), "{lines}: {error}");
    }
    assert!(
        refused(2, 0, "0->1 id 7 start 0 size 9\n0->1 id 7 start 0 size 9").contains("id 7 is")
    );
    assert!(
        parse(&format!("Connections 1\n{flow}")).unwrap_err().contains("before the line Nodes")
    );
    assert!(parse("").unwrap_err().contains("line 1: the line Nodes is missing"));
    assert!(parse("Nodes 4\n").unwrap_err().contains("the line Connections is missing"));
    assert!(parse("Nodes 4\nConnections 0\n").unwrap_err().contains("the file has no flow"));
}

#[test]
fn a_flow_that_never_starts_is_refused() {
    let first = "0->1 start 0 size 9 recv_done_trigger 1\n";
    let next = "1->2 trigger 1 size 9\n";
    for (connections, triggers, lines, expected) in [
        (2, 0, format!("{first}{next}"), "line 5: trigger 1 is used but not defined"),
        (1, 1, format!("{first}trigger id 1 oneshot"), "line 6: trigger 1 starts no flow"),
        (
            3,
            1,
            format!("{first}{first}{next}trigger id 1 oneshot"),
            "line 8: trigger 1 is a oneshot, but 2 flows activate it",
        ),
        (
            2,
            1,
            format!("{first}{next}trigger id 1 barrier count 2"),
            "line 7: trigger 1 waits for 2 activations, but flows activate it 1 times",
        ),
        (
            3,
            1,
            format!("{first}{next}{next}trigger id 1 multishot"),
            "line 7: the flow never starts: it waits for activation 2 of trigger 1",
        ),
        (
            2,
            1,
            "0->1 start 0 size 9\n1->2 trigger 1 size 9 send_done_trigger 1\ntrigger id 1 oneshot"
                .to_owned(),
            "line 6: the flow never starts: it waits for activation 1 of trigger 1",
        ),
        (2, 2, format!("{first}{next}trigger id 1 oneshot\ntrigger id 1 oneshot"), "line 8: tri"),
    ] {
        let error = refused(connections, triggers, &lines);
        assert!(error.starts_with(&format!("case.cm, {expected}")), "{lines}: {error}");
    }
}

/// A file that ends anywhere, or has nonsense for a number, is read or refused, and names a line.
#[test]
fn damaged_files_are_refused_by_line() {
    for end in 0..TRIGGERS.len() {
        if let Err(error) = parse(&TRIGGERS[..end]) {
            assert!(error.starts_with("case.cm, line "), "{error}");
        }
        for nonsense in ["x", "-1", "99999999999999999999", ""] {
            if TRIGGERS.as_bytes()[end].is_ascii_digit() {
                let text = format!("{}{nonsense}{}", &TRIGGERS[..end], &TRIGGERS[end + 1..]);
                if let Err(error) = parse(&text) {
                    assert!(error.starts_with("case.cm, line "), "{error}");
                }
            }
        }
    }
}
