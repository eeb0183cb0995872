//! Every operation under every algorithm, on hosts that deliver in any order.

use std::path::Path;

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use xoff_core::BitRate;
use xoff_core::program::{Act, Event, Job, Program};

use super::*;
use crate::Capacity;
use xoff_core::Rng;
use xoff_core::rng::Purpose;

fn job(config: &CollectiveConfig, hosts: u32) -> Result<Staged, String> {
    job_with(config, hosts, None)
}

fn job_with(config: &CollectiveConfig, hosts: u32, loads: Option<&str>) -> Result<Staged, String> {
    let rates = vec![BitRate::from_gbps(100); hosts as usize];
    let capacity = Capacity::new(BitRate(0), rates);
    config.job(
        &Context {
            capacity: &capacity,
            seed: 1,
            source: 3,
            files: &Path::new(""),
            one_class: None,
        },
        loads,
    )
}

/// What ranks sent to each other, and the rounds that each finished.
struct Outcome {
    /// Sender, receiver and bytes of each message.
    sent: Vec<(u32, u32, u64)>,
    finished: Vec<u32>,
}

/// Delivers one waiting event at a time, in an order that `choose` decides; some arrive twice.
fn run(job: &Staged, mut choose: impl FnMut(usize) -> usize) -> Outcome {
    let ranks = job.hosts().len();
    let mut programs: Vec<Box<dyn Program>> =
        (0..ranks as u32).map(|rank| job.program(rank)).collect();
    let mut waiting: Vec<(usize, Event)> = (0..ranks).map(|rank| (rank, Event::Begin)).collect();
    let mut outcome = Outcome { sent: Vec::new(), finished: vec![0; ranks] };
    let mut numbers = std::collections::BTreeSet::new();
    let mut acts = Vec::new();
    while !waiting.is_empty() {
        let (rank, event) = waiting.swap_remove(choose(waiting.len()) % waiting.len());
        programs[rank].react(event, &mut acts);
        for act in acts.drain(..) {
            match act {
                Act::Send { message, to, bytes } => {
                    assert!(numbers.insert(message), "message {message} is sent twice");
                    assert!(message < job.messages() && bytes > 0);
                    let to = job.hosts().iter().position(|&host| host == to).unwrap();
                    assert_ne!(to, rank);
                    outcome.sent.push((rank as u32, to as u32, bytes));
                    waiting.push((to, Event::Arrived(message)));
                    waiting.push((to, Event::Arrived(message)));
                    waiting.push((rank, Event::Sent(message)));
                }
                Act::Compute { key, .. } => waiting.push((rank, Event::Computed(key))),
                Act::Finish { round } => {
                    assert_eq!(round, outcome.finished[rank]);
                    outcome.finished[rank] += 1;
                }
            }
        }
    }
    outcome
}

const ALL: [(Operation, &[Algorithm]); 6] = [
    (
        Operation::AllReduce,
        &[
            Algorithm::Ring,
            Algorithm::BothWays,
            Algorithm::Halving,
            Algorithm::Tree,
            Algorithm::DoubleTree,
            Algorithm::Hierarchical,
        ],
    ),
    (Operation::ReduceScatter, &[Algorithm::Ring, Algorithm::BothWays, Algorithm::Halving]),
    (Operation::AllGather, &[Algorithm::Ring, Algorithm::BothWays, Algorithm::Halving]),
    (Operation::AllToAll, &[Algorithm::Direct, Algorithm::Pairwise, Algorithm::Hierarchical]),
    (Operation::Broadcast, &[Algorithm::Ring, Algorithm::Tree]),
    (Operation::Barrier, &[Algorithm::Dissemination]),
];

/// The bytes that all ranks send together: what the textbooks say.
fn expected(operation: Operation, algorithm: Algorithm, ranks: u64, bytes: u64) -> u64 {
    match (operation, algorithm) {
        (Operation::Barrier, _) => ranks * u64::from(ranks.next_power_of_two().ilog2()),
        (Operation::Broadcast, _) => (ranks - 1) * bytes,
        (Operation::AllReduce, _) => 2 * (ranks - 1) * bytes,
        // To the other two places of a server of three, then to all other servers.
        (Operation::AllToAll, Algorithm::Hierarchical) => {
            (ranks - ranks / 3) * bytes + (ranks - 3) * bytes
        }
        _ => (ranks - 1) * bytes,
    }
}

proptest! {
    #[test]
    fn every_rank_finishes_in_any_order_of_events(
        ranks in 2u32..18,
        lanes in 2u32..4,
        rounds in 1u32..4,
        compute in prop::bool::ANY,
        seed in any::<u64>(),
    ) {
        for (operation, algorithms) in ALL {
            for &algorithm in algorithms {
                let ranks = match algorithm {
                    Algorithm::Halving => ranks.next_power_of_two(),
                    Algorithm::Hierarchical => ranks / 3 * 3 + 6,
                    _ => ranks,
                };
                let bytes = Bytes(10_007);
                let jitter = Ps(if compute { 1000 } else { 0 });
                let config = CollectiveConfig {
                    operation, algorithm, bytes, lanes, rounds, jitter, ranks_per_server: 3,
                    ..CollectiveConfig::default()
                };
                let job = job(&config, ranks).unwrap();
                let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
                let outcome = run(&job, |count| rng.below(count as u64) as usize);
                prop_assert!(outcome.finished.iter().all(|&done| done == rounds), "{:?}", config);
                let sent: u64 = outcome.sent.iter().map(|&(_, _, bytes)| bytes).sum();
                let once = expected(operation, algorithm, u64::from(ranks), bytes.0);
                prop_assert_eq!(sent, u64::from(rounds) * once, "{:?}", config);
                let by_stage: u64 =
                    (0..job.pattern.stages()).map(|stage| job.messages_of_step(stage)).sum();
                prop_assert_eq!(outcome.sent.len() as u64, by_stage * u64::from(rounds));
            }
        }
    }
}

/// What a rank has: for each unit of a lane's bytes, the ranks whose values its sum contains.
///
/// Ranks exchange pieces in the order of stages. A message carries the pieces that the receiver
/// lacks; that an all-reduce ends with the sum of all everywhere shows that it sends the right
/// ones.
#[test]
fn a_hierarchy_sums_all_values_at_every_rank() {
    let (in_server, servers) = (3, 4);
    let pattern = Hierarchical::new(in_server, servers, &[12]);
    let ranks = in_server * servers;
    // The ranks in each sum: 12 units of a byte, one bit for each rank.
    let mut sums: Vec<[u32; 12]> = (0..ranks).map(|rank| [1 << rank; 12]).collect();
    let unit = |piece: u32, pieces: u32| {
        let of = 12 / pieces;
        (piece * of) as usize..(piece * of + of) as usize
    };
    for stage in 0..pattern.stages() {
        let before = sums.clone();
        for rank in 0..ranks {
            let (to, bytes) = pattern.stage(0, stage, rank).sends[0];
            let (server, place) = (rank / in_server, rank % in_server);
            // The pieces of Patarasuk and Yuan's rings: in stage s, a rank sends the one s before
            // its own.
            let (first, across) = (in_server - 1, 2 * (servers - 1));
            let (units, reduces) = match stage {
                s if s < first => (unit((place + in_server - s) % in_server, in_server), true),
                s if s < first + across => {
                    let own = unit((place + 1) % in_server, in_server);
                    let s = s - first;
                    let piece = (server + 2 * servers - s) % servers;
                    let at = own.start + piece as usize;
                    (at..at + 1, s < servers - 1)
                }
                s => (
                    unit((place + 1 + in_server - (s - first - across)) % in_server, in_server),
                    false,
                ),
            };
            assert_eq!(units.len() as u64, bytes, "stage {stage}, rank {rank}");
            for at in units {
                let sum = &mut sums[to as usize][at];
                *sum = if reduces {
                    *sum | before[rank as usize][at]
                } else {
                    before[rank as usize][at]
                };
            }
        }
    }
    let all = (1 << ranks) - 1;
    assert!(sums.iter().flatten().all(|&sum| sum == all), "{sums:?}");
}

/// Two servers of two, 16 bytes of each rank: 4 for each. First a rank gives its neighbour what is
/// for that one's place, then both send what they have for the other server.
#[test]
fn an_all_to_all_in_two_steps_stays_in_servers_and_on_rails() {
    let config = CollectiveConfig {
        operation: Operation::AllToAll,
        algorithm: Algorithm::Hierarchical,
        bytes: Bytes(16),
        ranks_per_server: 2,
        ..CollectiveConfig::default()
    };
    let two = job(&config, 4).unwrap();
    let sends = |stage, rank| two.pattern.stage(0, stage, rank).sends;
    assert_eq!([0, 1, 2, 3].map(|rank| sends(0, rank)), [1, 0, 3, 2].map(|to| vec![(to, 8)]));
    assert_eq!([0, 1, 2, 3].map(|rank| sends(1, rank)), [2, 3, 0, 1].map(|to| vec![(to, 8)]));
    let loads = "from,to,load\n0,2,3\n0,3,1\n1,2,1\n2,0,1\n3,0,1\n";
    let skewed = job_with(&config, 4, Some(loads)).unwrap();
    let sends = |stage, rank| skewed.pattern.stage(0, stage, rank).sends;
    // Rank 0 has 12 bytes for rank 2 and 4 for rank 3, rank 1 has 16 for rank 2.
    assert_eq!([sends(0, 0), sends(0, 1)], [vec![(1, 4)], vec![(0, 16)]]);
    assert_eq!([sends(1, 0), sends(1, 1)], [vec![(2, 28)], vec![(3, 4)]]);
    let wide = CollectiveConfig { ranks_per_server: 3, ..config };
    let mut pairs = std::collections::BTreeSet::new();
    job(&wide, 12).unwrap().each_pair(&mut |from, to| {
        pairs.insert((from.0, to.0));
    });
    let meet = |from: u32, to: u32| from != to && (from / 3 == to / 3 || from % 3 == to % 3);
    let all = (0..12).flat_map(|from| (0..12).map(move |to| (from, to)));
    assert_eq!(pairs, all.filter(|&(from, to)| meet(from, to)).collect());
}

/// 12 bytes on four ranks: each sends three bytes to its right six times, and the pieces go round.
#[test]
fn a_ring_passes_each_piece_on() {
    let config = CollectiveConfig { bytes: Bytes(10), ..CollectiveConfig::default() };
    let job = job(&config, 4).unwrap();
    let sizes = |rank: u32| -> Vec<u64> {
        (0..6).map(|stage| job.pattern.stage(0, stage, rank).sends[0].1).collect()
    };
    // Pieces of 2, 3, 2 and 3 bytes. A rank sends what its left one sent before.
    assert_eq!(sizes(0), [2, 3, 2, 3, 2, 3]);
    assert_eq!(sizes(1)[1..], sizes(0)[..5]);
}

fn all_to_all() -> CollectiveConfig {
    CollectiveConfig {
        operation: Operation::AllToAll,
        algorithm: Algorithm::Direct,
        bytes: Bytes(2500),
        ..CollectiveConfig::default()
    }
}

/// The bytes that each rank has for each in a round, with 0 for itself.
fn parts(job: &Staged, round: u32, ranks: u32) -> Vec<Vec<u64>> {
    let of_round = job.pattern.of_round(round);
    let pattern = of_round.as_ref().unwrap_or(&job.pattern);
    let mut found = vec![vec![0; ranks as usize]; ranks as usize];
    for rank in 0..ranks {
        for stage in 0..pattern.stages() {
            for (to, bytes) in pattern.stage(0, stage, rank).sends {
                found[rank as usize][to as usize] += bytes;
            }
        }
    }
    found
}

/// Shares of 1, 1/2, 1/3 and 1/4 are 12, 6, 4 and 3 of 25.
#[test]
fn popular_ranks_get_zipf_shares_of_all() {
    for algorithm in [Algorithm::Direct, Algorithm::Pairwise] {
        let config = CollectiveConfig { algorithm, skew: 1.0, ..all_to_all() };
        let found = parts(&job(&config, 4).unwrap(), 0, 4);
        for to in 0..4 {
            let from = |rank: usize| found[(to + rank) % 4][to];
            assert_eq!((from(0), from(1)), (0, from(2)), "{found:?}");
        }
        let mut of_ranks: Vec<u64> = (0..4).map(|to| found[(to + 1) % 4][to]).collect();
        of_ranks.sort_unstable();
        let near = |(bytes, share): (&u64, u64)| bytes.abs_diff(share) <= 1;
        assert!(of_ranks.iter().zip([300, 400, 600, 1200]).all(near), "{of_ranks:?}");
    }
}

#[test]
fn popularity_is_that_of_the_job_or_of_each_round() {
    let config = CollectiveConfig { skew: 1.2, rounds: 8, ..all_to_all() };
    let fixed = job(&config, 6).unwrap();
    assert_eq!(parts(&fixed, 0, 6), parts(&fixed, 7, 6));
    let drawn = job(&CollectiveConfig { redraw: true, ..config.clone() }, 6).unwrap();
    assert_eq!(parts(&drawn, 0, 6), parts(&fixed, 0, 6), "the first round is the same");
    let rounds: Vec<_> = (0..8).map(|round| parts(&drawn, round, 6)).collect();
    assert!((1..8).all(|round| rounds[round] != rounds[0]), "{rounds:?}");
    let mut rng = Rng::stream(7, Purpose::Traffic, 0);
    let outcome = run(&drawn, |count| rng.below(count as u64) as usize);
    assert_eq!(outcome.finished, [8; 6]);
    let even = job(&all_to_all(), 6).unwrap();
    assert!(parts(&even, 0, 6).iter().flatten().all(|&part| [0, 416, 417].contains(&part)));
}

/// What a rank has for itself stays there.
#[test]
fn a_file_gives_each_rank_shares_of_its_own() {
    let text = "from,to,load\n0,0,1\n0,1,3\n0,2,1\n1,2,7\n2,0,1\n2,1,4\n";
    let config = CollectiveConfig { loads: "loads.csv".into(), ..all_to_all() };
    let found = parts(&job_with(&config, 3, Some(text)).unwrap(), 0, 3);
    assert_eq!(found, [[0, 1500, 500], [0, 0, 2500], [500, 2000, 0]]);
    let outcome = run(&job_with(&config, 3, Some(text)).unwrap(), |_| 0);
    assert!(outcome.sent.contains(&(1, 0, 1)), "a pair without a load exchanges one byte");
    assert_eq!(outcome.sent.len(), 6);
}

/// One rank shares its 300 bytes out among three others, and each of these sends all to one, except
/// messages of one byte: 3 x 100 and 3 x (300 + 2 x 1) bytes in all.
#[test]
fn sizes_of_messages_are_those_of_all_ranks() {
    let config = CollectiveConfig { loads: "loads.csv".into(), bytes: Bytes(300), ..all_to_all() };
    let loads = "from,to,load\n0,1,1\n0,2,1\n0,3,1\n1,0,1\n2,0,1\n3,0,1\n";
    let mix = config.mix(&job_with(&config, 4, Some(loads)).unwrap());
    let first = (3.0 * 100.0 + 3.0 * (100.0 + 2.0)) / (3.0 * 100.0 + 3.0 * (300.0 + 2.0));
    let found = mix.share_of_first(100, Ps(1));
    assert!((found - first).abs() < 1e-9, "{found} {first}");
}

#[test]
fn wrong_loads_say_where() {
    let config = CollectiveConfig { loads: "loads.csv".into(), ..all_to_all() };
    let refused = |rows: &str| {
        job_with(&config, 3, Some(&format!("from,to,load\n{rows}"))).expect_err("is refused")
    };
    let said = refused("0,1,3\n0,3,1\n");
    assert_eq!(said, "loads.csv, line 3: to 3: ranks are 0 to 2");
    let said = refused("0,1,3\n1,0,1\n");
    assert_eq!(said, "loads.csv: rank 2 has no load: each rank must send to at least one");
    let said = refused("0,1,0\n1,0,1\n2,0,1\n");
    assert_eq!(said, "loads.csv: rank 0 has no load: each rank must send to at least one");
    // The later of two lines, which are the same or not.
    for again in [2, 3, 4] {
        let said = refused(&format!("0,1,3\n\n1,0,1\n0,1,{again}\n2,0,1\n0,1,3\n"));
        assert_eq!(said, "loads.csv, line 5: rank 0 has two loads for rank 1: give one");
    }
    let said = refused("0,1,9999999999999\n");
    assert!(said.contains("load 9999999999999: it must be at most 1099511627776"), "{said}");
    for skew in [-1.0, 11.0, f64::NAN] {
        let said = job(&CollectiveConfig { skew, ..all_to_all() }, 4).expect_err("is refused");
        assert!(said.contains("it must be from 0 to 10"), "{said}");
    }
}

#[test]
fn halves_get_smaller_and_larger() {
    let config = CollectiveConfig {
        algorithm: Algorithm::Halving,
        bytes: Bytes(800),
        ..CollectiveConfig::default()
    };
    let job = job(&config, 8).unwrap();
    let sends: Vec<(u32, u64)> =
        (0..6).map(|stage| job.pattern.stage(0, stage, 0).sends[0]).collect();
    assert_eq!(sends, [(4, 400), (2, 200), (1, 100), (1, 100), (2, 200), (4, 400)]);
}

#[test]
fn wrong_settings_say_why() {
    let default = CollectiveConfig::default();
    let refused = |config: &CollectiveConfig| job(config, 6).expect_err("is refused");
    let said = refused(&CollectiveConfig { algorithm: Algorithm::Direct, ..default.clone() });
    assert!(said.contains("use \"ring\", \"both-ways\""), "{said}");
    let said = refused(&CollectiveConfig { algorithm: Algorithm::Halving, ..default.clone() });
    assert!(said.contains("power of two of hosts, not 6"), "{said}");
    let said = refused(&CollectiveConfig { bytes: Bytes(11), lanes: 2, ..default.clone() });
    assert!(said.contains("6 pieces in 2 lanes"), "{said}");
    let said = refused(&CollectiveConfig { lanes: 1025, ..default.clone() });
    assert!(said.contains("lanes is 1025: it must be from 1 to 1024"), "{said}");
    let said = refused(&CollectiveConfig { rounds: u32::MAX, ..default.clone() });
    assert!(said.contains("at most 2147483648 can be numbered"), "{said}");
    let said = refused(&CollectiveConfig { placement: Placement::Spread, ..default.clone() });
    assert!(said.contains("no two hosts share a rack"), "{said}");
    let said = refused(&CollectiveConfig { algorithm: Algorithm::Hierarchical, ..default.clone() });
    assert!(said.contains("ranks_per_server is 0"), "{said}");
    let said = refused(&CollectiveConfig { stragglers: "9".into(), ..default.clone() });
    assert!(said.contains("hosts are 0 to 5"), "{said}");
    let said =
        refused(&CollectiveConfig { hosts: "0-2".into(), stragglers: "4".into(), ..default });
    assert!(said.contains("host 4 is not among the hosts of this job"), "{said}");
}
