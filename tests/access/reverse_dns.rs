//! Client names from reverse DNS: /etc/hosts maps 127.0.0.1 to localhost and back.

use std::process::Command;

use super::{PLACES, conf, site};
use crate::support::{Request, Server, until};

#[test]
fn access_rules_match_the_clients_host_name() {
    // (rules, status of the client localhost)
    let cases = [
        ("Order Allow,Deny\nAllow from localhost", 200),
        ("Order Allow,Deny\nAllow from .localhost", 403),
        ("Order Allow,Deny\nAllow from ocalhost", 403),
        ("Order Deny,Allow\nDeny from LOCALHOST", 403),
        ("Require host localhost", 200),
        ("Require host example.com", 403),
    ];
    for (rules, status) in cases {
        let server = site().serve(&conf(rules));
        for place in PLACES {
            assert_eq!(server.get(place).status, status, "{rules} {place}");
        }
    }
}

/// The server runs with its own /etc/hosts in a mount namespace, which needs root.
#[test]
fn a_reverse_name_must_resolve_to_the_client() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let site = site().file(
        "hosts",
        "127.0.0.5 www.example.com\n127.0.0.6 www.example.com.example.org\n127.0.0.7 other www.example.com\n",
    );
    // `Order` with a blank behind the comma.
    site.configure(&conf("Order deny, allow\nDeny from all\nAllow from www.example.com"));
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\""]).arg(site.path("hosts"));
    let serve = site.serve_command();
    command.arg(serve.get_program()).args(serve.get_args()).current_dir(site.folder());
    let server = Server::start(site, command);
    for (client, status) in [("127.0.0.5", 200), ("127.0.0.6", 403), ("127.0.0.7", 403), ("127.0.0.8", 403)] {
        for place in PLACES {
            assert_eq!(server.send_as(client, Request::get(place)).status, status, "{client} {place}");
        }
    }
}

#[test]
fn remote_host_is_set_only_with_hostname_lookups() {
    for (lookups, host) in [
        ("", "-"),
        ("HostnameLookups Off", "-"),
        ("HostnameLookups On", "localhost"),
        ("HostnameLookups Double", "localhost"),
    ] {
        let server = site().serve(&format!("CustomLog access.log \"%h %a\"\n{lookups}\n{}", conf("")));
        assert!(server.text("/perl/x").ends_with(&format!(" host={host}")), "{lookups}");
        let line = format!("{} 127.0.0.1\n", if host == "-" { "127.0.0.1" } else { host });
        until("the line is written", || server.site.read("access.log") == line);
    }
}

#[test]
fn hostname_lookups_may_be_on_for_one_location() {
    let server = site().serve(&format!("{}<Location /perl/named>\nHostnameLookups On\n</Location>", conf("")));
    assert!(server.text("/perl/x").ends_with(" host=-"));
    assert!(server.text("/perl/named").ends_with(" host=localhost"));
}

#[test]
fn get_remote_host_has_four_kinds_of_lookup() {
    let site = site().file(
        "lib/Ask.pm",
        "package Ask;\nuse Apache::Constants qw(:common :remotehost);\n\
         sub handler { my $r = shift; $r->send_http_header('text/plain'); my $c = $r->connection;\n\
         $r->print(join ' ', map { $_ // '-' } $r->get_remote_host, $r->get_remote_host(REMOTE_HOST), $r->get_remote_host(REMOTE_NAME),\n\
         $r->get_remote_host(REMOTE_NOLOOKUP), $c->remote_host, $r->get_remote_host(REMOTE_DOUBLE_REV), $r->get_remote_logname); OK }\n1;\n",
    );
    let server = site.serve(
        "PerlLib lib\nPerlModule Ask\nIdentityCheck On\n<Location /off>\nSetHandler perl-script\nPerlHandler Ask\n</Location>\n\
         <Location /on>\nSetHandler perl-script\nPerlHandler Ask\nHostnameLookups On\n</Location>",
    );
    assert_eq!(server.text("/off"), "127.0.0.1 - 127.0.0.1 127.0.0.1 - localhost -");
    assert_eq!(server.text("/on"), "localhost localhost localhost localhost localhost localhost -");
    // 127.9.9.9 has no name.
    let body_of = |path| server.send_as("127.9.9.9", Request::get(path)).is(200).text();
    assert_eq!(body_of("/off"), "127.9.9.9 - 127.9.9.9 127.9.9.9 - - -");
    server.logged("IdentityCheck: has no effect");
}
