//! Directives of mod_perl 1's time that no other test covers.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Site, until};

/// A handler that answers with the worker's pid.
const WHO: &str = "<Location />\nSetHandler perl-script\nPerlHandler \"sub { $_[0]->print($$); 0 }\"\n</Location>\n";

#[test]
fn workers_are_counted_under_their_newer_names_too() {
    let server = Site::new().serve(&format!("{WHO}StartServers 2\nMaxRequestWorkers 1\nMaxConnectionsPerChild 2"));
    let pids: Vec<String> = (0..6).map(|_| server.text("/")).collect();
    assert!(pids[0] == pids[1] && pids[2] == pids[3] && pids[4] == pids[5], "{pids:?}");
    assert!(pids[1] != pids[2] && pids[3] != pids[4], "{pids:?}");
    server.until_idle(1);
}

#[test]
fn no_limit_is_compiled_in() {
    // httpd 1.3 had a HARD_SERVER_LIMIT of 256, and lowered MaxClients to it with a warning.
    let site = Site::new();
    site.configure("MaxClients 1000\nListenBacklog 2000");
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(!output.err.contains("MaxClients"), "{output:?}");
}

#[test]
fn listen_backlog_sets_the_kernels_queue() {
    let server = Site::new().serve(&format!("{WHO}ListenBacklog 1"));
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    kill(Pid::from_raw(front), Signal::SIGSTOP).expect("our own process");
    let address = SocketAddr::from(([127, 0, 0, 1], server.site.port));
    // Because of TCP_DEFER_ACCEPT a connection counts only after it has sent data. Only a connection that the kernel
    // drops reaches the timeout.
    let connect = || {
        let mut client = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
        client.write_all(b"G").ok().map(|()| client)
    };
    let kept: Vec<TcpStream> = (0..4).map_while(|_| connect()).collect();
    kill(Pid::from_raw(front), Signal::SIGCONT).expect("our own process");
    // Linux accepts one connection more than the backlog.
    assert_eq!(kept.len(), 2);
}

#[test]
fn directives_of_an_old_file_for_modules_and_names_are_ignored() {
    let server = Site::new().file("one/a.txt", "one").serve(
        "LoadModule perl_module libexec/libperl.so\nClearModuleList\nAddModule mod_perl.c\nNameVirtualHost *:@PORT@\n\
         <VirtualHost *:@PORT@>\nServerName one.example\nDocumentRoot one\n</VirtualHost>",
    );
    assert_eq!(server.text("/a.txt"), "one");
    let site = Site::new();
    site.configure("\nNameVirtualHost *");
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(format!("{}{}", output.out, output.err).contains("NameVirtualHost"), "{output:?}");
}

#[test]
fn a_transfer_log_has_the_format_without_a_name() {
    let server = Site::new().file("htdocs/a.txt", "x").serve("LogFormat \"%m %U %>s\"\nTransferLog transfer.log");
    server.get("/a.txt").is(200);
    until("the request is logged", || server.site.read("transfer.log") == "GET /a.txt 200\n");
}

#[test]
fn names_of_files_are_relative_to_server_root() {
    let server = Site::new()
        .file("other/www/a.txt", "below")
        .serve("ServerRoot \"@DIR@/other\"\nDocumentRoot www\nErrorLog root.log");
    assert_eq!(server.text("/a.txt"), "below");
    assert!(server.site.has("other/root.log"));
}

/// http_config.c and mod_alias.c of httpd 1.3: relative names are used as they are, by a server that does not change
/// its folder.
#[test]
fn a_relative_server_root_is_of_the_folder_that_the_server_was_started_in_and_documents_with_it() {
    let server = Site::new().file("sub/docs/a.txt", "below").file("sub/other/b.txt", "beside").serve(
        "ServerRoot ./sub\nDocumentRoot ./sub/docs\nAlias /other/ sub/other/\nErrorLog root.log\n\
         <Directory sub/other>\nHeader set X-Here yes\n</Directory>",
    );
    assert_eq!(server.text("/a.txt"), "below");
    let beside = server.get("/other/b.txt").is(200);
    assert_eq!((beside.text().as_str(), beside.header("x-here").as_deref()), ("beside", Some("yes")));
    assert!(server.site.has("sub/root.log"));
}

#[test]
fn a_perl_script_runs_at_the_start() {
    let server = Site::new().file("start.pl", "$Start::said = 'started'; 1;").serve(
        "PerlScript start.pl\n<Location />\nSetHandler perl-script\nPerlHandler \"sub { $_[0]->print($Start::said); 0 }\"\n</Location>",
    );
    assert_eq!(server.text("/"), "started");
}

#[test]
fn a_directives_module_learns_where_its_line_stands() {
    let module = r#"package Where;
use Apache::Constants qw(:override);
use Apache::ExtUtils qw(command_table);
use Apache::ModuleConfig ();
command_table( [
    { name => 'Where', func => 'where', args_how => 'NO_ARGS' },
    { name => '<Letters', func => 'letters', args_how => 'RAW_ARGS' },
] );
sub where { my ( $c, $parms ) = @_; $c->{where} = join ',', $parms->limited, map { $parms->override & $_ ? 1 : 0 } RSRC_CONF, ACCESS_CONF }
sub letters { my ( $c, $parms ) = @_; $c->{letters} = join '.', map { $parms->GETC } 1 .. 3; while ( $parms->getline( my $line ) ) { } }
sub handler { my $r = shift; my $c = Apache::ModuleConfig->get($r); $r->print( join ' ', map { $_ // 'none' } @$c{qw(where letters)} ); 0 }
1;
"#;
    let server = Site::new().file("lib/Where.pm", module).serve(
        "PerlLib lib\nPerlModule Where\nSetHandler perl-script\nPerlHandler Where\nWhere\n<Letters>\nabc\ndef\n</Letters>\n\
         <Location /in>\nWhere\n</Location>",
    );
    assert_eq!(server.text("/"), "-1,1,0 a.b.c");
    assert_eq!(server.text("/in"), "-1,0,1 none");
}

#[test]
fn another_address_is_included() {
    let server = Site::new().file("htdocs/part.txt", "part").serve(
        "PerlModule Apache::Include\n<Location /page>\nSetHandler perl-script\n\
         PerlHandler \"sub { my $r = shift; $r->send_http_header('text/plain'); $r->print('['); \
         my $s = Apache::Include->virtual('/part.txt'); $r->print(qq(]$s)); 0 }\"\n</Location>\n\
         <Location /configured>\nSetHandler perl-script\nPerlHandler Apache::Include\nPerlSetVar IncludeVirtual /part.txt\n</Location>",
    );
    assert_eq!(server.text("/page"), "[part]200");
    assert_eq!(server.text("/configured"), "part");
}

#[test]
fn taint_marks_what_untaint_frees() {
    let server = Site::new().serve(
        "PerlTaintCheck On\nPerlEval \"use Scalar::Util ()\"\n<Location />\nSetHandler perl-script\n\
         PerlHandler \"sub { my $r = shift; my $x = 'own'; my @seen = Scalar::Util::tainted($x); $r->taint($x); \
         push @seen, Scalar::Util::tainted($x); $r->untaint($x); push @seen, Scalar::Util::tainted($x), $Apache::__T; \
         $r->print(join '', map { $_ ? 1 : 0 } @seen); 0 }\"\n</Location>",
    );
    assert_eq!(server.text("/"), "0101");
}

#[test]
fn embperl_is_out_of_reach_and_the_line_that_wants_it_is_named() {
    let site = Site::new();
    site.configure("\nPerlModule HTML::Embperl");
    let output = site.cameleer(["check", "-f", "site.conf"]).failed(78, "HTML/Embperl.pm");
    assert!(output.err.contains("site.conf:2"), "{output:?}");
}

#[test]
fn a_backlog_is_bounded_by_the_kernel_and_not_by_us() {
    let server = Site::new().file("htdocs/a.txt", "served").serve("ListenBacklog 65535");
    assert_eq!(server.text("/a.txt"), "served");
}

/// The cost grows with the lines: 60,000 of 20,000 faulty sections take seconds of a debug build, not minutes.
#[test]
fn each_of_many_faulty_lines_is_reported() {
    let site = Site::new();
    site.configure(&"<Location /a>\nRequire nonsense\n</Location>\n".repeat(20_000));
    let output = site.cameleer(["check", "-f", "site.conf"]).failed(78, "Require");
    assert_eq!(output.err.matches(": Require: ").count(), 20_000);
}
