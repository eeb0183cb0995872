//! Rules for compositions. Each is a small function from the spec to problems, which the reader
//! collects with their place in the text. The order of rules does not matter, because problems are
//! sorted by place.
//!
//! Rules query the properties of parts ([`Seam`]) and do not match on particular parts. The
//! requirements of a single part are declared by that part ([`Need`]).

mod classes;
mod hosts;
mod leaf_spine;
mod network;
mod switches;

use xoff_core::knobs::{Checked, Knob as _};
use xoff_core::seam::{Need, Seam};
use xoff_net::balance::FlowletConfig;

use super::reader::Reader;
use super::spec::Spec;

pub(super) use hosts::{SET_TIMEOUT, timeouts_exceed_rtt};
pub(super) use network::{
    Context, check_architecture, check_departure, check_instants, check_network, slowest,
};

/// Checks everything that does not depend on the network.
pub(super) fn check(spec: &Spec, reader: &mut Reader<'_>) {
    const RULES: [fn(&Spec, &mut Reader<'_>); 24] = [
        each_part,
        needs,
        hosts::window,
        hosts::pacing,
        hosts::handed_over,
        hosts::timeouts,
        hosts::losses,
        hosts::halved,
        hosts::headers,
        hosts::capture,
        hosts::timeout_after_drops,
        hosts::timeout_after_losses,
        hosts::own_base_rtt,
        hosts::slow_receivers,
        hosts::under_allocator,
        switches::marks,
        switches::queues,
        switches::buffer,
        classes::shares,
        classes::of_all,
        switches::quantum,
        switches::paths,
        switches::ingress_queues,
        switches::sizes_of_flows,
    ];
    for rule in RULES {
        rule(spec, reader);
    }
}

/// The settings of each part on their own.
fn each_part(spec: &Spec, reader: &mut Reader<'_>) {
    let mut check = |section: &str, checked: Checked| {
        if let Err((key, message)) = checked {
            reader.problem(section, key, message);
        }
    };
    check("frame", spec.frame.check());
    check("faults", spec.faults.check());
    check("tcp", spec.recovery.check());
    check(spec.control.own_section(), spec.control.check());
    check(spec.flow_control.own_section(), spec.flow_control.check());
    check(spec.driver.own_section(), spec.driver.check(spec.transport.timeout));
    check(spec.balance.own_section(), spec.balance.check());
    if let Some(flowlets) = spec.balance.flowlets() {
        check(FlowletConfig::SECTION, flowlets.check());
    }
    check(spec.hop.own_section(), spec.hop.check());
    check(spec.scheduler.own_section(), spec.scheduler.check());
    let overflow = spec.overflow.check(spec.frame.full_packet(), spec.frame.ack.0);
    check(spec.overflow.own_section(), overflow);
    if let Some(ecn) = &spec.ecn {
        check("ecn", ecn.check());
    }
    if let Some(buffer) = &spec.buffer {
        check("buffer", buffer.check());
    }
    if let Some(flowtune) = &spec.allocator {
        check("flowtune", flowtune.check());
    }
    for (section, key, message) in spec.architecture.check().err().unwrap_or_default() {
        reader.problem(section, key, message);
    }
}

/// The values that parts need in other settings.
fn needs(spec: &Spec, reader: &mut Reader<'_>) {
    let (switch, transport) = (&spec.switch, &spec.transport);
    let allocator = spec.allocator.as_ref().map(xoff_sim::flowtune::FlowtuneConfig::needs);
    for (section, key, value, needs) in [
        ("switch", "architecture", switch.architecture.show(), spec.architecture.needs()),
        ("switch", "balance", switch.balance.show(), spec.balance.needs()),
        ("switch", "hop", switch.hop.show(), spec.hop.needs()),
        ("switch", "scheduler", switch.scheduler.show(), spec.scheduler.needs()),
        ("switch", "overflow", switch.overflow.show(), spec.overflow.needs()),
        ("switch", "departure", switch.departure.show(), switch.departure.needs()),
        ("transport", "kind", transport.kind.show(), spec.driver.needs()),
        ("transport", "allocator", transport.allocator.show(), allocator.unwrap_or_default()),
    ] {
        for need in needs {
            meet((section, key, &value), &need, reader);
        }
    }
}

/// Whether a need is met.
fn meet(of: (&str, &str, &str), need: &Need, reader: &mut Reader<'_>) {
    let (section, key, value) = of;
    let Some(found) = reader.value(need.section, need.key) else { return };
    let quote = found.starts_with('"');
    if need.values.contains(&found.trim_matches('"')) {
        return;
    }
    let named =
        need.values.iter().map(|name| if quote { format!("\"{name}\"") } else { (*name).into() });
    let wanted = named.collect::<Vec<_>>().join(" or ");
    let message = format!(
        "{section}.{key} = {value} requires {}.{} = {wanted}: {}",
        need.section, need.key, need.reason
    );
    reader.clash_at(&[(need.section, need.key), (section, key)], message);
}
