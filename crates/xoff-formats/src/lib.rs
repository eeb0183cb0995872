//! Packets as frames on the wire, and capture files of such frames for other tools.
//!
//! [`bts`] and [`pfc`] encode and decode flow-control frames. [`roce`] writes the headers of a
//! RoCEv2 packet. [`frames`] converts the engine's packet records to frames, and [`pcapng`] writes
//! capture files. Frames have no preamble and no frame check sequence.

pub mod bts;
pub mod frames;
pub mod fuzz;
pub mod headers;
pub mod pcapng;
pub mod pfc;
pub mod roce;

pub use bts::Bts;
pub use frames::Frames;
pub use headers::DecodeError;
pub use pfc::PfcFrame;

/// Size of the smallest Ethernet frame without its frame check sequence.
pub const SMALLEST_FRAME: usize = 60;

/// Size of an Ethernet frame check sequence. It counts on the wire but is not part of frames here.
pub const CHECK_SEQUENCE: usize = 4;
