//! One iteration: rates from prices, sums per link, prices from sums, normalised rates.

use crate::config::{Config, Normalizer};
use crate::flows::Flows;
use crate::network::Network;
use crate::normalize;
use crate::real::Real;
use crate::rules::{Demand, Rule, Senders};
use crate::utility::{LogResponse, PowerResponse, Response, Utility};

/// Prices of links and rates of flows, in one precision.
///
/// Sums over a link's flows are in double precision whatever the precision of the rates, since a
/// link may have a million flows.
#[derive(Clone, Debug)]
pub(crate) struct Engine<R> {
    utility: Utility,
    normalizer: Normalizer,
    rate_bound: f64,
    rule: Rule,
    // By flow slot.
    /// The flow's weight; zero if a link of its path has no capacity.
    weight: Vec<R>,
    /// Lower bound on the flow's price: the price at which its rate equals the rate bound.
    floor: Vec<R>,
    /// Rates before normalisation.
    rate: Vec<R>,
    /// Decrease of the rate per unit of price.
    slope: Vec<R>,
    normalized: Vec<R>,
    // By link.
    price: Vec<R>,
    ratio: Vec<R>,
    demand: Demand,
}

impl<R: Real> Engine<R> {
    pub(crate) fn new(links: usize, config: &Config) -> Self {
        Self {
            utility: config.utility,
            normalizer: config.normalizer,
            rate_bound: config.rate_bound,
            rule: Rule::new(config, links),
            weight: Vec::new(),
            floor: Vec::new(),
            rate: Vec::new(),
            slope: Vec::new(),
            normalized: Vec::new(),
            price: vec![R::of(config.initial_price); links],
            ratio: vec![R::ZERO; links],
            demand: Demand {
                load: vec![0.0; links],
                slope: vec![0.0; links],
                users: vec![0; links],
            },
        }
    }

    pub(crate) fn rate(&self, slot: usize) -> f64 {
        self.rate[slot].get()
    }

    pub(crate) fn normalized(&self, slot: usize) -> f64 {
        self.normalized[slot].get()
    }

    pub(crate) fn price(&self, link: usize) -> f64 {
        self.price[link].get()
    }

    pub(crate) fn demand(&self) -> &Demand {
        &self.demand
    }

    /// Sets up a new flow's slot: "when flows arrive, their initial rates are computed using
    /// current prices" (§2).
    pub(crate) fn add(&mut self, network: &Network, flows: &Flows, slot: usize) {
        if slot == self.weight.len() {
            self.weight.push(R::ZERO);
            self.floor.push(R::ONE);
            self.rate.push(R::ZERO);
            self.slope.push(R::ZERO);
            self.normalized.push(R::ZERO);
        }
        self.set_terms(network, flows, slot);
        match self.utility {
            Utility::Log => self.update_rate(&LogResponse, flows.path(slot), slot),
            Utility::AlphaFair(alpha) => {
                self.update_rate(&PowerResponse::new(alpha), flows.path(slot), slot);
            }
        }
        let rate = self.rate(slot).min(network.bottleneck(flows.path(slot)));
        self.normalized[slot] = R::of(rate);
        self.count(flows.path(slot), slot, 1);
    }

    /// Uncounts a flow that is about to be removed. No result depends on what its slot still holds.
    pub(crate) fn remove(&mut self, flows: &Flows, slot: usize) {
        self.count(flows.path(slot), slot, u32::MAX);
    }

    /// Applies changed capacities.
    pub(crate) fn refresh(&mut self, network: &Network, flows: &Flows) {
        self.demand.users.fill(0);
        for slot in flows.ids().iter() {
            self.set_terms(network, flows, slot);
            self.count(flows.path(slot), slot, 1);
        }
    }

    /// Sets the terms of a flow's rate other than prices.
    fn set_terms(&mut self, network: &Network, flows: &Flows, slot: usize) {
        let bottleneck = network.bottleneck(flows.path(slot));
        let weight = flows.weight(slot);
        let (weight, floor) = if bottleneck > 0.0 {
            (weight, self.utility.marginal(weight, self.rate_bound * bottleneck))
        } else {
            (0.0, 1.0)
        };
        self.weight[slot] = R::of(weight);
        self.floor[slot] = R::of(floor);
    }

    /// Adds `change` to the number of active flows on each link of a path.
    fn count(&mut self, path: &[u32], slot: usize, change: u32) {
        if self.weight[slot] > R::ZERO {
            for &link in path {
                let users = &mut self.demand.users[link as usize];
                *users = users.wrapping_add(change);
            }
        }
    }

    /// Runs one iteration for the current flows.
    pub(crate) fn iterate(&mut self, network: &Network, flows: &Flows) {
        match self.utility {
            Utility::Log => self.update_rates(&LogResponse, flows),
            Utility::AlphaFair(alpha) => self.update_rates(&PowerResponse::new(alpha), flows),
        }
        let senders = Senders {
            flows,
            utility: self.utility,
            weight: &self.weight,
            floor: &self.floor,
            slope: &self.slope,
        };
        self.rule.update(&mut self.price, &self.demand, network.usable(), &senders);
        self.normalize(network, flows);
    }

    /// "Rate update. Given prices p, for each flow s, update the rate: x = U'^-1 (sum of p over its
    /// links)" (equation 3). Sums rates and slopes to links.
    fn update_rates(&mut self, response: &impl Response<R>, flows: &Flows) {
        self.demand.load.fill(0.0);
        self.demand.slope.fill(0.0);
        for slot in flows.ids().iter() {
            let path = flows.path(slot);
            self.update_rate(response, path, slot);
            let (rate, slope) = (self.rate[slot].get(), self.slope[slot].get());
            for &link in path {
                self.demand.load[link as usize] += rate;
                self.demand.slope[link as usize] += slope;
            }
        }
    }

    fn update_rate(&mut self, response: &impl Response<R>, path: &[u32], slot: usize) {
        let price = path.iter().fold(R::ZERO, |sum, &link| sum + self.price[link as usize]);
        (self.rate[slot], self.slope[slot]) =
            response.answer(self.weight[slot], price.at_least(self.floor[slot]));
    }

    fn normalize(&mut self, network: &Network, flows: &Flows) {
        normalize::ratios(&self.demand.load, network.usable(), &mut self.ratio);
        let mut out = std::mem::take(&mut self.normalized);
        self.apply(self.normalizer, flows, &mut out);
        self.normalized = out;
    }

    /// The last iteration's rates under a normaliser, by slot.
    pub(crate) fn normalized_by(&self, normalizer: Normalizer, flows: &Flows) -> Vec<R> {
        let mut out = vec![R::ZERO; self.rate.len()];
        self.apply(normalizer, flows, &mut out);
        out
    }

    fn apply(&self, normalizer: Normalizer, flows: &Flows, out: &mut [R]) {
        let (rates, ratio) = (&self.rate, &self.ratio);
        match normalizer {
            Normalizer::Flow => normalize::by_flow(rates, ratio, flows, R::ONE, out),
            Normalizer::FlowAsPrinted => normalize::by_flow(rates, ratio, flows, R::ZERO, out),
            Normalizer::Uniform => normalize::uniformly(rates, ratio, out),
            Normalizer::None => out.copy_from_slice(rates),
        }
    }
}
