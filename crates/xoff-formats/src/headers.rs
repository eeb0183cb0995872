//! Ethernet, IPv4 and UDP headers, without options.

use core::fmt;

/// Reasons that bytes are not the expected frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The frame is shorter than its fields.
    TooShort {
        /// Required number of bytes.
        needed: usize,
        /// Actual number of bytes.
        found: usize,
    },
    /// The EtherType differs from the frame's.
    WrongEtherType(u16),
    /// Not IPv4 with a header of 20 bytes; holds the header's first byte.
    WrongIp(u8),
    /// The checksum of the IPv4 header is wrong.
    WrongChecksum,
    /// The IP protocol is not UDP.
    WrongProtocol(u8),
    /// The IPv4 and UDP lengths do not match; holds the UDP length.
    WrongLength(u16),
    /// The UDP destination port differs from the frame's.
    WrongPort(u16),
    /// The version of the frame's layout is unknown.
    WrongVersion(u8),
    /// The MAC control opcode differs from the frame's.
    WrongOpcode(u16),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooShort { needed, found } => {
                write!(f, "the frame has {found} bytes; it must have at least {needed}")
            }
            Self::WrongEtherType(found) => write!(f, "the EtherType is {found:#06x}"),
            Self::WrongIp(found) => {
                write!(
                    f,
                    "the IP header begins with {found:#04x}; it must be IPv4 without options (0x45)"
                )
            }
            Self::WrongChecksum => write!(f, "the IPv4 header's checksum is wrong"),
            Self::WrongProtocol(found) => write!(f, "the IP protocol is {found}, not UDP"),
            Self::WrongLength(found) => {
                write!(f, "the UDP length is {found}; the IPv4 length must be 20 more")
            }
            Self::WrongPort(found) => write!(f, "the UDP destination port is {found}"),
            Self::WrongVersion(found) => write!(f, "the frame's version {found} is unknown"),
            Self::WrongOpcode(found) => write!(f, "the MAC control opcode is {found:#06x}"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// A MAC address.
pub type Mac = [u8; 6];

const ETHERTYPE_IPV4: u16 = 0x0800;
const PROTOCOL_UDP: u8 = 17;
const ETHERNET_BYTES: usize = 14;
const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;

/// Addresses and traffic class of a UDP datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Ethernet source.
    pub src_mac: Mac,
    /// Ethernet destination.
    pub dst_mac: Mac,
    /// IPv4 source.
    pub src_ip: u32,
    /// IPv4 destination.
    pub dst_ip: u32,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// ECN bits: 0 not capable, 2 capable (ECT(0)), 3 congestion experienced.
    pub ecn: u8,
    /// UDP source port.
    pub src_port: u16,
    /// UDP destination port.
    pub dst_port: u16,
}

impl Datagram {
    /// Size of the three headers.
    pub const BYTES: usize = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES;

    /// Appends the headers of a frame of `frame_bytes` in total, at least [`Self::BYTES`]; the rest
    /// of the frame is the UDP payload. The UDP checksum is 0: none.
    ///
    /// # Panics
    /// If the frame is longer than an IPv4 packet can be, or shorter than its headers.
    pub fn write(&self, frame_bytes: usize, out: &mut Vec<u8>) {
        let ip_bytes = u16::try_from(frame_bytes - ETHERNET_BYTES)
            .expect("the frame must fit in an IPv4 packet");
        out.extend(self.dst_mac);
        out.extend(self.src_mac);
        out.extend(ETHERTYPE_IPV4.to_be_bytes());
        let ip = out.len();
        out.extend([0x45, self.dscp << 2 | self.ecn & 3]);
        out.extend(ip_bytes.to_be_bytes());
        // No identification, do not fragment, TTL 64, checksum filled in below.
        out.extend([0, 0, 0x40, 0, 64, PROTOCOL_UDP, 0, 0]);
        out.extend(self.src_ip.to_be_bytes());
        out.extend(self.dst_ip.to_be_bytes());
        let sum = checksum(&out[ip..]);
        out[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
        out.extend(self.src_port.to_be_bytes());
        out.extend(self.dst_port.to_be_bytes());
        out.extend((ip_bytes - IPV4_BYTES as u16).to_be_bytes());
        out.extend([0, 0]);
    }

    /// Decodes the headers of a frame. The payload may be truncated.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn read(frame: &[u8]) -> Result<Self, DecodeError> {
        let head: &[u8; Self::BYTES] = leading(frame)?;
        let ethertype = be16(head, 12);
        if ethertype != ETHERTYPE_IPV4 {
            return Err(DecodeError::WrongEtherType(ethertype));
        }
        if head[14] != 0x45 {
            return Err(DecodeError::WrongIp(head[14]));
        }
        if checksum(&head[ETHERNET_BYTES..ETHERNET_BYTES + IPV4_BYTES]) != 0 {
            return Err(DecodeError::WrongChecksum);
        }
        if head[23] != PROTOCOL_UDP {
            return Err(DecodeError::WrongProtocol(head[23]));
        }
        let (ip_bytes, udp_bytes) = (be16(head, 16), be16(head, 38));
        if usize::from(udp_bytes) < UDP_BYTES || ip_bytes.checked_sub(20) != Some(udp_bytes) {
            return Err(DecodeError::WrongLength(udp_bytes));
        }
        Ok(Self {
            dst_mac: array(head, 0),
            src_mac: array(head, 6),
            src_ip: u32::from_be_bytes(array(head, 26)),
            dst_ip: u32::from_be_bytes(array(head, 30)),
            dscp: head[15] >> 2,
            ecn: head[15] & 3,
            src_port: be16(head, 34),
            dst_port: be16(head, 36),
        })
    }
}

/// The first `N` bytes of a frame.
pub(crate) fn leading<const N: usize>(frame: &[u8]) -> Result<&[u8; N], DecodeError> {
    frame.first_chunk().ok_or(DecodeError::TooShort { needed: N, found: frame.len() })
}

/// `N` bytes at an offset in a frame.
pub(crate) fn array<const N: usize>(frame: &[u8], at: usize) -> [u8; N] {
    core::array::from_fn(|index| frame[at + index])
}

/// Two bytes at an offset in a frame, big-endian.
pub(crate) fn be16(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(frame, at))
}

/// The Internet checksum (RFC 1071) of an even number of bytes. It is 0 for a header with a valid
/// checksum field.
fn checksum(bytes: &[u8]) -> u16 {
    let (words, _) = bytes.as_chunks::<2>();
    let mut sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with a known checksum, the common worked example of RFC 1071.
    #[test]
    fn the_checksum_of_a_known_header_is_right() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xb861);
    }

    #[test]
    fn invalid_datagrams_are_rejected_with_the_reason() {
        let datagram = Datagram { src_port: 7, dst_port: 9, dscp: 3, ecn: 2, ..Default::default() };
        let mut frame = Vec::new();
        datagram.write(60, &mut frame);
        assert_eq!(Datagram::read(&frame), Ok(datagram));
        assert_eq!(
            Datagram::read(&frame[..41]),
            Err(DecodeError::TooShort { needed: 42, found: 41 })
        );
        let changed = |at: usize, value: u8| {
            let mut frame = frame.clone();
            frame[at] = value;
            Datagram::read(&frame).unwrap_err()
        };
        assert_eq!(changed(12, 0x88), DecodeError::WrongEtherType(0x8800));
        assert_eq!(changed(14, 0x46), DecodeError::WrongIp(0x46));
        assert_eq!(changed(22, 63), DecodeError::WrongChecksum);
        assert_eq!(changed(39, 7), DecodeError::WrongLength(7));
        // TCP instead of UDP: 11 less in the sum.
        frame[25] += 11;
        frame[23] = 6;
        assert_eq!(Datagram::read(&frame), Err(DecodeError::WrongProtocol(6)));
        assert_eq!(DecodeError::WrongPort(80).to_string(), "the UDP destination port is 80");
    }
}
