//! Congestion controls that another crate adds to the engine, with
//! [`add_control!`](crate::add_control).
//!
//! Such a control has the parts of one in this folder: settings made by
//! [`knobs!`](xoff_core::knobs!), [`ControlSettings`], [`Start`] and [`CongestionControl`].
//! Calls to it go through a table of functions, and each flow has an allocation of its own.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use xoff_core::knobs::{Knobs, Names};
use xoff_core::seam::{Others, SectionDoc, Sections};

use super::{Congestion, CongestionControl, ControlSettings, Pace, Path, Start};
use crate::tcp::TcpConfig;

/// Default settings of a congestion control that a crate adds. For
/// [`add_control!`](crate::add_control).
#[derive(Debug)]
pub struct Addition(pub fn() -> Box<dyn AddedSettings>);

inventory::collect!(Addition);

/// Adds a congestion control to every program that links the crate. `$settings` is the type of its
/// settings. Their section names the control, and its preset if it has one.
#[macro_export]
macro_rules! add_control {
    ($settings:ty) => {
        $crate::inventory::submit! {
            $crate::cc::Addition(|| Box::new(<$settings>::default()))
        }
    };
}

/// All that were linked, by name: the order in which they were linked must not matter.
static ADDED: LazyLock<Vec<Box<dyn AddedSettings>>> = LazyLock::new(|| {
    let mut controls: Vec<_> = inventory::iter::<Addition>().map(|addition| addition.0()).collect();
    controls.sort_by_key(|control| control.section());
    let mut names = Congestion::NAMES.to_vec();
    for control in &controls {
        let name = control.section();
        assert!(!name.is_empty(), "add_control! needs settings with a section: {control:?}");
        assert!(!names.contains(&name), "add_control!: there is a control \"{name}\" already");
        names.push(name);
    }
    controls
});

static ALL_NAMES: LazyLock<Vec<&str>> =
    LazyLock::new(|| [Congestion::NAMES, &AddedConfig::added()].concat());

/// The settings of a control that another crate adds.
pub trait AddedSettings: ControlSettings + Knobs + Debug + Send + Sync {
    /// A copy.
    fn copy(&self) -> Box<dyn AddedSettings>;
    /// The control of a new flow, and its first pace.
    fn start_added(&self, path: &Path, tcp: &TcpConfig) -> (Box<dyn AddedControl>, Pace);
}

impl<S> AddedSettings for S
where
    S: ControlSettings + Knobs + Start + Clone + Debug + Send + Sync + 'static,
    S::Control: Clone + Debug + Send + Sync + 'static,
{
    fn copy(&self) -> Box<dyn AddedSettings> {
        Box::new(self.clone())
    }

    fn start_added(&self, path: &Path, tcp: &TcpConfig) -> (Box<dyn AddedControl>, Pace) {
        let (control, pace) = self.start(path, tcp);
        (Box::new(control), pace)
    }
}

/// The state of one flow of such a control.
pub trait AddedControl: CongestionControl + Debug + Send + Sync {
    /// A copy.
    fn copy(&self) -> Box<dyn AddedControl>;
}

impl<C: CongestionControl + Clone + Debug + Send + Sync + 'static> AddedControl for C {
    fn copy(&self) -> Box<dyn AddedControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AddedControl> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

/// The settings of one added control.
#[derive(Debug)]
pub struct AddedConfig(Box<dyn AddedSettings>);

impl AddedConfig {
    fn named(name: &str) -> Self {
        let found = ADDED.iter().find(|control| control.section() == name);
        Self(found.expect("names come from this list").copy())
    }

    /// The control of a new flow, and its first pace.
    pub(super) fn start(&self, path: &Path, tcp: &TcpConfig) -> (Box<dyn AddedControl>, Pace) {
        self.0.start_added(path, tcp)
    }
}

impl Clone for AddedConfig {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl Deref for AddedConfig {
    type Target = dyn ControlSettings;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for AddedConfig {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

impl Names for AddedConfig {
    fn added() -> Vec<&'static str> {
        ADDED.iter().map(|control| control.section()).collect()
    }

    fn all() -> &'static [&'static str] {
        &ALL_NAMES
    }
}

impl Others for AddedConfig {
    fn read(name: &'static str, sections: &mut impl Sections) -> Self {
        let mut settings = Self::named(name);
        sections.fill(&mut *settings.0);
        settings
    }

    fn sections(name: &'static str) -> Vec<SectionDoc> {
        vec![SectionDoc::from(&*Self::named(name).0 as &dyn Knobs)]
    }

    fn doc(name: &'static str) -> &'static str {
        Self::named(name).0.doc()
    }

    fn name(&self) -> &'static str {
        self.0.section()
    }
}
