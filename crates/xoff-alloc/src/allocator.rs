//! The allocator: a network, its flows, and their rates.

use crate::config::{Config, Normalizer, Precision};
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::Flows;
use crate::network::{LinkId, Network};
use crate::real::Real as _;
use crate::slots::FlowId;
use crate::threshold::Reported;

/// Allocates the capacities of a network's links to its flows.
///
/// Capacities and rates are in one unit, the caller's. Flows are added and removed at any time; each
/// [`iterate`](Self::iterate) moves prices and rates a step towards the optimum of the flows that
/// there are, from the prices that there were: "when the set of flows changes, the optimizer does
/// not start afresh" (§3).
#[derive(Clone, Debug)]
pub struct Allocator {
    config: Config,
    network: Network,
    flows: Flows,
    engine: AnyEngine,
    reported: Reported,
    /// Capacities have changed since the last iteration.
    is_stale: bool,
}

#[derive(Clone, Debug)]
enum AnyEngine {
    Double(Engine<f64>),
    Single(Engine<f32>),
}

/// Calls a method of the engine, of whichever precision.
macro_rules! on_engine {
    ($engine:expr, $it:ident => $call:expr) => {
        match $engine {
            AnyEngine::Double($it) => $call,
            AnyEngine::Single($it) => $call,
        }
    };
}

impl Allocator {
    /// An allocator for links of these capacities, without flows.
    ///
    /// # Errors
    /// If a setting or a capacity has no sense.
    pub fn new(capacities: &[f64], config: Config) -> Result<Self, Error> {
        config.check()?;
        let network = Network::new(capacities, &config)?;
        let engine = match config.precision {
            Precision::Double => AnyEngine::Double(Engine::new(network.len(), &config)),
            Precision::Single => AnyEngine::Single(Engine::new(network.len(), &config)),
        };
        let (flows, reported) = (Flows::default(), Reported::default());
        Ok(Self { config, network, flows, engine, reported, is_stale: false })
    }

    /// Adds a flow that takes these links. Until the next iteration its rate is what current prices
    /// give, and no more than its path could carry if it were alone.
    ///
    /// # Errors
    /// If the path is empty, names a link twice or one that does not exist, or if the weight is not
    /// a positive number.
    pub fn add_flow(&mut self, path: &[LinkId], weight: f64) -> Result<FlowId, Error> {
        self.config.check_weight(weight)?;
        self.refresh();
        let flow = self.flows.add(&self.network, path, weight)?;
        on_engine!(&mut self.engine, it => it.add(&self.network, &self.flows, flow.slot()));
        self.reported.forget(flow.slot());
        Ok(flow)
    }

    /// Removes a flow. What it had is free from the next iteration on.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn remove_flow(&mut self, flow: FlowId) -> Result<(), Error> {
        let slot = self.flows.ids().find(flow).ok_or(Error::UnknownFlow { flow })?;
        on_engine!(&mut self.engine, it => it.remove(&self.flows, slot));
        self.flows.remove(slot);
        Ok(())
    }

    /// Changes a link's capacity, from the next iteration on. With zero the link has failed: flows
    /// over it get a rate of zero and take nothing from other links, until it has a capacity again.
    ///
    /// # Errors
    /// If there is no such link, or if the capacity is neither zero nor a number that the
    /// precision can work with.
    pub fn set_capacity(&mut self, link: LinkId, capacity: f64) -> Result<(), Error> {
        self.network.set_capacity(link, capacity)?;
        self.is_stale = true;
        Ok(())
    }

    /// Leaves so much of a link's capacity to traffic that is not allocated, from the next iteration
    /// on, instead of what was left to it before. If nothing remains, the link counts as failed.
    ///
    /// # Errors
    /// If there is no such link, or if the amount is negative or not finite.
    pub fn reserve(&mut self, link: LinkId, amount: f64) -> Result<(), Error> {
        self.network.reserve(link, amount)?;
        self.is_stale = true;
        Ok(())
    }

    /// One iteration: rates from prices, prices from rates, and rates normalised.
    pub fn iterate(&mut self) {
        self.refresh();
        on_engine!(&mut self.engine, it => it.iterate(&self.network, &self.flows));
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            on_engine!(&mut self.engine, it => it.refresh(&self.network, &self.flows));
        }
    }

    /// A flow's rate, normalised; nothing if there is no such flow.
    #[must_use]
    pub fn rate(&self, flow: FlowId) -> Option<f64> {
        let slot = self.flows.ids().find(flow)?;
        Some(on_engine!(&self.engine, it => it.normalized(slot)))
    }

    /// A flow's rate as the optimiser left it, which may exceed capacities.
    #[must_use]
    pub fn raw_rate(&self, flow: FlowId) -> Option<f64> {
        let slot = self.flows.ids().find(flow)?;
        Some(on_engine!(&self.engine, it => it.rate(slot)))
    }

    /// The rates that another normaliser would have made of the last iteration's, in the order of
    /// [`flows`](Self::flows). A flow that was added since then is scaled by the links as they were.
    #[must_use]
    pub fn rates_by(&self, normalizer: Normalizer) -> Vec<f64> {
        let rates: Vec<f64> = on_engine!(&self.engine, it => {
            it.normalized_by(normalizer, &self.flows).iter().map(|rate| rate.get()).collect()
        });
        let slots = rates.into_iter().enumerate();
        slots.filter(|&(slot, _)| self.flows.ids().is_taken(slot)).map(|(_, rate)| rate).collect()
    }

    /// The rates that differ from what was last reported by more than the threshold, and those of
    /// flows that never were, in the order of [`FlowId::slot`]. What the iterator returns counts as
    /// reported.
    pub fn changed_rates(&mut self) -> impl Iterator<Item = (FlowId, f64)> {
        let Self { config, flows, engine, reported, .. } = self;
        (0..flows.slots()).filter(|&slot| flows.ids().is_taken(slot)).filter_map(|slot| {
            let rate = on_engine!(&*engine, it => it.normalized(slot));
            reported.report(slot, rate, config.threshold).then(|| (flows.ids().id(slot), rate))
        })
    }

    /// All flows, in the order of [`FlowId::slot`].
    pub fn flows(&self) -> impl Iterator<Item = FlowId> {
        (0..self.flows.slots())
            .filter(|&slot| self.flows.ids().is_taken(slot))
            .map(|slot| self.flows.ids().id(slot))
    }

    /// A flow's path; nothing if there is no such flow.
    pub fn path(&self, flow: FlowId) -> Option<impl Iterator<Item = LinkId>> {
        let slot = self.flows.ids().find(flow)?;
        Some(self.flows.path(slot).iter().map(|&link| LinkId(link)))
    }

    /// How many flows there are.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.flows.ids().taken()
    }

    /// How many links there are.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.network.len()
    }

    /// A link's price: what a unit of rate over it costs.
    ///
    /// # Errors
    /// If there is no such link.
    pub fn price(&self, link: LinkId) -> Result<f64, Error> {
        let index = self.network.find(link)?;
        Ok(on_engine!(&self.engine, it => it.price(index)))
    }

    /// What flows may use of a link: its capacity less what is reserved, less the threshold.
    ///
    /// # Errors
    /// If there is no such link.
    pub fn usable(&self, link: LinkId) -> Result<f64, Error> {
        Ok(self.network.usable()[self.network.find(link)?])
    }

    /// The rates on a link at the last iteration, before they were normalised.
    ///
    /// # Errors
    /// If there is no such link.
    pub fn load(&self, link: LinkId) -> Result<f64, Error> {
        let index = self.network.find(link)?;
        Ok(on_engine!(&self.engine, it => it.demand().load[index]))
    }

    /// The allocator's settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
}
