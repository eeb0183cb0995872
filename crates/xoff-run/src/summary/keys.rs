//! Parts of the summary, declared once with `keys!`: serialization, documentation and Python types
//! come from the declaration.

pub use xoff_scenario::named::Named;

/// The type of a value in the summary.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number, or null if it is not finite.
    Number,
    /// A text.
    Text,
    /// A value and the share of samples that do not exceed it.
    CdfPoint,
    /// Null, or a value of this type.
    OrNull(Box<Kind>),
    /// A list.
    List(Box<Kind>),
    /// An object with keys that depend on the run.
    Map(Box<Kind>),
    /// An object with declared keys.
    Part(Part),
}

/// An object with declared keys.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of its type.
    pub name: &'static str,
    /// What it describes.
    pub doc: String,
    /// Its keys in the order of declaration.
    pub keys: Vec<Key>,
}

/// A key of an object.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub doc: String,
    /// The type of its value.
    pub kind: Kind,
    /// Whether the object has the keys of the value instead of this key.
    pub flattened: bool,
}

/// A type with a description for the declarations of the summary.
pub trait Described {
    /// Describes the type.
    fn kind() -> Kind;
}

macro_rules! described {
    ($($type:ty => $kind:ident),* $(,)?) => {$(
        impl Described for $type {
            fn kind() -> Kind {
                Kind::$kind
            }
        }
    )*};
}
described!(
    u8 => Integer, u16 => Integer, u32 => Integer, u64 => Integer, usize => Integer,
    f64 => Number, String => Text, &'static str => Text, (u64, f64) => CdfPoint,
);

impl<T: Described> Described for Option<T> {
    fn kind() -> Kind {
        Kind::OrNull(Box::new(T::kind()))
    }
}

impl<T: Described> Described for Vec<T> {
    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }
}

impl<T: Described> Described for Named<T> {
    fn kind() -> Kind {
        Kind::Map(Box::new(T::kind()))
    }
}

/// Declares an object of the summary. `#[serde(flatten)]` before a key replaces it by the keys of
/// its value.
macro_rules! keys {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $key_doc:literal])* $(#[serde($serde:ident)])? $key:ident : $type:ty ),*
            $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, serde::Serialize)]
        pub struct $name { $( $(#[doc = $key_doc])* $(#[serde($serde)])? pub $key: $type ),* }

        impl $crate::summary::keys::Described for $name {
            fn kind() -> $crate::summary::keys::Kind {
                let keys = vec![$( $crate::summary::keys::Key {
                    name: stringify!($key),
                    doc: concat!($($key_doc, "\n"),*).trim().to_string(),
                    kind: <$type as $crate::summary::keys::Described>::kind(),
                    flattened: [$(stringify!($serde)),*].contains(&"flatten"),
                } ),*];
                $crate::summary::keys::Kind::Part($crate::summary::keys::Part {
                    name: stringify!($name),
                    doc: concat!($($doc, "\n"),*).trim().to_string(),
                    keys,
                })
            }
        }
    };
}
pub(crate) use keys;
