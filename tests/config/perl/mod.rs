//! Perl that makes configuration, seen by a client and by `cameleer check`.

/// `<Perl>` sections: variables, what they become, and in which order.
mod sections;

/// Directives that Perl modules define.
mod directives;

/// How they take their arguments, and where they may stand.
mod arguments;

/// What sections leave behind, and what handlers find of it.
mod variables;

/// How a handler may be spelt.
mod handlers;

/// Sections that die, that never end, that say nonsense.
mod mistakes;

/// What start-up code finds: variables, `@INC`, POD around directives.
mod start;

/// PerlTaintCheck, PerlWarn and those that mean nothing any more.
mod switches;

use crate::support::{Finished, Server, Site};

/// A handler in lib/ that prints `dir_config('who')`.
const WHO: &str = r#"package Who;
use Apache::Constants qw(OK);
sub handler {
    my $r = shift;
    $r->send_http_header('text/plain');
    $r->print( 'who=', $r->dir_config('who') // 'nobody' );
    return OK;
}
1;
"#;

/// A site with the handler `Who`.
fn site() -> Site {
    Site::new().file("lib/Who.pm", WHO)
}

#[track_caller]
fn serve(conf: &str) -> Server {
    site().serve(&format!("PerlLib lib\n{conf}"))
}

/// `cameleer check` of a configuration whose first line is line 2 of site.conf.
#[track_caller]
fn check(conf: &str) -> Finished {
    let site = site();
    site.configure(conf);
    site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")])
}
