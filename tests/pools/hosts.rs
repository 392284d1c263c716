//! `PerlOptions +Parent`: a virtual host with its own pool.

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
fn a_host_loads_its_modules_with_its_own_switches() {
    let server = serve();
    let (plain, response) = ask(&server, "plain.example");
    assert_eq!(response, "nothing|0");
    let (own, response) = ask(&server, "own.example");
    assert_eq!(response, "own.pl|1");
    assert_ne!(plain, own);
    let status = server.status();
    let all = status["front"]["workers"].as_array().expect("workers");
    let pool = |pid: i64| all.iter().find(|worker| worker["pid"] == pid).map(|worker| worker["pool"].clone());
    assert_eq!(pool(plain), Some("default".into()));
    assert_eq!(pool(own), Some("own.example".into()));
    assert_eq!(mold_of(&server, "own.example")["perl_generation"], 2);
}

#[test]
fn child_init_handlers_of_a_host_run_only_in_its_workers() {
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

#[test]
fn a_host_inherits_switches_where_configured() {
    let conf = "PerlSwitches -w -I@DIR@/lib\nPerlModule My\n<Location />\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n\
        <VirtualHost *:@PORT@>\nServerName own.example\nPerlOptions +Parent +InheritSwitches\nPerlModule My\n</VirtualHost>";
    let site = Site::new().file("lib/My.pm", HANDLER);
    let conf = site.filled(conf);
    let server = site.serve(&conf);
    assert_eq!(ask(&server, "own.example").1, "nothing|1");
    let without = conf.replace(" +InheritSwitches", "");
    server.site.configure(&without);
    server.site.cameleer(["check", "-f", "site.conf"]).failed(78, "Can't locate My.pm in @INC");
}

#[test]
fn two_hosts_of_one_name_are_two_pools() {
    let host = "<VirtualHost *:@PORT@>\nPerlOptions +Parent\nPerlSwitches -I@DIR@/lib\nPerlModule My\n</VirtualHost>\n";
    let conf = format!(
        "PerlSwitches -I@DIR@/lib\n<Location />\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n{host}{host}"
    );
    let site = Site::new().file("lib/My.pm", HANDLER);
    let conf = site.filled(&conf);
    let server = site.serve(&conf);
    let status = server.status();
    let names: Vec<&str> =
        status["front"]["pools"].as_array().expect("pools").iter().filter_map(|it| it["name"].as_str()).collect();
    let first = format!("*:{}", server.site.port);
    assert_eq!((names.len(), names[0], names[1]), (3, "default", first.as_str()));
    assert!(names[2].starts_with(&format!("{first}:")), "{names:?}");
}

#[test]
fn perl_sections_of_a_host_with_its_own_pool_run_in_its_mold() {
    let conf = "PerlSwitches -I@DIR@/lib\nPerlModule My\n<Location />\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n\
        <VirtualHost *:@PORT@>\nServerName own.example\nPerlOptions +Parent\nPerlSwitches -I@DIR@/lib\nPerlModule My\n\
        <Perl>\n$My::loaded = 'by perl'; push @Alias, ['/made', '@DIR@/htdocs'];\n</Perl>\n\
        <Location /made>\nSetHandler default-handler\n</Location>\n</VirtualHost>";
    let site = Site::new().file("lib/My.pm", HANDLER).file("htdocs/a.txt", "a file");
    let conf = site.filled(conf);
    let server = site.serve(&conf);
    assert_eq!(ask(&server, "own.example").1, "by perl|0");
    assert_eq!(server.send(Request::get("/made/a.txt").header("Host", "own.example")).is(200).text(), "a file");
}

#[test]
fn a_module_of_the_server_that_defines_directives_is_not_asked_for_by_a_host_that_has_none() {
    let conf = "PerlSwitches -I@DIR@/lib -I@DIR@/main\nPerlLoadModule Defining\n<Location />\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n\
        <VirtualHost *:@PORT@>\nServerName own.example\nPerlOptions +Parent\nPerlSwitches -I@DIR@/lib\nPerlModule My\n</VirtualHost>";
    let site = Site::new().file("lib/My.pm", HANDLER).file("main/Defining.pm", "package Defining;\n1;\n");
    let conf = site.filled(conf);
    assert_eq!(ask(&site.serve(&conf), "own.example").1, "nothing|0");
}
