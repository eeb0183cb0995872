//! The bytes of each message, which are also in the protocol's document: one table, in the
//! document, is compared here with what the code writes.
//!
//! `XOFF_UPDATE_DECLARED=1 cargo test -p xoff-control` writes it.

use std::fmt::Write as _;
use std::path::Path;

use xoff_control::wire::{Body, Header};
use xoff_control::{Endpoint, EndpointConfig, EndpointId, Key, Sessions, SessionsConfig};

use crate::tagged::TagKeys;
use crate::world::MILLI;

const BEGIN: &str = "<!-- examples: begin -->\n";
const END: &str = "<!-- examples: end -->\n";

/// A scripted exchange, with a name for each datagram.
fn exchange() -> Vec<(&'static str, Vec<u8>)> {
    let (id, key) = (EndpointId(7), Key::new(std::array::from_fn(|place| place as u8)));
    let mut endpoint = Endpoint::new(EndpointConfig::new(id), &key, [0xE0; 32]);
    let config = SessionsConfig::default();
    let mut sessions = Sessions::new(config, &[(id, key.clone())], [0xA0; 32]).unwrap();
    let (mut sent, mut buffer, mut events) = (Vec::new(), [0; 1500], Vec::new());
    let names = ["Hello", "Welcome", "Report: two starts", "Rates: two", "Report: one end"];
    let mut names = names.into_iter();
    endpoint.start(1, EndpointId(9), 0, 0);
    endpoint.start(2, EndpointId(0x0A0B_0C0D), 3, 0);
    for now in [0, MILLI, 2 * MILLI] {
        if now == 2 * MILLI {
            endpoint.end(1, now);
        }
        let (_, length) = endpoint.transmit(now, &mut buffer).unwrap();
        sent.push((names.next().unwrap(), buffer[..length].to_vec()));
        if now == 2 * MILLI {
            break;
        }
        sessions.receive(&buffer[..length], now, &mut events).unwrap();
        if now == MILLI {
            sessions.set_rate(0, 125_000_000);
            sessions.set_rate(1, 12_500_000_000);
        }
        let (_, length) = sessions.transmit(now, &mut buffer).unwrap();
        sent.push((names.next().unwrap(), buffer[..length].to_vec()));
        endpoint.receive(0, &buffer[..length], now).unwrap();
    }
    let mut restarted = Sessions::new(config, &[(id, key)], [0xA1; 32]).unwrap();
    let (_, report) = sent.last().unwrap();
    restarted.receive(report, 2 * MILLI, &mut events).unwrap_err();
    let (_, length) = restarted.transmit(2 * MILLI, &mut buffer).unwrap();
    sent.push(("Reset", buffer[..length].to_vec()));
    sent
}

fn table() -> String {
    let mut text = String::new();
    for (name, datagram) in exchange() {
        writeln!(text, "{name}, {} bytes:\n\n```", datagram.len()).unwrap();
        let body = datagram.len() - 16;
        for part in [0..8, 8..16, 16..24, 24..32, 32..body, body..datagram.len()] {
            let hex: String = datagram[part].iter().map(|byte| format!("{byte:02x}")).collect();
            for line in hex.as_bytes().chunks(64) {
                writeln!(text, "{}", std::str::from_utf8(line).unwrap()).unwrap();
            }
        }
        text.push_str("```\n\n");
    }
    text
}

#[test]
fn every_message_has_the_bytes_of_the_document() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/flowtune-protocol.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (documented, after) = rest.split_once(END).unwrap();
    let found = format!("\n{}", table());
    if std::env::var_os("XOFF_UPDATE_DECLARED").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{found}{END}{after}")).unwrap();
    } else {
        assert_eq!(documented, found, "change the version, or run `make declared`");
    }
}

/// The examples are also where the fuzzer of datagrams begins.
#[test]
fn the_fuzzer_begins_with_the_bytes_of_the_document() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xoff-fuzz/seeds/datagram");
    for (name, datagram) in exchange() {
        let path = folder.join(name.to_lowercase().replace(": ", "-").replace(' ', "-"));
        if std::env::var_os("XOFF_UPDATE_DECLARED").is_some() {
            std::fs::write(path, datagram).unwrap();
        } else {
            assert_eq!(std::fs::read(path).unwrap(), datagram, "{name}: run `make declared`");
        }
    }
}

#[test]
fn tags_are_those_of_the_document() {
    let keys = TagKeys::of(std::array::from_fn(|place| place as u8));
    for (name, datagram) in exchange() {
        let mut tagged = datagram.clone();
        keys.tag(&mut tagged);
        assert_eq!(tagged, datagram, "{name}");
    }
}

#[test]
fn examples_are_read_as_they_were_written() {
    let bodies: Vec<String> = exchange()
        .iter()
        .map(|(_, datagram)| {
            let header = Header::parse(datagram).unwrap();
            assert_eq!(header.endpoint, EndpointId(7));
            match Body::parse(header.kind, datagram).unwrap() {
                Body::Hello => "hello".into(),
                Body::Welcome { keepalive_us, flowlets } => {
                    format!("welcome {keepalive_us} {flowlets}")
                }
                Body::Reset => "reset".into(),
                Body::Report { ack, asks, ends, starts } => {
                    let ends: Vec<u16> = ends.slots().collect();
                    let starts = starts.starts().map(|s| (s.slot, s.destination.0, s.path));
                    let starts: Vec<_> = starts.collect();
                    format!("report {} {asks} {ends:?} {starts:?}", ack.newest)
                }
                Body::Rates { ack, lifetime_us, rates } => {
                    let rates = rates.rates().map(|(slot, code)| (slot, code.bytes_per_second()));
                    let rates: Vec<_> = rates.collect();
                    format!("rates {} {lifetime_us} {rates:?}", ack.newest)
                }
            }
        })
        .collect();
    let expected = [
        "hello",
        "welcome 250000 4096",
        "report 0 true [] [(0, 9, 0), (1, 168496141, 3)]",
        "rates 1 100000 [(0, 125000000), (1, 12500000000)]",
        "report 1 false [0] []",
        "reset",
    ];
    assert_eq!(bodies, expected);
}
