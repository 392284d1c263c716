//! `PerlOptions +Parent`: a virtual host that is a pool by itself.

use super::mold_of;
use crate::support::{Request, Server, Site};

const HANDLER: &str = "package My;\nuse Apache2::RequestRec (); use Apache2::RequestIO ();\n\
    sub handler { my $r = shift; $r->print(join '|', $$, $My::loaded // 'nothing', $^W); 0 }\n1;\n";

fn serve() -> Server {
    let conf = "PerlSwitches -Ilib\nPerlModule My\n<Location />\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n\
        <VirtualHost *:@PORT@>\nServerName plain.example\n</VirtualHost>\n\
        <VirtualHost *:@PORT@>\nServerName own.example\nPerlOptions +Parent\nPerlSwitches -w -I@DIR@/lib\nPerlRequire @DIR@/own.pl\nPerlModule My\n\
        </VirtualHost>";
    let site = Site::new().file("lib/My.pm", HANDLER).file("own.pl", "$My::loaded = 'own.pl'; 1;\n");
    let conf = site.filled(conf);
    site.serve(&conf)
}

#[track_caller]
fn ask(server: &Server, host: &str) -> (i64, String) {
    let text = server.send(Request::get("/").header("Host", host)).is(200).text();
    let (pid, rest) = text.split_once('|').unwrap_or_else(|| panic!("{text}"));
    (pid.parse().expect("a number"), rest.to_owned())
}

#[test]
fn it_loads_what_it_names_with_its_own_switches() {
    let server = serve();
    let (plain, said) = ask(&server, "plain.example");
    assert_eq!(said, "nothing|0");
    let (own, said) = ask(&server, "own.example");
    assert_eq!(said, "own.pl|1");
    assert_ne!(plain, own);
    let status = server.status();
    let all = status["front"]["workers"].as_array().expect("workers");
    let pool = |pid: i64| all.iter().find(|worker| worker["pid"] == pid).map(|worker| worker["pool"].clone());
    assert_eq!(pool(plain), Some("default".into()));
    assert_eq!(pool(own), Some("own.example".into()));
    assert_eq!(mold_of(&server, "own.example")["perl_generation"], 2);
}

#[test]
fn its_child_init_handlers_run_in_its_workers_alone() {
    let conf = "PerlSwitches -Ilib\n<Location />\nSetHandler modperl\nPerlResponseHandler My\n</Location>\nPerlModule My\n\
        PerlChildInitHandler 'sub { $My::loaded .= \"main\"; 0 }'\n\
        <VirtualHost *:@PORT@>\nServerName plain.example\n</VirtualHost>\n\
        <VirtualHost *:@PORT@>\nServerName own.example\nPerlOptions +Parent\nPerlSwitches -I@DIR@/lib\nPerlModule My\n\
        PerlChildInitHandler 'sub { $My::loaded .= \"own\"; 0 }'\n</VirtualHost>";
    let site = Site::new().file("lib/My.pm", HANDLER);
    let conf = site.filled(conf);
    let server = site.serve(&conf);
    assert_eq!(ask(&server, "plain.example").1, "main|0");
    assert_eq!(ask(&server, "own.example").1, "own|0");
}
