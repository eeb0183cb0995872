//! Proportional rate reduction (RFC 6937): after a loss or a mark the window falls to its new value
//! over a round trip, instead of at once.
//!
//! The form is ns-3's (`TcpPrrRecovery`, release 3.37), with the slow-start reduction bound. The
//! window in use is the bytes in flight and what PRR allows to send at this acknowledgement.

/// A reduction: counts of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reduction {
    /// `prr_delivered`: bytes that have arrived since it began.
    delivered: u64,
    /// `prr_out`: bytes sent since it began.
    out: u64,
    /// `RecoverFS`: unacknowledged bytes when it began.
    flight: u64,
    /// If marks caused it: it lasts until a byte after this one is acknowledged.
    marked_until: Option<u64>,
}

/// A flow's progress, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// First unacknowledged byte.
    pub una: u64,
    /// Bytes that this acknowledgement is the first to acknowledge.
    pub acked: u64,
    /// Bytes known to have arrived, in any order.
    pub arrived: u64,
    /// Bytes sent and not acknowledged.
    pub flight: u64,
    /// Bytes in the network: neither lost nor known to have arrived.
    pub pipe: u64,
    /// Payload of a full packet.
    pub payload: u64,
}

/// Proportional rate reduction of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// Packets of the first window.
    initial_packets: u64,
    reduction: Option<Reduction>,
    /// Bytes known to have arrived before this acknowledgement.
    arrived: u64,
    /// The congestion control's window after the last acknowledgement; 0: there was none.
    window: u64,
    /// The window in use after it, during a reduction.
    used: u64,
}

impl Prr {
    /// Of a flow whose first window has `initial_packets` packets.
    #[must_use]
    pub fn new(initial_packets: u32) -> Self {
        Self { initial_packets: initial_packets.into(), ..Self::default() }
    }

    /// A packet was sent.
    pub fn on_sent(&mut self, bytes: u64) {
        if let Some(reduction) = &mut self.reduction {
            reduction.out += bytes;
        }
    }

    /// True while a reduction caused by marks goes on after the bytes before `una` are
    /// acknowledged. The window does not grow meanwhile.
    pub fn is_reducing(&mut self, una: u64) -> bool {
        let until = self.reduction.and_then(|reduction| reduction.marked_until);
        if until.is_some_and(|until| una > until) {
            self.reduction = None;
        }
        until.is_some_and(|until| una <= until)
    }

    /// True if a mark has reduced the control's window to `window` during a recovery from losses.
    /// ns-3 then ends that recovery, and reduces by marks alone. What is lost is sent again as the
    /// window allows.
    #[must_use]
    pub fn is_cut_again(&self, window: u64) -> bool {
        let by_losses = self.reduction.is_some_and(|reduction| reduction.marked_until.is_none());
        by_losses && window < self.window
    }

    /// A retransmission timeout ends the reduction, and leaves a window of a packet of `payload`
    /// bytes.
    pub fn on_timeout(&mut self, payload: u64) {
        self.reduction = None;
        self.window = payload;
    }

    /// An acknowledgement arrived, after the congestion control has set its `window`. `recovering`
    /// is true during a recovery from losses, `repeats` if the acknowledgement is for a
    /// retransmission. Returns the window in use during a reduction.
    pub fn on_ack(
        &mut self,
        at: &Progress,
        window: u64,
        recovering: bool,
        repeats: bool,
    ) -> Option<u64> {
        let delivered = at.arrived - self.arrived;
        self.arrived = at.arrived;
        let before = match std::mem::replace(&mut self.window, window) {
            0 => self.initial_packets * at.payload,
            before => before,
        };
        let by_marks = self.reduction.is_some_and(|reduction| reduction.marked_until.is_some());
        if recovering && (self.reduction.is_none() || by_marks) {
            self.begin(at, None, 0);
        } else if !recovering && !by_marks {
            self.reduction = None;
            if window < before && at.flight > 0 {
                // ns-3 counts this acknowledgement twice: when the reduction begins, and as one
                // within it.
                self.begin(at, Some(at.una + at.flight), delivered);
            }
        }
        let reduction = self.reduction.as_mut()?;
        if by_marks && at.acked < at.payload {
            // During a reduction by marks ns-3 leaves the window, and its counts, as they are at an
            // acknowledgement of no new packet: what has arrived or is lost makes room for as much.
            return Some(self.used);
        }
        reduction.delivered += delivered;
        let allowed = reduction.send_count(at, window, delivered, repeats);
        // A window below a packet would leave an empty network empty. (ns-3 waits for its timer.)
        let least = if at.pipe > 0 { 0 } else { at.payload };
        self.used = (at.pipe + allowed - allowed % at.payload).max(least);
        Some(self.used)
    }

    fn begin(&mut self, at: &Progress, marked_until: Option<u64>, delivered: u64) {
        self.reduction = Some(Reduction { delivered, out: 0, flight: at.flight, marked_until });
    }
}

impl Reduction {
    /// `sndcnt`: bytes that may be sent now.
    fn send_count(&self, at: &Progress, threshold: u64, delivered: u64, repeats: bool) -> u64 {
        let (sent, out) = (self.delivered as i64 - self.out as i64, self.out as i64);
        let count = if at.pipe > threshold {
            // "sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out" (RFC 6937 §3). ns-3
            // multiplies in 32 bits, so that the product of a large window starts from 0 again.
            let share = u64::from((self.delivered * threshold) as u32);
            share.div_ceil(self.flight) as i64 - out
        } else {
            // "PRR-SSRB: limit = MAX(prr_delivered - prr_out, DeliveredData) + MSS; attempt to
            // catch up, as permitted by limit: sndcnt = MIN(ssthresh - pipe, limit)" (§3). ns-3
            // allows the addition for retransmissions that arrived only.
            let limit = match (repeats, sent < 0) {
                (false, _) => delivered as i64,
                // Its difference is unsigned: a deficit is taken whole.
                (true, true) => sent + at.payload as i64,
                (true, false) => sent.max(delivered as i64) + at.payload as i64,
            };
            limit.min((threshold - at.pipe) as i64)
        };
        // ns-3 forces a retransmission when a recovery begins.
        let least = if self.out > 0 { 0 } else { at.payload as i64 };
        count.max(least) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: u64 = 1000;

    fn at(una: u64, arrived: u64, flight: u64, pipe: u64) -> Progress {
        let packets = |count: u64| count * PAYLOAD;
        Progress {
            una: packets(una),
            acked: PAYLOAD,
            arrived: packets(arrived),
            flight: packets(flight),
            pipe: packets(pipe),
            payload: PAYLOAD,
        }
    }

    /// RFC 6937 §4 (its example of a single loss): 20 packets in flight, one lost, half of them
    /// allowed: one packet is sent for every second acknowledgement, after the retransmission.
    #[test]
    fn one_packet_leaves_for_every_second_arrival() {
        let mut prr = Prr { window: 20_000, ..Prr::default() };
        // The third packet after the lost one has arrived.
        let window = prr.on_ack(&at(0, 3, 20, 16), 10_000, true, false);
        assert_eq!(window, Some(17_000), "the retransmission");
        prr.on_sent(PAYLOAD);
        let mut pipe = 17;
        let mut sent = 1;
        for arrived in 4..20 {
            pipe -= 1;
            let window = prr.on_ack(&at(0, arrived, 20, pipe), 10_000, true, false);
            for _ in 0..(window.unwrap() / PAYLOAD - pipe) {
                prr.on_sent(PAYLOAD);
                pipe += 1;
                sent += 1;
            }
        }
        // 19 packets arrived after the loss: half of them, rounded up.
        assert_eq!((sent, pipe), (10, 10));
    }

    #[test]
    fn a_mark_reduces_over_a_round_trip() {
        let mut prr = Prr { window: 20_000, ..Prr::default() };
        // Two packets count as delivered, half of them may be sent.
        assert_eq!(prr.on_ack(&at(1, 1, 19, 19), 10_000, false, false), Some(20_000));
        assert!(prr.is_reducing(20_000));
        assert!(!prr.is_reducing(20_001));
        assert_eq!(prr.on_ack(&at(21, 21, 10, 10), 10_000, false, false), None);
    }

    /// With nothing in flight there is nothing to spread a cut over.
    #[test]
    fn a_mark_on_the_last_packet_in_flight_begins_no_reduction() {
        let mut prr = Prr { window: 20_000, ..Prr::default() };
        assert_eq!(prr.on_ack(&at(1, 1, 0, 0), 10_000, false, false), None);
    }

    /// The first acknowledgement of a flow may be marked: its window was the first one.
    #[test]
    fn a_mark_on_the_first_acknowledgement_begins_a_reduction() {
        let mut prr = Prr::new(10);
        // One of ten packets has arrived, and two may follow for it.
        assert_eq!(prr.on_ack(&at(1, 1, 9, 9), 5_000, false, false), Some(10_000));
        let mut prr = Prr::new(10);
        assert_eq!(prr.on_ack(&at(1, 1, 9, 9), 11_000, false, false), None);
    }

    /// A packet is lost in the marked window: later ones that arrive make room for as many.
    #[test]
    fn reports_of_later_packets_leave_the_window_of_a_marked_one() {
        let mut prr = Prr { window: 20_000, ..Prr::default() };
        assert_eq!(prr.on_ack(&at(1, 1, 19, 19), 10_000, false, false), Some(20_000));
        for arrived in 2..8 {
            let report = Progress { acked: 0, ..at(1, arrived, 19, 20 - arrived) };
            assert_eq!(prr.on_ack(&report, 10_000, false, false), Some(20_000));
        }
    }

    /// The first acknowledgement after a timeout may be marked.
    #[test]
    fn a_mark_after_a_timeout_begins_a_reduction() {
        let mut prr = Prr { window: 20_000, ..Prr::default() };
        prr.on_timeout(PAYLOAD);
        assert!(prr.on_ack(&at(1, 1, 9, 0), 500, false, false).is_some());
        prr.on_timeout(PAYLOAD);
        assert!(prr.on_ack(&at(2, 2, 8, 0), 2_000, false, false).is_none());
    }

    /// RFC 6937 §3: "limit = MAX(prr_delivered - prr_out, DeliveredData) + MSS". As much
    /// has left as has arrived, so what arrives now and a packet more may leave.
    #[test]
    fn slow_start_adds_a_packet_to_what_arrives() {
        let reduction =
            Reduction { delivered: 3000, out: 3000, flight: 20_000, marked_until: None };
        assert_eq!(reduction.send_count(&at(0, 3, 20, 5), 10_000, 1000, true), 2000);
        assert_eq!(reduction.send_count(&at(0, 3, 20, 5), 10_000, 1000, false), 1000);
    }

    /// A smaller window during a recovery from losses is a cut by marks.
    #[test]
    fn a_cut_within_a_recovery_from_losses_is_told() {
        let mut prr = Prr { window: 20_000, ..Prr::default() };
        assert!(!prr.is_cut_again(9_000), "nothing is reduced");
        prr.on_ack(&at(0, 3, 20, 16), 10_000, true, false);
        assert_eq!([9_999, 10_000, 10_001].map(|to| prr.is_cut_again(to)), [true, false, false]);
        let mut by_marks = Prr { window: 20_000, ..Prr::default() };
        by_marks.on_ack(&at(1, 1, 19, 19), 10_000, false, false);
        assert!(!by_marks.is_cut_again(9_000));
    }
}
