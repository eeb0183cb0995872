//! The division of a switch's memory: what is set aside for each class, and the pool that is left.

use xoff_core::Bytes;

use super::PfcConfig;
use super::limits::Share;
use crate::buffer::{BufferConfig, Profile};
use crate::hop::PfcPort;

/// The division of a switch's memory among classes. Without PFC all classes are lossy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryPlan<'a> {
    pub(crate) pfc: Option<&'a PfcConfig>,
    pub(crate) buffer: &'a BufferConfig,
}

/// Bytes of a memory that are not in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aside {
    reserves: u64,
    pub(crate) headrooms: u64,
}

impl Aside {
    pub(crate) fn bytes(self) -> u64 {
        self.reserves + self.headrooms
    }
}

impl MemoryPlan<'_> {
    /// Whether classes need accounts of their own.
    pub(crate) fn is_by_class(self) -> bool {
        let shares = self.pfc.is_some_and(|pfc| pfc.headroom_oversubscription > 0.0);
        shares || !self.buffer.by_class.is_empty()
    }

    /// What a class may hold at a port. A threshold follows rates above `nic_rate`, if so set.
    pub(super) fn share(self, own: Option<Profile>, port: &PfcPort, nic_rate: u64) -> Share {
        let Profile { lossy, alpha, reserve, headroom, resume_offset } = own.unwrap_or_default();
        let Some(pfc) = self.pfc.filter(|_| !lossy) else {
            let alpha = alpha.unwrap_or(self.buffer.alpha);
            // 0: no limit.
            let threshold_ppm = if alpha > 0.0 { (alpha * 1e6) as u64 } else { u64::MAX };
            let reserve = reserve.unwrap_or_default().0;
            return Share { reserve, threshold_ppm, ..Share::default() };
        };
        let headroom = headroom.map_or_else(|| pfc.headroom_bytes(port), |bytes| bytes.0);
        let threshold = alpha.unwrap_or(pfc.threshold);
        Share {
            reserve: reserve.unwrap_or(pfc.reserve).0,
            threshold_ppm: pfc.threshold_ppm(threshold, port.rate, nic_rate),
            resume_offset: resume_offset.unwrap_or(pfc.resume_offset).0,
            headroom,
        }
    }

    /// What is set aside for these ports: for each class of `buffer.by_class`, and once for the
    /// others.
    pub(crate) fn aside<'p>(self, ports: impl IntoIterator<Item = &'p PfcPort>) -> Aside {
        let by_class = &self.buffer.by_class;
        let others = (!by_class.is_complete()).then_some(None);
        let mut aside = Aside::default();
        for port in ports {
            for own in by_class.iter().map(|(_, own)| Some(own)).chain(others) {
                let share = self.share(own, port, u64::MAX);
                aside.reserves += share.reserve;
                aside.headrooms += share.headroom;
            }
        }
        let times = self.pfc.map_or(0.0, |pfc| pfc.headroom_oversubscription);
        if times > 0.0 {
            aside.headrooms = (aside.headrooms as f64 / times) as u64;
        }
        aside
    }

    /// Pool and thresholds of a switch with this memory and these ports: names and bytes. A lone
    /// ingress or queue holds its share of what it leaves free, and its reserve.
    pub(crate) fn explain(self, ports: &[PfcPort]) -> Vec<(String, u64)> {
        let Some(first) = ports.first() else { return Vec::new() };
        let aside = self.aside(ports);
        let pool = self.buffer.size.0.saturating_sub(aside.bytes());
        let alone = |own: Option<Profile>| {
            let share = self.share(own, first, u64::MAX);
            let alpha = share.threshold_ppm as f64 / 1e6;
            (pool as f64 * (alpha / (1.0 + alpha))) as u64 + share.reserve
        };
        let name =
            |text: &str| if self.pfc.is_some() { format!("pfc_{text}") } else { text.into() };
        let mut found = vec![(name("pool"), pool)];
        if self.pfc.is_some_and(|pfc| pfc.headroom_oversubscription > 0.0) {
            found.push((name("headroom_pool"), aside.headrooms));
        }
        let limit = |lossy: bool| match lossy {
            false => name("pause_of_a_lone_ingress"),
            true => "most_in_a_queue".to_owned(),
        };
        if !self.buffer.by_class.is_complete() {
            found.push((limit(self.pfc.is_none()), alone(None)));
        }
        for (class, own) in self.buffer.by_class.iter() {
            let lossy = own.lossy || self.pfc.is_none();
            found.push((format!("class{class}_{}", limit(lossy)), alone(Some(own))));
        }
        found
    }

    /// The bytes of the pool.
    ///
    /// # Errors
    /// If reserves and headrooms alone exceed the memory.
    pub(super) fn pool(self, aside: Aside) -> Result<u64, String> {
        self.buffer.size.0.checked_sub(aside.bytes()).ok_or_else(|| {
            format!(
                "reserves and headrooms take {} of a buffer of {}",
                Bytes(aside.bytes()),
                self.buffer.size
            )
        })
    }
}
