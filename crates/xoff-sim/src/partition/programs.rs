//! Programs of jobs on a partition's hosts.

use xoff_core::HostId;
use xoff_host::hosts::HostedJob;

use super::Partition;
use crate::tag;

impl Partition {
    /// Adds the program of a rank of a job, on a host here.
    pub(crate) fn add_program(&mut self, job: (u32, &HostedJob), rank: u32, host: HostId) {
        let nic = self.directory.nic_of(host);
        self.hosts.add_program(&mut self.fabric, job, rank, nic, tag::PROGRAM);
    }
}
