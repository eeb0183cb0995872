//! Counts of switches, made again from the packets that wait there. Each must equal what the switch
//! has counted packet by packet.

use xoff_core::invariant::{Checker, Part, Violation, equal};

use crate::packet::{CLASSES, Packet, Pool, QueueMask};
use crate::sched::{Egress, Scheduler, each_scheduler};

/// The outcome of a check.
pub type Checked = Result<(), Box<Violation>>;

/// Adds the part of a switch that a violation concerns.
pub(crate) fn of_part(part: Part) -> impl Fn(Box<Violation>) -> Box<Violation> {
    move |violation| Box::new(violation.of(part))
}

/// A data packet that waits at an egress port of a switch.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPacket<'a> {
    /// The number of the egress port.
    pub egress: u16,
    /// The packet.
    pub packet: &'a Packet,
}

/// The packets of a switch other than those of its links' control, by the places where they wait.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// At its egress ports.
    pub egress: Vec<WaitingPacket<'a>>,
    /// Before they get to one.
    pub inside: Vec<&'a Packet>,
    /// On the way between its stages.
    pub staged: Vec<&'a Packet>,
}

impl Contents<'_> {
    /// The packets that have not reached an egress port.
    pub(crate) fn before_egress(&self) -> impl Iterator<Item = &Packet> {
        self.inside.iter().chain(&self.staged).copied()
    }
}

/// Counts the bytes of packets by port and class.
pub(crate) fn bytes_by_class<'a>(
    ports: usize,
    packets: impl Iterator<Item = (u16, u8, &'a Packet)>,
) -> Vec<[u32; CLASSES]> {
    let mut bytes = vec![[0; CLASSES]; ports];
    for (port, class, packet) in packets {
        bytes[usize::from(port)][usize::from(class)] += u32::from(packet.wire_bytes);
    }
    bytes
}

/// Compares the bytes of each class at each port with the counts of the switch.
///
/// # Errors
/// A count that differs.
pub(crate) fn equal_by_class(
    side: &str,
    bytes: &[[u32; CLASSES]],
    counted: impl Fn(u16, u8) -> u32,
) -> Checked {
    for (port, classes) in (0..).zip(bytes) {
        for (class, &bytes) in (0..).zip(classes) {
            let place = || format!("bytes of class {class} at {side} {port}");
            let compared = equal(Checker::Buffers, bytes, counted(port, class), place);
            compared.map_err(of_part(Part::port(port)))?;
        }
    }
    Ok(())
}

/// The packets of a port's queues, for tests of hop controls without a switch.
#[cfg(test)]
pub(crate) fn waiting<'a>(
    egress: u16,
    queues: &impl Scheduler,
    pool: &'a Pool,
) -> Vec<WaitingPacket<'a>> {
    let mut waiting = Vec::new();
    queues.each_packet(pool, &mut |id, _| {
        waiting.push(WaitingPacket { egress, packet: &pool[id] });
    });
    waiting
}

/// The data packets of a port.
#[derive(Debug)]
struct PortCounts {
    /// By queue, bytes on the wire and the time at which the last packet joined (ps).
    queues: [(u32, u64); 128],
    /// Queues with packets.
    occupied: QueueMask,
    /// Whether a packet waits that no queue counts.
    uncounted: bool,
    bytes: u32,
}

impl Egress {
    /// Counts its packets again. `visit` gets each of them, and whether it is data. `stamped`: data
    /// has the time at which it joined its queue.
    ///
    /// # Errors
    /// A count that differs, or packets out of order.
    pub fn recount(&self, pool: &Pool, stamped: bool, mut visit: impl FnMut(u32, bool)) -> Checked {
        let mut control = 0;
        for id in self.common.control.packets(pool) {
            control += u32::from(pool[id].wire_bytes);
            visit(id, false);
        }
        let place = || "bytes of the control queue".to_owned();
        equal(Checker::Queues, control, self.common.control.bytes(), place)?;
        if self.common.data_bytes == 0 && !self.has_data() {
            return Ok(());
        }
        let mut counts =
            PortCounts { queues: [(0, 0); 128], occupied: 0, uncounted: false, bytes: 0 };
        let mut overtaken = None;
        self.each_data(pool, &mut |id, queue| {
            let packet = &pool[id];
            counts.bytes += u32::from(packet.wire_bytes);
            visit(id, true);
            let Some(queue) = queue else {
                counts.uncounted = true;
                return;
            };
            counts.occupied |= 1 << queue;
            let (bytes, joined) = &mut counts.queues[usize::from(queue)];
            *bytes += u32::from(packet.wire_bytes);
            if stamped && packet.time < *joined || packet.queue != queue {
                overtaken = Some((queue, *packet));
            }
            *joined = packet.time;
        });
        if let Some((queue, packet)) = overtaken {
            let found = format!("{packet:?}");
            let expected = "packets of this queue, in the order of their arrival";
            let place = format!("queue {queue}");
            let violation = Violation::new(Checker::Order, place, expected, found);
            return Err(Box::new(violation.of(Part::queue(queue))));
        }
        self.compare(&counts)
    }

    /// Whether the scheduler believes that it holds packets.
    fn has_data(&self) -> bool {
        each_scheduler!(&self.scheduler, queues => queues.occupied() != 0 || queues.is_ready())
    }

    fn compare(&self, counts: &PortCounts) -> Checked {
        let place = || "bytes of data".to_owned();
        equal(Checker::Queues, counts.bytes, self.common.data_bytes, place)?;
        let any = counts.occupied != 0 || counts.uncounted;
        each_scheduler!(&self.scheduler, queues => {
            // Some schedulers do not divide their memory into queues.
            let divides = counts.occupied != 0;
            if divides {
                let place = || "queues with packets, as a mask".to_owned();
                equal(Checker::Queues, counts.occupied, queues.occupied(), place)?;
                for queue in (0..128).filter(|queue| counts.occupied >> queue & 1 == 1) {
                    let place = || format!("bytes of queue {queue}");
                    let (bytes, _) = counts.queues[usize::from(queue)];
                    equal(Checker::Queues, bytes, queues.queue_wire_bytes(queue), place)
                        .map_err(of_part(Part::queue(queue)))?;
                }
            }
            let ready = match (divides, counts.uncounted) {
                (true, false) => counts.occupied & !queues.paused() != 0,
                // A few packets have left their queues, and no pause stops them.
                (true, true) => true,
                (false, _) => any && (queues.paused() == 0 || queues.occupied() == 0),
            };
            let place = || "whether a packet may be sent".to_owned();
            equal(Checker::Queues, ready, queues.is_ready(), place)
        })
    }
}
