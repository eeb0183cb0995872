//! Tests of the numerical simulation from outside.

mod convergence;
mod flowlets;
