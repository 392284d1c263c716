//! Workers are killed one after the other while all of them are busy: before a request, in it, or in the middle of a
//! response. `CAMELEER_KILLS` sets the number.

use std::sync::LazyLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{PATIENT, serve};
use crate::support::{Load, Response, until};

/// Kills per run by default. About 3000 kills take a minute.
const KILLS: u64 = 150;
/// Number of responses between two kills.
const ANSWERS: u64 = 30;

/// A response of one word, or of 117,000 bytes in three pieces.
const APP: &str = "package Pieces;
    my $piece = join ' ', 1 .. 8000;
    sub getline { $_[0]{left}-- > 0 ? $piece : undef }
    sub close {}
    sub { $_[0]{PATH_INFO} eq '/large' ? [200, [], bless { left => 3 }] : [200, [], ['small']] }";

fn is_small(response: &Response) -> bool {
    response.status == 200 && response.body == b"small"
}

fn is_large(response: &Response) -> bool {
    static LARGE: LazyLock<String> = LazyLock::new(|| {
        let piece: Vec<String> = (1..=8000).map(|number| number.to_string()).collect();
        piece.join(" ").repeat(3)
    });
    response.status == 200 && response.body == LARGE.as_bytes()
}

#[test]
fn workers_that_are_killed_wherever_they_are_cost_their_own_requests_only() {
    let kills = std::env::var("CAMELEER_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let pool = "MaxClients 4\nStartServers 4\nMinSpareServers 4\nMaxSpareServers 4\nFrontThreads 2\n";
    let server = serve(APP, &format!("{pool}{PATIENT}"));
    server.until_idle(4);
    let loads = [Load::start(&server, 12, "/", is_small), Load::start(&server, 4, "/large", is_large)];
    for turn in 0..kills {
        loads[0].until_answered(ANSWERS);
        until("there is a worker to kill", || {
            let workers = server.workers();
            let victim = workers.get(turn as usize % workers.len().max(1)).map(|(pid, _)| *pid);
            // The status may still list a worker that has ended.
            victim.is_some_and(|pid| pid > 0 && kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok())
        });
    }
    let lost: Vec<String> = loads.into_iter().flat_map(Load::failures).collect();
    // A worker that is killed twice counts once, and an idle worker costs no request.
    assert!(lost.len() as u64 <= kills, "{kills} kills cost {} requests", lost.len());
    let is_cut_or_502 = |outcome: &&String| !outcome.contains("status: 200");
    assert!(
        lost.iter().all(|outcome| is_cut_or_502(&outcome)),
        "{:?}",
        lost.iter().find(|outcome| !is_cut_or_502(outcome))
    );
    assert_eq!(server.text("/"), "small");
}
