//! The switch with ingress and egress queues around a crossbar (DeTail §5.1).

pub mod islip;
pub mod pause;
