//! The allocator of rates, with NumPy's arrays in and out.

use std::time::Instant;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use xoff_alloc::{Error, FlowId, LinkId};
use xoff_core::knobs::{Knobs as _, Value};
use xoff_fluid::config::AllocatorConfig;

use crate::apart::SLICE;

create_exception!(
    xoff._native,
    AllocatorError,
    PyValueError,
    "A call of an allocator that was refused; `str()` says why. Nothing has changed."
);

fn refused(error: impl ToString) -> PyErr {
    AllocatorError::new_err(error.to_string())
}

/// A refusal of one of many: which one, and why.
fn refused_at(what: &str, index: usize, error: Error) -> PyErr {
    refused(format!("{what} {index}: {error}"))
}

/// A setting's value as Python has it.
#[derive(FromPyObject)]
enum Given {
    Int(i64),
    Float(f64),
    Text(String),
}

impl From<Given> for Value {
    fn from(given: Given) -> Self {
        match given {
            Given::Int(number) => Self::Int(number),
            Given::Float(number) => Self::Float(number),
            Given::Text(text) => Self::Text(text),
        }
    }
}

fn config(settings: Vec<(String, Given)>) -> PyResult<AllocatorConfig> {
    let mut config = AllocatorConfig::default();
    for (name, given) in settings {
        config.set(&name, &given.into()).map_err(|wrong| match wrong {
            Some(expected) => refused(format!("setting `{name}`: {expected}")),
            None => refused(format!("an allocator has no setting `{name}`")),
        })?;
    }
    Ok(config)
}

/// An array that Python gets.
type Numbers<'py, T> = Bound<'py, PyArray1<T>>;

/// An array's values where they are: `xoff.alloc` hands over contiguous ones only.
fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Flowtune's allocator. Use it through `xoff.alloc`, which says what each call does.
#[pyclass(module = "xoff._native")]
pub struct Allocator(xoff_alloc::Allocator);

impl Allocator {
    fn by_link(&self, value: impl Fn(LinkId) -> Result<f64, Error>) -> PyResult<Vec<f64>> {
        let links = 0..self.0.link_count() as u32;
        links.map(|link| value(LinkId(link)).map_err(refused)).collect()
    }

    fn by_flow<'py>(
        py: Python<'py>,
        flows: &PyReadonlyArray1<'py, u64>,
        value: impl Fn(FlowId) -> Option<f64>,
    ) -> PyResult<Numbers<'py, f64>> {
        let mut rates = Vec::with_capacity(flows.len()?);
        for (index, &bits) in slice(flows)?.iter().enumerate() {
            let flow = FlowId::from_bits(bits);
            let rate = value(flow);
            rates.push(rate.ok_or_else(|| refused_at("flow", index, Error::UnknownFlow { flow }))?);
        }
        Ok(PyArray1::from_vec(py, rates))
    }
}

#[pymethods]
impl Allocator {
    #[new]
    fn new(
        capacities: PyReadonlyArray1<'_, f64>,
        settings: Vec<(String, Given)>,
    ) -> PyResult<Self> {
        let config = config(settings)?.config();
        xoff_alloc::Allocator::new(slice(&capacities)?, config).map(Self).map_err(refused)
    }

    /// Path `i` is `links[ends[i - 1]..ends[i]]`.
    fn add_flows<'py>(
        &mut self,
        py: Python<'py>,
        links: PyReadonlyArray1<'py, u32>,
        ends: PyReadonlyArray1<'py, u64>,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Numbers<'py, u64>> {
        let links: Vec<LinkId> = slice(&links)?.iter().copied().map(LinkId).collect();
        let mut added = Vec::with_capacity(ends.len()?);
        let mut start = 0;
        for (index, (&end, &weight)) in slice(&ends)?.iter().zip(slice(&weights)?).enumerate() {
            let path = &links[start..end as usize];
            start = end as usize;
            match self.0.add_flow(path, weight) {
                Ok(flow) => added.push(flow),
                Err(error) => {
                    added
                        .into_iter()
                        .try_for_each(|flow| self.0.remove_flow(flow))
                        .map_err(refused)?;
                    return Err(refused_at("path", index, error));
                }
            }
        }
        Ok(PyArray1::from_iter(py, added.into_iter().map(FlowId::bits)))
    }

    /// The ids are all different.
    fn remove_flows(&mut self, flows: PyReadonlyArray1<'_, u64>) -> PyResult<()> {
        let flows = slice(&flows)?.iter().copied().map(FlowId::from_bits);
        for (index, flow) in flows.clone().enumerate() {
            if self.0.rate(flow).is_none() {
                return Err(refused_at("flow", index, Error::UnknownFlow { flow }));
            }
        }
        flows.into_iter().try_for_each(|flow| self.0.remove_flow(flow)).map_err(refused)
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) -> PyResult<()> {
        self.0.set_capacity(LinkId(link), capacity).map_err(refused)
    }

    fn reserve(&mut self, link: u32, amount: f64) -> PyResult<()> {
        self.0.reserve(LinkId(link), amount).map_err(refused)
    }

    /// Other threads of Python run meanwhile, and signals are handled.
    fn iterate(&mut self, py: Python<'_>, times: u64) -> PyResult<()> {
        let allocator = &mut self.0;
        let mut left = times;
        while left > 0 {
            let until = Instant::now() + SLICE;
            left = py.detach(|| {
                while left > 0 && Instant::now() < until {
                    allocator.iterate();
                    left -= 1;
                }
                left
            });
            py.check_signals()?;
        }
        Ok(())
    }

    fn rates<'py>(
        &self,
        py: Python<'py>,
        flows: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Numbers<'py, f64>> {
        Self::by_flow(py, &flows, |flow| self.0.rate(flow))
    }

    fn raw_rates<'py>(
        &self,
        py: Python<'py>,
        flows: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Numbers<'py, f64>> {
        Self::by_flow(py, &flows, |flow| self.0.raw_rate(flow))
    }

    fn changed_rates<'py>(&mut self, py: Python<'py>) -> (Numbers<'py, u64>, Numbers<'py, f64>) {
        let (flows, rates) = self.0.changed_rates().map(|(flow, rate)| (flow.bits(), rate)).unzip();
        (PyArray1::from_vec(py, flows), PyArray1::from_vec(py, rates))
    }

    fn flows<'py>(&self, py: Python<'py>) -> Numbers<'py, u64> {
        PyArray1::from_iter(py, self.0.flows().map(FlowId::bits))
    }

    fn prices<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py, f64>> {
        Ok(PyArray1::from_vec(py, self.by_link(|link| self.0.price(link))?))
    }

    fn link_loads<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py, f64>> {
        Ok(PyArray1::from_vec(py, self.by_link(|link| self.0.load(link))?))
    }

    fn usable<'py>(&self, py: Python<'py>) -> PyResult<Numbers<'py, f64>> {
        Ok(PyArray1::from_vec(py, self.by_link(|link| self.0.usable(link))?))
    }
}
