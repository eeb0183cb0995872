//! Collective operations on an idle fabric against their closed forms.

use crate::common::{finish, open, open_on};
use xoff_run::Run;
use xoff_run::summary::Job;
use xoff_sim::{FlowRow, RoundRow, StepRow, Threads};

/// Picoseconds that a byte takes at 100 Gb/s.
const BYTE: u64 = 80;
const DELAY: u64 = 1_000_000;
const PACKET: u64 = 1048;
const ACK: u64 = 64;

/// Hosts on one switch. A message has one acknowledgement, of its last packet.
fn star(hosts: u32, message: u64, job: &str) -> String {
    format!(
        "scheme = \"pfc\"\n\
         [network]\ntopology = \"star\"\n\
         [star]\nhosts = {hosts}\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
         [frame]\npayload = \"1000B\"\nheader = \"48B\"\nack = \"{ACK}B\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"1s\"\n\
         [go_back_n]\nack_from = \"1GB\"\nchunk = \"{message}B\"\n\
         [[traffic]]\nkind = \"collective\"\n{job}\n"
    )
}

/// From the start of a message to the arrival of its last byte.
fn arrival(bytes: u64) -> u64 {
    bytes / 1000 * PACKET * BYTE + PACKET * BYTE + 2 * DELAY
}

/// From there to its acknowledgement at the sender.
const BACK: u64 = 2 * (ACK * BYTE + DELAY);

struct Outcome {
    rounds: Vec<RoundRow>,
    steps: Vec<StepRow>,
    flows: Vec<FlowRow>,
    job: Job,
    digest: u64,
}

fn outcome(text: &str, overrides: &[&str], threads: Threads) -> Outcome {
    let mut run = open_on(threads, text, overrides);
    let flows = finish(&mut run);
    let rows = run.rows();
    let (rounds, steps) = (std::mem::take(&mut rows.rounds), std::mem::take(&mut rows.steps));
    let job = run.summary().jobs.expect("there is a job").remove(0);
    Outcome { rounds, steps, flows, job, digest: run.digest() }
}

/// The time of the only round.
fn time(text: &str) -> u64 {
    let found = outcome(text, &[], Threads::ONE);
    assert_eq!(found.rounds.len(), 1, "{:?}", found.job);
    found.rounds[0].end_ps - found.rounds[0].begin_ps
}

/// Stages in which all ranks send one message of the same size at the same time. From the second
/// one on, an acknowledgement leaves first.
fn in_step(stages: u64, message: u64) -> u64 {
    stages * arrival(message) + (stages - 1) * ACK * BYTE + BACK
}

#[test]
fn a_ring_takes_two_passes_of_all_pieces() {
    for hosts in [2, 3, 8] {
        let piece = 100_000;
        for (operation, passes) in [("all-reduce", 2), ("reduce-scatter", 1), ("all-gather", 1)] {
            let bytes = piece * hosts;
            let job = format!("operation = \"{operation}\"\nbytes = \"{bytes}B\"\n");
            let found = time(&star(hosts as u32, piece, &job));
            assert_eq!(found, in_step(passes * (hosts - 1), piece), "{operation}, {hosts} hosts");
        }
    }
}

/// On rails, the three steps take the times of their rings: those inside servers at 400 Gb/s, the
/// one across servers at 100 Gb/s. A message is one packet. A step begins on links that carry no
/// acknowledgement.
#[test]
fn a_hierarchy_takes_the_time_of_its_rings() {
    const FASTER: u64 = 4;
    const HEADER: u64 = 48;
    let (in_server, servers, piece) = (4, 3, 9000);
    let text = format!(
        "scheme = \"pfc\"\n\
         [network]\ntopology = \"rail\"\n\
         [rail]\nservers_per_pod = {servers}\ngpus_per_server = {in_server}\nspines = 1\n\
         nic_rate = \"100Gbps\"\nserver_rate = \"400Gbps\"\nserver_delay = \"1us\"\n\
         [frame]\npayload = \"9000B\"\nheader = \"{HEADER}B\"\nack = \"{ACK}B\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"1s\"\n\
         [[traffic]]\nkind = \"collective\"\nalgorithm = \"hierarchical\"\n\
         ranks_per_server = {in_server}\nbytes = \"{}B\"\n",
        in_server * piece
    );
    let ring = |stages: u64, bytes: u64, byte: u64| {
        let arrival = 2 * ((bytes + HEADER) * byte + DELAY);
        stages * arrival + (stages - 1) * ACK * byte
    };
    let within = ring(in_server - 1, piece, BYTE / FASTER);
    let across = ring(2 * (servers - 1), piece / servers, BYTE);
    let back = 2 * (ACK * BYTE / FASTER + DELAY);
    assert_eq!(time(&text), 2 * within + across + back);
}

/// Without spines, the same job takes the same time, and an all-to-all of one packet for each rank
/// goes within servers, then on rails.
#[test]
fn a_rail_only_fabric_carries_what_stays_in_servers_and_on_rails() {
    let text = |spines: u32, job: &str| {
        format!(
            "scheme = \"pfc\"\n\
             [network]\ntopology = \"rail\"\n\
             [rail]\nservers_per_pod = 3\ngpus_per_server = 4\nspines = {spines}\n\
             [run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"1s\"\n\
             [[traffic]]\n{job}\n"
        )
    };
    let all_reduce = "kind = \"collective\"\nalgorithm = \"hierarchical\"\nbytes = \"1MB\"";
    assert_eq!(time(&text(0, all_reduce)), time(&text(1, all_reduce)));
    let all_to_all = format!("{all_reduce}\noperation = \"all-to-all\"");
    let found = outcome(&text(0, &all_to_all), &[], Threads::ONE);
    let messages: Vec<u64> = found.steps.iter().map(|step| step.messages).collect();
    assert_eq!(messages, [12 * 3, 12 * 2]);
    let direct = "kind = \"collective\"\noperation = \"all-to-all\"\nalgorithm = \"direct\"";
    for (job, said) in [
        (direct, "has messages from host 0 to host 5, which no path joins"),
        ("kind = \"permutation\"\nbytes = \"1MB\"", "and rail.spines is 0: give the rails spines"),
    ] {
        let error = Run::open(&text(0, job), "test.toml", &[], Threads::ONE).err();
        let error = error.expect("is refused").to_string();
        assert!(error.contains(said), "{error}");
        open(&text(1, job), &[]);
    }
    // Without the leaf of a rail, its GPUs of different servers are apart.
    let leaf = "[[fault]]\nkind = \"switch-down\"\nswitch = \"leaf:1\"\nat = \"2us\"\n\
                detection = \"1us\"\n[transport]\ntimeout = \"1ms\"\n";
    let error = Run::open(&(text(0, all_reduce) + leaf), "test.toml", &[], Threads::ONE).err();
    let error = error.expect("is refused").to_string();
    let said = "disconnects the network: host 1 cannot reach host 5: no path joins them";
    assert!(error.contains(said), "{error}");
}

/// Ranks of a server are those of the fabric, unless the job says how many share one.
#[test]
fn a_job_on_rails_takes_whole_servers() {
    let text = |more: &str| {
        format!(
            "scheme = \"pfc\"\n[network]\ntopology = \"rail\"\n\
             [rail]\nservers_per_pod = 3\ngpus_per_server = 4\n[[traffic]]\n\
             kind = \"collective\"\nalgorithm = \"hierarchical\"\nbytes = \"1MB\"\n{more}"
        )
    };
    for (more, said) in [
        ("hosts = \"2-9\"", "but hosts 2 and 4 are in different servers: name whole servers"),
        ("placement = \"rail\"", "but hosts 0 and 4 are in different servers: name whole servers"),
        ("hosts = \"4-7\"", "4 ranks are not several whole servers of 4"),
    ] {
        let error = Run::open(&text(more), "test.toml", &[], Threads::ONE).err();
        let error = error.expect("is refused").to_string();
        assert!(error.contains(said), "{error}");
    }
    open(&text("hosts = \"4-11\""), &[]);
    open(&text("hosts = \"2-9\"\nranks_per_server = 2"), &[]);
}

/// With messages of one packet on an idle star, GPipe takes (m + p - 1) (f + b), and the way to the
/// last stage and back in 2 (p - 1) messages. With several micro-batches, an acknowledgement may
/// leave before a message, at a host and at the switch.
#[test]
fn a_pipeline_takes_the_time_of_its_closed_form() {
    for (stages, micro_batches) in [(2, 1), (8, 1), (4, 8), (8, 5)] {
        let job = format!(
            "schedule = \"gpipe\"\nmicro_batches = {micro_batches}\nforward = \"20us\"\n\
             backward = \"45us\"\nbytes = \"1000B\""
        );
        let text = star(stages, 1000, &job).replace("\"collective\"", "\"pipeline\"");
        let computing = u64::from(micro_batches + stages - 1) * 65_000_000;
        let message = 2 * (PACKET * BYTE + DELAY);
        let found = outcome(&text, &[], Threads::ONE);
        let round = &found.rounds[0];
        let messages = 2 * u64::from(stages - 1);
        let expected = computing + messages * message;
        let late = if micro_batches == 1 { 0 } else { messages * 2 * ACK * BYTE };
        let bounds = expected..=expected + late;
        assert!(bounds.contains(&round.end_ps), "{stages} {micro_batches}: {}", round.end_ps);
        assert_eq!(found.job.iteration_us, Some(round.end_ps as f64 / 1e6));
        assert_eq!(found.flows.len() as u32, 2 * micro_batches * (stages - 1));
        let several = outcome(&text, &["traffic.0.schedule=1f1b"], Threads::up_to(3));
        assert!(several.rounds[0].end_ps >= expected, "messages delay 1F1B at least as much");
    }
}

/// Bytes alone: 2 (n-1)/n S/C.
#[test]
fn its_bus_bandwidth_is_that_of_a_link_but_for_headers_and_latency() {
    let job = "bytes = \"800MB\"\n";
    let found = outcome(&star(8, 100_000_000, job), &[], Threads::ONE);
    let bus = found.job.bus_gbytes_per_s.unwrap();
    assert!((bus / (12.5 * 1000.0 / 1048.0) - 1.0).abs() < 1e-3, "{bus}");
    let algorithm = found.job.algorithm_gbytes_per_s.unwrap();
    assert!((bus / algorithm - 1.75).abs() < 1e-12);
}

/// Partners exchange messages, so the acknowledgement of each piece but the last one leaves between
/// packets of the other message.
#[test]
fn halving_and_doubling_moves_the_same_bytes_in_fewer_stages() {
    let (hosts, bytes) = (8, 800_000);
    let job = format!("algorithm = \"halving-doubling\"\nbytes = \"{bytes}B\"\n");
    let found = time(&star(hosts, 100_000, &job));
    let stages = [4, 2, 1, 1, 2, 4].map(|pieces| arrival(pieces * 100_000));
    let acknowledged = 5 + [3, 1, 0, 0, 1, 3].iter().sum::<u64>();
    assert_eq!(found, stages.iter().sum::<u64>() + acknowledged * ACK * BYTE + BACK);
}

/// Rank 0 sends to two children at once, and each of them to two more. Both messages share a link,
/// and the last packet of the second one ends the stage.
#[test]
fn a_tree_takes_its_depth() {
    let job = "operation = \"broadcast\"\nalgorithm = \"tree\"\nbytes = \"100000B\"\n";
    let found = outcome(&star(7, 100_000, job), &[], Threads::ONE);
    let both = 2 * 100 * PACKET * BYTE + PACKET * BYTE + 2 * DELAY;
    let one = &found.steps[0];
    assert_eq!((one.messages, one.step), (6, 0));
    // The inner ranks' acknowledgements leave before their own messages.
    let last = both + ACK * BYTE + both;
    assert_eq!(one.end_ps - one.begin_ps, last);
    assert_eq!(found.rounds[0].end_ps - found.rounds[0].begin_ps, last + BACK);
}

/// A chain passes the whole on, host by host.
#[test]
fn a_chain_takes_its_length() {
    let job = "operation = \"broadcast\"\nbytes = \"100000B\"\n";
    let found = time(&star(5, 100_000, job));
    assert_eq!(found, 4 * arrival(100_000) + 3 * ACK * BYTE + BACK);
}

/// A chunk is passed on while the next one arrives: the first one takes the hops of the chain, and
/// the others come at the rate of a link. An acknowledgement leaves for each of them.
#[test]
fn chunks_of_a_chain_follow_one_another() {
    let (hosts, chunks, chunk) = (5, 20, 10_000);
    let job = format!("operation = \"broadcast\"\nbytes = \"200000B\"\nchunks = {chunks}\n");
    let hops = u64::from(hosts) - 1;
    let each = chunk / 1000 * PACKET * BYTE + ACK * BYTE;
    let bound = hops * arrival(chunk) + (chunks - 1) * each;
    // Chunks follow one another by the same rule in every order in which a NIC serves flows.
    let posted = ["switch.hop=none", "buffer.size=100MB", "transport.round_robin=posted"];
    for overrides in [&[][..], &["transport.round_robin=index"], &posted] {
        let found = outcome(&star(hosts, chunk, &job), overrides, Threads::ONE);
        let took = found.rounds[0].end_ps - found.rounds[0].begin_ps - BACK;
        let most = bound + 2 * hops * PACKET * BYTE;
        assert!((bound..most).contains(&took), "{overrides:?}: {took} of {bound}");
        assert_eq!(found.flows.len() as u64, chunks * hops);
        for row in &found.flows {
            assert_eq!(row.size_bytes, chunk);
        }
    }
}

/// An inner rank gets each byte from two children and from its parent, and sends as many. With many
/// chunks all levels work at once, and a tree takes little longer than these three copies.
#[test]
fn chunks_of_a_tree_take_three_copies() {
    let time_with = |chunks: u64| {
        let message = 8_000_000 / chunks;
        let job =
            format!("algorithm = \"tree\"\nbytes = \"8MB\"\nchunks = {chunks}\nhosts = \"0-6\"\n");
        time(&star(8, message, &job))
    };
    let copy = 8_000 * PACKET * BYTE;
    let (whole, chunked) = (time_with(1), time_with(80));
    assert!(whole > 7 * copy, "{whole}");
    assert!((3 * copy..4 * copy).contains(&chunked), "{chunked} of {copy}");
}

/// The first rank of a broadcast begins the next round when its messages have arrived, while others
/// still pass them on. Bandwidth counts time with several rounds under way once.
#[test]
fn bandwidth_counts_overlapping_rounds_once() {
    let job = "operation = \"broadcast\"\nbytes = \"1MB\"\nrounds = 10\n";
    let found = outcome(&star(5, 1_000_000, job), &[], Threads::ONE);
    let (first, last) = (&found.rounds[0], &found.rounds[9]);
    let bytes_per_ps = 10.0 * 1e6 / (last.end_ps - first.begin_ps) as f64;
    let found = &found.job;
    assert!((found.bus_gbytes_per_s.unwrap() / (bytes_per_ps * 1e3) - 1.0).abs() < 1e-9);
    assert!(found.mean_us.unwrap() > 2.0 * found.iteration_us.unwrap(), "rounds overlap");
}

#[test]
fn a_barrier_takes_the_logarithm_of_its_ranks() {
    let job = "operation = \"barrier\"\nalgorithm = \"dissemination\"\n";
    let found = outcome(&star(8, 1, job), &[], Threads::ONE);
    let message = 2 * (49 * BYTE + DELAY);
    // A message is shorter than the acknowledgement in front of it, and waits for it at the switch.
    let behind = (ACK + ACK - 49) * BYTE;
    assert_eq!(found.rounds[0].end_ps, 3 * message + 2 * behind + BACK);
    assert_eq!(found.steps.len(), 3);
}

/// Each host receives (n-1)/n S at the rate of its link.
#[test]
fn an_all_to_all_meets_the_bound_of_its_links() {
    let job = "operation = \"all-to-all\"\nalgorithm = \"direct\"\nbytes = \"16MB\"\n";
    let found = time(&star(8, 2_000_000, job)) as f64;
    let bound = (7 * 2000 * PACKET * BYTE) as f64;
    assert!((1.0..1.02).contains(&(found / bound)), "{}", found / bound);
}

/// Leaves with 4 hosts and 2 uplinks of the same rate. A leaf sends 12/16 of what its hosts have
/// over its uplinks, and one acknowledgement for each packet that it gets. Uplinks drawn at random
/// differ by the square root of the number of packets, so messages have 1000 of them.
#[test]
fn a_sprayed_all_to_all_meets_the_bisection_bound() {
    let text = "scheme = \"dctcp\"\n\
         [network]\ntopology = \"leaf-spine\"\n\
         [leaf_spine]\nleaves = 4\nhosts_per_leaf = 4\nspines = 2\n\
         [frame]\npayload = \"4000B\"\nheader = \"48B\"\nack = \"64B\"\n\
         [switch]\nhop = \"none\"\nbalance = \"spray\"\necn = false\n\
         [buffer]\nkind = \"unlimited\"\n\
         [transport]\ncongestion = \"none\"\nrecovery = \"perfect\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"1s\"\n\
         [[traffic]]\nkind = \"collective\"\noperation = \"all-to-all\"\nalgorithm = \"direct\"\n\
         bytes = \"64MB\"\n";
    let packets_of_a_leaf = 4 * 12 * 1000;
    let bound = packets_of_a_leaf * (4048 + ACK) * BYTE / 2;
    let ratio = time(text) as f64 / bound as f64;
    assert!((1.0..1.02).contains(&ratio), "{ratio}");
}

/// With loads by Zipf's law, the most popular rank receives 1/H of what each of the 7 others has,
/// H = 1 + 1/2 + ... + 1/8, at the rate of its link. Acknowledgements of what it sends come on top.
#[test]
fn a_skewed_all_to_all_takes_the_time_of_its_most_popular_rank() {
    let job = "operation = \"all-to-all\"\nalgorithm = \"direct\"\nbytes = \"16MB\"\nskew = 1.0\n";
    let found = time(&star(8, 1, job)) as f64;
    let harmonic: f64 = (1..=8).map(|place| 1.0 / f64::from(place)).sum();
    let bound = 7.0 * 16_000.0 / harmonic * (PACKET * BYTE) as f64;
    assert!((1.0..1.03).contains(&(found / bound)), "{}", found / bound);
}

#[test]
fn popular_ranks_do_not_depend_on_the_cut() {
    let job = "operation = \"all-to-all\"\nalgorithm = \"pairwise\"\nbytes = \"1MB\"\nrounds = 3\n\
               skew = 1.5\nredraw = true\nhosts = \"0-23\"\nplacement = \"random\"\n";
    let text = format!(
        "scheme = \"dctcp\"\n[run]\nwarmup = \"0us\"\nmeasure = \"200us\"\ndrain = \"20ms\"\n\
         [[traffic]]\nkind = \"collective\"\n{job}"
    );
    let one = outcome(&text, &[], Threads::ONE);
    assert_eq!(one.job.finished, 3);
    for threads in [2, 3, 8] {
        let other = outcome(&text, &[], Threads::up_to(threads));
        assert_eq!((other.digest, other.rounds), (one.digest, one.rounds.clone()), "{threads}");
    }
    let cut = outcome(&text, &["run.partitions=5"], Threads::ONE);
    assert_eq!((cut.digest, cut.rounds), (one.digest, one.rounds));
}

#[test]
fn rounds_follow_one_another_and_stragglers_hold_all_up() {
    let job = "bytes = \"400000B\"\nrounds = 3\ncompute = \"50us\"\nstragglers = \"2\"\n\
               straggle = \"30us\"\n";
    let found = outcome(&star(4, 100_000, job), &[], Threads::ONE);
    assert_eq!(found.rounds.len(), 3);
    assert_eq!(found.job.finished, 3);
    assert_eq!(found.steps.len(), 18);
    let (first, second) = (&found.rounds[0], &found.rounds[1]);
    assert_eq!(first.begin_ps, 50_000_000);
    // Host 2 begins 30 us later, and all others wait for its messages.
    assert!(first.end_ps > 80_000_000 + in_step(6, 100_000));
    assert!(second.begin_ps >= first.end_ps - first.waited_ps - 30_000_000);
    // Each step names the message that arrived last.
    let last = found.steps[0].last;
    let flow = found.flows.iter().find(|row| row.flow == last).unwrap();
    assert_eq!((flow.src, flow.dst), (2, 3));
}

#[test]
fn results_do_not_depend_on_the_cut() {
    let job = "bytes = \"4MB\"\nrounds = 2\nlanes = 2\nalgorithm = \"both-ways\"\n\
               jitter = \"20us\"\nplacement = \"random\"\nhosts = \"0-23\"\n\
               [[traffic]]\nkind = \"open-loop\"\nload = 0.3\n";
    let text = format!(
        "scheme = \"dctcp\"\n[run]\nwarmup = \"0us\"\nmeasure = \"200us\"\ndrain = \"20ms\"\n\
         [[traffic]]\nkind = \"collective\"\n{job}"
    );
    let one = outcome(&text, &[], Threads::ONE);
    assert_eq!(one.job.finished, 2);
    for threads in [2, 3, 8] {
        let other = outcome(&text, &[], Threads::up_to(threads));
        assert_eq!(other.digest, one.digest, "{threads} threads");
        assert_eq!((other.rounds, other.steps), (one.rounds.clone(), one.steps.clone()));
    }
    let cut = outcome(&text, &["run.partitions=5"], Threads::ONE);
    assert_eq!((cut.digest, cut.rounds), (one.digest, one.rounds));
}

/// A partition may have hosts of one job only.
#[test]
fn several_jobs_do_not_depend_on_the_cut() {
    let job = |hosts: &str| {
        format!("[[traffic]]\nkind = \"collective\"\nbytes = \"1MB\"\nhosts = \"{hosts}\"\n")
    };
    let text = format!(
        "scheme = \"dctcp\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"20ms\"\n{}{}{}",
        job("0-3"),
        job("2-5,120-123"),
        job("64-71")
    );
    let run = |partitions: &str| {
        let mut run = open(&text, &[partitions]);
        finish(&mut run);
        let jobs = run.summary().jobs.unwrap();
        assert!(jobs.iter().all(|job| job.finished == 1), "{partitions}: {jobs:?}");
        run.digest()
    };
    let one = run("run.partitions=1");
    assert_eq!([2, 5, 8].map(|parts| run(&format!("run.partitions={parts}"))), [one; 3]);
}

#[test]
fn a_job_that_does_not_end_is_reported() {
    let job = "bytes = \"400MB\"\nrounds = 2\n";
    let mut run = open(&star(4, 100_000_000, job), &["run.drain=1ms"]);
    let reported = |run: &Run, until: &str| {
        let warnings = run.summary().warnings;
        let said = format!("the job of class collective finished 0 of 2 rounds {until}");
        assert!(warnings.contains(&said), "{warnings:?}");
    };
    run.step().unwrap();
    reported(&run, "by 10us, before the end of the drain time");
    finish(&mut run);
    assert_eq!(run.summary().jobs.unwrap()[0].finished, 0);
    reported(&run, "within the drain time");
}

/// The same job under schemes of every kind ends, and none is faster than the ideal.
#[test]
fn every_scheme_runs_a_job() {
    let job = "bytes = \"160KB\"\nalgorithm = \"halving-doubling\"\nhosts = \"0-7\"\n";
    for (scheme, _) in xoff_scenario::presets() {
        if scheme.starts_with("htsim") || scheme == "bfc-incast-label" {
            continue; // packets have whole sizes; a source must be labelled
        }
        let text = format!(
            "scheme = \"{scheme}\"\n[run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"2s\"\n\
             [[traffic]]\nkind = \"collective\"\n{job}"
        );
        let mut run = open(&text, crate::common::for_fast_links(&scheme));
        finish(&mut run);
        let job = run.summary().jobs.unwrap().remove(0);
        assert_eq!(job.finished, 1, "{scheme}");
        let ideal = 2.0 * 7.0 / 8.0 * 160e3 * 8.0 / 100e3;
        assert!(job.mean_us.unwrap() > ideal, "{scheme}: {job:?}");
    }
}

/// The same barrier as a GOAL schedule takes the same time.
#[test]
fn a_schedule_takes_the_time_of_the_operation_that_it_spells_out() {
    let mut schedule = String::from("num_ranks 8\n");
    for rank in 0..8 {
        schedule += &format!("rank {rank} {{\n");
        for stage in 0..3 {
            let (to, from) = ((rank + (1 << stage)) % 8, (rank + 8 - (1 << stage)) % 8);
            schedule += &format!("s{stage}: send 1b to {to}\nr{stage}: recv 1b from {from}\n");
            if stage > 0 {
                schedule += &format!("s{stage} requires r{}\n", stage - 1);
            }
        }
        schedule += "}\n";
    }
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("barrier.goal");
    std::fs::write(&file, schedule).unwrap();
    let job = "operation = \"barrier\"\nalgorithm = \"dissemination\"\n";
    let barrier = outcome(&star(8, 1, job), &[], Threads::ONE);
    let text = star(8, 1, "").replace("kind = \"collective\"", "kind = \"goal\"");
    let file = format!("traffic.0.file={:?}", file.display().to_string());
    let goal = outcome(&text, &[&file], Threads::ONE);
    assert_eq!(goal.rounds[0].end_ps, barrier.rounds[0].end_ps);
    assert_eq!((goal.steps.len(), goal.steps[0].messages), (1, 24));
    assert_eq!(goal.job.bus_gbytes_per_s, None);
}

/// A pipeline of p stages takes m micro-batches of t in (m + p - 1) t. Its bubble is (p - 1) t
/// (Huang et al., "GPipe", NeurIPS 2019, §2.3). Messages between stages come on top.
#[test]
fn a_pipeline_waits_for_its_bubble() {
    const STAGE_US: u64 = 50;
    let bytes = 100_000;
    for (stages, batches) in [(2, 1), (4, 8), (8, 3)] {
        let mut schedule = format!("num_ranks {stages}\n");
        for rank in 0..stages {
            schedule += &format!("rank {rank} {{\n");
            for batch in 0..batches {
                schedule += &format!("c{batch}: calc {}\n", STAGE_US * 1000);
                if batch > 0 {
                    schedule += &format!("c{batch} requires c{}\n", batch - 1);
                }
                if rank > 0 {
                    schedule += &format!("r{batch}: recv {bytes}b from {}\n", rank - 1);
                    schedule += &format!("c{batch} requires r{batch}\n");
                }
                if rank + 1 < stages {
                    schedule += &format!("s{batch}: send {bytes}b to {}\n", rank + 1);
                    schedule += &format!("s{batch} requires c{batch}\n");
                }
            }
            schedule += "}\n";
        }
        let name = format!("pipeline-{stages}-{batches}.goal");
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&file, schedule).unwrap();
        let text = star(8, bytes, "").replace("kind = \"collective\"", "kind = \"goal\"");
        let file = format!("traffic.0.file={:?}", file.display().to_string());
        let found = outcome(&text, &[&file], Threads::ONE);
        let computing = (batches + stages - 1) * STAGE_US * 1_000_000;
        let messages = (stages - 1) * arrival(bytes);
        // At a stage between others, the acknowledgement of the next batch may go first.
        let more = found.rounds[0].end_ps - computing - messages;
        assert!(more <= (stages - 2) * ACK * BYTE, "{stages} x {batches}: {more} ps more");
    }
}

/// A message of protobuf with fields of whole numbers below 128, after its length.
fn message(fields: &[u8]) -> Vec<u8> {
    [&[fields.len() as u8], fields].concat()
}

/// The same all-reduce as a Chakra trace takes the same time, in any cut.
#[test]
fn a_trace_takes_the_time_of_the_operation_that_it_names() {
    let prefix = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("all-reduce");
    // A COMM_COLL_NODE with an all-reduce of 80,000 bytes.
    let attribute = |name: &str, value: &[u8]| {
        let text = [&[0x0a, name.len() as u8], name.as_bytes(), &[0x48], value].concat();
        [&[0x52, text.len() as u8], &*text].concat()
    };
    let size = attribute("comm_size", &[0x80, 0xf1, 0x04]);
    let node = [vec![0x08, 1, 0x18, 7], attribute("comm_type", &[0]), size].concat();
    let file = [message(b"\x0a\x050.0.4"), message(&node)].concat();
    for rank in 0..8 {
        std::fs::write(format!("{}.{rank}.et", prefix.display()), &file).unwrap();
    }
    let alone = outcome(&star(8, 10_000, "bytes = \"80KB\"\n"), &[], Threads::ONE);
    let text = star(8, 10_000, "").replace("kind = \"collective\"", "kind = \"chakra\"");
    let prefix = format!("traffic.0.file={:?}", prefix.display().to_string());
    let trace = outcome(&text, &[&prefix], Threads::ONE);
    assert_eq!(trace.rounds[0].end_ps, alone.rounds[0].end_ps);
    assert_eq!(trace.flows.len(), alone.flows.len());
    let cut = outcome(&text, &[&prefix, "run.partitions=3"], Threads::up_to(2));
    assert_eq!((cut.digest, cut.flows), (trace.digest, trace.flows));
}
