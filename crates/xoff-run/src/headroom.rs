//! Headrooms that are less than what arrives after a pause.

use xoff_core::Bytes;
use xoff_core::seam::Seam as _;
use xoff_net::buffer::Profile;
use xoff_net::topo::Port;
use xoff_sim::Setup;

/// One text for each headroom that is too small, with the link that needs most.
pub(crate) fn too_small(setup: &Setup) -> Vec<String> {
    let topology = &setup.topology;
    let ports = || topology.switch_ids().flat_map(|node| topology.ports_of(node));
    let text = |of: &str, headroom: Bytes, port: &Port| {
        format!(
            "{of} a headroom of {headroom}, but up to {} arrive after a pause over a link of {} \
             with a delay of {}: packets of a lossless class may be dropped",
            setup.after_pause(port),
            port.rate,
            port.delay
        )
    };
    let by_class = &setup.switch.buffer.by_class;
    let mut found = Vec::new();
    // What classes without a share of their own have differs from link to link.
    let own = |port: &Port| setup.switch.hop.headroom(&port.into());
    let lacks = |port: &&Port| own(port).is_some_and(|headroom| headroom < setup.after_pause(port));
    let short = ports().filter(lacks).filter(|_| !by_class.is_complete());
    if let Some(port) = short.max_by_key(|port| setup.after_pause(port)) {
        let of = format!("{}.headroom_factor gives", setup.switch.hop.own_section());
        found.extend(own(port).map(|headroom| text(&of, headroom, port)));
    }
    let Some(port) = ports().max_by_key(|port| setup.after_pause(port)) else { return found };
    found.extend(by_class.iter().filter_map(|(class, own): (u8, Profile)| {
        let headroom = own.headroom.filter(|headroom| *headroom < setup.after_pause(port))?;
        Some(text(&format!("class {class} of buffer.by_class has"), headroom, port))
    }));
    found
}
