//! The reasons for a pipelined switch's pauses, in words, for a run that is stuck.

use std::fmt::Write as _;

use super::Pipelined;
use crate::hop::IngressControl;
use crate::packet::CLASSES;
use crate::ports::each;

impl Pipelined {
    /// Why the neighbour of a port is asked to pause, by class; empty if it is not.
    #[must_use]
    pub fn reasons(&self, number: u16) -> String {
        let paused = self.capfc.paused_queues(number);
        let congested = self.capfc.congested(number);
        let mut text = String::new();
        for class in (0..CLASSES as u8).filter(|class| paused >> class & 1 == 1) {
            let _ = write!(text, "; class {class}:");
            if congested >> class & 1 == 1 {
                text += " its ingress queue is congested";
            }
            let blamers = self.capfc.blamers(number, class);
            if blamers != 0 {
                let ports: Vec<String> = each(blamers).map(|port| port.to_string()).collect();
                let _ = write!(text, " it is blamed by egress ports {}", ports.join(", "));
            }
        }
        if self.processor.stopped().is_some_and(|stop| stop.egress == number) {
            text += "; its full queue has stopped the processor";
        }
        text
    }
}
