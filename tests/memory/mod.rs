//! What a server has of the machine's memory: `cameleer mem`, and whether it is true.

/// What workers have loaded since the fork.
mod advice;
/// The same numbers as those that Perl reads.
mod agreement;
mod blame;
/// The table, the picture, the calculator.
mod command;
/// A control group for one server.
mod control_group;
/// Objects that stay.
mod leaks;
/// More than there is.
mod out_of_memory;
/// Huge pages, and pages that are joined.
mod pages;
/// Growth by paths.
mod urls;
/// Against what the machine has again.
mod verified;

use serde_json::Value;

use crate::support::{Server, Site};

/// A server of `app`, with so many workers.
#[track_caller]
fn serve(app: &str, workers: usize) -> Server {
    Site::new().file("app.psgi", app).serve(&conf(workers))
}

fn conf(workers: usize) -> String {
    format!(
        "StartServers {workers}\nMinSpareServers {workers}\nMaxSpareServers {workers}\nMaxClients {workers}\n\
         <Location />\nPsgiApp app.psgi\n</Location>\n"
    )
}

/// What `cameleer mem --json` says.
#[track_caller]
fn measured(server: &Server) -> Value {
    let said = server.control(["mem", "--json"]).succeeded();
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[track_caller]
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// Whether it is the process that a program's answer names.
fn has_pid(process: &Value, pid: &str) -> bool {
    process["pid"].as_u64() == pid.parse().ok()
}

/// Its processes of one role.
fn of_role<'a>(measured: &'a Value, role: &str) -> Vec<&'a Value> {
    let all = measured["processes"].as_array().expect("a list");
    all.iter().filter(|process| process["role"] == role).collect()
}
