//! Calls of the operating system that Rust cannot check: the only unsafe of this package, each block with its reason.

#![allow(unsafe_code, reason = "fork, pre_exec, raw descriptors, pidfds, crypt and getnameinfo have no safe form")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::bail;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{ForkResult, Pid, getpid, getppid, setpgid};

use crate::config::program::Limits;

/// Where front and mold find their end of the control channel.
const CONTROL: RawFd = 3;

/// The master's signals. A terminal sends some of them to the whole group, where the master alone decides.
const FOR_THE_MASTER: [Signal; 9] = [
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

/// Lets `command` start as front or mold: it dies with us, ignores the master's signals and has `channel` at 3.
pub fn become_role(command: &mut Command, channel: RawFd) {
    let master = getpid();
    let enter = move || {
        die_with(master)?;
        unblock_signals()?;
        for signal in FOR_THE_MASTER {
            dispose(signal, SigHandler::SigIgn)?;
        }
        inherit_as_control(channel)
    };
    // SAFETY: between fork and exec `enter` only makes async-signal-safe system calls and allocates nothing.
    unsafe { command.pre_exec(enter) };
}

/// What a program is started with: its file, its arguments and its environment.
pub struct Image {
    file: CString,
    /// What the lists point into.
    _strings: Vec<CString>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

// SAFETY: the pointers lead into `_strings` and `file`, which nobody changes.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    /// `environment` has lines like `NAME=value`. None of these may contain NUL.
    pub fn new(file: &[u8], arguments: Vec<Vec<u8>>, environment: Vec<Vec<u8>>) -> io::Result<Image> {
        let count = arguments.len();
        let strings = arguments.into_iter().chain(environment).map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let file = CString::new(file)?;
        let (arguments, environment) = strings.split_at(count);
        let list = |first: Option<&CString>, rest: &[CString]| {
            let all = first.into_iter().chain(rest).map(|text| text.as_ptr());
            all.chain([std::ptr::null()]).collect::<Vec<_>>()
        };
        let (arguments, environment) = (list(Some(&file), arguments), list(None, environment));
        Ok(Image { file, _strings: strings, arguments, environment })
    }

    /// Returns only when it fails.
    fn execute(&self) -> io::Error {
        // SAFETY: a terminated name and two terminated lists of terminated strings, all of which `self` holds.
        unsafe { libc::execve(self.file.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// Has `command` become the program of `image`: the leader of a process group that dies with us, within these limits. The
/// kernel decides alone whether the file can be executed; the library's way would try a shell.
pub fn become_program(command: &mut Command, image: Image, limits: &Limits) {
    let worker = getpid();
    let limits = [
        (Resource::RLIMIT_CPU, limits.cpu),
        (Resource::RLIMIT_AS, limits.memory),
        (Resource::RLIMIT_NPROC, limits.processes),
    ];
    let enter = move || {
        setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        die_with(worker)?;
        unblock_signals()?;
        for (resource, limit) in limits {
            if let Some((soft, hard)) = limit {
                let (_, highest) = getrlimit(resource)?;
                let hard = hard.min(highest);
                setrlimit(resource, soft.min(hard), hard)?;
            }
        }
        Err(image.execute())
    };
    // SAFETY: between fork and exec `enter` only makes async-signal-safe system calls and allocates nothing.
    unsafe { command.pre_exec(enter) };
}

/// The mold sees the end of the master by itself from now on, and ends its children before it goes.
pub fn outlive_master() -> io::Result<()> {
    Ok(prctl::set_pdeathsig(None)?)
}

/// Lets `command` start with no signal blocked: ours are, because we read them from a descriptor.
pub fn with_signals_unblocked(command: &mut Command) {
    // SAFETY: one async-signal-safe system call, no allocation.
    unsafe { command.pre_exec(unblock_signals) };
}

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

extern "C" fn on_child(_: c_int) {
    let errno = Errno::last_raw();
    // SAFETY: it asks for no status.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
    Errno::set_raw(errno);
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

/// Ends this process when its parent, that one, ends.
pub fn die_with(master: Pid) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() == master { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

fn unblock_signals() -> io::Result<()> {
    Ok(SigSet::empty().thread_set_mask()?)
}

fn dispose(signal: Signal, handler: SigHandler) -> io::Result<()> {
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: no Rust function is installed, only "ignore" or "default".
    unsafe { sigaction(signal, &action) }?;
    Ok(())
}

fn inherit_as_control(channel: RawFd) -> io::Result<()> {
    // SAFETY: both numbers are plain integers to the kernel; whatever was at 3 is this child's copy, about to be closed
    // by exec anyway.
    let placed = match channel {
        CONTROL => unsafe { libc::fcntl(CONTROL, libc::F_SETFD, 0) },
        _ => unsafe { libc::dup2(channel, CONTROL) },
    };
    Errno::result(placed)?;
    Ok(())
}

/// The control channel that [`become_role`] left at descriptor 3. Call it once, first thing in a role.
pub fn control_channel() -> io::Result<OwnedFd> {
    // SAFETY: F_GETFD only asks whether the number is open.
    Errno::result(unsafe { libc::fcntl(CONTROL, libc::F_GETFD) })?;
    // SAFETY: it is open, and a role's first statement runs before anything else could have opened or taken it.
    let channel = unsafe { OwnedFd::from_raw_fd(CONTROL) };
    if SFlag::from_bits_truncate(fstat(&channel)?.st_mode) & SFlag::S_IFMT != SFlag::S_IFSOCK {
        return Err(Errno::ENOTSOCK.into());
    }
    fcntl(&channel, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(channel)
}

/// The `count` descriptors from 3 on that systemd handed over. Call it once, before anything else opens a file.
pub fn passed_descriptors(count: usize) -> io::Result<Vec<OwnedFd>> {
    (3..).take(count).map(passed_descriptor).collect()
}

fn passed_descriptor(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_SETFD on a number that may be closed fails with EBADF and does nothing else.
    Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: it is open, and LISTEN_PID said that it was opened for this process.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whatever whoever started us left open is not for the programs that scripts start. A kernel before 5.11 cannot say so of
/// all at once; what is open there stays as it is.
pub fn keep_inherited_from_children() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: it only marks descriptors to be closed by exec; all that we mean to pass on we pass explicitly.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Whether a process is stopped, by a signal or by a debugger. One that cannot be seen is not.
pub fn is_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything, so look from its end.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

/// For how long a process has waited for a processor since its start; nothing where the kernel does not count that.
pub fn run_delay(pid: i32) -> std::time::Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let nanoseconds = stat.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    std::time::Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Whether a debugger holds a process.
pub fn is_traced(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// Forks. `None` in the child.
pub fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the caller is a process that has one thread, so the child finds no lock taken.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// A descriptor that means this very process, even after its number was given to another.
pub fn pidfd_open(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers and returns a new descriptor or -1.
    let fd = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) })?;
    // SAFETY: the kernel just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Sends `signal` to the process behind a [`pidfd_open`]; an error when it has ended.
pub fn pidfd_kill(process: BorrowedFd<'_>, signal: Signal) -> io::Result<()> {
    pidfd_signal(process, signal as i32)
}

/// Sends the process behind a [`pidfd_open`] a signal with a value.
pub fn pidfd_queue(process: BorrowedFd<'_>, signal: i32, value: u64) -> io::Result<()> {
    let info = queued(signal, value);
    // SAFETY: `Queued` begins as the kernel's siginfo does for SI_QUEUE and is as long; it lives during the call.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, &raw const info, 0) };
    Errno::result(sent)?;
    Ok(())
}

/// The same by number: the caller has made sure that it means the process that he means.
pub fn queue(process: Pid, signal: i32, value: u64) -> io::Result<()> {
    let info = queued(signal, value);
    // SAFETY: as above.
    let sent = unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, process.as_raw(), signal, &raw const info) };
    Errno::result(sent)?;
    Ok(())
}

fn queued(signal: i32, value: u64) -> Queued {
    let (sender, user) = (getpid().as_raw(), nix::unistd::getuid().as_raw());
    Queued { signal, error: 0, code: libc::SI_QUEUE, sender, user, value, ..Queued::default() }
}

/// `siginfo_t` of a 64-bit Linux as far as SI_QUEUE uses it; libc has no fields to write to.
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

/// Whether the process behind a [`pidfd_open`] was not reaped yet.
pub fn pidfd_exists(process: BorrowedFd<'_>) -> bool {
    pidfd_signal(process, 0).is_ok()
}

fn pidfd_signal(process: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    let null = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo is allowed and means: as kill() would.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, null, 0) };
    Errno::result(sent)?;
    Ok(())
}

/// Workers keep descriptors out of the way of programs, from 64 on.
const FEWEST_FILES: u64 = 96;

/// Moves a descriptor out of the way of programs, which may know none above 1024 (select) and have the lowest numbers.
pub fn out_of_the_way(fd: OwnedFd) -> io::Result<OwnedFd> {
    let high = fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(FOR_PROGRAMS))?;
    // SAFETY: the kernel just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(high) })
}

/// The descriptors below are theirs.
const FOR_PROGRAMS: RawFd = 64;

/// How many files a process may have open.
pub fn file_limit() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft)
}

/// Allows this process and its children as many open files as the administrator permits.
pub fn raise_file_limit() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if hard < FEWEST_FILES {
        bail!(
            "only {hard} open files are allowed (ulimit -Hn, systemd's LimitNOFILE): {FEWEST_FILES} are needed at least"
        );
    }
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

/// Lets others of the same user look into this process, which the kernel forbids when [`crate::privileges::drop`] changed it: a
/// profiler needs that. Not for the front: a worker is of the same user, and must not see other workers' clients.
pub fn allow_profiling() -> io::Result<()> {
    Ok(prctl::set_dumpable(true)?)
}

#[link(name = "crypt")]
unsafe extern "C" {
    fn crypt_rn(phrase: *const c_char, setting: *const c_char, data: *mut c_void, size: c_int) -> *mut c_char;
}

/// crypt(3): the hash of a password under the method and salt of `setting`; `None` when it does not know that method.
pub fn crypt(password: &[u8], setting: &str) -> Option<String> {
    /// The size of `struct crypt_data`, an ABI constant of libxcrypt.
    const SIZE: usize = 32768;
    let (phrase, setting) = (CString::new(password).ok()?, CString::new(setting).ok()?);
    let mut data = vec![0u64; SIZE / size_of::<u64>()];
    // SAFETY: two C strings that live during the call, and `SIZE` zeroed, aligned bytes that are ours alone.
    let hash = unsafe { crypt_rn(phrase.as_ptr(), setting.as_ptr(), data.as_mut_ptr().cast(), SIZE as c_int) };
    if hash.is_null() {
        return None;
    }
    // SAFETY: not null, it is a C string within `data`, which still lives.
    let hash = unsafe { CStr::from_ptr(hash) };
    hash.to_str().ok().map(str::to_owned)
}

/// The name of an address, from /etc/hosts, a name server, or wherever the system looks. Waits for the answer.
pub fn name_of(address: IpAddr) -> Option<String> {
    let address = SockaddrStorage::from(SocketAddr::new(address, 0));
    let mut name = [0; libc::NI_MAXHOST as usize];
    // SAFETY: a socket address with its own length, room for a name with its length, and no service asked for.
    let failed = unsafe {
        libc::getnameinfo(
            address.as_ptr(),
            address.len(),
            name.as_mut_ptr().cast(),
            libc::NI_MAXHOST,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    (failed == 0).then(|| name.to_str().ok().map(str::to_owned)).flatten()
}

/// Ends this process without another line of anybody's code.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: it does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// Descriptor `to` becomes another name for what `from` is. Only for the standard streams, which nobody owns.
pub fn replace(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: the numbers are plain integers to the kernel, and no `OwnedFd` of ours holds 0, 1 or 2.
    Errno::result(unsafe { libc::dup2(from, to) })?;
    Ok(())
}

/// The master whose end is a worker's end. Written once, before the signal can come; read in its handler.
static FOLLOWED: AtomicI32 = AtomicI32::new(0);

/// A worker outlives its mold, because the master adopts it, but not the master: even in the middle of a request.
pub fn follow(mold: Pid, master: Pid) -> io::Result<()> {
    FOLLOWED.store(master.as_raw(), Ordering::Relaxed);
    let handler: extern "C" fn(i32) = parent_ended;
    // SAFETY: all zeroes is a valid sigaction.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `parent_ended` makes async-signal-safe system calls only; SA_RESTART hides it from the site's code.
    Errno::result(unsafe { libc::sigaction(parent_signal(), &action, std::ptr::null_mut()) })?;
    arm()?;
    let parent = getppid();
    if parent == mold || parent == master { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

/// A signal that no Perl program uses by accident.
fn parent_signal() -> i32 {
    libc::SIGRTMAX() - 1
}

/// Tells a worker that its request takes too long; as unlikely to be a site's own.
pub fn deadline_signal() -> i32 {
    libc::SIGRTMAX() - 2
}

/// Lets the heap keep a little of what was freed. Large answers pass through buffers that come and go, and glibc would give
/// their pages back to the kernel and fault them in anew every few packets; to set one of the two ends its own guessing.
pub fn keep_some_freed_memory() {
    const KEPT: c_int = 4 << 20;
    // SAFETY: the calls take integers; they fail by returning 0, and then all stays as it was.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT / 4);
    }
}

fn arm() -> io::Result<()> {
    // SAFETY: the call takes integers; the signal has a handler.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, parent_signal()) })?;
    Ok(())
}

/// The mold has ended, or the master with it. In the first case the master is our parent now.
extern "C" fn parent_ended(_: i32) {
    if getppid().as_raw() != FOLLOWED.load(Ordering::Relaxed) || arm().is_err() {
        exit_now(0);
    }
}

/// From now on, being woken does not take the processor from whoever wakes this process: a front that hands out several
/// requests does so without being interrupted by each. What it starts runs as usual. See docs/decisions/0003.
pub fn do_not_preempt() -> io::Result<()> {
    let how = libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK;
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: reads one struct that lives during the call; 0 is this process.
    Errno::result(unsafe { libc::sched_setscheduler(0, how, &raw const parameters) })?;
    Ok(())
}
