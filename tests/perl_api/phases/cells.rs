//! Every phase of mod_perl 1 with every action of a handler in it: the client's response, the phases that run, and that
//! the worker survives.
//!
//! The authority for the table is mod_perl 1.31 in Apache 1.3:
//!
//! - The result of a handler: `perl_call_handler` in src/modules/perl/mod_perl.c. 1, 200 and numbers above 600 are OK;
//!   `Apache::exit` is OK while `$r->status` is 200; an exception is SERVER_ERROR, or the status if `$@` holds nothing
//!   else (`perl_sv_is_http_code` in perl_util.c).
//! - The effect of a result on a phase: `process_request_internal` in src/main/http_request.c and `run_method` in
//!   http_config.c. OK and DECLINED go on, everything else is `ap_die`, for which DONE is an end without a page.
//!   DECLINED is an error (`decl_die`) only when no module decides: translation and types have core and mod_mime behind
//!   mod_perl, `Require valid-user` has mod_auth.
//! - PostReadRequest comes before these phases, in `ap_read_request` of http_protocol.c: `ap_die`, then the log.
//! - Log and Cleanup run in each case, and their results change nothing: `ap_process_request` ignores the result of
//!   `ap_log_transaction`, `mod_perl_end_cleanup` is a cleanup of the request's pool.

use super::serve;
use crate::support::{Request, Server};

/// The result of each act of a handler in each phase. `on`: the request continues to its usual end. A number: the
/// request ends with that status, after which only Log and Cleanup run.
///
/// Two results differ from mod_perl on purpose. An Authen handler may decline for a client that has sent a name, where
/// there is no AuthUserFile. mod_perl responds 500; Cameleer asks again and logs the reason. And both hooks that call
/// Init handlers share one `status` with those of PostReadRequest or HeaderParser, which overwrite it
/// (PERL_POST_READ_REQUEST_HOOK). mod_perl therefore forgets a refusal there, and Cameleer honours it.
const CELLS: &str = "
                     OK   DECLINED  DONE  200  204  302  403  404  500  die  object  die404  exit
    Init/host        on   on        200   on   204  302  403  404  500  500  500     404     on
    PostReadRequest  on   on        200   on   204  302  403  404  500  500  500     404     on
    Trans            on   on        200   on   204  302  403  404  500  500  500     404     on
    Init/place       on   on        200   on   204  302  403  404  500  500  500     404     on
    HeaderParser     on   on        200   on   204  302  403  404  500  500  500     404     on
    Access           on   on        200   on   204  302  403  404  500  500  500     404     on
    Authen           on   401       200   on   204  302  403  404  500  500  500     404     on
    Authz            on   on        200   on   204  302  403  404  500  500  500     404     on
    Type             on   on        200   on   204  302  403  404  500  500  500     404     on
    Fixup            on   on        200   on   204  302  403  404  500  500  500     404     on
    Handler          on   404       200   on   204  302  403  404  500  500  500     404     on
    Log              on   on        on    on   on   on   on   on   on   on   on      on      on
    Cleanup          on   on        on    on   on   on   on   on   on   on   on      on      on
";

/// Each phase notes that it runs, then performs the act in the query. A handler sends the response itself if no later
/// handler would, or if its own result decides the response.
const CODE: &str = r#"
our @seen;
package My::Object { sub new { bless {}, shift } }
sub answer { my $r = shift; $r->send_http_header('text/plain'); $r->print('answered') }
sub answered { answer($_[0]) if $_[1] eq 'Handler'; $_[2] }
my %does = (
    OK       => sub { answered(@_, OK) },
    DECLINED => sub { DECLINED },
    DONE     => sub { answer($_[0]) unless $_[1] =~ /^(?:Log|Cleanup)$/; DONE },
    200      => sub { answered(@_, 200) },
    302      => sub { $_[0]->header_out(Location => 'http://example.org/'); 302 },
    (map { my $status = $_; $status => sub { $status } } 204, 403, 404, 500),
    die      => sub { die "as text\n" },
    object   => sub { die My::Object->new },
    die404   => sub { die "404\n" },
    exit     => sub { answered(@_, OK); exit },
);
my %usual = (Authen => OK, Handler => OK);
sub in_phase {
    my ($r, $phase) = @_;
    my %asked = $r->args or return $usual{$phase} // DECLINED;
    push @seen, $phase;
    return $does{ $asked{does} }->($r, $phase) if $asked{phase} eq $phase;
    answer($r) if $phase eq 'Handler';
    return $usual{$phase} // DECLINED;
}
sub seen { my $r = shift; $r->send_http_header('text/plain'); $r->print("$$ @seen"); @seen = (); OK }
"#;

struct Cell {
    phase: &'static str,
    act: &'static str,
    outcome: &'static str,
}

#[test]
fn every_phase_takes_every_end_of_a_handler_as_mod_perl_does() {
    let (phases, cells) = table();
    let server = serve_all(&phases);
    let worker = seen(&server).0;
    let wrong: Vec<String> = cells.iter().filter_map(|cell| fault(&server, &phases, cell, &worker)).collect();
    assert!(wrong.is_empty(), "{} of {} cells:\n{}", wrong.len(), cells.len(), wrong.join("\n"));
}

/// A description of the difference when a cell's result is not the expected one.
fn fault(server: &Server, phases: &[&str], cell: &Cell, worker: &str) -> Option<String> {
    let target = format!("/cell?phase={}&does={}", cell.phase, cell.act);
    // "a:b" as credentials: mod_auth would demand a name from a client without one, for any result of the handler.
    let response = server.send(Request::get(&target).header("Authorization", "Basic YTpi"));
    let last = phases.iter().position(|phase| *phase == cell.phase)?;
    let ran = phases
        .iter()
        .enumerate()
        .filter(|(at, phase)| cell.outcome == "on" || *at <= last || matches!(**phase, "Log" | "Cleanup"));
    let expected =
        (cell.outcome.parse().unwrap_or(200), worker.to_owned(), ran.map(|(_, phase)| *phase).collect::<Vec<_>>());
    // One worker: its response to the next request comes after the end of the previous one, including cleanups.
    let (pid, saw) = seen(server);
    let came = (response.status, pid, saw.iter().map(String::as_str).collect::<Vec<_>>());
    (came != expected).then(|| format!("{} {}: {came:?} instead of {expected:?}", cell.phase, cell.act))
}

/// The worker's pid, and the phases that have run since the last call.
fn seen(server: &Server) -> (String, Vec<String>) {
    let body = server.text("/seen");
    let mut words = body.split(' ').map(str::to_owned);
    (words.next().unwrap_or_default(), words.collect())
}

/// The phases in order, and all cells.
fn table() -> (Vec<&'static str>, Vec<Cell>) {
    let mut rows = CELLS.trim().lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    let acts = rows.next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = rows.collect();
    let cells = rows.iter().flat_map(|row| {
        assert_eq!(row.len(), acts.len() + 1, "{row:?}");
        acts.iter().zip(&row[1..]).map(|(act, outcome)| Cell { phase: row[0], act, outcome })
    });
    (rows.iter().map(|row| row[0]).collect(), cells.collect())
}

/// Serves `/cell` with one worker and a handler for every phase.
fn serve_all(phases: &[&str]) -> Server {
    let (mut of_place, mut of_host) = (String::new(), String::new());
    for phase in phases {
        let name = phase.split('/').next().unwrap_or_default();
        let directive = if name == "Handler" { "PerlHandler".to_owned() } else { format!("Perl{name}Handler") };
        let lines = if matches!(*phase, "Init/place" | "Handler") { &mut of_place } else { &mut of_host };
        *lines += &format!("{directive} \"sub {{ My::in_phase($_[0], '{phase}') }}\"\n");
    }
    serve(
        CODE,
        &format!(
            "{of_host}<Location /cell>\nSetHandler perl-script\nAuthType Basic\nAuthName x\nRequire valid-user\n{of_place}</Location>\n\
             <Location /seen>\nSetHandler perl-script\nPerlHandler My::seen\n</Location>"
        ),
    )
}
