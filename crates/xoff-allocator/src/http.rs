//! A small HTTP server for metrics, for this machine only.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::metrics::Snapshot;

/// Most bytes of a request.
const REQUEST: usize = 4096;
/// Most time of a request. Requests are served one at a time.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two looks for a request, and for the order to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// A thread that serves the newest snapshot.
pub(crate) struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(address: SocketAddr, snapshot: &Arc<Mutex<Snapshot>>) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, snapshot) = (Arc::new(AtomicBool::new(false)), Arc::clone(snapshot));
        let stopped = Arc::clone(&stop);
        let serve = move || {
            while !stopped.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => drop(answer(stream, &snapshot)),
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

fn answer(mut stream: TcpStream, snapshot: &Mutex<Snapshot>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut stream)?;
    let (status, body) =
        respond(&request, || snapshot.lock().unwrap_or_else(PoisonError::into_inner).text());
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
fn respond(request: &[u8], metrics: impl FnOnce() -> String) -> (&'static str, String) {
    let request = String::from_utf8_lossy(request);
    let mut lines = request.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    });
    // A page of another site in a browser on this machine names that site here.
    let is_local = host.is_none_or(|host| {
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        name == "localhost" || name.starts_with("127.") || name == "[::1]" || host == "[::1]"
    });
    match first[..] {
        _ if !is_local => ("403 Forbidden", "the host must be this machine\n".into()),
        ["GET", "/metrics", _] => ("200 OK", metrics()),
        ["GET", _, _] => ("404 Not Found", "metrics are at /metrics\n".into()),
        _ => ("405 Method Not Allowed", "only GET\n".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_metrics_of_this_machine_are_served() {
        let status = |request: &str| respond(request.as_bytes(), || "text".into()).0;
        let get = |host: &str| status(&format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(status("GET /metrics HTTP/1.0\r\n\r\n"), "200 OK");
        for host in ["localhost:9430", "127.0.0.1", "127.0.0.1:9430", "[::1]:9430", "[::1]"] {
            assert_eq!(get(host), "200 OK", "{host}");
        }
        assert_eq!(get("evil.example:9430"), "403 Forbidden");
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "404 Not Found");
        assert_eq!(status("POST /metrics HTTP/1.1\r\n\r\n"), "405 Method Not Allowed");
        assert_eq!(status("\r\n\r\n"), "405 Method Not Allowed");
    }
}
