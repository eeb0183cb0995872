//! The places of hosts in the network.

/// The place of a host in the network.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    /// Its group: the hosts of one switch.
    pub group: u32,
    /// Its port at that switch.
    pub access_port: u16,
}
