//! A Perl interpreter in a child process, for commands that measure Perl code. Code loaded there cannot affect the
//! command's own process or output.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use libperl::Interpreter;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use master::configuration::{CheckedConfig, ConfigReading};
use toolkit::directives::{Surroundings, of_interpreter};
use toolkit::options::Program;
use toolkit::origin::origin;

/// A child process with an interpreter, which sends one answer.
pub struct PerlChild {
    pub pid: Pid,
    answer: PipeReader,
}

impl PerlChild {
    /// Starts the child. `include` comes first in `@INC`.
    pub fn start(
        include: &[PathBuf],
        work: impl FnOnce(&Interpreter) -> anyhow::Result<String>,
    ) -> anyhow::Result<PerlChild> {
        let text = of_interpreter(include, &Surroundings::ours()?);
        let config = ConfigReading::of(&origin(text, &Program::default())?)?.finish()?;
        let (answer, to_parent) = std::io::pipe()?;
        let parent = getpid();
        match sys::fork()? {
            Some(pid) => Ok(PerlChild { pid, answer }),
            None => {
                drop(answer);
                let sent =
                    sys::die_with(parent).map_err(Into::into).and_then(|()| send_result(&config, work, to_parent));
                sys::exit_now(i32::from(sent.is_err()))
            }
        }
    }

    /// Waits for the child's end and returns its answer.
    pub fn answer(mut self) -> anyhow::Result<String> {
        let mut text = Vec::new();
        self.answer.read_to_end(&mut text)?;
        let ended = waitpid(self.pid, None);
        let answer: Result<String, String> = match (serde_json::from_slice(&text), ended) {
            (Ok(answer), _) => answer,
            (Err(_), Ok(WaitStatus::Signaled(_, signal, _))) => bail!("perl was ended by {signal}"),
            (Err(_), _) => bail!("perl ended without a result: the code ended the process, or called exec"),
        };
        answer.map_err(|error| anyhow!(error))
    }
}

fn send_result(
    config: &CheckedConfig,
    work: impl FnOnce(&Interpreter) -> anyhow::Result<String>,
    mut to_parent: PipeWriter,
) -> anyhow::Result<()> {
    // Send output of the Perl code to stderr, since the command's own stdout may be parsed by a program.
    sys::replace(std::io::stderr().as_raw_fd(), std::io::stdout().as_raw_fd())?;
    let perl = worker::standalone::start(&config.config, config.facts());
    let result = perl.as_ref().map_err(|error| anyhow!("{error:#}")).and_then(work);
    let result = serde_json::to_vec(&result.map_err(|error| format!("{error:#}")))?;
    to_parent.write_all(&result).context("the command has ended")?;
    drop(to_parent);
    perl?.end(false);
    Ok(())
}
