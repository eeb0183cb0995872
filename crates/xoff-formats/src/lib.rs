//! What packets look like on a wire, and a file of such frames that other tools read.
//!
//! [`bts`] and [`pfc`] are frames of flow control, with their decoders. [`roce`] writes the headers of
//! a RoCEv2 packet. [`frames`] turns the engine's packet records into frames, and [`pcapng`] puts
//! these into a capture file. Frames are without preamble and frame check sequence.

pub mod bts;
pub mod frames;
pub mod headers;
pub mod pcapng;
pub mod pfc;
pub mod roce;

pub use bts::Bts;
pub use frames::Frames;
pub use headers::DecodeError;
pub use pfc::PfcFrame;

/// Bytes of the smallest Ethernet frame without its frame check sequence.
pub const SMALLEST_FRAME: usize = 60;

/// Bytes of an Ethernet frame's check sequence, which counts on the wire and is not in a frame here.
pub const CHECK_SEQUENCE: usize = 4;
