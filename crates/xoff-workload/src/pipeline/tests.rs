//! Both schedules, on hosts that deliver at once, late, or in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use xoff_core::BitRate;
use xoff_core::knobs::Knob as _;
use xoff_core::program::{Act, Event};

use super::*;
use crate::Capacity;
use xoff_core::Rng;
use xoff_core::rng::Purpose;

const BOTH: [PipelineSchedule; 2] =
    [PipelineSchedule::GPipe, PipelineSchedule::OneForwardOneBackward];

fn job(config: &PipelineConfig, stages: u32) -> Pipeline {
    let host_rates = vec![BitRate::from_gbps(100); stages as usize];
    let capacity = Capacity::new(BitRate(0), host_rates);
    let context =
        Context { capacity: &capacity, seed: 1, source: 3, files: &Path::new(""), one_class: None };
    config.job(&context).unwrap()
}

/// The time at which each stage finishes each round, if a message takes `latency`.
fn times(job: &Pipeline, latency: u64) -> Vec<Vec<u64>> {
    let stages = job.hosts().len();
    let mut programs: Vec<_> = (0..stages as u32).map(|stage| job.program(stage)).collect();
    // Of one time, an acknowledgement comes first: it changes nothing that a stage can see.
    let mut waiting: BTreeMap<(u64, u64), (usize, Event)> = BTreeMap::new();
    let mut count = 0;
    let mut post = |waiting: &mut BTreeMap<_, _>, time, stage, event| {
        waiting.insert((time, count), (stage, event));
        count += 1;
    };
    (0..stages).for_each(|stage| post(&mut waiting, 0, stage, Event::Begin));
    let mut finished = vec![Vec::new(); stages];
    let mut acts = Vec::new();
    while let Some(((now, _), (stage, event))) = waiting.pop_first() {
        programs[stage].react(event, &mut acts);
        for act in acts.drain(..) {
            match act {
                Act::Send { message, to, .. } => {
                    post(&mut waiting, now, stage, Event::Sent(message));
                    post(&mut waiting, now + latency, to.index(), Event::Arrived(message));
                }
                Act::Compute { key, time } => {
                    post(&mut waiting, now + time.0, stage, Event::Computed(key));
                }
                Act::Finish { .. } => finished[stage].push(now),
            }
        }
    }
    finished
}

#[test]
fn orders_are_those_of_the_papers() {
    let order = |schedule: PipelineSchedule, later, micro_batches| {
        let work = |place| schedule.work(place, later, micro_batches);
        let show = |work: Work| {
            let pass = if work.pass == Pass::Forward { "F" } else { "B" };
            format!("{pass}{}", work.micro_batch)
        };
        (0..2 * micro_batches).map(|place| show(work(place))).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order(PipelineSchedule::GPipe, 2, 4), "F0 F1 F2 F3 B3 B2 B1 B0");
    let alternating = |later, micro_batches| order(BOTH[1], later, micro_batches);
    assert_eq!(alternating(0, 3), "F0 B0 F1 B1 F2 B2");
    assert_eq!(alternating(2, 4), "F0 F1 F2 B0 F3 B1 B2 B3");
    assert_eq!(alternating(7, 3), "F0 F1 F2 B0 B1 B2");
}

/// Without latency, both take (m + p - 1) (f + b): p - 1 of these are the bubble. With a latency
/// of up to a forward pass, GPipe takes 2 (p - 1) of it in addition, on the way to the last stage
/// and back.
#[test]
fn an_iteration_takes_the_time_of_the_closed_form() {
    for (stages, micro_batches) in [(2, 1), (4, 8), (5, 3), (8, 32)] {
        for schedule in BOTH {
            let (forward, backward) = (Ps::from_us(100), Ps::from_us(170));
            let config = PipelineConfig {
                schedule,
                micro_batches,
                forward,
                backward,
                rounds: 3,
                ..PipelineConfig::default()
            };
            let job = job(&config, stages);
            let ideal = u64::from(micro_batches + stages - 1) * (forward.0 + backward.0);
            let ends = |latency| {
                let times = times(&job, latency);
                (0..3)
                    .map(|round| times.iter().map(|of| of[round]).max().unwrap())
                    .collect::<Vec<_>>()
            };
            assert_eq!(ends(0), [ideal, 2 * ideal, 3 * ideal], "{stages} {}", schedule.show());
            let latency = Ps::from_us(60).0;
            let late = ideal + 2 * u64::from(stages - 1) * latency;
            if schedule == PipelineSchedule::GPipe {
                assert_eq!(ends(latency)[0], late);
            } else {
                assert!(ends(latency)[0] >= late, "{stages}");
            }
        }
    }
}

proptest! {
    /// A stage does all of its work once, and 1F1B keeps the activations of no more micro-batches
    /// than there are stages from it on.
    #[test]
    fn each_pass_has_one_place(stages in 2u32..20, micro_batches in 1u32..40) {
        for schedule in BOTH {
            for later in 0..stages {
                let mut seen = BTreeSet::new();
                let (mut kept, mut most) = (0u32, 0);
                for place in 0..2 * micro_batches {
                    let work = schedule.work(place, later, micro_batches);
                    prop_assert!(work.micro_batch < micro_batches && seen.insert(work));
                    let before = Work { pass: Pass::Forward, ..work };
                    prop_assert!(seen.contains(&before), "backward comes after forward");
                    kept = if work == before { kept + 1 } else { kept - 1 };
                    most = kept.max(most);
                }
                let bound = match schedule {
                    PipelineSchedule::GPipe => micro_batches,
                    PipelineSchedule::OneForwardOneBackward => micro_batches.min(later + 1),
                };
                prop_assert_eq!(most, bound);
            }
        }
    }

    /// Whatever the order of events, and if messages arrive twice, all rounds end, with every
    /// message once.
    #[test]
    fn every_stage_finishes_in_any_order_of_events(
        stages in 2u32..7,
        micro_batches in 1u32..9,
        rounds in 1u32..4,
        computes in prop::bool::ANY,
        seed in any::<u64>(),
    ) {
        for schedule in BOTH {
            let times = if computes { Ps::from_us(5) } else { Ps(0) };
            let config = PipelineConfig {
                schedule, micro_batches, rounds, forward: times, backward: times,
                ..PipelineConfig::default()
            };
            let job = job(&config, stages);
            let mut programs: Vec<_> = (0..stages).map(|stage| job.program(stage)).collect();
            let mut waiting: Vec<_> = (0..stages as usize).map(|at| (at, Event::Begin)).collect();
            let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
            let (mut numbers, mut finished) = (BTreeSet::new(), vec![0; stages as usize]);
            let mut acts = Vec::new();
            while !waiting.is_empty() {
                let next = rng.below(waiting.len() as u64) as usize;
                let (at, event) = waiting.swap_remove(next);
                programs[at].react(event, &mut acts);
                for act in acts.drain(..) {
                    match act {
                        Act::Send { message, to, bytes } => {
                            prop_assert!(numbers.insert(message) && message < job.messages());
                            prop_assert_eq!(bytes, config.bytes.0);
                            prop_assert_eq!(to.index().abs_diff(at), 1);
                            waiting.push((to.index(), Event::Arrived(message)));
                            waiting.push((to.index(), Event::Arrived(message)));
                            waiting.push((at, Event::Sent(message)));
                        }
                        Act::Compute { key, .. } => waiting.push((at, Event::Computed(key))),
                        Act::Finish { round } => {
                            prop_assert_eq!(round, finished[at]);
                            finished[at] += 1;
                        }
                    }
                }
            }
            prop_assert!(finished.iter().all(|&rounds_of| rounds_of == rounds));
            prop_assert_eq!(numbers.len() as u64, job.messages());
            let steps = 2 * micro_batches;
            let of_steps: u64 = (0..steps).map(|step| job.messages_of_step(step)).sum();
            prop_assert_eq!(numbers.len() as u64, of_steps * u64::from(rounds));
            for &message in &numbers {
                let (round, step) = job.step(message);
                prop_assert!(round < rounds && step < steps);
            }
        }
    }
}
