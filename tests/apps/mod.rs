//! Complete sites and applications.

/// A site as the mod_perl 1 literature describes it.
mod documented;
/// The checked-in examples, each started.
mod examples;
/// Debian's packaged applications of mod_perl 2, unmodified.
mod mod_perl_2;
/// Debian's packaged programs and modules, unmodified.
mod packaged;
/// The commands of the documents, executed or compared with the command line.
mod readme;
/// The messages of the page about mistakes.
mod troubleshooting;

use std::process::Command;

use crate::support::{Finished, Server};

/// The output of SOAP::Lite's client for a call.
#[track_caller]
fn soap(server: &Server, call: &str) -> String {
    let program = format!(
        "use SOAP::Lite; my $service = SOAP::Lite->uri('urn:Packaged/Calculator')->proxy('http://127.0.0.1:{}/soap'); \
         my $said = $service->{call}; print $said->fault ? $said->faultcode . ' ' . $said->faultstring : $said->result",
        server.site.port
    );
    Finished::of(Command::new("perl").args(["-e", &program])).succeeded().out
}
