//! Communicator groups, in the form of ASTRA-sim's option `comm-group-configuration`.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Ranks by the name of their group.
#[derive(Debug, Default)]
pub(super) struct Groups {
    named: BTreeMap<String, Arc<[u32]>>,
}

impl Groups {
    /// Reads `text`, the contents of `file`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(file: &str, text: &str) -> Result<Self, String> {
        let found: BTreeMap<String, Vec<u32>> = serde_json::from_str(text).map_err(|error| {
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
