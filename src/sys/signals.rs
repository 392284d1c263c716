//! What signals do to this process.

use std::ffi::c_int;
use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::unistd::getpid;

/// The master's signals. A terminal sends some of them to the whole group, where the master alone decides.
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

/// A child's reaping needs SIGCHLD at its default, whatever our parent had.
pub fn default_child_signal() -> io::Result<()> {
    dispose(Signal::SIGCHLD, SigHandler::SigDfl)
}

/// SEGV and BUS end the process, as they do in any program. Rust's own handler, which looks for overflows of its stack,
/// lets the first one pass that somebody sends.
pub fn default_faults() -> io::Result<()> {
    [Signal::SIGSEGV, Signal::SIGBUS].into_iter().try_for_each(|signal| dispose(signal, SigHandler::SigDfl))
}

/// The signals mean again what they mean to any program: of `-X`, where no master reads them.
pub fn default_signals() -> io::Result<()> {
    FOR_THE_MASTER.into_iter().try_for_each(|signal| dispose(signal, SigHandler::SigDfl))
}

/// The process that TERM asks, and where: [`ask_on_term`] sets both, its handler reads them.
static ASKED: (AtomicI32, AtomicI32) = (AtomicI32::new(0), AtomicI32::new(0));

/// TERM writes a byte to `ask` instead of killing this process. What a program forks of it dies of TERM as before.
pub fn ask_on_term(ask: OwnedFd) -> io::Result<()> {
    ASKED.1.store(ask.into_raw_fd(), Ordering::Relaxed);
    ASKED.0.store(getpid().as_raw(), Ordering::Relaxed);
    let action = SigAction::new(SigHandler::Handler(on_term), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler reads two atomics and calls what is async-signal-safe, and leaves errno as it was.
    unsafe { sigaction(Signal::SIGTERM, &action) }?;
    Ok(())
}

extern "C" fn on_term(_: c_int) {
    let errno = Errno::last_raw();
    if getpid().as_raw() == ASKED.0.load(Ordering::Relaxed) {
        // SAFETY: one byte from a constant; the descriptor is never closed.
        unsafe { libc::write(ASKED.1.load(Ordering::Relaxed), c"T".as_ptr().cast(), 1) };
    } else if dispose(Signal::SIGTERM, SigHandler::SigDfl).is_ok() {
        // Blocked until this handler returns, then deadly.
        let _ = nix::sys::signal::raise(Signal::SIGTERM);
    }
    Errno::set_raw(errno);
}

/// Until it is dropped, children that end are reaped by a signal handler.
pub struct Reaping(libc::sigaction);

/// Children that end from now on are reaped at once, wherever this process waits; those that have ended are not. For a
/// moment in which nobody wants to know how they end.
pub fn reap_at_once() -> io::Result<Reaping> {
    let handler: extern "C" fn(c_int) = on_child;
    // SAFETY: all zeroes is a valid sigaction.
    let (mut ours, mut theirs): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = handler as libc::sighandler_t;
    ours.sa_flags = libc::SA_RESTART | libc::SA_NOCLDSTOP;
    // SAFETY: `on_child` makes one async-signal-safe call and leaves errno as it was; SA_RESTART hides it from who waits.
    Errno::result(unsafe { libc::sigaction(libc::SIGCHLD, &ours, &mut theirs) })?;
    Ok(Reaping(theirs))
}

impl Drop for Reaping {
    fn drop(&mut self) {
        // SAFETY: it is what the kernel gave us, the handler of a program among it.
        unsafe { libc::sigaction(libc::SIGCHLD, &self.0, std::ptr::null_mut()) };
    }
}

/// Children that `on_child` has reaped: process and status in one number, 0 for none. More than these at once are forgotten.
static ENDED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

extern "C" fn on_child(_: c_int) {
    let errno = Errno::last_raw();
    loop {
        let mut status = 0;
        // SAFETY: `status` is a number of our own.
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

/// The children that were reaped at once since this was last asked: each process and its status as `waitpid` gives it.
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

/// A signal that no Perl program uses by accident.
pub(super) fn parent_signal() -> i32 {
    libc::SIGRTMAX() - 1
}

/// Tells a worker that its request takes too long; as unlikely to be a site's own.
pub fn deadline_signal() -> i32 {
    libc::SIGRTMAX() - 2
}
