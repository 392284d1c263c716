//! Signal handling of this process.

use std::ffi::c_int;
use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::unistd::getpid;

/// Signals for the master. A terminal sends some of them to the whole process group, but only the master acts on them.
pub(super) const FOR_THE_MASTER: [Signal; 9] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGQUIT,
    Signal::SIGHUP,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
];

/// Sets SIGCHLD to its default, which reaping of children needs, regardless of the parent's setting.
pub fn default_child_signal() -> io::Result<()> {
    dispose(Signal::SIGCHLD, SigHandler::SigDfl)
}

/// Lets SEGV and BUS end the process. Rust's own handler for stack overflows would ignore the first such signal that
/// another process sends.
pub fn default_faults() -> io::Result<()> {
    [Signal::SIGSEGV, Signal::SIGBUS].into_iter().try_for_each(|signal| dispose(signal, SigHandler::SigDfl))
}

/// Sets the master's signals to their defaults: for `-X`, which has no master.
pub fn default_signals() -> io::Result<()> {
    FOR_THE_MASTER.into_iter().try_for_each(|signal| dispose(signal, SigHandler::SigDfl))
}

/// Process id and descriptor of [`request_on_term`], read by its signal handler.
static ASKED: (AtomicI32, AtomicI32) = (AtomicI32::new(0), AtomicI32::new(0));

/// Lets TERM write a byte to `ask` instead of ending this process. Processes that a program forks still end by TERM.
pub fn request_on_term(ask: OwnedFd) -> io::Result<()> {
    ASKED.1.store(ask.into_raw_fd(), Ordering::Relaxed);
    ASKED.0.store(getpid().as_raw(), Ordering::Relaxed);
    let action = SigAction::new(SigHandler::Handler(on_term), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler reads two atomics, makes async-signal-safe calls only, and preserves errno.
    unsafe { sigaction(Signal::SIGTERM, &action) }?;
    Ok(())
}

extern "C" fn on_term(_: c_int) {
    let errno = Errno::last_raw();
    if getpid().as_raw() == ASKED.0.load(Ordering::Relaxed) {
        // SAFETY: one byte from a constant; the descriptor is never closed.
        unsafe { libc::write(ASKED.1.load(Ordering::Relaxed), c"T".as_ptr().cast(), 1) };
    } else if dispose(Signal::SIGTERM, SigHandler::SigDfl).is_ok() {
        // The signal is blocked until this handler returns, and then ends the process.
        let _ = nix::sys::signal::raise(Signal::SIGTERM);
    }
    Errno::set_raw(errno);
}

/// Guard that reaps ended children in a signal handler until it is dropped.
pub struct Reaping(libc::sigaction);

/// Reaps children that end from now on at once, even while this process waits elsewhere. Children that have already
/// ended are not reaped. For periods in which no code waits for children.
pub fn reap_at_once() -> io::Result<Reaping> {
    handle(libc::SIGCHLD, on_child, libc::SA_RESTART | libc::SA_NOCLDSTOP).map(Reaping)
}

/// Installs a handler for a signal, which may be a real-time one. Returns the action before. The handler must make only
/// async-signal-safe calls.
pub(super) fn handle(signal: c_int, handler: extern "C" fn(c_int), flags: c_int) -> io::Result<libc::sigaction> {
    // SAFETY: an all-zero sigaction is valid.
    let (mut ours, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = handler as libc::sighandler_t;
    ours.sa_flags = flags;
    // SAFETY: the callers' handlers, all in this crate, do what this function requires.
    Errno::result(unsafe { libc::sigaction(signal, &ours, &mut before) })?;
    Ok(before)
}

impl Drop for Reaping {
    fn drop(&mut self) {
        // SAFETY: the action is the one that the kernel returned, possibly with a handler of the program.
        unsafe { libc::sigaction(libc::SIGCHLD, &self.0, std::ptr::null_mut()) };
    }
}

/// Reaped children: process id and status in one number, 0 for a free entry. Excess children are dropped.
static ENDED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

extern "C" fn on_child(_: c_int) {
    let errno = Errno::last_raw();
    loop {
        let mut status = 0;
        // SAFETY: `status` is a local variable.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if pid <= 0 {
            break;
        }
        let child = u64::from(pid.cast_unsigned()) << 32 | u64::from(status.cast_unsigned());
        let is_free =
            |place: &&AtomicU64| place.compare_exchange(0, child, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let _ = ENDED.iter().find(is_free);
    }
    Errno::set_raw(errno);
}

/// Children reaped since the last call: process id and `waitpid` status of each.
pub fn ended_children() -> Vec<[i32; 2]> {
    let taken = ENDED.iter().map(|place| place.swap(0, Ordering::Relaxed)).filter(|child| *child != 0);
    taken.map(|child| [(child >> 32) as i32, child as u32 as i32]).collect()
}

pub(super) fn unblock_signals() -> io::Result<()> {
    Ok(SigSet::empty().thread_set_mask()?)
}

pub(super) fn dispose(signal: Signal, handler: SigHandler) -> io::Result<()> {
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: no Rust function is installed, only "ignore" or "default".
    unsafe { sigaction(signal, &action) }?;
    Ok(())
}

/// Signal at the end of a worker's parent; real-time signals are unlikely in Perl programs.
pub(super) fn parent_signal() -> i32 {
    libc::SIGRTMAX() - 1
}

/// Installs an empty handler for the deadline signal, in a process that checks its deadlines itself. Programs that it
/// executes would inherit an ignored signal.
pub fn survive_deadline_signal() -> io::Result<()> {
    handle(deadline_signal(), nothing, libc::SA_RESTART).map(drop)
}

extern "C" fn nothing(_: c_int) {}

/// Signal for a request that takes too long.
pub fn deadline_signal() -> i32 {
    libc::SIGRTMAX() - 2
}
