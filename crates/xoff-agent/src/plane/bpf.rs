//! The data plane in the kernel: an eBPF congestion control (`bpf/flowtune.bpf.c`).

use std::cell::RefCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Duration;

use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, RingBuffer,
    RingBufferBuilder,
};

use super::{DataPlane, Event, event};
use crate::name::Name;

/// The compiled program; `bpf/build` makes it.
const PROGRAM: &[u8] = include_bytes!("../../bpf/flowtune.bpf.o");

/// The congestion control as the kernel knows it. It is registered until this is dropped or the
/// last process that holds it ends. Sockets that use it keep the program beyond that.
#[derive(Debug)]
pub struct Registered {
    object: Object,
    _link: Link,
}

/// Loads the program and registers it under a name.
///
/// # Errors
/// The kernel refuses the program or the name; the message says which.
pub fn register(name: &Name) -> io::Result<Registered> {
    let mut open = ObjectBuilder::default().open_memory(PROGRAM).map_err(plain)?;
    for mut map in open.maps_mut().filter(|map| map.name() == "flowtune") {
        let value = map.initial_value_mut().ok_or_else(|| wrong("congestion control"))?;
        value[..Name::BYTES].copy_from_slice(&name.padded());
    }
    let mut object = open.load().map_err(plain)?;
    let link = {
        let mut control = object
            .maps_mut()
            .find(|map| map.name() == "flowtune")
            .ok_or_else(|| wrong("congestion control"))?;
        control.attach_struct_ops().map_err(plain)?
    };
    Ok(Registered { object, _link: link })
}

/// The program's maps, as the agent uses them.
pub struct BpfPlane {
    rates: MapHandle,
    lease: MapHandle,
    counters: MapHandle,
    ring: RingBuffer<'static>,
    received: Rc<RefCell<Vec<Event>>>,
}

impl BpfPlane {
    /// Opens the maps of a registered program.
    ///
    /// # Errors
    /// The program is not the expected one, or the kernel refuses to map its buffer.
    pub fn open(registered: &Registered) -> io::Result<Self> {
        let map = |name: &str| {
            let found = registered
                .object
                .maps()
                .find(|map| map.name().as_encoded_bytes().ends_with(name.as_bytes()));
            MapHandle::try_from(&found.ok_or_else(|| wrong(name))?).map_err(plain)
        };
        let received = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&received);
        let events = map("events")?;
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&events, move |bytes| {
                sink.borrow_mut().extend(event::parse(bytes));
                0
            })
            .map_err(plain)?;
        let ring = builder.build().map_err(plain)?;
        Ok(Self {
            rates: map("rates")?,
            lease: map("lease")?,
            counters: map(".bss")?,
            ring,
            received,
        })
    }
}

impl std::fmt::Debug for BpfPlane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BpfPlane").finish_non_exhaustive()
    }
}

impl DataPlane for BpfPlane {
    #[allow(unsafe_code)]
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the ring owns the descriptor, and the result borrows the ring.
        Some(unsafe { BorrowedFd::borrow_raw(self.ring.epoll_fd()) })
    }

    fn until_due(&self) -> Duration {
        Duration::MAX
    }

    fn events(&mut self, into: &mut Vec<Event>) -> io::Result<()> {
        self.ring.consume().map_err(plain)?;
        into.append(&mut self.received.borrow_mut());
        Ok(())
    }

    fn set_rate(&mut self, flowlet: u64, rate: Option<u64>) -> io::Result<()> {
        let value = rate.unwrap_or(0).to_ne_bytes();
        match self.rates.update(&flowlet.to_ne_bytes(), &value, MapFlags::EXIST) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result.map_err(plain),
        }
    }

    fn extend_lease(&mut self, until_ns: u64) -> io::Result<()> {
        let only = 0u32.to_ne_bytes();
        self.lease.update(&only, &until_ns.to_ne_bytes(), MapFlags::ANY).map_err(plain)
    }

    fn lost_ends(&self) -> u64 {
        // Three counters of 8 bytes: the last flowlet, postponed starts, lost ends.
        let counters = self.counters.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let bytes = counters.ok().flatten().unwrap_or_default();
        let last = bytes.chunks_exact(8).nth(2).and_then(|word| word.try_into().ok());
        last.map_or(0, u64::from_ne_bytes)
    }

    fn is_live(&self, flowlet: u64) -> bool {
        self.rates.lookup(&flowlet.to_ne_bytes(), MapFlags::ANY).is_ok_and(|rate| rate.is_some())
    }
}

fn plain(error: libbpf_rs::Error) -> io::Error {
    io::Error::other(format!("{error:#}"))
}

fn wrong(part: &str) -> io::Error {
    io::Error::other(format!("the eBPF object has no `{part}`"))
}
