//! Log files and piped loggers: opened by the master, written by the other processes, reopened on USR1.
//!
//! The master holds both ends of a piped logger's pipe, so lines are not lost while the logger is restarted. No process
//! waits for a logger: the pipe does not block, and a process that finds it full stores or drops its lines.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{AccessFlags, Pid, access, dup2_stderr, pipe2};

use super::backoff::Backoff;
use super::children::peer::Fd;
use base::log;
use config::{Config, LogTarget};
use sys::exposed;

/// Maximum time that a stop waits for piped loggers to write their last lines.
const LAST_LINES: Duration = Duration::from_millis(500);
/// Size of a pipe in bytes: the kernel's limit for users other than root.
const PIPE: i32 = 1024 * 1024;

/// All open logs.
#[derive(Debug)]
pub struct Logs {
    sinks: Vec<Sink>,
    stdout: Fd,
    stderr: Fd,
    of_loggers: LoggerStreams,
    /// The logs in use; `None` until the first generation serves.
    in_use: Option<OpenedLogs>,
}

/// The output of piped loggers. Standard error is not the error log, which may be a piped logger itself.
#[derive(Debug, Clone)]
struct LoggerStreams {
    output: Fd,
    error: Fd,
}

/// An open file or piped logger.
#[derive(Debug)]
struct Sink {
    target: LogTarget,
    fd: Fd,
    logger: Option<Logger>,
}

/// The program behind a piped log or syslog.
#[derive(Debug)]
struct Logger {
    target: LogTarget,
    input: OwnedFd,
    streams: LoggerStreams,
    pid: Option<Pid>,
    backoff: Backoff,
}

/// The descriptors that one configuration logs to.
#[derive(Debug, Clone)]
pub struct OpenedLogs {
    /// The log of `ErrorLog`.
    pub error: Fd,
    /// The access logs: [`Config::logs`], in its order.
    pub access: Vec<Fd>,
    /// The error logs of hosts: [`Config::error_logs`], in its order.
    pub hosts: Vec<Fd>,
}

impl Logs {
    /// Opens the standard streams only. Loggers of a server that will detach from the terminal do not write to it.
    pub fn new(in_background: bool) -> io::Result<Logs> {
        let (stdout, stderr) = (duplicate(io::stdout())?, duplicate(io::stderr())?);
        let of_loggers = match in_background {
            true => {
                let null = Fd::new(OpenOptions::new().write(true).open("/dev/null")?.into());
                LoggerStreams { output: null.clone(), error: null }
            }
            false => LoggerStreams { output: stdout.clone(), error: stderr.clone() },
        };
        Ok(Logs { sinks: Vec::new(), stdout, stderr, of_loggers, in_use: None })
    }

    /// Closes the standard streams of the terminal. In the background the process has other streams, and the program
    /// that started the server may wait until no process has the old ones open.
    pub fn renew_standard(&mut self) -> io::Result<()> {
        (self.stdout, self.stderr) = (duplicate(io::stdout())?, duplicate(io::stderr())?);
        // Descriptor 2 is closed when the program has left the terminal.
        self.in_use.iter().try_for_each(OpenedLogs::take_stderr)
    }

    /// Opens the logs of `config` that are not open yet.
    pub fn open(&mut self, config: &Config) -> anyhow::Result<OpenedLogs> {
        let error = self.descriptor("ErrorLog", &config.error_log, |logs| logs.stderr.clone())?;
        let access = config.logs.iter().map(|log| self.descriptor("CustomLog", log, |logs| logs.stdout.clone()));
        let access = access.collect::<anyhow::Result<_>>()?;
        let hosts = config.error_logs.iter().map(|log| self.descriptor("ErrorLog", log, |logs| logs.stderr.clone()));
        Ok(OpenedLogs { error, access, hosts: hosts.collect::<anyhow::Result<_>>()? })
    }

    /// The logs in use; `None` until the first generation serves.
    pub fn in_use(&self) -> Option<&OpenedLogs> {
        self.in_use.as_ref()
    }

    /// Makes these logs the ones in use, by the master's standard error too.
    pub fn switch_to(&mut self, opened: OpenedLogs) -> io::Result<()> {
        self.in_use.insert(opened).take_stderr()
    }

    /// Closes the logs that `config` does not name.
    pub fn keep(&mut self, config: &Config) {
        let named = |target: &LogTarget| config.logs.contains(target) || config.error_logs.contains(target);
        self.sinks.retain(|sink| sink.target == config.error_log || named(&sink.target));
    }

    /// Reopens the files, after they were moved away. A log that cannot be reopened stays open; its error is returned.
    pub fn reopen(&mut self) -> Vec<anyhow::Error> {
        let mut failures = Vec::new();
        for sink in &mut self.sinks {
            let LogTarget::File(path) = &sink.target else { continue };
            match open_file(path) {
                Ok(fd) => sink.fd = fd,
                Err(error) => failures.push(error),
            }
        }
        failures
    }

    /// Whether a process is a logger.
    pub fn has_started(&self, pid: Pid) -> bool {
        self.sinks.iter().filter_map(|sink| sink.logger.as_ref()).any(|logger| logger.pid == Some(pid))
    }

    /// Schedules the restart of the logger with process `ended`. Returns whether there is one.
    pub fn reap(&mut self, ended: Pid, now: Instant) -> bool {
        let mut loggers = self.sinks.iter_mut().filter_map(|sink| sink.logger.as_mut());
        let Some(logger) = loggers.find(|logger| logger.pid == Some(ended)) else { return false };
        logger.pid = None;
        logger.backoff.failed(now);
        true
    }

    /// Starts the loggers again that have waited long enough.
    pub fn restart(&mut self, now: Instant) -> Vec<anyhow::Error> {
        let loggers = self.sinks.iter_mut().filter_map(|sink| sink.logger.as_mut());
        let due = loggers.filter(|logger| logger.pid.is_none() && logger.backoff.ends(now).is_none());
        due.filter_map(|logger| logger.start().err()).collect()
    }

    /// Reverts [`OpenedLogs::take_stderr`].
    pub fn give_stderr_back(&self) {
        let _ = dup2_stderr(&*self.stderr);
    }

    /// Restores standard error when the server has ended, and gives loggers time to write their last lines.
    pub fn finish(&mut self) {
        self.in_use = None;
        self.give_stderr_back();
        let loggers = self.sinks.drain(..).filter_map(|sink| sink.logger?.pid);
        let mut loggers: Vec<Pid> = loggers.collect();
        let by = Instant::now() + LAST_LINES;
        let runs = |pid: &Pid| waitpid(*pid, Some(WaitPidFlag::WNOHANG)) == Ok(WaitStatus::StillAlive);
        loggers.retain(runs);
        while Instant::now() < by && !loggers.is_empty() {
            std::thread::sleep(Duration::from_millis(2));
            loggers.retain(runs);
        }
        for logger in loggers {
            // The logger leads its own process group and was not reaped, so the number cannot mean another process.
            let _ = killpg(logger, Signal::SIGTERM);
        }
    }

    /// When [`Self::restart`] must be called next.
    pub fn wakes(&self, now: Instant) -> Option<Instant> {
        let loggers = self.sinks.iter().filter_map(|sink| sink.logger.as_ref());
        loggers.filter(|logger| logger.pid.is_none()).map(|logger| logger.backoff.ends(now).unwrap_or(now)).min()
    }

    fn descriptor(&mut self, directive: &str, target: &LogTarget, standard: fn(&Logs) -> Fd) -> anyhow::Result<Fd> {
        if *target == LogTarget::Standard {
            return Ok(standard(self));
        }
        if let Some(stream) = self.stream_of(target) {
            return Ok(stream);
        }
        if let Some(sink) = self.sinks.iter().find(|sink| sink.target == *target) {
            return Ok(sink.fd.clone());
        }
        let sink = Sink::open(target.clone(), &self.of_loggers).with_context(|| directive.to_string())?;
        let fd = sink.fd.clone();
        self.sinks.push(sink);
        Ok(fd)
    }
}

impl Logs {
    /// The stream that a path such as `/dev/stderr` names. Opening the path would fail for a socket, and for a pipe of
    /// another user; in a reload it would be the error log, which is the master's standard error then.
    fn stream_of(&self, target: &LogTarget) -> Option<Fd> {
        let LogTarget::File(path) = target else { return None };
        match path.to_str()? {
            "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(self.stdout.clone()),
            "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(self.stderr.clone()),
            _ => None,
        }
    }
}

impl OpenedLogs {
    /// Makes the error log the master's standard error: libraries and panics write there too.
    pub fn take_stderr(&self) -> io::Result<()> {
        Ok(dup2_stderr(&*self.error)?)
    }
}

impl Sink {
    fn open(target: LogTarget, streams: &LoggerStreams) -> anyhow::Result<Sink> {
        match &target {
            LogTarget::Standard => anyhow::bail!("the standard streams are always open"),
            LogTarget::File(path) => return Ok(Sink { fd: open_file(path)?, target, logger: None }),
            LogTarget::Pipe(command) => program_of(command)?,
            LogTarget::Syslog(_) => {}
        }
        let (input, output) = pipe2(OFlag::O_CLOEXEC)?;
        fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        // A user with many pipes may not enlarge further ones.
        let _ = fcntl(&output, FcntlArg::F_SETPIPE_SZ(PIPE));
        let (of_logger, streams) = (target.clone(), streams.clone());
        let mut logger = Logger { target: of_logger, input, streams, pid: None, backoff: Backoff::default() };
        logger.start()?;
        Ok(Sink { target, fd: Fd::new(output), logger: Some(logger) })
    }
}

impl Logger {
    fn start(&mut self) -> anyhow::Result<()> {
        let (mut program, name) = self.program();
        program.stdin(self.input.try_clone()?);
        program.stdout(self.streams.output.try_clone()?).stderr(self.streams.error.try_clone()?);
        // The logger gets its own process group: an INT from the terminal must not end it before the last line is
        // written.
        program.process_group(0);
        sys::with_signals_unblocked(&mut program);
        let child = program.spawn().with_context(|| format!("cannot start {name}"))?;
        self.pid = Some(Pid::from_raw(child.id().cast_signed()));
        Ok(())
    }

    /// The program, and its name in messages. This program itself sends lines to syslog, in a process of its own,
    /// because a syslog daemon that hangs would make the master wait.
    fn program(&self) -> (Command, String) {
        match &self.target {
            LogTarget::Syslog(target) => {
                let mut program = Command::new("/proc/self/exe");
                program.arg("syslog").arg(target.facility.to_string()).arg(format!("--tag={}", target.tag));
                (program, format!("the process for {target}"))
            }
            LogTarget::Pipe(command) => shell(command),
            LogTarget::Standard | LogTarget::File(_) => shell("cat"),
        }
    }
}

fn shell(command: &str) -> (Command, String) {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    (shell, format!("the piped log \"|{command}\""))
}

/// Fails if a program that is named by its path cannot run: the shell would report that only later, to the log.
fn program_of(command: &str) -> anyhow::Result<()> {
    let Some(program) = command.split_whitespace().next().filter(|word| word.starts_with('/')) else { return Ok(()) };
    if program.contains(['"', '\'', '\\', '$', '`', '*', '?', '[', ';', '&', '|', '<', '>', '(']) {
        return Ok(());
    }
    access(program, AccessFlags::X_OK)
        .with_context(|| format!("the piped log \"|{command}\" cannot be started: {program}"))
}

fn duplicate(stream: impl AsFd) -> io::Result<Fd> {
    stream.as_fd().try_clone_to_owned().map(Fd::new)
}

/// Opens a log file. In a folder where other users than root may create links, no link is followed.
fn open_file(path: &Path) -> anyhow::Result<Fd> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    let exposed = exposed::because(path);
    if exposed.is_some() {
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NOCTTY | OFlag::O_NONBLOCK).bits());
    }
    let cannot = || format!("cannot open {} for writing", path.display());
    let file = options.open(path).with_context(cannot)?;
    if let Some(why) = exposed {
        if file.metadata()?.nlink() > 1 {
            bail!("{}: the file has a second name, and {why}", cannot());
        }
        let advice = "write logs to a folder that only root may write to";
        log::warn("master", format_args!("log {}: {why}; {advice}", path.display()));
    }
    Ok(Fd::new(file.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("cameleer-logs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("folder");
        folder
    }

    fn write(to: &Fd, line: &str) {
        let mut file = std::fs::File::from(to.try_clone().expect("duplicate"));
        file.write_all(line.as_bytes()).expect("written");
    }

    #[test]
    fn after_a_reopen_lines_are_written_to_the_new_file() {
        let folder = folder("reopen");
        let path = folder.join("error.log");
        let mut logs = Logs::new(false).expect("logs");
        let target = LogTarget::File(path.clone());
        write(&logs.descriptor("ErrorLog", &target, |l| l.stderr.clone()).expect("open"), "old\n");
        std::fs::rename(&path, folder.join("error.log.1")).expect("moved");
        assert!(logs.reopen().is_empty());
        write(&logs.descriptor("ErrorLog", &target, |l| l.stderr.clone()).expect("open"), "new\n");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "new\n");
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn an_unwritable_log_is_named() {
        let target = LogTarget::File("/nowhere/error.log".into());
        let mut logs = Logs::new(false).expect("logs");
        let error = logs.descriptor("ErrorLog", &target, |l| l.stderr.clone()).expect_err("no such folder");
        assert_eq!(
            format!("{error:#}"),
            "ErrorLog: cannot open /nowhere/error.log for writing: No such file or directory (os error 2)"
        );
    }
}
