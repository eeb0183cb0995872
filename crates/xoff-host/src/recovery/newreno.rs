//! NewReno's recovery without selective acknowledgements (RFC 6582), in packets instead of bytes.
//!
//! The receiver keeps packets that arrive out of order, and acknowledges every packet by the first
//! byte it misses, and tells no more. After `duplicate_acks` duplicates it retransmits the
//! missing packet, whatever the window is. Each further duplicate says that a packet has left the
//! network, and the window grows by it. A partial acknowledgement asks for the next missing packet.
//! After a timeout the sender goes back to the first unacknowledged byte.
//!
//! "After the first partial acknowledgment" of a recovery the timer runs on (RFC 6582 §4, the
//! Impatient variant), so a recovery that takes longer than the timeout ends with one.
//!
//! Not modelled: delayed acknowledgements, heuristics that tell a retransmitted packet from a
//! duplicate (RFC 6582 §4.1), SYN and FIN.

use xoff_core::knobs::Checked;
use xoff_core::seam::{SectionDoc, Sections, Settings};

use super::progress::{Answer, Progress, Sent};
use super::reassembly::Reassembly;
use super::rto::Rto;
use super::{Arrival, RecoverySettings, Reply, RxProgress, Timeouts};
use crate::cc::Path;
use crate::tcp::{AfterRecovery, NewRenoRules, Shrink, TcpConfig};

/// NewReno's settings: those of section `tcp`.
#[derive(Clone, Debug, Default)]
pub struct NewRenoRecovery(pub TcpConfig);

impl Settings for NewRenoRecovery {
    fn read(sections: &mut impl Sections) -> Self {
        Self(Settings::read(sections))
    }

    fn sections() -> Vec<SectionDoc> {
        <TcpConfig as Settings>::sections()
    }
}

impl RecoverySettings for NewRenoRecovery {
    fn check(&self) -> Checked {
        check_duplicates(&self.0, "newreno")
    }

    fn tcp(&self) -> TcpConfig {
        self.0.clone()
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts::None("transport.recovery = \"newreno\" has the timeouts of section tcp")
    }

    fn reports_losses(&self) -> bool {
        true
    }

    fn counts_duplicates(&self) -> bool {
        true
    }

    fn deflates(&self) -> bool {
        true
    }

    fn can_be_captured(&self) -> bool {
        false
    }

    fn reach(&self, path: &Path) -> u64 {
        super::sack::REACH_PACKETS * path.payload
    }
}

/// Checks the settings of a recovery that counts duplicates.
pub(super) fn check_duplicates(tcp: &TcpConfig, recovery: &str) -> Checked {
    tcp.check()?;
    if tcp.duplicate_acks == 0 {
        let message = format!(
            "duplicate_acks = 0 needs transport.recovery = \"sack\": \"{recovery}\" counts \
             duplicates; set it to 1 or more"
        );
        return Err(("duplicate_acks", message));
    }
    Ok(())
}

/// The receiver's half.
#[derive(Debug, Default)]
pub struct Receiver(Reassembly);

impl Receiver {
    pub(super) fn on_data(&mut self, payload: u64, arrival: &Arrival) -> Reply {
        self.0.on_data(payload, arrival);
        Reply::Ack(self.0.expected())
    }

    pub(super) fn repeated(&self) -> bool {
        self.0.repeated()
    }

    pub(super) fn rx_progress(&self, payload: u64) -> RxProgress {
        self.0.rx_progress(payload)
    }
}

/// The sender's half.
#[derive(Debug)]
pub struct Sender {
    /// Duplicates since the window last moved; a partial acknowledgement does not reset them.
    duplicates: u64,
    /// "DupThresh".
    threshold: u64,
    limited_transmit: bool,
    after: AfterRecovery,
    rules: NewRenoRules,
    /// True from the third duplicate until "recover" is acknowledged.
    recovering: bool,
    /// "recover": the end of what was sent when the last recovery began, or the last timeout
    /// occurred.
    recover: Option<u64>,
    /// True once this recovery has seen a partial acknowledgement.
    partial: bool,
    /// True if the last acknowledgement lets no new data leave.
    holds: bool,
    /// Packets that the window has in a recovery beyond the congestion window.
    inflation: i64,
    /// The packet to retransmit.
    resend: Option<u64>,
    /// The retransmission timeout.
    pub rto: Rto,
}

impl Sender {
    /// A new flow's half.
    #[must_use]
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            duplicates: 0,
            threshold: u64::from(config.duplicate_acks),
            limited_transmit: config.limited_transmit,
            after: config.after_recovery,
            rules: config.newreno,
            recovering: false,
            recover: None,
            partial: false,
            holds: false,
            inflation: 0,
            resend: None,
            rto: Rto::of_flow(config),
        }
    }

    /// All packets before this one have arrived.
    pub fn on_progress(&mut self, packet: u64) {
        self.resend = self.resend.filter(|&resend| resend >= packet);
    }

    /// Handles an acknowledgement.
    pub fn on_answer(&mut self, sent: &Sent, answer: &Answer) -> Progress {
        self.rto.on_answer(sent.una, answer);
        self.holds = false;
        if answer.acked > 0 {
            let inside = self.recover.is_some_and(|recover| sent.una < recover);
            if self.recovering && inside {
                self.on_partial(sent, answer)
            } else {
                self.on_full(sent)
            }
        } else if answer.repeats {
            self.on_duplicate(sent)
        } else {
            Progress { recovering: self.recovering, ..Progress::default() }
        }
    }

    /// "If this ACK does *not* acknowledge all of the data up to and including recover, then this
    /// is a partial ACK. In this case, retransmit the first unacknowledged segment. Deflate the
    /// congestion window by the amount of new data acknowledged [...]. If the partial ACK
    /// acknowledges at least one SMSS of new data, then add back SMSS bytes" (§3.2, step 3).
    fn on_partial(&mut self, sent: &Sent, answer: &Answer) -> Progress {
        let restarts = !std::mem::replace(&mut self.partial, true);
        self.resend = Some(sent.una / sent.payload);
        self.inflation += 1 - answer.acked.div_ceil(sent.payload) as i64;
        if self.rules == NewRenoRules::Htsim {
            // "if (new_data < _cwnd) _cwnd -= new_data; else _cwnd = 0; _cwnd += _mss".
            self.inflation = self.inflation.max(1 - (sent.window / sent.payload) as i64);
        }
        let mut shrink = None;
        if self.after == AfterRecovery::Deflated && self.inflation < 1 {
            // The congestion window takes what duplicates did not add.
            shrink = Some(Shrink::By(self.inflation.abs_diff(1) * sent.payload));
            self.inflation = 1;
        }
        Progress { recovering: true, restarts, shrink, ..Progress::default() }
    }

    /// An acknowledgement of new data outside of a recovery, or at its end. The latter grows the
    /// window only if the recovery has deflated it.
    fn on_full(&mut self, sent: &Sent) -> Progress {
        let recovering = self.recovering && self.after != AfterRecovery::Deflated;
        (self.recovering, self.duplicates, self.inflation) = (false, 0, 0);
        let flight = recovering && self.after == AfterRecovery::Flight;
        let shrink = flight.then_some(Shrink::To(sent.next - sent.una + sent.payload));
        Progress { recovering, restarts: true, shrink, ..Progress::default() }
    }

    fn on_duplicate(&mut self, sent: &Sent) -> Progress {
        self.duplicates += 1;
        // "The TCP sender first checks the value of recover to see if the Cumulative
        // Acknowledgment field covers more than recover" (§3.2, step 2).
        let covered = self.recover.is_none_or(|recover| match self.rules {
            NewRenoRules::Rfc6582 => sent.una > recover,
            NewRenoRules::Htsim => sent.una >= recover,
        });
        let begins = self.duplicates == self.threshold && !self.recovering && covered;
        if begins {
            self.recovering = true;
            self.recover = Some(self.end_of_sent(sent));
            self.partial = false;
            self.inflation = self.threshold as i64;
            self.holds = self.rules == NewRenoRules::Htsim;
            self.resend = Some(sent.una / sent.payload);
            self.rto.forget();
        } else if self.recovering {
            self.inflation += 1;
        }
        Progress { begins, recovering: self.recovering, restarts: begins, shrink: None }
    }

    /// "recover": the end of what was sent.
    fn end_of_sent(&self, sent: &Sent) -> u64 {
        match self.rules {
            NewRenoRules::Rfc6582 => sent.high,
            NewRenoRules::Htsim => sent.next,
        }
    }

    /// Bytes that the flow may send beyond its congestion window. Before a recovery each duplicate
    /// lets a packet leave (RFC 3042 §2, limited transmit).
    #[must_use]
    pub fn beyond(&self, payload: u64) -> i64 {
        if self.holds {
            return i64::MIN;
        }
        let limited = self.limited_transmit && self.duplicates < self.threshold;
        let packets = match (self.recovering, limited) {
            (true, _) => self.inflation,
            (false, true) => self.duplicates as i64,
            (false, false) => 0,
        };
        packets * payload as i64
    }

    /// A packet leaves: its end, and whether it was sent before.
    pub fn on_sent(&mut self, end: u64, now: u64, again: bool) {
        self.rto.on_sent(end, now, again);
    }

    /// Retransmission timeout. "After a retransmit timeout, record the highest sequence number
    /// transmitted in the variable recover, and exit the fast recovery procedure if applicable"
    /// (§3.2, step 4).
    pub fn on_timeout(&mut self, sent: &Sent) {
        (self.recovering, self.duplicates, self.inflation) = (false, 0, 0);
        self.recover = Some(self.end_of_sent(sent));
        self.resend = None;
        self.rto.back_off();
    }

    /// Takes the packet to retransmit.
    pub fn take(&mut self) -> Option<u64> {
        self.resend.take()
    }

    /// Bytes to retransmit.
    #[must_use]
    pub fn lost_bytes(&self, payload: u64, flow_bytes: u64) -> u64 {
        self.resend.map_or(0, |packet| payload.min(flow_bytes - packet * payload))
    }
}

#[cfg(test)]
mod tests;
