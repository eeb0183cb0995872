//! Messages of Chakra's schema 0.0.4 (mlcommons/chakra, `schema/protobuf/et_def.proto`), as far as
//! they are used. Other fields are skipped, and so are fields of later versions.

/// The first message of a file:
///
/// ```proto
/// message GlobalMetadata {
///   string version = 1;
///   repeated AttributeProto attr = 2;
/// }
/// ```
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub(super) version: String,
}

/// All other messages:
///
/// ```proto
/// message Node {
///   uint64 id = 1;
///   string name = 2;
///   NodeType type = 3;
///   repeated uint64 ctrl_deps = 4;
///   repeated uint64 data_deps = 5;
///   uint64 start_time_micros = 6;
///   uint64 duration_micros = 7;
///   IOInfo inputs = 8;
///   IOInfo outputs = 9;
///   repeated AttributeProto attr = 10;
/// }
/// ```
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(int32, tag = "3")]
    pub(super) kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub(super) ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub(super) data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub(super) duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub(super) attr: Vec<Attribute>,
}

/// `NodeType`, by its numbers.
pub(super) const NODE_TYPES: [&str; 11] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
    "STORAGE_NODE",
    "BATCH_NODE",
    "CHECKPOINT_NODE",
];

/// `CollectiveCommType`, by its numbers.
pub(super) const COLLECTIVES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// `message AttributeProto { string name = 1; string doc_string = 2; oneof value { ... } }`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29")]
    pub(super) value: Option<Value>,
}

/// The scalar values among `double_val = 3` to `bytes_list = 32` that a used attribute may have.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    String(String),
}

impl Value {
    /// The whole number; `None` if it is negative or no number.
    pub(super) fn whole(&self) -> Option<u64> {
        match *self {
            Self::Int32(value) | Self::Sint32(value) | Self::Sfixed32(value) => {
                u64::try_from(value).ok()
            }
            Self::Int64(value) | Self::Sint64(value) | Self::Sfixed64(value) => {
                u64::try_from(value).ok()
            }
            Self::Uint32(value) | Self::Fixed32(value) => Some(u64::from(value)),
            Self::Uint64(value) | Self::Fixed64(value) => Some(value),
            Self::Bool(_) | Self::String(_) => None,
        }
    }
}
