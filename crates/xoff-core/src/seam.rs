//! Seams, declared once.
//!
//! A seam is a place where one implementation can replace another: the congestion control, the
//! scheduler, the topology. [`seam!`](crate::seam!) lists the implementations of a seam. The name
//! in scenarios, the sections that a scenario may have, the schema, the check for sections without
//! effect and the list for conformance tests all come from that list.
//!
//! Every implementation has a settings type, which says what the implementation can do and what it
//! needs: the seam names a trait for these questions. A seam's enum dereferences to that trait, so
//! the rest of the program asks, and no other code matches over variants.
//!
//! [`dispatch!`](crate::dispatch!) makes the enum that the packet path goes through.

use std::collections::BTreeSet;

use crate::knobs::{Field, Knob, Knobs, Names};

/// Where sections are read from.
pub trait Sections {
    /// Applies what the scenario sets to a section that has its defaults.
    fn fill(&mut self, section: &mut dyn Knobs);
    /// A section has no effect, for this reason: a mistake if the scenario has it.
    fn unused(&mut self, section: &str, reason: &str);

    /// Reads a section: its defaults with what the scenario sets.
    fn read<K: Knobs + Default>(&mut self) -> K {
        let mut section = K::default();
        self.fill(&mut section);
        section
    }
}

/// Sections with nothing set.
struct Defaults;

impl Sections for Defaults {
    fn fill(&mut self, _section: &mut dyn Knobs) {}

    fn unused(&mut self, _section: &str, _reason: &str) {}
}

/// A section for documentation and the schema.
#[derive(Clone, Debug)]
pub struct SectionDoc {
    /// The section's name.
    pub name: &'static str,
    /// What it is about.
    pub doc: String,
    /// Its settings.
    pub fields: Vec<Field>,
}

impl SectionDoc {
    /// The documentation of the section of this type.
    #[must_use]
    pub fn of<K: Knobs + Default>() -> Self {
        Self::from(&K::default() as &dyn Knobs)
    }
}

impl From<&dyn Knobs> for SectionDoc {
    fn from(section: &dyn Knobs) -> Self {
        let doc = section.doc().to_owned();
        Self { name: section.section(), doc, fields: section.fields() }
    }
}

/// A value that a part needs another setting to have.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The section of that setting.
    pub section: &'static str,
    /// Its key.
    pub key: &'static str,
    /// The values that will do, as a scenario file writes them without quotes.
    pub values: &'static [&'static str],
    /// The reason.
    pub reason: &'static str,
}

/// A [`Need`], from `("section", "key")`.
#[must_use]
pub fn need(
    (section, key): (&'static str, &'static str),
    values: &'static [&'static str],
    reason: &'static str,
) -> Need {
    Need { section, key, values, reason }
}

/// The settings of one implementation: one section in most cases, none or several in others.
pub trait Settings: Default + Clone {
    /// Reads them from their sections.
    fn read(sections: &mut impl Sections) -> Self;
    /// Their sections.
    fn sections() -> Vec<SectionDoc>;
}

impl<K: Knobs + Default + Clone> Settings for K {
    fn read(sections: &mut impl Sections) -> Self {
        let section = K::default();
        if section.section().is_empty() { section } else { sections.read() }
    }

    fn sections() -> Vec<SectionDoc> {
        let section = K::default();
        if section.section().is_empty() { Vec::new() } else { vec![SectionDoc::of::<K>()] }
    }
}

/// The implementations of a seam, made by [`seam!`](crate::seam!).
pub trait Seam: Default + Clone {
    /// Their names.
    type Kind: Knob + Copy + PartialEq + 'static;
    /// Every name, in the order of declaration.
    fn kinds() -> Vec<Self::Kind>;
    /// The name of this one.
    fn kind(&self) -> Self::Kind;
    /// Reads the settings of the implementation with this name.
    fn read(kind: Self::Kind, sections: &mut impl Sections) -> Self;
    /// The sections of the implementation with this name.
    fn sections(kind: Self::Kind) -> Vec<SectionDoc>;
    /// The description of the implementation with this name.
    fn doc(kind: Self::Kind) -> &'static str;

    /// The implementation with this name, with its defaults.
    #[must_use]
    fn with_defaults(kind: Self::Kind) -> Self {
        Self::read(kind, &mut Defaults)
    }

    /// The sections of all implementations, each once.
    #[must_use]
    fn all_sections() -> Vec<SectionDoc> {
        let mut known = BTreeSet::new();
        let all = Self::kinds().into_iter().flat_map(Self::sections);
        all.filter(|section| known.insert(section.name)).collect()
    }

    /// The first section of this one; empty if it has none.
    fn own_section(&self) -> &'static str {
        Self::sections(self.kind()).first().map_or("", |section| section.name)
    }

    /// Every implementation with default settings.
    #[must_use]
    fn all() -> Vec<Self> {
        Self::kinds().into_iter().map(Self::with_defaults).collect()
    }

    /// Reads the implementation that the setting `key` names. Sections of all others have no
    /// effect.
    fn choose(key: &str, kind: Self::Kind, sections: &mut impl Sections) -> Self {
        let own: Vec<&str> = Self::sections(kind).iter().map(|section| section.name).collect();
        let reason = format!("{key} = {}", kind.show());
        for section in Self::all_sections() {
            if !own.contains(&section.name) {
                sections.unused(section.name, &reason);
            }
        }
        Self::read(kind, sections)
    }
}

/// Implementations of a seam that another crate adds: they are known when the program starts.
pub trait Others: Names + Clone {
    /// Reads the settings of the implementation with this name.
    fn read(name: &'static str, sections: &mut impl Sections) -> Self;
    /// The sections of the implementation with this name.
    fn sections(name: &'static str) -> Vec<SectionDoc>;
    /// The description of the implementation with this name.
    fn doc(name: &'static str) -> &'static str;
    /// The name of this one.
    fn name(&self) -> &'static str;
}

/// Declares the implementations of a seam. `and Variant(Type)` adds those of a type that implements
/// [`Others`].
///
/// ```
/// use xoff_core::knobs::Knob;
/// use xoff_core::seam::Seam;
///
/// /// What every kind of queue says of itself.
/// trait QueueSettings {
///     fn drops(&self) -> bool;
/// }
///
/// xoff_core::knobs! {
///     /// A queue that grows without limit.
///     pub struct Unlimited;
/// }
/// xoff_core::knobs! {
///     /// A queue that drops what finds it full.
///     pub struct Bounded in "bounded" {
///         /// Most packets.
///         packets: u32 = 100,
///     }
/// }
///
/// impl QueueSettings for Unlimited {
///     fn drops(&self) -> bool {
///         false
///     }
/// }
/// impl QueueSettings for Bounded {
///     fn drops(&self) -> bool {
///         true
///     }
/// }
///
/// xoff_core::seam! {
///     /// Kinds of queue.
///     enum QueueConfig: dyn QueueSettings, named by QueueKind {
///         /// Packets always find room.
///         Unlimited(Unlimited) = "unlimited",
///         /// Section `bounded`.
///         Bounded(Bounded) = "bounded",
///     }
/// }
///
/// # fn main() {
/// assert_eq!(QueueKind::choices(), ["unlimited", "bounded"]);
/// assert!(QueueConfig::Bounded(Bounded::default()).drops());
/// assert_eq!(QueueConfig::all_sections()[0].name, "bounded");
/// # }
/// ```
#[macro_export]
macro_rules! seam {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis enum $config:ident: dyn $asks:path, named by $kind:ident {
            $(
                $(#[doc = $variant_doc:literal])*
                $variant:ident($settings:ty) = $name:literal
            ),+ $(,)?
        }
        $( and $other:ident($others:ty) )?
    ) => {
        $crate::choices! {
            $(#[doc = $doc])*
            pub enum $kind { $( $(#[doc = $variant_doc])* $variant = $name ),+ }
            $( and $other of $others )?
        }

        #[doc = concat!("The settings of one of the [`", stringify!($kind), "`].")]
        #[derive(Clone, Debug)]
        $visibility enum $config {
            $( $(#[doc = $variant_doc])* $variant($settings), )+
            $( /// An implementation of another crate.
            $other($others), )?
        }

        impl $crate::seam::Seam for $config {
            type Kind = $kind;

            fn kinds() -> Vec<$kind> {
                let kinds = [$( $kind::$variant ),+].into_iter();
                $( let kinds = kinds.chain(
                    <$others as $crate::knobs::Names>::added().into_iter().map($kind::$other),
                ); )?
                kinds.collect()
            }

            fn kind(&self) -> $kind {
                match self {
                    $( Self::$variant(_) => $kind::$variant, )+
                    $( Self::$other(other) => {
                        $kind::$other($crate::seam::Others::name(other))
                    } )?
                }
            }

            fn read(kind: $kind, sections: &mut impl $crate::seam::Sections) -> Self {
                match kind {
                    $( $kind::$variant => Self::$variant(
                        <$settings as $crate::seam::Settings>::read(sections),
                    ), )+
                    $( $kind::$other(name) => Self::$other(
                        <$others as $crate::seam::Others>::read(name, sections),
                    ), )?
                }
            }

            fn sections(kind: $kind) -> Vec<$crate::seam::SectionDoc> {
                match kind {
                    $( $kind::$variant => <$settings as $crate::seam::Settings>::sections(), )+
                    $( $kind::$other(name) => <$others as $crate::seam::Others>::sections(name), )?
                }
            }

            fn doc(kind: $kind) -> &'static str {
                match kind {
                    $( $kind::$variant => concat!($($variant_doc, "\n"),*), )+
                    $( $kind::$other(name) => <$others as $crate::seam::Others>::doc(name), )?
                }
            }
        }

        impl Default for $config {
            fn default() -> Self {
                let first = [$( $kind::$variant ),+][0];
                <Self as $crate::seam::Seam>::with_defaults(first)
            }
        }

        impl std::ops::Deref for $config {
            type Target = dyn $asks;

            fn deref(&self) -> &Self::Target {
                match self {
                    $( Self::$variant(settings) => settings, )+
                    $( Self::$other(other) => { let other: &$others = other; &**other } )?
                }
            }
        }

        impl std::ops::DerefMut for $config {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $( Self::$variant(settings) => settings, )+
                    $( Self::$other(other) => { let other: &mut $others = other; &mut **other } )?
                }
            }
        }
    };
}

/// Declares an enum of implementations that packets go through, and a macro that calls whichever it
/// is: `each!(value, name => name.method())`.
#[macro_export]
macro_rules! dispatch {
    (
        $(#[$attribute:meta])*
        pub enum $any:ident in $($module:ident)::+, each by $each:ident {
            $( $(#[$variant_attribute:meta])* $variant:ident($state:ty) ),+ $(,)?
        }
    ) => {
        $crate::dispatch! {
            @with_dollar ($)
            $(#[$attribute])*
            pub enum $any in $($module)::+, each by $each {
                $( $(#[$variant_attribute])* $variant($state) ),+
            }
        }
    };
    (
        @with_dollar ($dollar:tt)
        $(#[$attribute:meta])*
        pub enum $any:ident in $($module:ident)::+, each by $each:ident {
            $( $(#[$variant_attribute:meta])* $variant:ident($state:ty) ),+
        }
    ) => {
        $(#[$attribute])*
        pub enum $any { $( $(#[$variant_attribute])* $variant($state) ),+ }

        /// Applies an expression to whichever implementation it is.
        macro_rules! $each {
            ($dollar value:expr, $dollar name:ident => $dollar call:expr) => {
                {
                    use $($module)::+::$any as Any;
                    match $dollar value { $( Any::$variant($dollar name) => $dollar call ),+ }
                }
            };
        }
    };
}
