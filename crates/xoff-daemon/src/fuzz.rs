//! What no request may do to the server of metrics: a function for fuzzers, which panics where a
//! rule is broken.

use crate::http::respond;

/// Answers a request.
///
/// # Errors
/// The status, if the request gets no metrics.
///
/// # Panics
/// If metrics are read but not served, or served to a request that does not name them.
pub fn request(bytes: &[u8]) -> Result<(), String> {
    let mut is_read = false;
    let (status, body) = respond(bytes, || {
        is_read = true;
        "metrics".into()
    });
    let is_served = status == "200 OK";
    assert_eq!((is_read, body == "metrics"), (is_served, is_served), "{status}");
    assert!(!is_served || bytes.starts_with(b"GET /metrics "), "they were not asked for");
    if is_served { Ok(()) } else { Err(status.into()) }
}
