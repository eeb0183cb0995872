//! Properties of the settings of an output-queued switch.

use xoff_core::knobs;

use crate::arch::ArchitectureSettings;

knobs! {
    /// Packets join their egress queue when they arrive.
    pub struct OutputQueuedConfig;
}

impl ArchitectureSettings for OutputQueuedConfig {}
