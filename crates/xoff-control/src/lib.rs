//! The control protocol between Flowtune's endpoints and its allocator.
//!
//! Endpoints report the start and the end of flowlets; the allocator answers with rates. "The
//! Flowtune protocol synchronizes state between the allocator and endpoints; when reacting to loss,
//! instead of retransmitting old state, participants send the most recent state, and that only if
//! the acknowledged state differs" (Perry, Balakrishnan and Shah, NSDI 2017, §5.1).
//!
//! All are state machines without clock, socket or random number: [`Detector`] finds the flowlets
//! of a server, [`Endpoint`] is its side of the protocol, [`Sessions`] is the allocator's side of
//! all of them. They are given datagrams and times, and give datagrams, rates and events. The times
//! of the protocol are in nanoseconds since any origin.
//!
//! Every datagram is authenticated with the key that its endpoint shares with the allocator. What
//! is not authentic, not fresh or not well-formed is [`Refused`] and changes nothing.
//! `docs/flowtune-protocol.md` describes the protocol; [`wire`] has the layouts.
//!
//! ```
//! use xoff_control::{Endpoint, EndpointConfig, EndpointId, Event, Key, Rate, Sessions};
//! use xoff_control::SessionsConfig;
//!
//! let (id, key) = (EndpointId(7), Key::new([1; 32]));
//! let mut endpoint = Endpoint::new(EndpointConfig::new(id), &key, [2; 32]);
//! let mut sessions = Sessions::new(SessionsConfig::default(), &[(id, key)], [3; 32]).unwrap();
//! let (mut buffer, mut events) = ([0; 1500], Vec::new());
//!
//! endpoint.start(42, EndpointId(8), 0, 0);
//! for now in 0..3 {
//!     while let Some((_, length)) = endpoint.transmit(now, &mut buffer) {
//!         sessions.receive(&buffer[..length], now, &mut events).unwrap();
//!     }
//!     for event in events.drain(..) {
//!         if let Event::Started { flow, .. } = event {
//!             sessions.set_rate(flow, 1_000_000_000);
//!         }
//!     }
//!     while let Some((_, length)) = sessions.transmit(now, &mut buffer) {
//!         endpoint.receive(0, &buffer[..length], now).unwrap();
//!     }
//! }
//! let change = endpoint.next_rate().unwrap();
//! assert_eq!((change.flowlet, change.rate), (42, Rate::Paced(1_000_000_000)));
//! ```

mod auth;
mod config;
mod detector;
mod endpoint;
pub mod fuzz;
mod queues;
mod rate;
mod refused;
mod sessions;
mod window;
pub mod wire;

pub use auth::Key;
pub use config::{EndpointConfig, SessionsConfig};
pub use detector::Detector;
pub use endpoint::{Endpoint, EndpointStats, Rate, RateChange};
pub use rate::RateCode;
pub use refused::{Refused, RefusedCounts};
pub use sessions::{Event, FlowIndex, SessionInfo, Sessions, SessionsStats};

/// Number of an endpoint: a server with flowlets of its own and a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

/// A time or a duration in nanoseconds.
pub type Nanos = u64;

/// Never.
pub const NEVER: Nanos = u64::MAX;

/// The path of a flowlet whose endpoint does not know which one the network chooses.
pub const UNKNOWN_PATH: u32 = u32::MAX;
