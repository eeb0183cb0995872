//! Events as `bpf/flowtune.bpf.c` writes them: `struct event`.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::{Connection, Event};

/// Size of `struct event`.
pub const BYTES: usize = 64;
const START: u32 = 1;
const END: u32 = 2;
const CLOSE: u32 = 3;

/// Reads one event; `None` if the bytes are none, which would be a program of another version.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Event> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    let u64_at = |at: usize| Some(u64::from_ne_bytes(bytes[at..at + 8].try_into().ok()?));
    let u16_at = |at: usize| Some(u16::from_ne_bytes(bytes[at..at + 2].try_into().ok()?));
    let end_at = |address: usize, port: u16| {
        let octets: [u8; 16] = bytes[address..address + 16].try_into().ok()?;
        let address = IpAddr::V6(Ipv6Addr::from(octets)).to_canonical();
        Some(SocketAddr::new(address, port))
    };
    let (time_ns, flowlet) = (u64_at(0)?, u64_at(8)?);
    match u32::from_ne_bytes(bytes[24..28].try_into().ok()?) {
        START => {
            let connection =
                Connection { local: end_at(32, u16_at(28)?)?, remote: end_at(48, u16_at(30)?)? };
            Some(Event::Start { flowlet, connection, time_ns })
        }
        END => Some(Event::End { flowlet, time_ns, is_closed: false }),
        CLOSE => Some(Event::End { flowlet, time_ns, is_closed: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: u32) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&7u64.to_ne_bytes());
        bytes[8..16].copy_from_slice(&9u64.to_ne_bytes());
        bytes[24..28].copy_from_slice(&kind.to_ne_bytes());
        bytes[28..30].copy_from_slice(&1234u16.to_ne_bytes());
        bytes[30..32].copy_from_slice(&80u16.to_ne_bytes());
        bytes[42..48].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 1]);
        bytes[63] = 1;
        bytes
    }

    #[test]
    fn addresses_are_ipv6_or_ipv4() {
        let connection = Connection {
            local: "10.0.0.1:1234".parse().unwrap(),
            remote: "[::1]:80".parse().unwrap(),
        };
        let expected = Event::Start { flowlet: 9, connection, time_ns: 7 };
        assert_eq!(parse(&event(START)), Some(expected));
        for (kind, is_closed) in [(END, false), (CLOSE, true)] {
            let expected = Event::End { flowlet: 9, time_ns: 7, is_closed };
            assert_eq!(parse(&event(kind)), Some(expected));
        }
    }

    #[test]
    fn other_bytes_are_no_event() {
        assert_eq!(parse(&event(4)), None);
        assert_eq!(parse(&event(START)[1..]), None);
    }
}
