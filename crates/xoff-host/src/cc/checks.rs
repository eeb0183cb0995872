//! Checks that settings of several controls have in common.

use xoff_core::Bytes;
use xoff_core::knobs::Checked;

/// Bytes that a control may add to each packet: lengths of packets have 16 bits.
const MOST_HEADER: Bytes = Bytes(4096);

/// Checks a share that may be the whole, but not nothing, such as the gain of an average.
pub(super) fn positive_share(key: &'static str, value: f64) -> Checked {
    match value > 0.0 && value <= 1.0 {
        true => Ok(()),
        false => Err((key, format!("{key} must be above 0 and at most 1"))),
    }
}

/// Checks a share that may be nothing or the whole.
pub(super) fn share(key: &'static str, value: f64) -> Checked {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err((key, format!("{key} must be from 0 to 1"))),
    }
}

/// Checks the bytes that a control adds to each packet.
pub(super) fn header(key: &'static str, bytes: Bytes) -> Checked {
    match bytes <= MOST_HEADER {
        true => Ok(()),
        false => Err((key, format!("{key} must be at most 4096B"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_headers_are_checked_at_their_bounds() {
        for (value, positive, any) in [
            (-0.01, false, false),
            (0.0, false, true),
            (0.01, true, true),
            (1.0, true, true),
            (1.01, false, false),
            (f64::NAN, false, false),
        ] {
            assert_eq!(positive_share("gain", value).is_ok(), positive, "{value}");
            assert_eq!(share("gain", value).is_ok(), any, "{value}");
        }
        for (bytes, fits) in [(0, true), (4096, true), (4097, false)] {
            assert_eq!(header("header", Bytes(bytes)).is_ok(), fits, "{bytes}");
        }
    }
}
