//! Processes that the master starts: `cameleer front`, `cameleer mold` and the others.
//!
//! They have no options. Reading the options of all subcommands would cost each of them a part of its start.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::os::unix::process::parent_id;

use machine::sampler;
use toolkit::Misuse;

/// Runs the process that the command line names, if it names one.
pub fn run(arguments: &[String]) -> Option<anyhow::Result<()>> {
    let [_, name] = arguments else { return None };
    Some(match name.as_str() {
        "front" => role(c"cameleer-front", |control| {
            front::abort_on_panic();
            front::run(control, parent_id())
        }),
        "mold" => role(c"cameleer-mold", worker::mold::run),
        "expander" => role(c"cameleer-expand", worker::expander::run),
        "sampler" => role(c"cameleer-sample", sampler::run),
        "profiler" => role(c"cameleer-prof", profiler::run),
        "monitor" => role(c"cameleer-monitr", monitor::run),
        "acme" => role(c"cameleer-acme", acme::run),
        _ => return None,
    })
}

/// Sets the name of the process, which would otherwise be `exe` in top and killall, and runs it.
fn role(name: &CStr, run: fn(OwnedFd) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let channel =
        sys::control_channel().map_err(|_| Misuse("this command is internal: the master starts it".to_string()))?;
    nix::sys::prctl::set_name(name)?;
    run(channel)
}
