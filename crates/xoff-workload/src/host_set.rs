//! Sets of hosts, written as text: `all`, or numbers and ranges such as `0-3,7,9-12`.

use xoff_core::HostId;

use crate::checks;

/// The hosts in `text` for a network with `hosts` hosts, from the lowest to the highest. There is
/// at least one. A range includes both its ends.
///
/// # Errors
/// What cannot be read, which host does not exist or is named twice, or which range runs backwards.
pub fn parse(text: &str, hosts: u32) -> Result<Vec<HostId>, String> {
    let mut set = parse_in_order(text, hosts)?;
    set.sort_unstable();
    Ok(set)
}

/// The same in the order in which `text` names them.
///
/// # Errors
/// As [`parse`].
pub fn parse_in_order(text: &str, hosts: u32) -> Result<Vec<HostId>, String> {
    checks::hosts(hosts)?;
    if text.trim() == "all" {
        return Ok((0..hosts).map(HostId).collect());
    }
    let mut set = Vec::new();
    for part in text.split(',').map(str::trim) {
        // Every host exists, so a mistyped range is never long.
        let (first, last) = read_part(part, hosts)?;
        if first > last {
            return Err(format!("the range {part} runs backwards: write {last}-{first}"));
        }
        set.extend((first..=last).map(HostId));
    }
    let mut sorted = set.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("host {} is named twice: name each host once", pair[0])),
        None => Ok(set),
    }
}

/// The two ends of a range, which are equal for a single number.
fn read_part(part: &str, hosts: u32) -> Result<(u32, u32), String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let ends = [first, last].map(str::trim);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if !ends.into_iter().all(is_number) {
        let wanted = "write all, or numbers and ranges such as 0-3,7,9-12";
        return Err(format!("\"{part}\" is not a host or a range of hosts: {wanted}"));
    }
    Ok((read_host(ends[0], hosts)?, read_host(ends[1], hosts)?))
}

fn read_host(digits: &str, hosts: u32) -> Result<u32, String> {
    let host = digits.parse().ok().filter(|host| *host < hosts);
    host.ok_or_else(|| checks::no_such_host(digits, hosts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, hosts: u32) -> Vec<u32> {
        parse(text, hosts).unwrap().into_iter().map(|host| host.0).collect()
    }

    #[test]
    fn reads_all_and_numbers_and_ranges() {
        assert_eq!(numbers("all", 4), [0, 1, 2, 3]);
        assert_eq!(numbers("0-3,7,9-12", 16), [0, 1, 2, 3, 7, 9, 10, 11, 12]);
        assert_eq!(numbers(" 15 , 7 - 8, 2-2", 16), [2, 7, 8, 15]);
    }

    #[test]
    fn a_wrong_set_says_why() {
        let error = |text: &str| parse(text, 16).unwrap_err();
        assert_eq!(error("17"), "host 17 does not exist: hosts are 0 to 15");
        assert_eq!(error("0-16"), "host 16 does not exist: hosts are 0 to 15");
        let huge = "99999999999999999999";
        assert_eq!(error(huge), format!("host {huge} does not exist: hosts are 0 to 15"));
        assert_eq!(error("1,5-3"), "the range 5-3 runs backwards: write 3-5");
        assert_eq!(error("4,0-2,2-3"), "host 2 is named twice: name each host once");
        for part in ["", "x", "-3", "3-", "1-2-3", "+3", "1.5", "ALL"] {
            let start = format!("\"{part}\" is not a host or a range of hosts: write all, or ");
            assert!(error(&format!("8,{part}")).starts_with(&start), "{part}");
        }
        assert!(error("").starts_with("\"\" is not a host"));
        assert!(error("all,3").starts_with("\"all\" is not a host"));
        assert_eq!(parse("0", 1).unwrap_err(), "traffic needs at least 2 hosts, the network has 1");
    }
}
