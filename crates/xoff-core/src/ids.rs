//! The numbers of hosts, nodes, ports and flows, each of a type of its own, and that of classes.
//!
//! A number is made by its name, such as `HostId(3)`: no conversion is implicit, so a host cannot
//! be passed for a port. The packet path keeps plain integers in packets, queues and events.

use core::fmt;

/// Traffic classes of packets, from 0: as many as priority code points of IEEE 802.1Q. 0 is the
/// most important one.
pub const CLASSES: usize = 8;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($number:ty);)+) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $number);

        impl $name {
            /// The place in a table that has one entry for each number.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// A host, numbered from 0. Servers come first, attached hosts after them.
    HostId(u32);
    /// A node of a topology: a host or a switch. Hosts are the first nodes and have the same number
    /// as nodes. Switches follow.
    NodeId(u32);
    /// A port of a topology: one end of a link, and the direction in which its node sends. It is
    /// unique in the network. The ports of a node have consecutive numbers, in the order of nodes.
    PortId(u32);
    /// A flow, numbered from 0 in the order of arrivals. It is unique in a run.
    FlowId(u64);
}

impl HostId {
    /// The host as a node of the topology.
    #[inline]
    #[must_use]
    pub const fn node(self) -> NodeId {
        NodeId(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shown_plain_and_padded() {
        assert_eq!(format!("{} {:>3} {:03}", HostId(7), NodeId(8), PortId(9)), "7   8 009");
        assert_eq!(FlowId(u64::MAX).to_string(), u64::MAX.to_string());
    }

    #[test]
    fn a_host_is_the_node_of_its_number() {
        assert_eq!(HostId(5).node(), NodeId(5));
        assert_eq!(HostId(5).node().index(), HostId(5).index());
    }
}
