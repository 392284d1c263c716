//! Debian's packaged applications and modules of mod_perl 2, unmodified, each with the configuration that its own
//! documentation gives: tests/apps/mod_perl_2/site/README.md.

mod auth_cookie;
mod frameworks;
mod inventory;
mod modules;
mod pages;
mod request_tracker;
mod single_sign_on;

use crate::support::{Load, Request, Response, Server, until};

/// The files that this repository adds to the tests' sites.
const OURS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/mod_perl_2/site");

/// A request, and a predicate for its correct responses.
type Asked = (Request, fn(&Response) -> bool);

/// Sends each request from two clients, at least 90 times in total, during two reloads of the server.
#[track_caller]
fn no_answer_is_wrong_over_reloads(server: &Server, asked: &[Asked]) {
    let loads: Vec<Load> = asked.iter().map(|(request, good)| Load::asking(server, 2, request, *good)).collect();
    let share = 30_u64.div_ceil(asked.len() as u64);
    let answer = || loads.iter().for_each(|load| load.until_answered(share));
    for _ in 0..2 {
        answer();
        server.reload().succeeded();
    }
    answer();
    let (answered, failures): (Vec<u64>, Vec<Vec<String>>) = loads.into_iter().map(Load::end).unzip();
    assert_eq!(failures.concat(), Vec::<String>::new());
    assert!(answered.iter().sum::<u64>() >= 90, "{answered:?}");
    until("the old generations have left", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
}
