//! Names of congestion controls.

use std::fmt;
use std::str::FromStr;

/// All names of the agent begin like this, so that what it left behind can be found.
pub const PREFIX: &str = "xoff_ft";

/// The name of an agent's congestion control: [`PREFIX`], then letters, digits and underscores.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// Bytes of a name in the kernel, with the zero at its end (`TCP_CA_NAME_MAX`).
    pub const BYTES: usize = 16;

    /// The name, and zeros after it.
    #[must_use]
    pub fn padded(&self) -> [u8; Self::BYTES] {
        pad(&self.0)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name as the kernel keeps it; what is too long is cut.
pub(crate) fn pad(name: &str) -> [u8; Name::BYTES] {
    let mut padded = [0; Name::BYTES];
    let length = name.len().min(Name::BYTES - 1);
    padded[..length].copy_from_slice(&name.as_bytes()[..length]);
    padded
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if text.starts_with(PREFIX) && is_word && text.len() < Self::BYTES {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "`{text}` must begin with `{PREFIX}`, have letters, digits and underscores only, and \
             at most {} characters",
            Self::BYTES - 1
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_the_kernel_and_can_be_found() {
        let name: Name = "xoff_ft_h1".parse().unwrap();
        assert_eq!(name.padded(), *b"xoff_ft_h1\0\0\0\0\0\0");
        for wrong in ["cubic", "xoff_ft h1", "xoff_ft_123456789", ""] {
            assert!(wrong.parse::<Name>().is_err(), "{wrong}");
        }
    }
}
