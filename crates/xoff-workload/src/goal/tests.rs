//! Schedules on hosts that deliver in any order.

use std::path::Path;

use proptest::prelude::{any, prop_assert, proptest};
use xoff_core::program::{Act, Event, Job};
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Rng};

use super::*;
use crate::dag::testing::run;

fn dag(text: &str) -> Dag {
    let schedule = text::parse("s.goal", text, 100).unwrap_or_else(|error| panic!("{error}"));
    let hosts = (0..schedule.ranks.len() as u32).map(HostId).collect();
    Dag::new(schedule, hosts, Ps(0), 0)
}

const EXCHANGE: &str = "num_ranks 2
/* two ranks
   exchange */
rank 0 {
l1: calc 100 cpu 1
l2: send 10b to 1 tag 7
l3: recv 20b from 1 tag 8 cpu 0 nic 0
l2 requires l1
calc 5 // begins at once
}
rank 1 {
a: recv 10b from 0 tag 7
b: send 20b to 0 tag 8
b irequires a
}
";

#[test]
fn operations_follow_their_dependencies() {
    let found = run(&dag(EXCHANGE), |_| 0);
    let compute = |key, ns: u64| Act::Compute { key, time: Ps(ns * 1000) };
    let send = |message, to, bytes| Act::Send { message, to: HostId(to), bytes };
    let finish = Act::Finish { round: 0 };
    assert_eq!(found[0], [compute(0, 100), compute(3, 5), send(0, 1, 10), finish]);
    // The reception has begun, though it has not ended.
    assert_eq!(found[1], [send(1, 0, 20), finish]);
}

#[test]
fn a_processor_does_one_thing_at_a_time() {
    let text = "num_ranks 1\nrank 0 {\ncalc 1\ncalc 2\ncalc 3 cpu 4\n}\n";
    let mut program = dag(text).program(0);
    let mut acts = Vec::new();
    program.react(Event::Begin, &mut acts);
    let keys = |acts: &[Act]| -> Vec<u64> {
        acts.iter().map(|act| if let Act::Compute { key, .. } = act { *key } else { 99 }).collect()
    };
    assert_eq!(keys(&acts), [0, 2]);
    acts.clear();
    program.react(Event::Computed(0), &mut acts);
    assert_eq!(keys(&acts), [1]);
}

/// What waits for the begin of an operation waits until its processor or connection is free.
#[test]
fn a_begin_comes_when_what_is_ahead_is_over() {
    let text = "num_ranks 2\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3 cpu 1\nc irequires b\n\
                s: send 10b to 1\nt: send 20b to 1\nd: calc 4 cpu 2\nd irequires t\n}\n\
                rank 1 {\nrecv 10b from 0\nrecv 20b from 0\n}\n";
    let mut program = dag(text).program(0);
    let mut react = |event| {
        let mut acts = Vec::new();
        program.react(event, &mut acts);
        acts
    };
    let compute = |key, ns: u64| Act::Compute { key, time: Ps(ns * 1000) };
    let send = |message, bytes| Act::Send { message, to: HostId(1), bytes };
    assert_eq!(react(Event::Begin), [compute(0, 1), send(0, 10)]);
    assert_eq!(react(Event::Computed(0)), [compute(1, 2), compute(2, 3)]);
    assert_eq!(react(Event::Left(0)), [send(1, 20), compute(5, 4)]);
}

/// A reception of any sender takes what came first, and the first of two receptions takes it.
#[test]
fn receptions_take_messages_in_order() {
    let text = "num_ranks 3
rank 0 {
any: recv 1b from -1 tag -1
one: recv 1b from 1 tag 5
calc 7
x: calc 8
x requires any
y: calc 9
y requires one
}
rank 1 {
send 1b to 0 tag 5
}
rank 2 {
send 1b to 0 tag 6
}
";
    let dag = dag(text);
    let mut program = dag.program(0);
    let mut acts = Vec::new();
    program.react(Event::Begin, &mut acts);
    acts.clear();
    // Rank 1's message fits both: the reception of any began first.
    program.react(Event::Arrived(0), &mut acts);
    program.react(Event::Arrived(0), &mut acts);
    program.react(Event::Computed(2), &mut acts);
    assert_eq!(acts, [Act::Compute { key: 3, time: Ps(8000) }]);
}

#[test]
fn a_rank_may_send_to_itself() {
    let text = "num_ranks 1\nrank 0 {\na: send 0b to 0\nb: recv 0b from 0\nb requires a\n}\n";
    assert_eq!(run(&dag(text), |_| 0)[0], [Act::Finish { round: 0 }]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let error = |text: &str| text::parse("s.goal", text, 100).unwrap_err();
    for (text, said) in [
        ("", "s.goal: it has no `num_ranks N`"),
        ("num_ranks 0", "s.goal:1: num_ranks 0: expected 1 to 100, the hosts"),
        ("num_ranks 101", "s.goal:1: num_ranks 101: expected 1 to 100"),
        (
            // Rank 0 is free to go on until rank 1 waits for it: each sends after it has received.
            "num_ranks 2\nrank 0 {\na: recv 1b from 1 tag 5\nb: send 1b to 1 tag 6\n\
             b requires a\n}\nrank 1 {\nc: recv 1b from 0 tag 6\nd: send 1b to 0 tag 5\n\
             d requires c\n}\n",
            "s.goal:3: ranks wait for each other: this operation waits for a message from rank 1 \
             with tag 5, and what comes before that waits in turn",
        ),
        (
            // A reception from any rank stands for the count of messages to its own rank.
            "num_ranks 3\nrank 0 {\nrecv 1b from 1 tag 5\nrecv 1b from -1 tag -1\n}\nrank 1 {\n}\n\
             rank 2 {\nsend 1b to 0\n}\n",
            "s.goal:3: this operation waits for a message from rank 1 with tag 5, and fewer are \
             sent than received",
        ),
        (
            "num_ranks 3\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nsend 1b to 2\n}\nrank 2 {\n\
             recv 1b from -1\n}\n",
            "s.goal:3: from rank 0 to rank 1 with tag 0, 1 more are sent than received",
        ),
        (
            "num_ranks 2\nrank 0 {\nrecv 8b from 99 tag -1\n}\nrank 1 {\ncalc 1\n}\n",
            "s.goal:3: there is no rank 99: the job has 2 ranks",
        ),
        ("num_ranks 99999999999", "s.goal:1: num_ranks 99999999999: expected"),
        ("rank 0 {\n}", "s.goal:1: there is no rank 0: num_ranks is 0"),
        ("num_ranks 1\nrank 1 {\n}", "s.goal:2: there is no rank 1: num_ranks is 1"),
        ("num_ranks 1\nrank 0 {\ncalc 1\n", "s.goal:2: rank 0 has no closing brace"),
        ("num_ranks 1\nrank 0 {\ncalc x\n}", "s.goal:3: x is no number"),
        ("num_ranks 1\nrank 0 {\ncalc 18446744073709551615\n}", "s.goal:3: 1844"),
        ("num_ranks 1\nrank 0 {\nsend 8 to 0\n}", "s.goal:3: 8: expected bytes, as 8b"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 tog 1\n}", "s.goal:3: tog: expected tag or cpu"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 tag\n}", "s.goal:3: tag: expected a value"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 3\n}", "s.goal:3: there is no rank 3"),
        ("num_ranks 1\nrank 0 {\njump\n}", "s.goal:3: expected `send BYTESb to RANK`"),
        ("num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n}", "s.goal:4: rank 0 has two operations a"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}",
            "s.goal:4: rank 0 has no operation b",
        ),
        ("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}", "s.goal:3: this operation waits for"),
        (
            "num_ranks 2\nrank 0 {\nrecv 1b from 1 tag 3\n}\nrank 1 {\n}",
            "s.goal:3: from rank 1 to rank 0 with tag 3, 1 more are received than sent",
        ),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\n}\n",
            "s.goal: it has no `rank 1 {`, but num_ranks is 2: a rank without operations",
        ),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}", "s.goal:4: a second rank 0"),
        ("num_ranks 1\n// a /* b\nrank 0 {\n}\n/* c\n", "s.goal:5: this comment has no end"),
        ("num_ranks 1\nrank 0 {\n}\n/*/\n", "s.goal:4: this comment has no end"),
        ("num_ranks 1\nrank 0 {\ncalc 1 / 2\n}", "s.goal:3: /: expected cpu"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 tag -1\n}", "s.goal:3: tag -1 is any tag, which"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 0 tag 4294967295\n}", "s.goal:3: tag 4294967295 is"),
        ("num_ranks 1\nrank 0 {\ncalc 1 cpu 0 cpu 1\n}", "s.goal:3: a second cpu: remove one"),
        ("calc 1", "s.goal:1: expected `num_ranks N` or `rank N {`"),
    ] {
        assert!(error(text).starts_with(said), "{text:?}: {}", error(text));
    }
}

/// A million comments of either kind take a moment, and would take hours if a search for one kind
/// went on behind the next comment of the other.
#[test]
fn comments_are_removed_in_one_pass() {
    for comment in ["//\n", "/**/\n"] {
        let text = format!("num_ranks 1\n{}rank 0 {{\n}}\n", comment.repeat(1_000_000));
        assert_eq!(text::parse("s.goal", &text, 100).map(|schedule| schedule.ranks.len()), Ok(1));
    }
}

fn hosts(config: &GoalConfig, ranks: usize, context: &Context<'_>) -> Result<Vec<HostId>, String> {
    placed_ranks(&config.hosts, config.placement, ranks, &config.file, context)
}

#[test]
fn each_rank_needs_a_host() {
    let rates = vec![xoff_core::BitRate::from_gbps(100); 4];
    let capacity = crate::Capacity::new(xoff_core::BitRate(0), rates);
    let context =
        Context { capacity: &capacity, seed: 1, source: 0, files: &Path::new(""), one_class: None };
    let config = GoalConfig { file: "s.goal".into(), ..GoalConfig::default() };
    assert_eq!(hosts(&config, 2, &context).unwrap(), [HostId(0), HostId(1)]);
    assert!(hosts(&config, 5, &context).unwrap_err().contains("4 hosts, but file"));
    let three = GoalConfig { hosts: "1-3".into(), ..config };
    assert!(hosts(&three, 2, &context).unwrap_err().contains("3 hosts"));
}

/// Operations in words, and dependencies: which operation is first, which waits, whether for its
/// begin.
type InWords<'a> = (Vec<Vec<&'a str>>, Vec<(usize, usize, bool)>);

/// What `txt2bin` makes of a text without comments in which all operations have labels.
fn to_binary(text: &str) -> Vec<u8> {
    let mut ranks: Vec<InWords<'_>> = Vec::new();
    for words in text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        let label = |rank: &[Vec<&str>], label: &str| {
            rank.iter().position(|op| op[0].trim_end_matches(':') == label).unwrap()
        };
        match words.as_slice() {
            ["rank", ..] => ranks.push((Vec::new(), Vec::new())),
            [waits, word @ ("requires" | "irequires"), before] => {
                let (ops, edges) = ranks.last_mut().unwrap();
                edges.push((label(ops, before), label(ops, waits), *word == "irequires"));
            }
            ["num_ranks", _] | ["}"] => {}
            _ => ranks.last_mut().unwrap().0.push(words),
        }
    }
    let data: Vec<Vec<u8>> = ranks.iter().map(|(ops, edges)| rank_to_binary(ops, edges)).collect();
    let mut bytes = 4223u64.to_le_bytes().to_vec();
    bytes.extend((ranks.len() as u32).to_le_bytes());
    bytes.extend([0, 0]);
    let mut at = 6 + 16 * ranks.len() as u64;
    for own in &data {
        bytes.extend(at.to_le_bytes());
        at += own.len() as u64;
        bytes.extend(at.to_le_bytes());
    }
    bytes.extend(data.concat());
    bytes
}

fn rank_to_binary(ops: &[Vec<&str>], edges: &[(usize, usize, bool)]) -> Vec<u8> {
    let predecessors = |op: usize| edges.iter().filter(|edge| edge.1 == op).count() as u32;
    let roots: Vec<u32> =
        (0..ops.len()).filter(|&op| predecessors(op) == 0).map(|op| op as u32).collect();
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut bytes: Vec<u8> = words(&[ops.len() as u32, roots.len() as u32]);
    bytes.extend::<Vec<u8>>(words(&roots));
    let mut successors: Vec<u32> = Vec::new();
    for (number, op) in ops.iter().enumerate() {
        let option = |name: &str| {
            let place = op.iter().position(|word| *word == name)?;
            Some(op[place + 1].parse::<i64>().unwrap() as u32)
        };
        let kind = ["send", "recv", "calc"].iter().position(|kind| *kind == op[1]).unwrap();
        let peer = option("to").or(option("from")).unwrap_or(0);
        bytes.extend(predecessors(number).to_le_bytes());
        bytes.push(kind as u8 + 1);
        bytes.extend(peer.to_le_bytes());
        bytes.extend(op[2].trim_end_matches('b').parse::<u64>().unwrap().to_le_bytes());
        bytes.extend(option("tag").unwrap_or(0).to_le_bytes());
        bytes.extend([option("cpu").unwrap_or(0) as u8, option("nic").unwrap_or(0) as u8]);
        for at_begin in [false, true] {
            let own = edges.iter().filter(|edge| (edge.0, edge.2) == (number, at_begin));
            let own: Vec<u32> = own.map(|edge| edge.1 as u32).collect();
            bytes.extend::<Vec<u8>>(words(&[own.len() as u32, successors.len() as u32]));
            successors.extend(own);
        }
    }
    bytes.extend::<Vec<u8>>(words(&successors));
    bytes
}

/// Calculations, messages and dependencies of both kinds, receptions of any.
const LABELLED: &str = "num_ranks 2
rank 0 {
l1: calc 100 cpu 1
l2: send 10b to 1 tag 7
l3: recv 20b from -1 tag -1 cpu 0
l4: calc 5
l2 requires l1
l4 irequires l2
l4 requires l3
}
rank 1 {
a: recv 10b from 0 tag 7
b: send 20b to 0 tag 8
b irequires a
}
";

fn parsed(bytes: &[u8]) -> Result<Schedule, String> {
    GoalConfig { file: "s.bin".into(), ..GoalConfig::default() }.schedule(bytes, 100)
}

#[test]
fn the_binary_form_says_the_same_as_the_text() {
    let shipped = std::fs::read_to_string("../../scenarios/pipeline.goal").unwrap();
    let without_comments = shipped.lines().filter(|line| !line.starts_with("//"));
    let shipped: String = without_comments.flat_map(|line| [line, "\n"]).collect();
    for text in [LABELLED, &shipped] {
        let expected = text::parse("s.goal", text, 100).unwrap();
        let found = parsed(&to_binary(text)).unwrap();
        for (mut expected, mut found) in expected.ranks.into_iter().zip(found.ranks) {
            let key = |edge: &crate::dag::Edge| (edge.before, edge.waits, edge.at_begin);
            expected.edges.sort_by_key(key);
            found.edges.sort_by_key(key);
            assert_eq!((found.ops, found.edges), (expected.ops, expected.edges));
        }
    }
}

#[test]
fn mistakes_of_the_binary_form_are_named_with_their_place() {
    let good = to_binary(LABELLED);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        parsed(&bytes).unwrap_err()
    };
    assert_eq!(with(8, 101), "s.bin: 101 ranks: expected 1 to 100, the hosts of the network");
    assert_eq!(
        with(14, 39),
        "s.bin: rank 0 has the place 39 to 222, but its place is from 38 to at most 316"
    );
    // Rank 0 begins at 46; its two roots end at 62, its first operation has its type at 66.
    assert_eq!(
        with(66, 4),
        "s.bin: rank 0: operation 0: type 4 is none of 1 (send), 2 (recv) and 3 (calc)"
    );
    assert!(with(62, 1).starts_with("s.bin: rank 0: operation 0: the number of its predecessors"));
    assert!(with(89, 3).starts_with("s.bin: rank 0: operation 0: its successors have the place"));
    // The receiver of its second operation.
    assert_eq!(with(106, 9), "s.bin: rank 0, operation 1: there is no rank 9: the job has 2 ranks");
    // Its tag, which is that of a reception of any.
    let mut any = good.clone();
    any[118..122].fill(255);
    assert_eq!(
        parsed(&any).unwrap_err(),
        "s.bin: rank 0: operation 1: tag -1 is any tag, which only a recv has"
    );
    let longer = [&good[..], &[0; 3]].concat();
    assert_eq!(
        parsed(&longer).unwrap_err(),
        "s.bin: 3 bytes follow its last rank: txt2bin writes none, so write the file again"
    );
    // The end of the last rank, and four bytes more.
    let end = u64::from_le_bytes(good[38..46].try_into().unwrap()) + 4;
    let longer = [&good[..38], &end.to_le_bytes(), &good[46..], &[0; 4]].concat();
    assert!(parsed(&longer).unwrap_err().starts_with("s.bin: rank 1: 4 bytes follow its last s"));
    let spent = [&2342u64.to_le_bytes(), &good[8..]].concat();
    assert!(parsed(&spent).unwrap_err().starts_with("s.bin: LogGOPSim has used it up"));
    assert_eq!(
        parsed(&[b"num_ranks 1\n".as_slice(), &[200]].concat()).unwrap_err(),
        "s.bin: byte 12: it is neither text nor a schedule of txt2bin"
    );
    for length in 0..good.len() {
        assert!(parsed(&good[..length]).is_err(), "{length}");
    }
}

/// A random schedule: messages between random ranks, each rank's operations in a random order of
/// dependencies on earlier ones.
fn random(rng: &mut Rng, ranks: u64) -> String {
    let mut ops: Vec<Vec<String>> = vec![Vec::new(); ranks as usize];
    for number in 0..rng.below(40) {
        let (from, to, tag) = (rng.below(ranks), rng.below(ranks), rng.below(3));
        ops[from as usize].push(format!("s{number}: send {}b to {to} tag {tag}", rng.below(9)));
        ops[to as usize].push(format!("r{number}: recv 1b from {from} tag {tag}"));
        let rank = rng.below(ranks);
        ops[rank as usize].push(format!("c{number}: calc {} cpu {}", rng.below(9), rng.below(2)));
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, ops) in ops.iter_mut().enumerate() {
        text += &format!("rank {rank} {{\n");
        for op in ops.iter() {
            text += &format!("{op}\n");
        }
        // Sends wait for calculations only, so that all can end in any order.
        let named = |kind: char| -> Vec<&str> {
            let labels = ops.iter().map(|op| op.split(':').next().unwrap_or(""));
            labels.filter(|label| label.starts_with(kind)).collect()
        };
        for (waits, before) in named('s').into_iter().zip(named('c')) {
            let word = if rng.below(2) == 0 { "requires" } else { "irequires" };
            text += &format!("{waits} {word} {before}\n");
        }
        text += "}\n";
    }
    text
}

proptest! {
    #[test]
    fn every_schedule_ends_in_any_order_of_events(seed in any::<u64>(), ranks in 1u64..6) {
        let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
        let text = random(&mut rng, ranks);
        let dag = dag(&text);
        let found = run(&dag, |count| rng.below(count as u64) as usize);
        for acts in found {
            prop_assert!(acts.ends_with(&[Act::Finish { round: 0 }]), "{}", text);
        }
    }

    #[test]
    fn changed_bytes_of_the_binary_form_are_read_or_refused(seed in any::<u64>()) {
        let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
        let mut bytes = to_binary(LABELLED);
        for _ in 0..1 + rng.below(5) {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng.below(8);
        }
        let _ = parsed(&bytes);
    }

    /// Truncated anywhere or with a byte replaced, it is read or refused.
    #[test]
    fn nonsense_is_refused_without_a_panic(at in 0usize..EXCHANGE.len(), byte in 1u8..128) {
        let _ = text::parse("s.goal", &EXCHANGE[..at], 100);
        let mut text = EXCHANGE.as_bytes().to_vec();
        text[at] = byte;
        let _ = text::parse("s.goal", &String::from_utf8_lossy(&text), 100);
    }
}
