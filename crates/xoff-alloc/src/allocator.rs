//! The allocator: a network, its flows and their rates.

use crate::config::{Config, Normalizer, Precision};
use crate::engine::Engine;
use crate::error::Error;
use crate::flows::Flows;
use crate::link::LinkId;
use crate::network::Network;
use crate::real::Real as _;
use crate::slots::FlowId;
use crate::threshold::Reported;

/// Allocates the capacities of a network's links to its flows.
///
/// Capacities and rates are in the same unit, chosen by the caller. Flows can be added and removed
/// at any time. Each [`iterate`](Self::iterate) moves prices and rates one step towards the optimum
/// for the current flows, starting from the current prices: "when the set of flows changes, the
/// optimizer does not start afresh" (§3).
#[derive(Clone, Debug)]
pub struct Allocator {
    config: Config,
    network: Network,
    flows: Flows,
    engine: AnyEngine,
    reported: Reported,
    /// True if capacities have changed since the last iteration.
    is_stale: bool,
}

#[derive(Clone, Debug)]
enum AnyEngine {
    Double(Engine<f64>),
    Single(Engine<f32>),
}

/// Calls a method of the engine in either precision.
macro_rules! on_engine {
    ($engine:expr, $it:ident => $call:expr) => {
        match $engine {
            AnyEngine::Double($it) => $call,
            AnyEngine::Single($it) => $call,
        }
    };
}

impl Allocator {
    /// Creates an allocator for links of these capacities, without flows.
    ///
    /// # Errors
    /// If a setting or a capacity is invalid.
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

    /// Adds a flow over these links. Until the next iteration its rate follows from current prices,
    /// limited to the smallest capacity on its path.
    ///
    /// # Errors
    /// If the path is empty, repeats a link or contains an unknown link, or if the weight is not
    /// positive.
    pub fn add_flow(&mut self, path: &[LinkId], weight: f64) -> Result<FlowId, Error> {
        self.config.check_weight(weight)?;
        self.refresh();
        let flow = self.flows.add(&self.network, path, weight)?;
        on_engine!(&mut self.engine, it => it.add(&self.network, &self.flows, flow.slot()));
        self.reported.forget(flow.slot());
        Ok(flow)
    }

    /// Removes a flow. Its share is free from the next iteration.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn remove_flow(&mut self, flow: FlowId) -> Result<(), Error> {
        let slot = self.flows.ids().find(flow).ok_or(Error::UnknownFlow { flow })?;
        on_engine!(&mut self.engine, it => it.remove(&self.flows, slot));
        self.flows.remove(slot);
        Ok(())
    }

    /// Changes a link's capacity from the next iteration. A capacity of zero marks the link as
    /// failed: flows over it get a rate of zero and take no capacity of other links until the link
    /// has a capacity again.
    ///
    /// # Errors
    /// If there is no such link, or if the capacity is neither zero nor within the range of the
    /// precision.
    pub fn set_capacity(&mut self, link: LinkId, capacity: f64) -> Result<(), Error> {
        self.network.set_capacity(link, capacity)?;
        self.is_stale = true;
        Ok(())
    }

    /// Reserves this much of a link's capacity for traffic outside the allocation, from the next
    /// iteration. The amount replaces any earlier one. A link with no capacity left counts as
    /// failed.
    pub fn reserve(&mut self, link: LinkId, amount: f64) -> Result<(), Error> {
        self.network.reserve(link, amount)?;
        self.is_stale = true;
        Ok(())
    }

    /// Runs one iteration: rates from prices, prices from rates, and normalised rates.
    pub fn iterate(&mut self) {
        self.refresh();
        on_engine!(&mut self.engine, it => it.iterate(&self.network, &self.flows));
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            on_engine!(&mut self.engine, it => it.refresh(&self.network, &self.flows));
        }
    }

    /// A flow's normalised rate; `None` if there is no such flow.
    #[must_use]
    pub fn rate(&self, flow: FlowId) -> Option<f64> {
        let slot = self.flows.ids().find(flow)?;
        Some(on_engine!(&self.engine, it => it.normalized(slot)))
    }

    /// A flow's rate before normalisation, which may exceed capacities.
    #[must_use]
    pub fn raw_rate(&self, flow: FlowId) -> Option<f64> {
        let slot = self.flows.ids().find(flow)?;
        Some(on_engine!(&self.engine, it => it.rate(slot)))
    }

    /// The last iteration's rates under another normaliser, in the order of [`flows`](Self::flows).
    /// A flow added since then is scaled by the loads of that iteration.
    #[must_use]
    pub fn rates_by(&self, normalizer: Normalizer) -> Vec<f64> {
        let rates: Vec<f64> = on_engine!(&self.engine, it => {
            it.normalized_by(normalizer, &self.flows).iter().map(|rate| rate.get()).collect()
        });
        self.flows.ids().iter().map(|slot| rates[slot]).collect()
    }

    /// The rates that differ from their last report by more than the threshold, and those of flows
    /// never reported, in the order of [`FlowId::slot`]. Rates that the iterator returns count as
    /// reported.
    pub fn changed_rates(&mut self) -> impl Iterator<Item = (FlowId, f64)> {
        let Self { config, flows, engine, reported, .. } = self;
        flows.ids().iter().filter_map(|slot| {
            let rate = on_engine!(&*engine, it => it.normalized(slot));
            reported.report(slot, rate, config.threshold).then(|| (flows.ids().id(slot), rate))
        })
    }

    /// All flows, in the order of [`FlowId::slot`].
    pub fn flows(&self) -> impl Iterator<Item = FlowId> {
        self.flows.ids().iter().map(|slot| self.flows.ids().id(slot))
    }

    /// A flow's path; `None` if there is no such flow.
    pub fn path(&self, flow: FlowId) -> Option<impl Iterator<Item = LinkId>> {
        let slot = self.flows.ids().find(flow)?;
        Some(self.flows.path(slot).iter().map(|&link| LinkId(link)))
    }

    /// Number of flows.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.flows.ids().taken()
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.network.len()
    }

    /// A link's price per unit of rate.
    pub fn price(&self, link: LinkId) -> Result<f64, Error> {
        let index = self.network.find(link)?;
        Ok(on_engine!(&self.engine, it => it.price(index)))
    }

    /// Capacity of a link that is available to flows: its capacity minus the reserve, minus the
    /// threshold.
    pub fn usable(&self, link: LinkId) -> Result<f64, Error> {
        Ok(self.network.usable()[self.network.find(link)?])
    }

    /// Sum of the rates on a link in the last iteration, before normalisation.
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
