//! The queues and memory of a switch, counted again, and its ports at work.

use xoff_core::PortId;
use xoff_core::invariant::{Checker, Part, Violation, holds};
use xoff_net::Kind;
use xoff_net::arch::Switch;
use xoff_net::recount::{Checked, Contents, WaitingPacket};

use super::State;
use super::census::Census;
use super::pauses::Links;
use crate::partition::Partition;
use crate::watchdog::describe_switch;

/// Checks a switch of a partition.
pub(super) fn audit(
    state: &State<'_>,
    partition: &Partition,
    index: usize,
    census: &mut Census,
    links: &mut Links<'_>,
) -> Checked {
    let (node, switch) = &partition.switches()[index];
    let pool = &partition.fabric().packets;
    let mut contents = Contents::default();
    let ports = state.setup.topology.port_ids_of(*node);
    for (id, (number, egress)) in ports.zip((0..).zip(switch.egress())) {
        let counted = egress.recount(pool, switch.hop().is_some(), |packet, is_data| {
            census.found(packet);
            if is_data {
                contents.egress.push(WaitingPacket { egress: number, packet: &pool[packet] });
            } else if pool[packet].kind == Kind::LinkControl {
                links.asks(id);
            }
        });
        let described = |violation: Box<Violation>| {
            let text = describe_switch(partition, *node, switch);
            let violation = violation.within(&state.port_label(id)).of(state.port_part(id));
            Box::new(violation.with_state(text.trim()))
        };
        counted.map_err(described)?;
        let ready = egress.is_ready();
        check_work(state, id, ready).map_err(described)?;
    }
    switch.each_inside(pool, &mut |id| {
        census.found(id);
        contents.inside.push(&pool[id]);
    });
    contents.staged.extend(census.staged[index].iter().map(|&id| &pool[id]));
    let described = |violation: Box<Violation>| {
        let violation = violation.within(&state.node_label(*node)).of(Part::node(*node));
        let text = describe_switch(partition, *node, switch);
        Box::new(violation.with_state(text.trim()))
    };
    if !state.setup.hosts.literal || state.setup.faults.is_empty() {
        switch.recount(&contents).map_err(described)?;
    }
    let is_paused = || state.one_class && state.setup.pauses_suffice(*node);
    switch.check_losses(is_paused).map_err(described)
}

/// Checks that a port with a packet that may be sent is busy.
fn check_work(state: &State<'_>, id: PortId, ready: bool) -> Checked {
    if !ready {
        return Ok(());
    }
    let (partition, port) = state.partition_of(id);
    let port = partition.fabric().port_state(port);
    holds(port.picking || (port.waking && port.busy_until >= state.now.0), || {
        let expected = "busy, with a wake-up at its end: a packet may be sent";
        Violation::new(Checker::Work, "its transmission", expected, format!("{port:?}"))
    })
}

/// Checks the ports of hosts in the same way.
pub(super) fn audit_nics(state: &State<'_>, partition: &Partition) -> Checked {
    for nic in partition.hosts().nics() {
        let id = partition.fabric().port_id(nic.port);
        check_work(state, id, nic.is_ready() || nic.has_control()).map_err(|violation| {
            Box::new(violation.within(&state.port_label(id)).of(state.port_part(id)))
        })?;
    }
    Ok(())
}
