//! ECN thresholds of single traffic classes.

use xoff_core::Bytes;
use xoff_core::knobs::{Knob as _, Value};

use crate::by_class::ClassSetting;

/// The thresholds of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfClass {
    /// Its packets are never marked.
    Never,
    /// Kmin, Kmax and, if it is not that of all classes, the marking probability at Kmax.
    Between(Bytes, Bytes, Option<f64>),
}

impl ClassSetting for OfClass {
    fn forms() -> String {
        "KMIN-KMAX, KMIN-KMAX PMAX or never, such as \"3: 20KB-80KB 0.1, 5: never\"".into()
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "never" {
            return Some(Self::Never);
        }
        let (sizes, pmax) = match text.split_once(char::is_whitespace) {
            Some((sizes, pmax)) => {
                let pmax = pmax.trim().parse().ok().filter(|pmax| (0.0..=1.0).contains(pmax))?;
                (sizes, Some(pmax))
            }
            None => (text, None),
        };
        let (kmin, kmax) = sizes.split_once('-')?;
        let [kmin, kmax] = [kmin, kmax].map(|size| Bytes::read(&Value::Text(size.into())).ok());
        let (kmin, kmax) = kmin.zip(kmax).filter(|(kmin, kmax)| kmin <= kmax)?;
        Some(Self::Between(kmin, kmax, pmax))
    }

    fn show(self) -> String {
        match self {
            Self::Never => "never".into(),
            Self::Between(kmin, kmax, None) => format!("{kmin}-{kmax}"),
            Self::Between(kmin, kmax, Some(pmax)) => format!("{kmin}-{kmax} {pmax:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_class::ByClass;

    fn read(text: &str) -> Result<ByClass<OfClass>, String> {
        ByClass::read(&Value::Text(text.into()))
    }

    #[test]
    fn a_class_has_thresholds_or_none_or_those_of_all() {
        let found = read("3: 20KB-80KB, 5:never,0: 1KB-1KB 0.25").unwrap();
        let kb = |kilobytes: u64| Bytes(kilobytes * 1000);
        assert_eq!(found.of(0), Some(OfClass::Between(kb(1), kb(1), Some(0.25))));
        assert_eq!(found.of(3), Some(OfClass::Between(kb(20), kb(80), None)));
        assert_eq!((found.of(5), found.of(1)), (Some(OfClass::Never), None));
        assert_eq!(found.show(), "\"0: 1KB-1KB 0.25, 3: 20KB-80KB, 5: never\"");
        assert_eq!(read(found.show().trim_matches('"')), Ok(found));
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "8: never",
            "3: always",
            "3: 80KB-20KB",
            "3: 20KB",
            "3: 20KB-80KB 1.5",
            "3: 20KB-80KB x",
            "3: never, 3: never",
            "20KB-80KB",
            "3: 20-80",
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with("expected classes from 0 to 7"), "{text}: {error}");
        }
    }
}
