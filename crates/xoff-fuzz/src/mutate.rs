//! Changes of seeds. An input is a function of the seeds and its number, so a number is enough to
//! repeat it.

use xoff_core::Rng;
use xoff_core::rng::Purpose;

/// Bytes of an input at most.
const MOST: usize = 1 << 16;

/// Numbers at the borders of types and of checks.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "1048576",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "-1",
    "1e300",
];

/// The input with this number: first the seeds, then seeds with one to eight changes.
///
/// # Panics
/// If there is no seed.
#[must_use]
pub fn input(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    if let Some(seed) = usize::try_from(number).ok().and_then(|number| seeds.get(number)) {
        return seed.clone();
    }
    let mut rng = Rng::stream(0, Purpose::Traffic, number);
    let mut bytes = one_of(seeds, &mut rng).clone();
    let changes = 1 + rng.below(8);
    for _ in 0..=rng.below(changes) {
        let other = one_of(seeds, &mut rng);
        change(&mut bytes, other, &mut rng);
        bytes.truncate(MOST);
    }
    bytes
}

fn one_of<'a, T>(items: &'a [T], rng: &mut Rng) -> &'a T {
    &items[rng.below(items.len() as u64) as usize]
}

fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let place = rng.below(bytes.len() as u64 + 1) as usize;
    match rng.below(10) {
        0 => bytes.truncate(place),
        1 => {
            let more = 1 + rng.below(8);
            let more: Vec<u8> = (0..more).map(|_| rng.u64() as u8).collect();
            bytes.splice(place..place, more);
        }
        2 => flip(bytes, place, rng),
        3 => {
            let end = bytes.len().min(place + 1 + rng.below(16) as usize);
            bytes.drain(place..end);
        }
        4 => whole_number(bytes, place, rng),
        5 | 6 => replace_part(bytes, place, is_digit, one_of(&NUMBERS, rng).as_bytes()),
        7 => {
            let word = part(other, rng.below(other.len() as u64 + 1) as usize, is_of_word);
            replace_part(bytes, place, is_of_word, &other[word]);
        }
        8 => {
            let line = part(other, rng.below(other.len() as u64 + 1) as usize, is_of_line);
            let at = part(bytes, place, is_of_line);
            let at = if rng.below(2) == 0 { at.start..at.start } else { at };
            let line = [&other[line], b"\n"].concat();
            bytes.splice(at, line);
        }
        _ => {
            let begin = rng.below(other.len() as u64 + 1) as usize;
            let end = other.len().min(begin + rng.below(64) as usize);
            bytes.splice(place..place, other[begin..end].iter().copied());
        }
    }
}

fn flip(bytes: &mut [u8], place: usize, rng: &mut Rng) {
    if let Some(byte) = bytes.get_mut(place) {
        *byte ^= 1 << rng.below(8);
    }
}

/// Writes a binary number of one to eight bytes, small or at the border of its type.
fn whole_number(bytes: &mut [u8], place: usize, rng: &mut Rng) {
    let length = 1 << rng.below(4);
    let end = bytes.len().min(place + length);
    let number = match rng.below(4) {
        0 => rng.below(4),
        1 => u64::MAX - rng.below(3),
        2 => 1 << rng.below(64),
        _ => rng.u64(),
    };
    let number = number.to_le_bytes();
    bytes[place..end].copy_from_slice(&number[..end - place]);
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-+".contains(&byte)
}

fn is_of_line(byte: u8) -> bool {
    byte != b'\n'
}

/// Replaces the next part with such bytes at or behind a place.
fn replace_part(bytes: &mut Vec<u8>, place: usize, is_of: fn(u8) -> bool, by: &[u8]) {
    let place = place + bytes[place..].iter().position(|&byte| is_of(byte)).unwrap_or(0);
    let part = part(bytes, place, is_of);
    bytes.splice(part, by.iter().copied());
}

/// The longest part with such bytes around a place.
fn part(bytes: &[u8], place: usize, is_of: fn(u8) -> bool) -> std::ops::Range<usize> {
    let before = bytes[..place].iter().rev().take_while(|&&byte| is_of(byte)).count();
    let behind = bytes[place..].iter().take_while(|&&byte| is_of(byte)).count();
    place - before..place + behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_come_first_and_a_number_is_enough() {
        let seeds = [b"src,dst\n0,1\n".to_vec(), b"x 17 y\n".to_vec()];
        let all = |numbers: std::ops::Range<u64>| -> Vec<Vec<u8>> {
            numbers.map(|number| input(&seeds, number)).collect()
        };
        assert_eq!(all(0..2), seeds);
        let found = all(2..2000);
        assert_eq!(found, all(2..2000));
        let has = |part: &[u8]| found.iter().any(|one| one.windows(part.len()).any(|w| w == part));
        assert!(has(b"x 65536 y") && has(b"0,17") && has(b"0,1\nx 17 y"));
        assert!(found.iter().any(Vec::is_empty));
    }

    #[test]
    fn inputs_stay_short() {
        let seeds = [vec![b'1'; MOST]];
        assert!((0..200).all(|number| input(&seeds, number).len() <= MOST));
    }
}
