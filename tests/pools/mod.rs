//! Several pools of workers in one server: which requests each pool serves, which modules it loads, how large it is.

mod hosts;
mod limits;
mod lives;
mod mistakes;
mod places;
mod two_generations;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Server, Site};

/// Two APIs: `/old` is mod_perl 1 in a pool of its own, `/new` is mod_perl 2 in the server's main pool. Each script
/// prints its process, the class of its request, and the loaded modules.
const BOTH: &str = r#"
PerlGeneration 2
StartServers 2
MinSpareServers 2
MaxSpareServers 2
MaxClients 2
PerlLib lib
PerlModule Of::New
Alias /old/ "@DIR@/scripts/"
Alias /new/ "@DIR@/scripts/"
<WorkerPool old>
PerlGeneration 1
PerlLib lib
PerlModule Of::Old
StartServers 1
MinSpareServers 1
MaxClients 1
</WorkerPool>
<Location /old>
PerlPool old
SetHandler perl-script
PerlHandler Apache::Registry
Options +ExecCGI
PerlSendHeader On
</Location>
<Location /new>
SetHandler perl-script
PerlResponseHandler ModPerl::Registry
PerlOptions +ParseHeaders
Options +ExecCGI
</Location>
"#;

const WHO: &str = "print qq(Content-Type: text/plain\\n\\n);\n\
    print join '|', $$, ref $_[0], $ENV{MOD_PERL}, $ENV{MOD_PERL_API_VERSION} // '', map { $INC{qq(Of/$_.pm)} ? 1 : 0 } qw(Old New);\n";

fn site() -> Site {
    let module = |name: &str| format!("package Of::{name};\n1;\n");
    std::iter::once(("scripts/who", WHO.to_owned()))
        .chain([("lib/Of/Old.pm", module("Old")), ("lib/Of/New.pm", module("New"))])
        .fold(Site::new(), |site, (name, text)| site.script(name, &text))
}

/// Splits the output of `who` into the process and the rest.
#[track_caller]
fn who(server: &Server, target: &str) -> (i32, String) {
    let text = server.text(target);
    let (pid, rest) = text.split_once('|').unwrap_or_else(|| panic!("{text}"));
    (pid.parse().unwrap_or_else(|_| panic!("{text}")), rest.to_owned())
}

/// The processes of a pool's workers in the serving generation, from the status.
fn workers_of(server: &Server, pool: &str) -> BTreeSet<i32> {
    let status = server.status();
    let all = status["front"]["workers"].as_array().cloned().unwrap_or_default();
    let ours = all.iter().filter(|worker| worker["pool"] == pool && worker["generation"] == status["generation"]);
    ours.filter_map(|worker| worker["pid"].as_i64()).map(|pid| pid as i32).collect()
}

/// The status entry of a pool's mold in the serving generation.
#[track_caller]
fn mold_of(server: &Server, pool: &str) -> Value {
    let status = server.status();
    let generations = status["generations"].as_array().cloned().unwrap_or_default();
    let serving = generations.iter().find(|generation| generation["state"] == "Serving").expect("one serves");
    let molds = serving["molds"].as_array().cloned().unwrap_or_default();
    molds.into_iter().find(|mold| mold["pool"] == pool).unwrap_or_else(|| panic!("no {pool} in {serving}"))
}
