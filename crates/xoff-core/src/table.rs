//! Tables of results, declared once.
//!
//! [`table!`](crate::table!) declares a row type. The columns of its table, their types, the empty
//! table and the documentation come from that declaration. [`tables!`](crate::tables!) lists the
//! tables of an engine and holds the rows that wait to be taken.

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Integers of 16 bits.
    U16(Vec<u16>),
    /// Integers of 32 bits.
    U32(Vec<u32>),
    /// Integers of 32 bits; some may be absent.
    OptionalU32 {
        /// The values; 0 where one is absent.
        values: Vec<u32>,
        /// Bit `i % 8` of byte `i / 8` says that value `i` is there.
        present: Vec<u8>,
    },
    /// Integers of 64 bits.
    U64(Vec<u64>),
    /// Floating-point numbers.
    F64(Vec<f64>),
    /// Texts: text `i` is `bytes[ends[i]..ends[i + 1]]`, and `ends[0]` is 0.
    Text {
        /// One more than there are texts.
        ends: Vec<i32>,
        /// All texts, one after another.
        bytes: Vec<u8>,
    },
}

impl Column {
    /// The number of values.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::U16(values) => values.len(),
            Self::U32(values) | Self::OptionalU32 { values, .. } => values.len(),
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text { ends, .. } => ends.len() - 1,
        }
    }

    /// The name of the type in the documentation.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::U16(_) => "uint16",
            Self::U32(_) => "uint32",
            Self::OptionalU32 { .. } => "uint32 or null",
            Self::U64(_) => "uint64",
            Self::F64(_) => "double",
            Self::Text { .. } => "string",
        }
    }
}

/// A type that a column can be declared with.
pub trait Cell: Sized {
    /// The column of these values.
    fn column(values: impl Iterator<Item = Self>) -> Column;
}

macro_rules! cell {
    ($($type:ty => $variant:ident),*) => {$(
        impl Cell for $type {
            fn column(values: impl Iterator<Item = Self>) -> Column {
                Column::$variant(values.map(Into::into).collect())
            }
        }
    )*};
}
cell!(u8 => U16, u16 => U16, u32 => U32, u64 => U64, f64 => F64);

impl Cell for Option<u32> {
    fn column(values: impl Iterator<Item = Self>) -> Column {
        let (mut found, mut present) = (Vec::new(), Vec::new());
        for value in values {
            let bit = found.len() % 8;
            if bit == 0 {
                present.push(0);
            }
            *present.last_mut().expect("the first bit has added a byte") |=
                u8::from(value.is_some()) << bit;
            found.push(value.unwrap_or(0));
        }
        Column::OptionalU32 { values: found, present }
    }
}

impl Cell for String {
    fn column(values: impl Iterator<Item = Self>) -> Column {
        let mut ends = vec![0];
        let mut bytes = Vec::new();
        for text in values {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(i32::try_from(bytes.len()).expect("a column holds less than 2 GiB of text"));
        }
        Column::Text { ends, bytes }
    }
}

/// Rows of a table, by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The table's name, which is also that of its file.
    pub name: &'static str,
    /// The columns by name, all of one length.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// The table of these rows.
    #[must_use]
    pub fn of<R: Row>(rows: &[R]) -> Self {
        Self { name: R::TABLE, columns: R::columns(rows) }
    }
}

/// A row type made by [`table!`](crate::table!).
pub trait Row: Sized {
    /// The table's name.
    const TABLE: &'static str;
    /// How to get the table, if not every run has it.
    const OPTIONAL: Option<&'static str>;
    /// The documentation of the table, then that of each column.
    fn docs() -> (String, Vec<String>);
    /// The columns of these rows.
    fn columns(rows: &[Self]) -> Vec<(&'static str, Column)>;
}

/// A table as its row type declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The table without rows.
    pub empty: Table,
    /// How to get the table, if not every run has it.
    pub optional: Option<&'static str>,
    /// What a row is.
    pub doc: String,
    /// The documentation of each column.
    pub column_docs: Vec<String>,
}

impl Declared {
    /// The declaration of a row type.
    #[must_use]
    pub fn of<R: Row>() -> Self {
        let (doc, column_docs) = R::docs();
        Self { empty: Table::of::<R>(&[]), optional: R::OPTIONAL, doc, column_docs }
    }
}

/// The tables of an engine, made by [`tables!`](crate::tables!).
pub trait Tables {
    /// The number of rows that wait to be taken.
    fn waiting(&self) -> usize;
    /// Takes the tables that have rows, in the order of declaration.
    fn take(&mut self) -> Vec<Table>;
    /// All tables, in the order of declaration.
    fn declared() -> Vec<Declared>;
}

/// Declares a row type and its table. A column is a field, or computed from the row:
/// `slowdown: f64 = |row| row.slowdown()`. `optional: "..."` after the table's name says how to get
/// a table that not every run has.
#[macro_export]
macro_rules! table {
    (@optional) => { None };
    (@optional $text:tt) => { Some($text) };
    // Sorts the columns: fields into the first list, and all of them into the second.
    (
        @sort $head:tt { $($fields:tt)* } { $($columns:tt)* }
        $(#[doc = $doc:literal])* $name:ident : $type:ty = $value:expr, $($rest:tt)*
    ) => {
        $crate::table!(
            @sort $head { $($fields)* }
            { $($columns)* ($name, $type, $value, [$($doc)*]) } $($rest)*
        );
    };
    (
        @sort $head:tt { $($fields:tt)* } { $($columns:tt)* }
        $(#[doc = $doc:literal])* $name:ident : $type:ty, $($rest:tt)*
    ) => {
        $crate::table!(
            @sort $head { $($fields)* $(#[doc = $doc])* pub $name: $type, }
            { $($columns)* ($name, $type, |row| Clone::clone(&row.$name), [$($doc)*]) } $($rest)*
        );
    };
    (
        @sort {
            [$($doc:literal)*] [$(#[$derive:meta])?] $row:ident $table:literal [$($optional:tt)?]
        }
        { $($fields:tt)* }
        { $(($name:ident, $type:ty, $value:expr, [$($column_doc:literal)*]))* }
    ) => {
        $(#[doc = $doc])*
        $(#[$derive])?
        #[allow(unreachable_pub)]
        pub struct $row { $($fields)* }

        impl $crate::table::Row for $row {
            const TABLE: &'static str = $table;
            const OPTIONAL: Option<&'static str> = $crate::table!(@optional $($optional)?);

            fn docs() -> (String, Vec<String>) {
                let columns = vec![$( concat!($($column_doc, "\n"),*).trim().to_string() ),*];
                (concat!($($doc, "\n"),*).trim().to_string(), columns)
            }

            fn columns(rows: &[Self]) -> Vec<(&'static str, $crate::table::Column)> {
                vec![$({
                    let value: fn(&Self) -> $type = $value;
                    let column = <$type as $crate::table::Cell>::column(rows.iter().map(value));
                    (stringify!($name), column)
                }),*]
            }
        }
    };
    (
        $(#[doc = $doc:literal])* $(#[derive($($derived:ident),*)])?
        pub struct $row:ident in $table:literal $(, optional: $optional:tt)? {
            $($columns:tt)*
        }
    ) => {
        $crate::table!(
            @sort {
                [$($doc)*] [$(#[derive($($derived),*)])?] $row $table
                [$($optional)?]
            }
            {} {} $($columns)*
        );
    };
}

/// Lists the tables of an engine: a struct that holds the rows which wait to be taken.
#[macro_export]
macro_rules! tables {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident { $( $field:ident : $row:ty ),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Default)]
        #[allow(unreachable_pub)]
        pub struct $name {
            $(
                #[doc = concat!("Rows of type [`", stringify!($row), "`].")]
                pub $field: Vec<$row>
            ),*
        }

        impl $crate::table::Tables for $name {
            fn waiting(&self) -> usize {
                0 $( + self.$field.len() )*
            }

            fn take(&mut self) -> Vec<$crate::table::Table> {
                let mut tables = Vec::new();
                $( if !self.$field.is_empty() {
                    tables.push($crate::table::Table::of(&std::mem::take(&mut self.$field)));
                } )*
                tables
            }

            fn declared() -> Vec<$crate::table::Declared> {
                vec![$( $crate::table::Declared::of::<$row>() ),*]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    table! {
        /// A sample of
        /// everything.
        #[derive(Clone, Debug, PartialEq)]
        pub struct SampleRow in "samples", optional: "ask for it" {
            /// When.
            time_ps: u64,
            /// Twice the
            /// port.
            twice: u32 = |row| 2 * u32::from(row.port),
            /// The port.
            port: u16,
            /// Its class.
            class: u8,
            /// A share.
            share: f64,
            /// What it joins.
            link: String,
            /// Its rack.
            rack: Option<u32>,
        }
    }

    table! {
        /// Nothing much.
        #[derive(Clone, Copy, Debug)]
        pub struct PlainRow in "plain" {
            /// A number.
            number: u64,
        }
    }

    tables! {
        /// All of them.
        pub struct Sampled { samples: SampleRow, plain: PlainRow }
    }

    fn row(time_ps: u64, link: &str) -> SampleRow {
        let rack = (time_ps > 1).then_some(9);
        SampleRow { time_ps, port: 3, class: 7, share: 0.5, link: link.into(), rack }
    }

    #[test]
    fn every_field_lands_in_its_own_column_in_the_order_of_declaration() {
        let table = Table::of(&[row(1, "host-leaf"), row(2, "Späne")]);
        assert_eq!(table.name, "samples");
        let text = Column::Text { ends: vec![0, 9, 15], bytes: "host-leafSpäne".into() };
        assert_eq!(
            table.columns,
            [
                ("time_ps", Column::U64(vec![1, 2])),
                ("twice", Column::U32(vec![6, 6])),
                ("port", Column::U16(vec![3, 3])),
                ("class", Column::U16(vec![7, 7])),
                ("share", Column::F64(vec![0.5, 0.5])),
                ("link", text),
                ("rack", Column::OptionalU32 { values: vec![0, 9], present: vec![0b10] }),
            ]
        );
        assert!(table.columns.iter().all(|(_, column)| column.rows() == 2));
    }

    #[test]
    fn nine_values_take_two_bytes_of_presence() {
        let column = Option::column((0..9).map(|value| (value % 4 != 1).then_some(value)));
        let values = vec![0, 0, 2, 3, 4, 0, 6, 7, 8];
        assert_eq!(column, Column::OptionalU32 { values, present: vec![0b1101_1101, 1] });
        assert_eq!(column.rows(), 9);
    }

    #[test]
    fn a_table_documents_itself() {
        let [samples, plain] = &Sampled::declared()[..] else { panic!("two tables") };
        assert_eq!(samples.doc, "A sample of\n everything.");
        assert_eq!(samples.column_docs[1], "Twice the\n port.");
        assert_eq!((samples.optional, plain.optional), (Some("ask for it"), None));
        let kinds = samples.empty.columns.iter().map(|(_, column)| column.kind());
        let expected =
            ["uint64", "uint32", "uint16", "uint16", "double", "string", "uint32 or null"];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn rows_are_taken_once_and_empty_tables_not_at_all() {
        let mut rows = Sampled::default();
        assert_eq!((rows.waiting(), rows.take()), (0, vec![]));
        rows.plain.push(PlainRow { number: 5 });
        assert_eq!(rows.waiting(), 1);
        assert_eq!(rows.take(), [Table::of(&[PlainRow { number: 5 }])]);
        assert_eq!((rows.waiting(), rows.take()), (0, vec![]));
    }
}
