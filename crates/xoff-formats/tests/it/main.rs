//! Tests of frames and capture files from outside.

mod control;
mod frames;
