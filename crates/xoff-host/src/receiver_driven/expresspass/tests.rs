use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;

use super::receiver::{Half, Reply};
use super::sender::{CreditSender, Echo, Spent};
use super::*;
use crate::cc::Pace;
use crate::flow::{FlowStart, Sender};
use crate::receiver_driven::Address;
use crate::recovery::SenderHalf;

/// A link of 100 Gb/s, credits of 84 B and packets of 1048 B.
const PERIOD: u64 = (84 + 1048) * 80;

/// The algorithm as written in the paper (Algorithm 1 with the rules of the authors' simulator), in
/// credits per second.
struct Reference {
    max_rate: f64,
    rate: f64,
    w: f64,
    was_increasing: bool,
}

impl Reference {
    fn new(alpha: f64) -> Self {
        let max_rate = 1e12 / PERIOD as f64;
        Self { max_rate, rate: alpha * max_rate, w: 0.0625, was_increasing: false }
    }

    fn update(&mut self, sent: u64, lost: u64, seconds: f64, rtt: f64) {
        let loss = lost as f64 / sent as f64;
        let target_loss = (1.0 - self.rate / self.max_rate) * 0.125;
        if loss <= target_loss {
            if self.was_increasing {
                self.w = f64::min(self.w + 0.05, 0.5);
            }
            self.rate = (1.0 - self.w) * self.rate + self.w * self.max_rate;
            self.was_increasing = true;
        } else {
            let received = (sent - lost) as f64 / seconds;
            self.rate = f64::min(self.rate, received * (1.0 + target_loss));
            self.w = f64::max(self.w / 2.0, 0.01);
            self.was_increasing = false;
        }
        self.rate = self.rate.max(1.0 / rtt).min(self.max_rate);
    }
}

proptest! {
    #[test]
    fn feedback_matches_the_paper(
        rounds in prop::collection::vec((1u64..100, 0u64..60, 0u64..9_000_000), 1..60),
    ) {
        let config = ExpressPassConfig::default();
        let rtt = 8_000_000;
        let (mut feedback, mut reference) = (Feedback::new(&config, 1_000, 0), Reference::new(0.5));
        let mut now = 0;
        for (arrived, lost, late) in rounds {
            // The last arrival follows all losses.
            (1..arrived).for_each(|_| feedback.on_data(0));
            feedback.on_data(lost);
            feedback.update(&config, now + rtt - 1, rtt, PERIOD);
            let ratio = feedback.share() * reference.max_rate / reference.rate;
            prop_assert!((ratio - 1.0).abs() < 1e-9);
            now += rtt + late;
            feedback.update(&config, now, rtt, PERIOD);
            let elapsed = (rtt + late) as f64 / 1e12;
            reference.update(arrived + lost, lost, elapsed, rtt as f64 / 1e12);
            let ratio = feedback.share() * reference.max_rate / reference.rate;
            prop_assert!((ratio - 1.0).abs() < 1e-9, "{} of the reference's", ratio);
        }
    }
}

#[test]
fn a_small_flow_starts_at_a_lower_rate() {
    let config = ExpressPassConfig::default();
    let share = |packets| Feedback::new(&config, packets, 0).share();
    assert_eq!([1, 20, 40, 5_000].map(share), [0.0125, 0.25, 0.5, 0.5]);
}

fn flow(bytes: u64) -> (Sender, CreditSender) {
    let start = FlowStart::of_bytes(7, bytes);
    let pace = Pace { rate: 1, window: u64::MAX };
    let mut flow = Sender::new(start, pace, SenderHalf::GoBackN, 0, Default::default());
    let mut credits = CreditSender::default();
    credits.start(&mut flow, 0);
    (flow, credits)
}

fn echo(number: u32) -> Echo {
    Echo { number, sent_ps: u64::from(number) * 1_000 }
}

#[test]
fn each_credit_is_used_for_a_packet_and_the_last_is_reported() {
    let (mut flow, mut credits) = flow(2_500);
    assert!(!flow.may_send());
    let mut spend =
        |flow: &mut Sender, number| credits.on_credit(flow, (1_000, false), 5, echo(number));
    assert_eq!(spend(&mut flow, 0), Spent::Used);
    assert_eq!(flow.take_packet(1_000), (0, 1_000, false));
    assert!(!flow.may_send());
    // Two credits that arrive before a packet has its turn.
    assert_eq!([1, 2, 3].map(|n| spend(&mut flow, n)), [Spent::Used, Spent::Last, Spent::Wasted]);
    assert_eq!([1, 2].map(|_| flow.take_packet(1_000).1), [1_000, 500]);
    assert_eq!([0; 3].map(|_| credits.on_sent()), [0, 1, 2].map(echo));
    // Going back discards the waiting credits.
    assert_eq!(credits.go_back(&mut flow, 1_000), 0);
    assert_eq!(credits.on_credit(&mut flow, (1_000, false), 5, echo(4)), Spent::Used);
    assert_eq!((credits.go_back(&mut flow, 0), flow.may_send()), (1, false));
}

/// Eleven credits arrived in the first round trip, so that many are in flight; ten in any other.
#[test]
fn an_early_stop_expects_a_round_trip_of_credits() {
    for (packets, stops_at) in [(15, 10), (22, 10), (23, 20), (31, 20)] {
        let (mut flow, mut credits) = flow(packets * 1_000);
        let spent = |n: u64| credits.on_credit(&mut flow, (1_000, true), 1_000 + n * 100, echo(0));
        let first = (0..packets).map(spent).position(|spent| spent == Spent::Last).unwrap();
        assert_eq!(first, stops_at, "{packets} packets");
    }
}

#[test]
fn receivers_count_lost_credits_and_request_missing_bytes_once() {
    let config = ExpressPassConfig::default();
    let (flow, from, host, label, sender, class) = (7, 1, 0, 0, 0, 0);
    let to = Address { flow, from, host, label, sender, class };
    let mut half = Half::new(&config, (to, 0, Default::default()), (4_000, 4), 0);
    let data = |half: &mut Half, now, seq, number| half.on_data(now, seq, 1_000, echo(number));
    assert_eq!(data(&mut half, 100_000, 0, 0), Reply::Nothing);
    assert_eq!(data(&mut half, 110_000, 2_000, 2), Reply::Missing(1_000));
    assert_eq!(data(&mut half, 120_000, 3_000, 3), Reply::Nothing);
    // The answer to the request is lost too.
    assert_eq!(data(&mut half, 400_000, 2_000, 9), Reply::Missing(1_000));
    assert_eq!(data(&mut half, 500_000, 1_000, 10), Reply::Nothing);
    assert_eq!(data(&mut half, 510_000, 2_000, 11), Reply::Nothing);
    assert_eq!(data(&mut half, 520_000, 3_000, 12), Reply::Whole);
}

/// A sender that has sent all data and gets no reply goes back to its last acknowledged byte, which
/// is often the first.
#[test]
fn receivers_correct_a_sender_that_went_back_too_far() {
    let config = ExpressPassConfig::default();
    let (flow, from, host, label, sender, class) = (7, 1, 0, 0, 0, 0);
    let to = Address { flow, from, host, label, sender, class };
    let mut half = Half::new(&config, (to, 0, Default::default()), (4_000, 4), 0);
    let data = |half: &mut Half, now, seq, number| half.on_data(now, seq, 1_000, echo(number));
    for number in 0..3 {
        let seq = u64::from(number) * 1_000;
        assert_eq!(data(&mut half, 100_000 + seq, seq, number), Reply::Nothing);
    }
    assert_eq!(data(&mut half, 200_000, 0, 4), Reply::Missing(3_000));
    assert_eq!(data(&mut half, 201_000, 1_000, 5), Reply::Nothing);
    assert_eq!(data(&mut half, 300_000, 3_000, 6), Reply::Whole);
}

#[test]
fn gaps_are_jittered_around_the_rate() {
    let config = ExpressPassConfig { alpha: 0.25, ..ExpressPassConfig::default() };
    let (flow, from, host, label, sender, class) = (7, 1, 0, 0, 0, 0);
    let to = Address { flow, from, host, label, sender, class };
    let mut half = Half::new(&config, (to, 0, Default::default()), (4_000_000, 4_000), 0);
    let mut rng = Rng::stream(1, Purpose::Credits, 0);
    let gaps: Vec<u64> = (0..4_000)
        .map(|number| {
            let (counted, gap) = half.credit(&config, 0, PERIOD, &mut rng);
            assert_eq!(counted, number);
            gap
        })
        .collect();
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64 / (4 * PERIOD) as f64;
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    let (least, most) = (4 * PERIOD * 9 / 10, 4 * PERIOD * 11 / 10);
    assert!(gaps.iter().all(|gap| (least..=most).contains(gap)));
}
