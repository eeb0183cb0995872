//! The likely name behind a misspelt one.

/// The candidate nearest to `name`, if one is near enough to be meant.
///
/// Up to a third of the name may be wrong, but always one edit. Case does not count, and `-` equals
/// `_`. Of equally near candidates the first wins.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let name = folded(name);
    let cut_off = (name.len() / 3).max(1);
    candidates
        .iter()
        .map(|&candidate| (candidate, folded(candidate)))
        // The distance is at least the difference in length, so most candidates cost nothing.
        .filter(|(_, folded)| folded.len().abs_diff(name.len()) <= cut_off)
        .map(|(candidate, folded)| (distance(&name, &folded), candidate))
        .filter(|(distance, _)| *distance <= cut_off)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The help for a name that is not one of `candidates`: the nearest, or else all of them.
#[must_use]
pub fn suggestion(name: &str, candidates: &[&str]) -> Option<String> {
    match nearest(name, candidates) {
        Some(candidate) => Some(format!("did you mean \"{candidate}\"?")),
        None if candidates.is_empty() => None,
        None => Some(format!("valid names: {}", candidates.join(", "))),
    }
}

fn folded(name: &str) -> Vec<char> {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Damerau-Levenshtein distance, restricted: no part of the text is edited twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> usize {
        distance(&folded(a), &folded(b))
    }

    #[test]
    fn each_edit_counts_once() {
        assert_eq!(edits("delay", "delay"), 0);
        assert_eq!(edits("dealy", "delay"), 1);
        assert_eq!(edits("dlay", "delay"), 1);
        assert_eq!(edits("delayy", "delay"), 1);
        assert_eq!(edits("belay", "delay"), 1);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_is_near() {
        let names = ["delay", "relay", "link_rate", "ecn"];
        assert_eq!(nearest("dealy", &names), Some("delay"));
        assert_eq!(nearest("elay", &names), Some("delay"));
        assert_eq!(nearest("Link-Rate", &names), Some("link_rate"));
        assert_eq!(nearest("en", &names), Some("ecn"));
        assert_eq!(nearest("buffer", &names), None);
        assert_eq!(nearest("", &names), None);
        assert_eq!(nearest("delay", &[]), None);
    }

    #[test]
    fn a_suggestion_falls_back_to_all_names() {
        let names = ["dctcp", "hpcc"];
        assert_eq!(suggestion("hpc", &names).as_deref(), Some("did you mean \"hpcc\"?"));
        assert_eq!(suggestion("bbr", &names).as_deref(), Some("valid names: dctcp, hpcc"));
        assert_eq!(suggestion("bbr", &[]), None);
    }
}
