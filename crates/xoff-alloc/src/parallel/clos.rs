//! The network of the parallel allocator: a two-stage Clos, divided into blocks of racks (§4).

use crate::error::Error;

/// Maximum number of links, and of ways, in a LinkBlock: a 16-bit index needs no bounds check.
/// There is room for all of them; memory of unused entries is never touched.
pub(crate) const MOST_INDICES: usize = 1 << 16;

/// Racks of servers, and spines with one link to and from each rack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clos {
    /// Number of racks.
    pub racks: u32,
    /// Number of servers per rack.
    pub servers_per_rack: u32,
    /// Number of spines.
    pub spines: u32,
    /// Capacity of a server's link, in each direction.
    pub server_capacity: f64,
    /// Capacity of the link between a rack and a spine, in each direction.
    pub spine_capacity: f64,
}

/// A link of a two-stage Clos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosLink {
    /// From a server to its rack's switch.
    FromServer(u32),
    /// From a rack's switch to a spine.
    ToSpine {
        /// The rack.
        rack: u32,
        /// The spine.
        spine: u32,
    },
    /// From a spine to a rack's switch.
    FromSpine {
        /// The rack.
        rack: u32,
        /// The spine.
        spine: u32,
    },
    /// From a rack's switch to a server.
    ToServer(u32),
}

/// Direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// Layout of a LinkBlock: its servers' links, then the links of its first rack to all spines, and
/// so on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) blocks: usize,
    pub(crate) racks: usize,
    pub(crate) servers_per_rack: usize,
    pub(crate) spines: usize,
}

impl Shape {
    /// Divides the racks evenly into a power of two of blocks.
    pub(crate) fn new(clos: &Clos, blocks: usize) -> Result<Self, Error> {
        let refused = |name, value: usize, expected| {
            Err(Error::Setting { name, value: value as f64, expected })
        };
        let (racks, servers_per_rack) = (clos.racks as usize, clos.servers_per_rack as usize);
        let spines = clos.spines as usize;
        for (name, value) in
            [("racks", racks), ("servers_per_rack", servers_per_rack), ("spines", spines)]
        {
            if value == 0 {
                return refused(name, value, "at least 1");
            }
        }
        if !blocks.is_power_of_two() || !racks.is_multiple_of(blocks) {
            return refused("blocks", blocks, "a power of two that divides the number of racks");
        }
        let shape = Self { blocks, racks: racks / blocks, servers_per_rack, spines };
        let most = (shape.servers() as u64 * spines as u64).max(shape.links() as u64 + 1);
        if most > MOST_INDICES as u64 {
            return refused("blocks", blocks, "larger: a block has more than 65 536 links or ways");
        }
        Ok(shape)
    }

    /// Number of servers in a block.
    pub(crate) fn servers(&self) -> usize {
        self.racks * self.servers_per_rack
    }

    /// Number of links in a LinkBlock.
    pub(crate) fn links(&self) -> usize {
        self.servers() + self.racks * self.spines
    }

    /// The link of a LinkBlock that is free and never full. Flows within a rack use it instead of a
    /// link to a spine.
    pub(crate) fn free_link(&self) -> usize {
        self.links()
    }

    /// Number of ways from the servers of a block to spines, or back.
    pub(crate) fn ways(&self) -> usize {
        self.servers() * self.spines
    }

    /// The block of a server, and the server's index in it.
    pub(crate) fn server(&self, server: u32) -> (usize, usize) {
        (server as usize / self.servers(), server as usize % self.servers())
    }

    /// Index of a rack's link to or from a spine in its LinkBlock.
    pub(crate) fn spine_link(&self, rack: usize, spine: usize) -> usize {
        self.servers() + rack * self.spines + spine
    }

    /// The two links at one end of a path, by index in their LinkBlock.
    pub(crate) fn end(&self, server: usize, spine: usize, is_near: bool) -> [usize; 2] {
        let rack = server / self.servers_per_rack;
        [server, if is_near { self.free_link() } else { self.spine_link(rack, spine) }]
    }

    /// Index of the way between a server of a block and a spine. Ways of one rack and spine are
    /// adjacent.
    pub(crate) fn way(&self, server: usize, spine: usize) -> usize {
        let (rack, within) = (server / self.servers_per_rack, server % self.servers_per_rack);
        (rack * self.spines + spine) * self.servers_per_rack + within
    }

    /// Position of a link: its direction, its LinkBlock, and its index there.
    pub(crate) fn find(&self, link: ClosLink) -> Result<(Way, usize, usize), Error> {
        let (way, server, at) = match link {
            ClosLink::FromServer(server) => (Way::Up, server, None),
            ClosLink::ToServer(server) => (Way::Down, server, None),
            ClosLink::ToSpine { rack, spine } => (Way::Up, 0, Some((rack, spine))),
            ClosLink::FromSpine { rack, spine } => (Way::Down, 0, Some((rack, spine))),
        };
        match at {
            None => {
                self.check("server", server, self.servers() * self.blocks)?;
                let (block, server) = self.server(server);
                Ok((way, block, server))
            }
            Some((rack, spine)) => {
                self.check("rack", rack, self.racks * self.blocks)?;
                self.check("spine", spine, self.spines)?;
                let rack = rack as usize;
                let link = self.spine_link(rack % self.racks, spine as usize);
                Ok((way, rack / self.racks, link))
            }
        }
    }

    pub(crate) fn check(&self, kind: &'static str, index: u32, count: usize) -> Result<(), Error> {
        if (index as usize) < count {
            Ok(())
        } else {
            Err(Error::UnknownNode { kind, index, count })
        }
    }
}
