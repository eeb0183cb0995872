//! Links and their allocatable capacities.

use crate::config::Config;
use crate::error::Error;
use crate::link::LinkId;

/// The links of a network.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    capacity: Vec<f64>,
    reserved: Vec<f64>,
    /// Capacity available to flows: zero on a failed link.
    usable: Vec<f64>,
    /// The fraction of a capacity that is allocated.
    share: f64,
    least: f64,
    most: f64,
    alpha: f64,
    rate_bound: f64,
}

impl Network {
    pub(crate) fn new(capacities: &[f64], config: &Config) -> Result<Self, Error> {
        let (least, most) = config.capacities();
        let mut network = Self {
            capacity: vec![0.0; capacities.len()],
            reserved: vec![0.0; capacities.len()],
            usable: vec![0.0; capacities.len()],
            share: 1.0 - config.threshold,
            least,
            most,
            alpha: config.utility.alpha(),
            rate_bound: config.rate_bound,
        };
        for (link, &capacity) in capacities.iter().enumerate() {
            network.set_capacity(LinkId(link as u32), capacity)?;
        }
        Ok(network)
    }

    pub(crate) fn len(&self) -> usize {
        self.capacity.len()
    }

    /// The capacity of each link that is available to flows.
    pub(crate) fn usable(&self) -> &[f64] {
        &self.usable
    }

    pub(crate) fn find(&self, link: LinkId) -> Result<usize, Error> {
        let index = link.0 as usize;
        if index < self.len() {
            Ok(index)
        } else {
            Err(Error::UnknownLink { link, links: self.len() })
        }
    }

    pub(crate) fn set_capacity(&mut self, link: LinkId, capacity: f64) -> Result<(), Error> {
        let index = self.find(link)?;
        let Self { least, most, alpha, rate_bound, .. } = *self;
        if capacity != 0.0 && !(least..=most).contains(&capacity) {
            return Err(Error::Capacity { link, capacity, least, most, alpha, rate_bound });
        }
        self.capacity[index] = capacity;
        self.refresh(index);
        Ok(())
    }

    pub(crate) fn reserve(&mut self, link: LinkId, amount: f64) -> Result<(), Error> {
        let index = self.find(link)?;
        if !(amount.is_finite() && amount >= 0.0) {
            return Err(Error::Reserve { link, amount });
        }
        self.reserved[index] = amount;
        self.refresh(index);
        Ok(())
    }

    fn refresh(&mut self, index: usize) {
        // "Flowtune adjusts the available link capacities by the threshold" (§5.3.2).
        let left = self.share * (self.capacity[index] - self.reserved[index]);
        self.usable[index] = if left < self.least { 0.0 } else { left };
    }

    /// The smallest capacity on a path.
    pub(crate) fn bottleneck(&self, path: &[u32]) -> f64 {
        path.iter().map(|&link| self.usable[link as usize]).fold(f64::INFINITY, f64::min)
    }
}
