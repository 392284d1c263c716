//! Process descriptors, which stay valid when a process id is reused, and signals with a value.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid};

/// Opens a descriptor of a process. The descriptor still refers to the same process after the pid was reused.
pub fn pidfd_open(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers and returns a new descriptor or -1.
    let fd = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) })?;
    // SAFETY: the kernel just created the descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Sends `signal` to the process of a [`pidfd_open`]. Fails if it has ended.
pub fn pidfd_kill(process: BorrowedFd<'_>, signal: Signal) -> io::Result<()> {
    pidfd_signal(process, signal as i32)
}

/// Sends a signal with a value to the process of a [`pidfd_open`].
pub fn pidfd_queue(process: BorrowedFd<'_>, signal: i32, value: u64) -> io::Result<()> {
    let info = queued(signal, value);
    // SAFETY: `Queued` has the layout and size of the kernel's siginfo for SI_QUEUE, and lives during the call.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, &raw const info, 0) };
    Errno::result(sent)?;
    Ok(())
}

/// Sends a signal with a value to a process id. The caller ensures that the id was not reused.
pub fn queue(process: Pid, signal: i32, value: u64) -> io::Result<()> {
    let info = queued(signal, value);
    // SAFETY: `Queued` has the layout and size of the kernel's siginfo for SI_QUEUE, and lives during the call.
    let sent = unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, process.as_raw(), signal, &raw const info) };
    Errno::result(sent)?;
    Ok(())
}

/// Whether the process of a [`pidfd_open`] was not reaped yet.
pub fn pidfd_exists(process: BorrowedFd<'_>) -> bool {
    pidfd_signal(process, 0).is_ok()
}

fn pidfd_signal(process: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    let null = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo is allowed, and means the same as kill().
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, null, 0) };
    Errno::result(sent)?;
    Ok(())
}

fn queued(signal: i32, value: u64) -> Queued {
    let (sender, user) = (getpid().as_raw(), nix::unistd::getuid().as_raw());
    Queued { signal, error: 0, code: libc::SI_QUEUE, sender, user, value, ..Queued::default() }
}

/// Fields of a 64-bit Linux `siginfo_t` for SI_QUEUE, which libc does not let us write.
#[repr(C, align(8))]
#[derive(Default)]
struct Queued {
    signal: i32,
    error: i32,
    code: i32,
    padding: i32,
    sender: i32,
    user: u32,
    value: u64,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<Queued>() == size_of::<libc::siginfo_t>());
