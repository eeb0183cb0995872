//! Compares CaPFC with a model that is slow and obvious. It keeps the algorithms' variables by name
//! and recomputes them at each step.

use proptest::prelude::*;
use xoff_core::Bytes;

use super::*;
use crate::packet::Kind;
use crate::sched::Fifo;

const PORTS: usize = 6;
/// Table II.
const MAX: u32 = 60_000;
const XOFF: u32 = 25_000;
const XON: u32 = 20_000;
const WARN: u32 = 20_000;
const INGRESS_XOFF: u32 = 50_000;
const INGRESS_XON: u32 = 40_000;

/// Ingress queues of one class, with their bytes.
#[derive(Debug)]
struct Queues;

impl Accounting for Queues {
    type Ingress = u32;

    fn add(&mut self, _: u16, held: &mut u32, class: u8, bytes: u16, paused: u8) -> u8 {
        *held += u32::from(bytes);
        u8::from(*held >= INGRESS_XOFF) << class & !paused
    }

    fn remove(&mut self, _: u16, held: &mut u32, class: u8, bytes: u16, paused: u8) -> u8 {
        *held -= u32::from(bytes);
        u8::from(*held < INGRESS_XON) << class & paused
    }
}

fn capfc(config: &CapfcConfig, ports: usize) -> Capfc<Queues> {
    Capfc::new(config, ports, Pfc::of(Queues, (0..ports).map(|_| 0)))
}

fn packet(input: u16, class: u8, size: u32) -> Packet {
    let mut packet = Packet::new(Kind::Data, size as u16);
    (packet.ingress, packet.queue) = (input, class);
    packet
}

/// The ports on which one step sends a signal.
fn signalled(capfc: &mut Capfc<Queues>, first: Option<Signal>) -> PortMask {
    let rest = std::iter::from_fn(|| capfc.next_signal());
    first.into_iter().chain(rest).fold(0, |all, signal| all | 1 << signal.port)
}

fn config(policy: Policy, cut: f64) -> CapfcConfig {
    CapfcConfig { policy, cut, ..CapfcConfig::default() }
}

/// Variables with the paper's names, all of one class.
#[derive(Clone)]
struct Model {
    policy: Policy,
    cut_percent: u64,
    /// B of each egress queue.
    b: [u32; PORTS],
    /// C of input i and egress o: `c[i][o]`.
    c: [[u64; PORTS]; PORTS],
    e: [[bool; PORTS]; PORTS],
    /// I of each ingress, and its B.
    i: [bool; PORTS],
    held: [u32; PORTS],
}

impl Model {
    fn enqueue(&mut self, i: usize, o: usize, size: u32) -> bool {
        let b_plus = self.b[o] + size;
        if b_plus > MAX {
            return false;
        }
        self.b[o] = b_plus;
        if self.b[o] >= WARN {
            self.c[i][o] += 1;
            if self.b[o] >= XOFF {
                self.detect(o);
            }
        }
        true
    }

    fn detect(&mut self, o: usize) {
        let column: Vec<u64> = (0..PORTS).map(|i| self.c[i][o]).collect();
        let largest = *column.iter().max().unwrap();
        if self.policy == Policy::StopMax {
            let i_star = column.iter().position(|&c| c == largest).unwrap();
            self.e[i_star][o] = true;
            return;
        }
        let mut sorted: Vec<usize> = (0..PORTS).collect();
        sorted.sort_by(|&a, &b| column[b].cmp(&column[a]).then(a.cmp(&b)));
        let total: u64 = column.iter().sum();
        for many in 1..=PORTS {
            let sum: u64 = sorted[..many].iter().map(|&i| column[i]).sum();
            if sum * 100 > self.cut_percent * total || sum == total {
                sorted[..many].iter().for_each(|&i| self.e[i][o] = true);
                return;
            }
        }
    }

    fn dequeue(&mut self, o: usize, size: u32) {
        self.b[o] -= size;
        if self.b[o] <= WARN {
            (0..PORTS).for_each(|i| self.c[i][o] = 0);
        }
        if self.b[o] <= XON {
            (0..PORTS).for_each(|i| self.e[i][o] = false);
        }
    }

    fn hold(&mut self, i: usize, held: u32) {
        self.held[i] = held;
        if held >= INGRESS_XOFF {
            self.i[i] = true;
        } else if held < INGRESS_XON {
            self.i[i] = false;
        }
    }

    fn d(&self, i: usize) -> bool {
        self.i[i] || (0..PORTS).any(|o| o != i && self.e[i][o])
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue { input: u16, egress: u16, size: u32 },
    Dequeue { egress: u16 },
    Hold { input: u16, bytes: u32 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ports = 0..PORTS as u16;
    // Few egresses and long packets, so that queues cross all thresholds.
    let step = prop_oneof![
        6 => (0..9u16, 0..2u16, 64..1531u32)
            .prop_map(|(input, egress, size)| Step::Enqueue { input: input.min(5), egress, size }),
        3 => (0..2u16).prop_map(|egress| Step::Dequeue { egress }),
        1 => (ports, 0..MAX).prop_map(|(input, bytes)| Step::Hold { input, bytes }),
    ];
    prop::collection::vec(step, 1..600)
}

fn agrees_with_the_model(policy: Policy, cut_percent: u64, class: u8, steps: &[Step]) {
    let mut capfc = capfc(&config(policy, cut_percent as f64 / 100.0), PORTS);
    let blank = [[false; PORTS]; PORTS];
    let mut model = Model {
        policy,
        cut_percent,
        b: [0; PORTS],
        c: [[0; PORTS]; PORTS],
        e: blank,
        i: [false; PORTS],
        held: [0; PORTS],
    };
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); PORTS];
    for &step in steps {
        let before = model.clone();
        let first = match step {
            Step::Enqueue { input, egress, size } => {
                if !model.enqueue(input.into(), egress.into(), size) {
                    continue;
                }
                waiting[usize::from(egress)].push(size);
                capfc.on_enqueue(0, egress, &mut packet(input, class, size), &Fifo::default())
            }
            Step::Dequeue { egress } => {
                if waiting[usize::from(egress)].is_empty() {
                    continue;
                }
                let size = waiting[usize::from(egress)].remove(0);
                model.dequeue(egress.into(), size);
                capfc.on_dequeue(0, egress, &mut packet(0, class, size))
            }
            Step::Hold { input, bytes } => {
                let held = model.held[usize::from(input)];
                model.hold(input.into(), bytes);
                let change = |bytes| u16::try_from(bytes).expect("queues are short");
                if bytes >= held {
                    capfc.on_arrival(input, class, change(bytes - held))
                } else {
                    capfc.on_departure(input, class, change(held - bytes))
                }
            }
        };
        let signalled = signalled(&mut capfc, first);
        for i in 0..PORTS {
            for o in 0..PORTS {
                assert_eq!(u64::from(capfc.blame.counters(o as u16, class)[i]), model.c[i][o]);
                let blamed = capfc.blame.blamed(o as u16, class) >> i & 1 == 1;
                assert_eq!(blamed, model.e[i][o], "E {i} {o}");
            }
            let paused = capfc.paused_queues(i as u16) >> class & 1 == 1;
            assert_eq!(paused, model.d(i), "D {i}");
            // "Only sent when there is a change of state", and at every change.
            assert_eq!(signalled >> i & 1 == 1, model.d(i) != before.d(i), "signalled {i}");
        }
    }
}

proptest! {
    #[test]
    fn stop_max_is_algorithm_1(steps in steps(), class in 0..8u8) {
        agrees_with_the_model(Policy::StopMax, 80, class, &steps);
    }

    #[test]
    fn stop_calibrate_is_algorithm_2(steps in steps(), class in 0..8u8, cut in 1..101u64) {
        agrees_with_the_model(Policy::StopCalibrate, cut, class, &steps);
    }

    /// For any steps: once all egress queues are empty and no ingress is congested, no neighbour is
    /// paused.
    #[test]
    fn xon_always_follows_xoff(steps in steps(), max in any::<bool>()) {
        let policy = if max { Policy::StopMax } else { Policy::StopCalibrate };
        let mut capfc = capfc(&config(policy, 0.8), PORTS);
        let mut waiting = Vec::new();
        for step in steps {
            if let Step::Enqueue { input, egress, size } = step {
                let mut packet = packet(input, 3, size);
                let first = capfc.on_enqueue(0, egress, &mut packet, &Fifo::default());
                signalled(&mut capfc, first);
                waiting.push((egress, packet));
            }
        }
        for (egress, mut packet) in waiting {
            let first = capfc.on_dequeue(0, egress, &mut packet);
            signalled(&mut capfc, first);
        }
        for port in 0..PORTS as u16 {
            prop_assert_eq!(capfc.paused_queues(port), 0);
            prop_assert!(capfc.blame.counters(port, 3).iter().all(|&count| count == 0));
        }
    }
}

/// "In popular commodity switches with 48 ports, that corresponds to maximum 18432 counters for 8
/// priorities [...]. If each counter occupies 2 bytes of memory, it corresponds to approximately 36
/// KB" (§II-G).
#[test]
fn counters_take_the_papers_memory() {
    let of = |ports| capfc(&config(Policy::StopMax, 0.8), ports).counter_bytes();
    assert_eq!((of(48), of(128)), (2 * 18_432, 2 * 16_384 * CLASSES));
    assert_eq!(capfc(&config(Policy::None, 0.8), 48).counter_bytes(), 0);
}

/// "D_3^0 = I_3^0 or E_3^{0,1} or E_3^{0,2} or E_3^{0,3} or E_3^{0,4}" (§II-E).
#[test]
fn the_papers_switch_of_five_ports() {
    let mut capfc = capfc(&config(Policy::StopMax, 0.8), 5);
    let signal = |ask| Some(Signal::new(0, ask, 1 << 3));
    for egress in 0..5 {
        // A port does not blame itself.
        let mut packet = packet(0, 3, XOFF);
        let expected = if egress == 1 { signal(Ask::Pause) } else { None };
        assert_eq!(capfc.on_enqueue(0, egress, &mut packet, &Fifo::default()), expected);
    }
    assert_eq!((capfc.paused_queues(0), capfc.blamers(0, 3)), (1 << 3, 0b11110));
    assert_eq!(capfc.on_arrival(0, 3, INGRESS_XOFF as u16), None);
    for egress in 0..5 {
        assert_eq!(capfc.on_dequeue(0, egress, &mut packet(0, 3, XOFF)), None);
    }
    assert_eq!((capfc.congested(0), capfc.blamers(0, 3)), (1 << 3, 0));
    assert_eq!(capfc.on_departure(0, 3, INGRESS_XOFF as u16), signal(Ask::Resume));
    assert_eq!(capfc.paused_queues(0), 0);
    assert_eq!((capfc.stats().blames, capfc.stats().congestions), (5, 1));
}

/// Stop-Max stops one input after the other while congestion lasts.
#[test]
fn stop_max_goes_on_to_the_next() {
    let mut blame = Blame::new(&config(Policy::StopMax, 0.8), 4);
    let mut arrive =
        |input, times| (0..times).fold(0, |all, _| all | blame.on_enqueue(0, 0, input, 30_000));
    assert_eq!(arrive(2, 3), 0b0100);
    assert_eq!(arrive(1, 3), 0b0010, "the first of equal counters");
    assert_eq!(arrive(3, 3), 0);
    assert_eq!(arrive(3, 1), 0b1000);
    assert_eq!(blame.on_dequeue(0, 0, XON + 1), 0);
    assert_eq!(blame.on_dequeue(0, 0, XON), 0b1110);
}

/// CUT = 1: "every input port with a packet inside".
#[test]
fn cut_says_how_many_are_stopped() {
    for (cut, culprits) in [(0.01, 0b0001), (0.6, 0b0011), (0.9, 0b0111), (1.0, 0b1111)] {
        let mut blame = Blame::new(&config(Policy::StopCalibrate, cut), 5);
        for (input, times) in [(0, 5), (1, 3), (2, 1), (3, 1)] {
            (0..times).for_each(|_| {
                blame.on_enqueue(0, 0, input, WARN);
            });
        }
        // With the eleventh packet: 6, 3, 1 and 1.
        assert_eq!(blame.on_enqueue(0, 0, 0, XOFF), culprits);
    }
}

#[test]
fn a_counter_that_is_full_stays_full() {
    let mut blame = Blame::new(&config(Policy::StopMax, 0.8), 2);
    (0..70_000).for_each(|_| {
        blame.on_enqueue(1, 0, 0, WARN);
    });
    assert_eq!(blame.counters(1, 0), [u16::MAX, 0]);
}

#[test]
fn thresholds_in_a_wrong_order_are_refused() {
    let good = config(Policy::StopMax, 0.8);
    let capacity = Bytes(u64::from(MAX));
    assert_eq!(good.check(capacity), Ok(()));
    for (bad, key) in [
        (CapfcConfig { xon: Bytes(26_000), ..good.clone() }, "xon"),
        (CapfcConfig { warn: Bytes(19_999), ..good.clone() }, "warn"),
        (CapfcConfig { warn: Bytes(25_000), ..good.clone() }, "warn"),
        (CapfcConfig { xoff: capacity, ..good.clone() }, "xoff"),
        (CapfcConfig { cut: 0.0, ..good.clone() }, "cut"),
        (CapfcConfig { cut: 1.01, ..good }, "cut"),
    ] {
        assert_eq!(bad.check(capacity).unwrap_err().0, key);
    }
}

/// A recount compares the bytes at both ends, and each pause with its reasons.
#[test]
fn a_recount_misses_bytes_and_pauses() {
    use crate::hop::pfc::{DrainBytes, Scope, Thresholds};
    let thresholds = [Thresholds { xoff: 10_000, xon: 4_000 }; 2];
    let own = || Pfc::<DrainBytes>::by_drain_bytes(Scope::Class, 8, &thresholds);
    let make = || Capfc::new(&config(Policy::StopMax, 0.8), 2, own());
    let nothing = [[0; CLASSES]; 2];
    let is_right = |capfc: &Capfc<DrainBytes>| capfc.recount(&nothing, &nothing).is_ok();
    assert!(is_right(&make()));
    let mut paused = make();
    paused.inputs[1].paused = 1;
    assert!(!is_right(&paused), "a pause without a reason");
    let mut queued = make();
    queued.queued[0][3] = 1;
    assert!(!is_right(&queued));
    let mut held = make();
    held.own.add(0, 3, 1);
    assert!(!is_right(&held));
}
