//! Memory of a running server: `cameleer mem`, and the accuracy of its figures.

/// Modules loaded since the fork.
mod advice;
/// Agreement with the figures that Perl reads.
mod agreement;
mod blame;
/// The table, the picture and the calculator.
mod command;
/// A control group for one server.
mod control_group;
/// Leaked objects.
mod leaks;
/// Workers killed by the kernel.
mod out_of_memory;
/// Huge pages, and pages merged by the kernel.
mod pages;
/// Code of the last run, loaded before the fork.
mod preload;
/// Memory growth by path.
mod urls;
/// Verification against the memory that the machine regains.
mod verified;

use serde_json::Value;

use crate::support::{Server, Site};

/// A server of `app` with this number of workers.
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

/// The JSON output of `cameleer mem`.
#[track_caller]
fn measured(server: &Server) -> Value {
    let output = server.control(["mem", "--json"]).succeeded();
    serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[track_caller]
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// Whether `process` has the pid that a program printed.
fn has_pid(process: &Value, pid: &str) -> bool {
    process["pid"].as_u64() == pid.parse().ok()
}

/// The measured processes with the role `role`.
fn of_role<'a>(measured: &'a Value, role: &str) -> Vec<&'a Value> {
    let all = measured["processes"].as_array().expect("a list");
    all.iter().filter(|process| process["role"] == role).collect()
}
