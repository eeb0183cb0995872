//! A small HTTP server for metrics, for this machine only.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Most bytes of a request.
const REQUEST: usize = 4096;
/// Most time of a request. Requests are served one at a time.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two looks for a request, and for the order to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// A thread that serves metrics.
#[derive(Debug)]
pub struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Checks an address from a configuration file.
///
/// # Errors
/// If it is not a loopback address.
pub fn check_address(address: SocketAddr) -> Result<(), String> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "metrics = \"{address}\": metrics are served without password, so the address must be a \
         loopback address, such as \"127.0.0.1:9430\""
    ))
}

impl Server {
    /// Listens, and answers each request with the text of that moment.
    ///
    /// # Errors
    /// The address with what is wrong with it.
    pub fn start(
        address: SocketAddr,
        text: impl Fn() -> String + Send + 'static,
    ) -> Result<Self, String> {
        Self::listen(address, text).map_err(|error| format!("metrics = \"{address}\": {error}"))
    }

    fn listen(address: SocketAddr, text: impl Fn() -> String + Send + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let serve = move || {
            while !stopped.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => drop(answer(stream, &text)),
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        };
        let thread = thread::Builder::new().name("metrics".into()).spawn(serve)?;
        Ok(Self { stop, thread: Some(thread), address })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, text: &impl Fn() -> String) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut stream)?;
    let (status, body) = respond(&request, text);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {length}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n\
         {body}"
    )
}

/// Reads up to the empty line.
fn read_request(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (began, mut request, mut part) = (Instant::now(), Vec::new(), [0; 512]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = PATIENCE.saturating_sub(began.elapsed());
        if left.is_zero() || request.len() > REQUEST {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let length = stream.read(&mut part)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        request.extend_from_slice(&part[..length]);
    }
    Ok(request)
}

/// The status and the body for a request.
pub(crate) fn respond(request: &[u8], metrics: impl FnOnce() -> String) -> (&'static str, String) {
    let request = String::from_utf8_lossy(request);
    let mut lines = request.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    });
    // A page of another site in a browser on this machine names that site here.
    let is_local = host.is_none_or(|host| is_of_this_machine(&host));
    match first[..] {
        _ if !is_local => ("403 Forbidden", "the host must be this machine\n".into()),
        ["GET", "/metrics", _] => ("200 OK", metrics()),
        ["GET", _, _] => ("404 Not Found", "metrics are at /metrics\n".into()),
        _ => ("405 Method Not Allowed", "only GET\n".into()),
    }
}

/// True if a host, perhaps with a port, is this machine by its name or by an address. Other names
/// may have an address of this machine, too, if their owner wants it.
fn is_of_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_this_machine() {
        for local in ["127.0.0.1:9430", "127.8.0.1:1", "[::1]:0"] {
            assert_eq!(check_address(local.parse().unwrap()), Ok(()), "{local}");
        }
        for other in ["0.0.0.0:9430", "10.0.0.1:9430", "[::]:9430"] {
            assert!(check_address(other.parse().unwrap()).unwrap_err().contains(other));
        }
    }

    #[test]
    fn only_metrics_of_this_machine_are_served() {
        let status = |request: &str| respond(request.as_bytes(), || "text".into()).0;
        let get = |host: &str| status(&format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(status("GET /metrics HTTP/1.0\r\n\r\n"), "200 OK");
        for host in ["localhost:9430", "127.0.0.1", "127.0.0.1:9430", "[::1]:9430", "[::1]"] {
            assert_eq!(get(host), "200 OK", "{host}");
        }
        for other in ["evil.example:9430", "127.0.0.1.evil.example", "127.evil.example:9430"] {
            assert_eq!(get(other), "403 Forbidden", "{other}");
        }
        for other in ["10.0.0.1", "[::2]:9430", "[127.0.0.1.evil]", "", ":9430"] {
            assert_eq!(get(other), "403 Forbidden", "{other}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "404 Not Found");
        assert_eq!(status("POST /metrics HTTP/1.1\r\n\r\n"), "405 Method Not Allowed");
        assert_eq!(status("\r\n\r\n"), "405 Method Not Allowed");
    }
}
