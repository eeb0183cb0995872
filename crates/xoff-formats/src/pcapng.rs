//! Writes the header and the packets of a pcapng capture file. Times are in picoseconds.
//!
//! Blocks, options and their codes follow the IETF draft "PCAP Now Generic". Numbers are
//! little-endian, as the first block declares.

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
pub(crate) const PACKET: u32 = 6;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINKTYPE_ETHERNET: u16 = 1;
/// Length of a section that extends to the end of the file.
const UNKNOWN_LENGTH: u64 = u64::MAX;

const OPTION_END: u16 = 0;
const OPTION_NAME: u16 = 2;
const OPTION_DESCRIPTION: u16 = 3;
const OPTION_SPEED: u16 = 8;
const OPTION_RESOLUTION: u16 = 9;
/// Times are multiples of 10^-12 seconds.
const PICOSECONDS: u8 = 12;

/// A capture point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name of the interface.
    pub name: String,
    /// Description for readers.
    pub description: String,
    /// Bits per second.
    pub speed_bps: u64,
}

/// Appends the header of a file with these interfaces. Packets refer to them by index.
pub fn begin(interfaces: &[Interface], out: &mut Vec<u8>) {
    block(SECTION, out, |out| {
        out.extend(BYTE_ORDER.to_le_bytes());
        // Version 1.0.
        out.extend([1, 0, 0, 0]);
        out.extend(UNKNOWN_LENGTH.to_le_bytes());
    });
    for interface in interfaces {
        block(INTERFACE, out, |out| {
            out.extend(LINKTYPE_ETHERNET.to_le_bytes());
            // Reserved, and no snapshot length limit.
            out.extend([0; 6]);
            option(OPTION_NAME, interface.name.as_bytes(), out);
            option(OPTION_DESCRIPTION, interface.description.as_bytes(), out);
            option(OPTION_SPEED, &interface.speed_bps.to_le_bytes(), out);
            option(OPTION_RESOLUTION, &[PICOSECONDS], out);
            option(OPTION_END, &[], out);
        });
    }
}

/// Appends a packet of length `wire_bytes`; `frame` is its beginning.
pub fn packet(interface: u32, time_ps: u64, wire_bytes: u32, frame: &[u8], out: &mut Vec<u8>) {
    block(PACKET, out, |out| {
        let (high, low) = ((time_ps >> 32) as u32, time_ps as u32);
        for field in [interface, high, low, frame.len() as u32, wire_bytes] {
            out.extend(field.to_le_bytes());
        }
        padded(frame, out);
    });
}

/// Appends a block: its type, then its length before and after the content from `body`.
fn block(kind: u32, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = ((out.len() - begin + 4) as u32).to_le_bytes();
    out[begin + 4..begin + 8].copy_from_slice(&length);
    out.extend(length);
}

fn option(code: u16, value: &[u8], out: &mut Vec<u8>) {
    let length = u16::try_from(value.len()).expect("an option must be shorter than 64 KiB");
    out.extend(code.to_le_bytes());
    out.extend(length.to_le_bytes());
    padded(value, out);
}

/// Appends bytes, padded with zeros to a multiple of four.
fn padded(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(bytes);
    out.extend([0; 3].iter().take(bytes.len().next_multiple_of(4) - bytes.len()));
}
