//! Sets of a switch's ports, one bit each.

/// A set of ports of one switch.
pub type PortMask = u128;

/// The most ports that a set can hold.
pub const PORTS_MAX: usize = PortMask::BITS as usize;

/// The first port of a set at or after `pointer`, with wrap-around. The set must not be empty.
#[inline]
#[must_use]
pub fn next_from(set: PortMask, pointer: u8) -> u8 {
    let later = set & (PortMask::MAX << pointer);
    (if later != 0 { later } else { set }).trailing_zeros() as u8
}

/// The port of a set that follows `before` others. The set must have more ports than that.
#[inline]
#[must_use]
pub fn nth(mut set: PortMask, before: u64) -> u8 {
    for _ in 0..before {
        set &= set - 1;
    }
    set.trailing_zeros() as u8
}

/// The ports of a set in order.
#[inline]
pub fn each(mut set: PortMask) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let port = set.trailing_zeros() as u8;
        set &= set - 1;
        Some(port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_gone_through_in_order_and_round() {
        let set = 1 << 3 | 1 << 64 | 1 << 127;
        assert_eq!(each(set).collect::<Vec<_>>(), [3, 64, 127]);
        assert_eq!([0, 3, 4, 65, 127].map(|pointer| next_from(set, pointer)), [3, 3, 64, 127, 127]);
        assert_eq!(next_from(1 << 3, 4), 3);
        assert_eq!([0, 1, 2].map(|before| nth(set, before)), [3, 64, 127]);
    }
}
