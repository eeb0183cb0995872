//! Hosts with a receive rate: their NICs pause and resume their switches.

use xoff_net::Fabric;
use xoff_net::hop::{Ask, FRAME_BYTES, Signal};

use super::Hosts;

impl Hosts {
    /// Adds an arriving data packet to its host's backlog.
    #[cold]
    pub(super) fn take_in(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let packet = &fabric.packets[id];
        let (class, bytes) = (packet.class(), u64::from(packet.wire_bytes));
        let config = &self.setup.nic;
        let intake = &mut self.intakes[nic as usize];
        if intake.on_data(config, fabric.now, class, bytes) {
            self.stats.pauses += 1;
            let timer = self.nics[nic as usize].timers.intake;
            fabric.wheel.arm(timer, intake.resume_at(config));
            self.tell_switch(fabric, nic, Ask::Pause, 1 << class);
        }
    }

    /// A host's backlog may have fallen to the XON threshold: resumes the switch.
    pub fn on_intake_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        let intake = &mut self.intakes[nic as usize];
        let resume_at = intake.resume_at(&self.setup.nic);
        if resume_at > fabric.now {
            fabric.wheel.arm(self.nics[nic as usize].timers.intake, resume_at);
        } else {
            let queues = intake.resume();
            // A link that goes down ends its pauses.
            if queues != 0 {
                self.tell_switch(fabric, nic, Ask::Resume, queues);
            }
        }
    }

    fn tell_switch(&mut self, fabric: &mut Fabric, nic: u32, ask: Ask, queues: u128) {
        let frame = Signal::new(0, ask, queues).frame(FRAME_BYTES);
        let id = fabric.packets.insert(frame);
        let state = &mut self.nics[nic as usize];
        state.frames.push(&mut fabric.packets, id);
        fabric.kick(state.port);
    }
}
