//! Perl code that generates configuration, tested through clients and through `cameleer check`.

/// `<Perl>` sections: variables, the directives made of them, and their order.
mod sections;

/// Directives that Perl modules define.
mod directives;

/// Argument styles of directives of Perl modules, and their contexts.
mod arguments;

/// Variables that sections set, and their values in handlers.
mod variables;

/// The ways to spell a handler.
mod handlers;

/// Sections that die, never end, or contain invalid values.
mod mistakes;

/// The environment of start-up code: variables, `@INC`, POD around directives.
mod start;

/// PerlTaintCheck, PerlWarn and switches without effect.
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
