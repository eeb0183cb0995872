//! Communicator groups, in the form of ASTRA-sim's option `comm-group-configuration`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Ranks by the name of their group.
#[derive(Debug, Default)]
pub(super) struct Groups {
    named: BTreeMap<String, Arc<[u32]>>,
}

/// The groups as the file has them. The same name twice is an error: a map would keep the last.
struct Listed(BTreeMap<String, Vec<u32>>);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Listed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Listed, M::Error> {
                let mut found = BTreeMap::new();
                while let Some((name, ranks)) = entries.next_entry::<String, Vec<u32>>()? {
                    if found.contains_key(&name) {
                        let problem = format!("the name {name:?} is there twice: remove one");
                        return Err(M::Error::custom(problem));
                    }
                    found.insert(name, ranks);
                }
                Ok(Listed(found))
            }
        }
        from.deserialize_map(Names)
    }
}

impl Groups {
    /// Reads `text`, the contents of `file`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(file: &str, text: &str) -> Result<Self, String> {
        let Listed(found) = serde_json::from_str(text).map_err(|error| {
            format!("groups = {file:?}: expected {{\"NAME\": [RANK, ...], ...}}: {error}")
        })?;
        let mut named = BTreeMap::new();
        for (name, mut ranks) in found {
            ranks.sort_unstable();
            if let Some(pair) = ranks.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!(
                    "groups = {file:?}: group {name:?} names rank {} twice",
                    pair[0]
                ));
            }
            if ranks.is_empty() {
                return Err(format!("groups = {file:?}: group {name:?} has no ranks"));
            }
            named.insert(name, ranks.into());
        }
        Ok(Self { named })
    }

    /// Whether the file has a group of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// The ranks of a group, in order, among all of the job.
    ///
    /// # Errors
    /// There is no such group, or it names ranks that the job does not have.
    pub(super) fn ranks(&self, name: &str, all: u32) -> Result<Arc<[u32]>, String> {
        match self.named.get(name) {
            Some(ranks) => match ranks.iter().find(|&&rank| rank >= all) {
                Some(rank) => {
                    Err(format!("group {name:?} has rank {rank}, but the trace has {all} ranks"))
                }
                None => Ok(Arc::clone(ranks)),
            },
            None if matches!(name, "" | "0") => Ok((0..all).collect()),
            None => Err(format!(
                "there is no communicator group {name:?}: list its ranks in the JSON file that \
                 `groups` names"
            )),
        }
    }
}
