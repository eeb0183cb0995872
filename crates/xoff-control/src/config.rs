//! Settings of both sides.

use crate::{EndpointId, NEVER, Nanos, wire};

const MILLI: Nanos = 1_000_000;

/// Settings of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// Its number.
    pub id: EndpointId,
    /// Number of allocators: the first one, and its backups in this order.
    pub allocators: usize,
    /// Most flowlets at a time; more stay under their own congestion control. Of these, as many are
    /// reported as the allocator accepts.
    pub flowlets: u16,
    /// Least time between two reports. A report after a longer time is sent at once.
    pub spacing: Nanos,
    /// Most time until rates are acknowledged. A few datagrams of them are acknowledged at once.
    pub ack_delay: Nanos,
    /// Time without acknowledgement until a report counts as lost, at least. Acknowledgements that
    /// take long make it longer.
    pub resend: Nanos,
    /// Time between two hellos, at first. It doubles with each hello, up to `probe`, and half of it
    /// more is random.
    pub hello: Nanos,
    /// Hellos without answer, after which the next allocator is tried.
    pub hellos: u32,
    /// Most time between two reports that must be answered; the allocator may ask for less. An
    /// allocator that is silent for four times as long is not used any more.
    pub keepalive: Nanos,
    /// Time between two hellos to the first allocator while another one allocates.
    pub probe: Nanos,
    /// Most bytes of a datagram.
    pub datagram: usize,
}

impl EndpointConfig {
    /// The defaults, for one allocator that iterates each millisecond.
    #[must_use]
    pub fn new(id: EndpointId) -> Self {
        Self::with_iteration(id, MILLI)
    }

    /// The defaults for one allocator with this time between iterations: a report is worth an
    /// answer once an iteration, so all times follow from it.
    #[must_use]
    pub fn with_iteration(id: EndpointId, iteration: Nanos) -> Self {
        Self {
            id,
            allocators: 1,
            flowlets: 4096,
            spacing: iteration / 10,
            ack_delay: 4 * iteration,
            resend: 5 * iteration,
            hello: 10 * iteration,
            hellos: 3,
            keepalive: NEVER,
            probe: 1000 * iteration,
            datagram: wire::DATAGRAM,
        }
    }
}

/// Settings of the allocator's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionsConfig {
    /// Validity of rates after a message: "the allocated rates have a temporary lifespan" (§6).
    pub lifetime: Nanos,
    /// Time without acknowledgement until rates count as lost, at least. Acknowledgements that take
    /// long make it longer.
    pub resend: Nanos,
    /// Time without a message after which an endpoint's flowlets are forgotten. It is asked for a
    /// sign of life four times as often.
    pub silence: Nanos,
    /// Flowlets of an endpoint at a time.
    pub flowlets: u32,
    /// Starts, ends and datagrams per second of an endpoint.
    pub events_per_second: u64,
    /// The most of them at once.
    pub events_at_once: u64,
    /// Most bytes of a datagram.
    pub datagram: usize,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self::with_iteration(MILLI)
    }
}

impl SessionsConfig {
    /// The defaults with this time between iterations.
    #[must_use]
    pub fn with_iteration(iteration: Nanos) -> Self {
        Self {
            lifetime: 100 * iteration,
            resend: 10 * iteration,
            silence: 1000 * iteration,
            flowlets: 4096,
            events_per_second: 1_000_000,
            events_at_once: 20_000,
            datagram: wire::DATAGRAM,
        }
    }

    /// How often an endpoint shows that it is alive.
    pub(crate) fn keepalive_us(&self) -> u32 {
        micros(self.silence / 4)
    }

    pub(crate) fn lifetime_us(&self) -> u32 {
        micros(self.lifetime)
    }

    /// Time after which valid rates are renewed.
    pub(crate) fn renewal(&self) -> Nanos {
        self.lifetime / 4
    }
}

fn micros(time: Nanos) -> u32 {
    u32::try_from(time / 1000).unwrap_or(u32::MAX).max(1)
}

/// A duration in nanoseconds of one in microseconds.
pub(crate) fn nanos(micros: u32) -> Nanos {
    Nanos::from(micros) * 1000
}
