//! Gives the connections of a network namespace another congestion control (`bpf/retire.bpf.c`).

use std::io::{self, Read};

use libbpf_rs::{Iter, Link, Object, ObjectBuilder};

use crate::name::{self, Name};

/// The compiled program; `bpf/build` makes it.
const PROGRAM: &[u8] = include_bytes!("../bpf/retire.bpf.o");

/// A loaded program, for one congestion control and its successor.
pub(crate) struct Retire {
    link: Link,
    _object: Object,
}

impl Retire {
    pub(crate) fn load(name: &Name, successor: &str) -> io::Result<Self> {
        let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(io::Error::other)?;
        let names = [name.padded(), name::pad(successor)].concat();
        for mut map in open.maps_mut() {
            if map.name().as_encoded_bytes().ends_with(b".rodata") {
                map.set_initial_value(&names).map_err(io::Error::other)?;
            }
        }
        let object = open.load().map_err(io::Error::other)?;
        let program = object.progs_mut().next();
        let program = program.ok_or_else(|| io::Error::other("the eBPF object has no program"))?;
        let link = program.attach().map_err(io::Error::other)?;
        Ok(Self { link, _object: object })
    }

    /// Visits all connections of the thread's network namespace.
    pub(crate) fn run(&self) -> io::Result<()> {
        let mut connections = Iter::new(&self.link).map_err(io::Error::other)?;
        // The program writes nothing: reading makes it run.
        io::copy(&mut connections.by_ref(), &mut io::sink()).map(drop)
    }
}
