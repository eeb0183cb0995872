//! Keys, tags and tokens.
//!
//! A tag is BLAKE3 in its keyed mode, cut to 16 bytes. It is a pseudorandom function: unlike an
//! AEAD it needs no nonce, so that a state restored from a snapshot cannot break it.

use std::fmt;

use constant_time_eq::constant_time_eq_16;

use crate::EndpointId;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;

/// The secret that an endpoint shares with its allocators.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// A key from 32 secret bytes, which must come from a random source for secrets.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses a key file: 64 hexadecimal digits, and white space around them. `None` if it is
    /// anything else, or if all digits are 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        (bytes != [0; 32]).then_some(Self(bytes))
    }
}

/// A key is never shown.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// The keys of the two directions: a datagram cannot be reflected to its sender.
#[derive(Clone)]
pub(crate) struct Keys {
    /// From the endpoint to the allocator.
    pub(crate) up: TagKey,
    /// From the allocator to the endpoint.
    pub(crate) down: TagKey,
}

impl Keys {
    pub(crate) fn of(key: &Key) -> Self {
        let derived = |context| TagKey(blake3::derive_key(context, &key.0));
        Self {
            up: derived("xoff flowtune control protocol 1, endpoint to allocator"),
            down: derived("xoff flowtune control protocol 1, allocator to endpoint"),
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}

/// The key of one direction.
#[derive(Clone)]
pub(crate) struct TagKey([u8; 32]);

impl TagKey {
    pub(crate) fn tag(&self, text: &[u8]) -> [u8; TAG] {
        let hash = blake3::keyed_hash(&self.0, text);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&hash.as_bytes()[..TAG]);
        tag
    }

    /// True if the last bytes of a datagram are the tag of the others.
    pub(crate) fn is_authentic(&self, datagram: &[u8]) -> bool {
        datagram
            .split_last_chunk::<TAG>()
            .is_some_and(|(text, tag)| constant_time_eq_16(&self.tag(text), tag))
    }
}

/// Makes tokens that cannot be predicted: a pseudorandom function of a secret.
#[derive(Clone)]
pub(crate) struct Tokens {
    secret: [u8; 32],
}

impl Tokens {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// An endpoint's token of this number; never 0, which means "none".
    pub(crate) fn token(&self, endpoint: EndpointId, number: u64) -> u64 {
        let mut text = [0; 12];
        text[..4].copy_from_slice(&endpoint.0.to_be_bytes());
        text[4..].copy_from_slice(&number.to_be_bytes());
        let hash = blake3::keyed_hash(&self.secret, &text);
        let mut token = [0; 8];
        token.copy_from_slice(&hash.as_bytes()[..8]);
        u64::from_be_bytes(token).max(1)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        let text = "0123456789abcdefABCDEF0123456789".repeat(2);
        let key = Key::parse(&format!(" {text}\n")).unwrap();
        assert_eq!(key.0[..4], [0x01, 0x23, 0x45, 0x67]);
        assert_eq!(key.0[8..11], [0xAB, 0xCD, 0xEF]);
        for wrong in [&text[1..], &format!("{text}00"), &text.replace('f', "g"), &"0".repeat(64)] {
            assert_eq!(Key::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{key:?}"), "Key(..)");
    }

    #[test]
    fn directions_have_different_keys() {
        let keys = Keys::of(&Key::new([9; 32]));
        assert_ne!(keys.up.tag(b"text"), keys.down.tag(b"text"));
    }
}
