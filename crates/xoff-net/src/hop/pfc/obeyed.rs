//! Pauses that a switch's egress ports obey, with their start and end.
//!
//! A port obeys a frame some time after its arrival (T_R, DeTail §6.1). Its hardware may then hold
//! packets that a pause no longer stops (DeTail §7.2.2). A pause ends when its time is over.

use std::collections::VecDeque;

use crate::packet::CLASSES;

const NEVER: u64 = u64::MAX;

/// The request of a frame: a port pauses some classes for a time (ps). A time of 0 resumes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) port: u16,
    pub(super) classes: u8,
    pub(super) pause_ps: u64,
}

/// The pauses of one egress port.
#[derive(Clone, Copy, Debug)]
struct Port {
    paused: u8,
    /// Classes that pause once the hardware is empty.
    pending: u8,
    /// Bytes left in the hardware.
    left: u32,
    /// End of each class's pause.
    ends: [u64; CLASSES],
}

/// The pauses of all egress ports.
#[derive(Debug)]
pub(super) struct Obeyed {
    response_ps: u64,
    outstanding: u32,
    mtu: u32,
    /// Frames that have arrived and are not obeyed yet, with the time when they are.
    arrived: VecDeque<(u64, Request)>,
    ports: Vec<Port>,
}

impl Obeyed {
    pub(super) fn new(response_ps: u64, outstanding: u32, mtu: u16, ports: usize) -> Self {
        let port = Port { paused: 0, pending: 0, left: 0, ends: [NEVER; CLASSES] };
        let mtu = u32::from(mtu);
        Self { response_ps, outstanding, mtu, arrived: VecDeque::new(), ports: vec![port; ports] }
    }

    /// A frame has arrived. The port obeys it at the time that [`Self::next`] gives.
    pub(super) fn hear(&mut self, now: u64, request: Request) {
        self.arrived.push_back((now + self.response_ps, request));
    }

    /// The time when the next frame is obeyed.
    pub(super) fn next(&self) -> Option<u64> {
        self.arrived.front().map(|&(due, _)| due)
    }

    /// The next frame that is due now.
    pub(super) fn take(&mut self, now: u64) -> Option<Request> {
        (self.next()? <= now).then(|| self.arrived.pop_front().map(|(_, request)| request))?
    }

    /// A port obeys a frame from now on. `idle`: the port has nothing to send. Returns the paused
    /// classes.
    pub(super) fn obey(&mut self, now: u64, request: Request, idle: bool) -> u8 {
        let Request { port, classes, pause_ps } = request;
        let state = &mut self.ports[port as usize];
        for class in (0..CLASSES).filter(|class| classes >> class & 1 == 1) {
            state.ends[class] = if pause_ps == 0 { NEVER } else { now + pause_ps };
        }
        if pause_ps == 0 {
            state.paused &= !classes;
            state.pending &= !classes;
        } else if idle || self.outstanding < self.mtu {
            state.paused |= classes;
        } else {
            let new = classes & !state.paused & !state.pending;
            if new != 0 {
                state.pending |= new;
                state.left = self.outstanding;
            }
        }
        state.paused
    }

    /// A port sends a packet of `bytes`. `idle`: no packet follows. Returns the paused classes, if
    /// they change.
    #[inline]
    pub(super) fn on_sent(&mut self, port: u16, bytes: u16, idle: bool) -> Option<u8> {
        let state = &mut self.ports[port as usize];
        if state.pending == 0 {
            return None;
        }
        state.left = state.left.saturating_sub(u32::from(bytes));
        if state.left >= self.mtu && !idle {
            return None;
        }
        state.paused |= state.pending;
        state.pending = 0;
        Some(state.paused)
    }

    /// Ends the pauses of a port that are over. Returns the paused classes.
    pub(super) fn expire(&mut self, now: u64, port: u16) -> u8 {
        let state = &mut self.ports[port as usize];
        for class in 0..CLASSES {
            if state.ends[class] <= now {
                state.ends[class] = NEVER;
                state.paused &= !(1 << class);
                state.pending &= !(1 << class);
            }
        }
        state.paused
    }

    /// When the next pause of a port ends by itself; `u64::MAX`: never.
    pub(super) fn next_end(&self, port: u16) -> u64 {
        self.ports[port as usize].ends.into_iter().min().unwrap_or(NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Request = Request { port: 1, classes: 0b110, pause_ps: 500 };

    #[test]
    fn a_frame_is_obeyed_after_the_response_time_and_until_its_end() {
        let mut obeyed = Obeyed::new(100, 0, 1530, 2);
        obeyed.hear(1_000, TWO);
        assert!(obeyed.take(1_099).is_none());
        let request = obeyed.take(1_100).unwrap();
        assert_eq!(obeyed.obey(1_100, request, false), 0b110);
        assert_eq!((obeyed.next_end(0), obeyed.next_end(1)), (NEVER, 1_600));
        assert_eq!(obeyed.obey(1_200, Request { classes: 0b10, ..TWO }, false), 0b110);
        assert_eq!(obeyed.obey(1_300, Request { classes: 1, ..TWO }, false), 0b111);
        assert_eq!(obeyed.expire(1_600, 1), 0b011);
        assert_eq!(obeyed.obey(1_650, Request { classes: 1, pause_ps: 0, ..TWO }, false), 0b010);
        assert_eq!(obeyed.next_end(1), 1_700);
        assert_eq!((obeyed.expire(1_700, 1), obeyed.next_end(1)), (0, NEVER));
    }

    /// With 6 KB in the hardware at most four packets of 1530 B follow, or fewer if the queue is
    /// empty.
    #[test]
    fn hardware_sends_what_it_has() {
        let mut obeyed = Obeyed::new(0, 6_120, 1530, 2);
        assert_eq!(obeyed.obey(0, TWO, false), 0);
        let sent = [1530; 4].map(|bytes| obeyed.on_sent(1, bytes, false));
        assert_eq!(sent, [None, None, None, Some(0b110)]);
        assert_eq!(obeyed.obey(10, Request { classes: 1, ..TWO }, false), 0b110);
        assert_eq!(obeyed.on_sent(1, 64, true), Some(0b111));
        assert_eq!(obeyed.obey(20, Request { port: 0, ..TWO }, true), 0b110);
    }

    /// Hardware that holds one packet sends it before the pause begins. After a resume, or when it
    /// is over, no pause begins.
    #[test]
    fn a_pause_that_is_over_does_not_begin() {
        let pending = |outstanding| {
            let mut obeyed = Obeyed::new(0, outstanding, 1530, 2);
            assert_eq!(obeyed.obey(0, TWO, false), 0);
            obeyed
        };
        assert_eq!(pending(1_530).on_sent(1, 1530, false), Some(0b110));
        let mut resumed = pending(6_120);
        assert_eq!(resumed.obey(10, Request { pause_ps: 0, ..TWO }, false), 0);
        assert_eq!(resumed.on_sent(1, 1530, true), None);
        let mut expired = pending(6_120);
        assert_eq!(expired.expire(500, 1), 0);
        assert_eq!(expired.on_sent(1, 64, true), None);
    }
}
