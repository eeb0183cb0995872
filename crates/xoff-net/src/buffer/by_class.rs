//! Shares of single traffic classes in a switch's memory: the buffer profiles of SONiC, for the
//! priority groups of an ingress and the queues of an egress.

use xoff_core::Bytes;
use xoff_core::knobs::{Checked, Knob as _, Value};

use super::LEAST_SHARE;
use crate::by_class::{ByClass, ClassSetting};

/// The largest alpha: 64 is the largest finite one of the Switch Abstraction Interface.
const ALPHA_MAX: f64 = 64.0;

/// What one class has of its own. Where a value is missing, that of all classes holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile {
    /// Whether its packets pause no neighbour, also under PFC.
    pub lossy: bool,
    /// Dynamic threshold, as a multiple of the free bytes.
    pub alpha: Option<f64>,
    /// Guaranteed bytes of each port.
    pub reserve: Option<Bytes>,
    /// Headroom of each ingress port.
    pub headroom: Option<Bytes>,
    /// How far below the threshold a neighbour is resumed.
    pub resume_offset: Option<Bytes>,
}

impl ByClass<Profile> {
    /// The lossy classes, by number.
    pub fn lossy(&self) -> impl Iterator<Item = u8> {
        self.iter().filter(|(_, profile)| profile.lossy).map(|(class, _)| class)
    }

    /// Checks what a single profile cannot.
    ///
    /// # Errors
    /// The key, and what to write instead.
    pub(super) fn check(&self) -> Checked {
        let pauses = |of: Profile| of.headroom.is_some() || of.resume_offset.is_some();
        match self.iter().find(|&(_, of)| of.lossy && pauses(of)) {
            None => Ok(()),
            Some((class, _)) => {
                let message = format!(
                    "class {class} is lossy, so it has no headroom and no resume_offset: leave \
                     them out, or leave out \"lossy\""
                );
                Err(("by_class", message))
            }
        }
    }
}

impl Profile {
    fn sizes(&mut self) -> [(&'static str, &mut Option<Bytes>); 3] {
        [
            ("reserve", &mut self.reserve),
            ("headroom", &mut self.headroom),
            ("resume_offset", &mut self.resume_offset),
        ]
    }
}

impl ClassSetting for Profile {
    fn forms() -> String {
        format!(
            "one or more of lossy, alpha A ({LEAST_SHARE} to {ALPHA_MAX}), reserve SIZE, headroom \
             SIZE and resume_offset SIZE, such as \"0: lossy alpha 1, 3: alpha 0.25 reserve 8KB \
             headroom 60KB\""
        )
    }

    /// A word and its value for each part, as "lossy alpha 1 reserve 2KB".
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let mut found = Self::default();
        while let Some(word) = words.next() {
            let known = match word {
                "lossy" => std::mem::replace(&mut found.lossy, true),
                "alpha" => {
                    let alpha = words.next()?.parse().ok();
                    let alpha = alpha.filter(|alpha| (LEAST_SHARE..=ALPHA_MAX).contains(alpha))?;
                    found.alpha.replace(alpha).is_some()
                }
                _ => {
                    let size = Bytes::read(&Value::Text(words.next()?.into())).ok()?;
                    let (_, part) = found.sizes().into_iter().find(|(name, _)| *name == word)?;
                    part.replace(size).is_some()
                }
            };
            if known {
                return None;
            }
        }
        (found != Self::default()).then_some(found)
    }

    fn show(mut self) -> String {
        let lossy = self.lossy.then(|| "lossy".to_owned());
        let alpha = self.alpha.map(|alpha| format!("alpha {alpha}"));
        let sizes = self.sizes().map(|(name, size)| size.map(|size| format!("{name} {size}")));
        lossy
            .into_iter()
            .chain(alpha)
            .chain(sizes.into_iter().flatten())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ByClass<Profile>, String> {
        ByClass::read(&Value::Text(text.into()))
    }

    #[test]
    fn a_class_has_what_it_names_and_the_rest_of_all() {
        let found = read("3: alpha 0.25 reserve 8KB headroom 60KB,0:lossy alpha 8").unwrap();
        let lossless = Profile {
            alpha: Some(0.25),
            reserve: Some(Bytes(8_000)),
            headroom: Some(Bytes(60_000)),
            ..Profile::default()
        };
        assert_eq!((found.of(3), found.of(1)), (Some(lossless), None));
        let lossy = Profile { lossy: true, alpha: Some(8.0), ..Profile::default() };
        assert_eq!(found.of(0), Some(lossy));
        assert_eq!(found.show(), "\"0: lossy alpha 8, 3: alpha 0.25 reserve 8KB headroom 60KB\"");
        assert_eq!(read(found.show().trim_matches('"')), Ok(found));
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "8: lossy",
            "3:",
            "3: 0.25",
            "3: alpha",
            "3: alpha 0",
            "3: alpha 65",
            "3: alpha x",
            "3: alpha 1 alpha 2",
            "3: lossy lossy",
            "3: reserve 8",
            "3: xoff 8KB",
            "3: lossy, 3: alpha 1",
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with("expected classes from 0 to 7"), "{text}: {error}");
        }
    }

    #[test]
    fn a_lossy_class_has_no_headroom() {
        assert!(read("3: headroom 8KB, 0: lossy reserve 8KB").unwrap().check().is_ok());
        for own in ["headroom 8KB", "resume_offset 1KB"] {
            let (key, message) = read(&format!("0: lossy {own}")).unwrap().check().unwrap_err();
            assert_eq!(key, "by_class");
            assert!(message.starts_with("class 0 is lossy"), "{message}");
        }
    }
}
