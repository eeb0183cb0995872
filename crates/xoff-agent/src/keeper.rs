//! The process that changes the host and undoes it. It starts the worker, which talks to the
//! allocator without privileges, and waits for it: however the worker ends, the host is restored.

use std::io::{self, Read, Write};
use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getppid, kill_process, pidfd_open,
    set_parent_process_death_signal, waitpid,
};
use serde_json::json;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};
use xoff_daemon::{CapabilitySet, give_up_privileges, log, secret};

use crate::config::{Config, Plane};
use crate::limits::Limits;
use crate::plane::DataPlane;
use crate::plane::programs::{ProgramsPlane, listen_at};
use crate::plane::sockets::SocketsPlane;
use crate::restore;
use crate::state::{State, delete_file};
use crate::sys::{self, Forked};
use crate::worker::Worker;

/// Time that a worker has to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// Signals that end the agent in order.
struct Signals {
    stop: Arc<AtomicBool>,
    wake: UnixStream,
    ids: Vec<SigId>,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (wake, write) = UnixStream::pair()?;
        let mut ids = Vec::new();
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            ids.push(signal_hook::flag::register(signal, Arc::clone(&stop))?);
            ids.push(pipe::register(signal, write.try_clone()?)?);
        }
        Ok(Self { stop, wake, ids })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for &id in &self.ids {
            unregister(id);
        }
    }
}

/// Runs an agent until a signal ends it, and restores the host.
///
/// # Errors
/// What could not be done; the host is restored all the same, as far as that is possible.
pub fn run(config: &Config) -> io::Result<()> {
    let signals = Signals::catch()?;
    match config.settings.plane {
        Plane::Bpf => {}
        Plane::Sockets => {
            let (left, read) = Limits::left();
            let ended = left.iter().map(Limits::end);
            for error in std::iter::once(read).chain(ended).filter_map(Result::err) {
                // The file stays. The sockets of this agent's processes are another matter.
                log("error", json!({"message": error.to_string()}));
            }
            let limits = Limits::announce(&config.processes)?;
            let served = serve_sockets(config, &signals);
            let ended = limits.end();
            return served.and(ended);
        }
        Plane::Programs => return serve_programs(config, &signals),
    }
    take_over(config)?;
    let state = State::before()?;
    state.write(&config.name)?;
    let served = serve_bpf(config, &signals);
    let restored = restore(config, &state);
    served.and(restored)
}

/// Undoes what a killed agent of the same name left.
fn take_over(config: &Config) -> io::Result<()> {
    match State::read(&config.name)? {
        Some(left) if left.is_running() => Err(io::Error::other(format!(
            "an agent with congestion control {} runs as process {}; choose another \
             `congestion_control`",
            config.name, left.pid
        ))),
        Some(left) => restore(config, &left),
        None => Ok(()),
    }
}

fn restore(config: &Config, state: &State) -> io::Result<()> {
    restore::restore(&config.name, state)?;
    log("restored", json!({"congestion_control": state.congestion_control}));
    Ok(())
}

#[cfg(feature = "bpf")]
fn serve_bpf(config: &Config, signals: &Signals) -> io::Result<()> {
    use crate::host;
    use crate::plane::bpf;

    let registered = bpf::register(&config.name)?;
    let turn_on = || {
        host::write_setting(host::CONGESTION_CONTROL, config.name.as_str())?;
        // Kernels before 5.18 have no such setting, and none of the bursts that it is about.
        let bursts = host::write_setting(host::TSO_RTT_LOG, "0");
        bursts.or_else(|error| if is_missing(&error) { Ok(()) } else { Err(error) })
    };
    supervise(config, signals, CapabilitySet::empty(), || bpf::BpfPlane::open(&registered), turn_on)
}

#[cfg(feature = "bpf")]
fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

#[cfg(not(feature = "bpf"))]
fn serve_bpf(_: &Config, _: &Signals) -> io::Result<()> {
    Err(io::Error::other(
        "this xoff was built without eBPF: install libelf and zlib with their headers and build it \
         again, or set `plane = \"sockets\"`",
    ))
}

fn serve_sockets(config: &Config, signals: &Signals) -> io::Result<()> {
    let open = || SocketsPlane::open(&config.processes);
    // To list descriptors of another user's process, and to copy them.
    let capabilities = CapabilitySet::DAC_READ_SEARCH | CapabilitySet::SYS_PTRACE;
    supervise(config, signals, capabilities, open, || Ok(()))
}

fn serve_programs(config: &Config, signals: &Signals) -> io::Result<()> {
    let path = Path::new(&config.settings.programs);
    let listener = listen_at(path)?;
    let open = || ProgramsPlane::open(listener);
    // To copy descriptors of another user's process.
    let served = supervise(config, signals, CapabilitySet::SYS_PTRACE, open, || Ok(()));
    let removed = delete_file(path);
    served.and(removed)
}

/// Starts the worker, turns rates on once it works, and waits for its end or a signal.
fn supervise<P: DataPlane>(
    config: &Config,
    signals: &Signals,
    capabilities: CapabilitySet,
    open: impl FnOnce() -> io::Result<P>,
    turn_on: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let socket = UdpSocket::bind(config.listen)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", config.listen)))?;
    let secret = secret().map_err(io::Error::other)?;
    let (mut ready, is_ready) = UnixStream::pair()?;
    let keeper = std::process::id();
    let child = match sys::fork()? {
        Forked::Child => {
            let work = || {
                for &id in &signals.ids {
                    unregister(id);
                }
                work(config, open, socket, secret, capabilities, keeper, is_ready)
            };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            let Ok(result) = result else { sys::exit_now(101) };
            if let Err(error) = &result {
                log("error", json!({"message": error.to_string()}));
            }
            sys::exit_now(i32::from(result.is_err()));
        }
        Forked::Parent(child) => Pid::from_raw(child).expect("a process has a number"),
    };
    drop((socket, is_ready));
    let handle = pidfd_open(child, PidfdFlags::empty())?;
    // Ends with the worker if it fails before it is ready.
    let turned_on = match ready.read_exact(&mut [0]) {
        Ok(()) => turn_on().map(|()| log("ready", json!({"endpoint": config.settings.endpoint}))),
        Err(_) => Ok(()),
    };
    if turned_on.is_ok() {
        wait_for(&handle, Some(signals))?;
    }
    end(child, &handle).and_then(|ended| turned_on.and(ended))
}

/// The worker's process: drops its privileges, says that it is ready, and works.
fn work<P: DataPlane>(
    config: &Config,
    open: impl FnOnce() -> io::Result<P>,
    socket: UdpSocket,
    secret: [u8; 32],
    capabilities: CapabilitySet,
    keeper: u32,
    mut is_ready: UnixStream,
) -> io::Result<()> {
    let signals = Signals::catch()?;
    let plane = open()?;
    give_up_privileges(Some(&config.user), capabilities).map_err(io::Error::other)?;
    // After the change of the user, which would undo it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().is_none_or(|parent| parent.as_raw_pid().cast_unsigned() != keeper) {
        return Err(io::Error::other("the agent was killed"));
    }
    let mut worker = Worker::new(config, plane, socket, secret)?;
    is_ready.write_all(&[1])?;
    drop(is_ready);
    let result = worker.run(&signals.stop, signals.wake.as_fd());
    worker.log_counts();
    result
}

/// Waits for the end of a process or for a signal.
fn wait_for(handle: &OwnedFd, signals: Option<&Signals>) -> io::Result<bool> {
    let timeout = PATIENCE.try_into().ok();
    loop {
        let mut fds = vec![PollFd::new(handle, PollFlags::IN)];
        fds.extend(signals.map(|signals| PollFd::new(&signals.wake, PollFlags::IN)));
        match poll(&mut fds, if signals.is_some() { None } else { timeout.as_ref() }) {
            Ok(0) => return Ok(false),
            Ok(_) if !fds[0].revents().is_empty() => return Ok(true),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if signals.is_some_and(|signals| signals.stop.load(Ordering::Relaxed)) {
            return Ok(false);
        }
    }
}

/// Ends the worker; the inner result is an error if it had failed before.
fn end(child: Pid, handle: &OwnedFd) -> io::Result<io::Result<()>> {
    // It may have ended already.
    let _ = kill_process(child, Signal::TERM);
    if !wait_for(handle, None)? {
        kill_process(child, Signal::KILL).map_err(|error| {
            let child = child.as_raw_pid();
            io::Error::other(format!("cannot end process {child}, without CAP_KILL? {error}"))
        })?;
        // The kernel ends no process that waits for an answer of a file system in user space.
        if !wait_for(handle, None)? {
            let child = child.as_raw_pid();
            return Err(io::Error::other(format!("process {child} was killed and does not end")));
        }
    }
    let status = loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(ended) => break ended.map(|(_, status)| status),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let is_well = status.is_some_and(|status: WaitStatus| status.exit_status() == Some(0));
    Ok(if is_well {
        Ok(())
    } else {
        Err(io::Error::other(format!("the agent's network process ended: {status:?}")))
    })
}
