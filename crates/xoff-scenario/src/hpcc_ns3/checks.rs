//! Values of `config.txt` that do not go with the network.

use xoff_core::{BitRate, Bytes, NodeId};
use xoff_net::hop::PfcConfig;
use xoff_net::topo::{Port, Topology};

use super::config::Config;

/// Checks the thresholds and buffers of all switches.
///
/// # Errors
/// The key concerned, and what to write instead.
pub(super) fn check(config: &Config, topology: &Topology) -> Result<(), String> {
    if config.ecn {
        check_thresholds(config, topology)?;
    }
    topology.switch_ids().try_for_each(|node| check_buffer(config, topology, node))
}

/// Each port's rate has ECN thresholds. That simulator stops without them in a debug build, and
/// takes 0 otherwise.
fn check_thresholds(config: &Config, topology: &Topology) -> Result<(), String> {
    fn has<T>(map: &[(BitRate, T)], rate: BitRate) -> bool {
        map.iter().any(|entry| entry.0 == rate)
    }
    let ports = topology.switch_ids().flat_map(|node| topology.ports_of(node));
    for rate in ports.map(|port| port.rate) {
        for (key, known) in [
            ("KMIN_MAP", has(&config.kmin, rate)),
            ("KMAX_MAP", has(&config.kmax, rate)),
            ("PMAX_MAP", has(&config.pmax, rate)),
        ] {
            if !known {
                return Err(format!(
                    "{key} has no entry for links of {rate}, which {} has: add \"{} VALUE\" to it, \
                     or set ENABLE_QCN 0",
                    config.topology_file, rate.0
                ));
            }
        }
    }
    Ok(())
}

/// Headrooms and reserves leave a part of the buffer.
fn check_buffer(config: &Config, topology: &Topology, node: NodeId) -> Result<(), String> {
    let pfc = PfcConfig::default();
    let of_port = |port: &Port| {
        let in_flight = u128::from(port.rate.0) * u128::from(port.delay.0) / 8_000_000_000_000;
        in_flight as u64 * u64::from(pfc.headroom_factor) + pfc.reserve.0
    };
    let taken: u64 = topology.ports_of(node).iter().map(of_port).sum();
    if taken < config.buffer.0 {
        return Ok(());
    }
    let enough = (taken >> 20) + 1;
    let number = topology.given_number(node);
    let what_follows = if enough < 4096 {
        format!("choose at least {enough}")
    } else {
        "it counts 32 bits, so this network needs links with less rate or delay".into()
    };
    Err(format!(
        "BUFFER_SIZE {}: the headrooms and reserves of switch {number} take {} of {}. That \
         simulator's threshold, what is left of the buffer, would then wrap around to \
         hundreds of megabytes, and no switch would pause: {what_follows}",
        config.buffer.0 >> 20,
        Bytes(taken),
        config.buffer
    ))
}
