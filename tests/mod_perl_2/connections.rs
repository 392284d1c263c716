//! Connections that are not HTTP: a host with a PerlProcessConnectionHandler hands each connection to a worker for its
//! lifetime.

use nix::sys::signal::Signal;

use crate::support::{Address, Connection, Server, Site, free_port, until};

/// A site with a connection handler `My` of this code, and a page for HTTP clients.
fn site(code: &str) -> Site {
    let head = "package My;\nuse strict;\nuse warnings;\nuse Apache2::Connection ();\nuse Apache2::ServerRec ();\nuse Apache2::ServerUtil ();\nuse APR::Socket ();\n\
        use Apache2::Const -compile => qw(OK DECLINED FORBIDDEN MODE_GETLINE);\nuse APR::Const -compile => qw(SO_NONBLOCK EOF);\n";
    Site::new().file("lib/My.pm", &format!("{head}{code}\n1;\n")).file("htdocs/page", "a page")
}

fn conf(port: u16, inside: &str) -> String {
    format!(
        "LogLevel info\nListen 127.0.0.1:{port}\nPerlSwitches -Ilib\n<VirtualHost *:{port}>\nPerlModule My\n\
         PerlProcessConnectionHandler My\n{inside}\n</VirtualHost>\n"
    )
}

/// A server with a port for its connection handler.
struct Listening {
    server: Server,
    port: u16,
}

impl Listening {
    #[track_caller]
    fn new(code: &str, inside: &str) -> Listening {
        let port = free_port();
        Listening { server: site(code).serve(&conf(port, inside)), port }
    }

    #[track_caller]
    fn connect(&self) -> Connection {
        Connection::open(&Address::Tcp(self.port)).expect("it listens")
    }

    /// A connection that a worker has accepted and answered.
    #[track_caller]
    fn connect_to_worker(&self) -> Connection {
        let mut client = self.connect();
        client.raw("hello\n");
        client.expect("hello\n");
        client
    }
}

const ECHO: &str = "sub handler { my $socket = $_[0]->client_socket;\n\
    while ($socket->recv(my $buffer, 1024)) { $socket->send($buffer) }\nApache2::Const::OK }";

/// The line that a handler sends: the result of `code`.
fn value_of(code: &str, inside: &str) -> String {
    let site = Listening::new(
        &format!("sub handler {{ my $c = shift; $c->client_socket->send(do {{ {code} }}); 0 }}"),
        inside,
    );
    let text = String::from_utf8(site.connect().rest()).expect("text");
    text.replace(&site.port.to_string(), "PORT")
}

#[test]
fn a_handler_has_the_socket_until_the_client_closes_its_half() {
    let site = Listening::new(ECHO, "");
    let mut client = site.connect();
    for line in ["hello\n", "world\n"] {
        client.raw(line);
        client.expect(line);
    }
    client.finish_sending();
    client.is_closed();
    assert_eq!(site.server.text("/page"), "a page");
    site.server.logged("has ended after");
    let served_at = site.server.site.read("out.txt");
    assert!(served_at.contains(&format!(" and tcp://127.0.0.1:{}/", site.port)), "{served_at}");
}

#[test]
fn a_connection_handler_may_speak_first() {
    let site = Listening::new("sub handler { $_[0]->client_socket->send(\"HELO\\n\"); 0 }", "");
    let mut client = site.connect();
    client.expect("HELO\n");
    client.is_closed();
}

#[test]
fn brigades_come_from_the_socket_and_go_there() {
    let code = "use APR::Brigade (); use APR::Bucket ();\nsub handler { my $c = shift;\n\
        my $bb = APR::Brigade->new($c->pool, $c->bucket_alloc);\n\
        while (1) { my $rc = $c->input_filters->get_brigade($bb, Apache2::Const::MODE_GETLINE);\n\
        last if $rc == APR::Const::EOF; die $rc if $rc; $bb->flatten(my $line); $bb->cleanup;\n\
        $bb->insert_tail(APR::Bucket->new($c->bucket_alloc, length($line) . uc substr($line, 0, 3) . \"\\n\"));\n\
        $c->output_filters->fflush($bb) } 0 }";
    let site = Listening::new(code, "");
    let mut client = site.connect();
    client.raw("one\ntwo\n");
    client.expect("4ONE\n4TWO\n");
    client.raw("x".repeat(10_000) + "\nend");
    client.expect("8192XXX\n1809XXX\n");
    client.finish_sending();
    client.expect("3END\n");
    client.is_closed();
}

#[test]
fn the_connection_knows_its_ends_and_its_host() {
    let code = "my $s = $c->base_server; join '|', $c->client_ip, $c->local_addr->port, $c->client_addr->port == $c->id ? 'id' : 'no',\n\
        $s->server_hostname, $s->dir_config('Word'), $c->client_socket->timeout_get, ref $c, $c->aborted,\n\
        $c->client_socket->remote_addr->ip_get";
    let inside = "ServerName echo.example\nPerlSetVar Word said";
    let expected = "127.0.0.1|PORT|id|echo.example|said|60000000|Apache2::Connection|0|127.0.0.1";
    assert_eq!(value_of(code, inside), expected);
}

#[test]
fn pre_connection_handlers_may_refuse_a_connection() {
    let code = "our @seen; sub pre { my $c = shift; $c->notes->set(seen => 'pre'); $c->pnotes(seen => [1]); Apache2::Const::DECLINED }\n\
        sub refuse { Apache2::Const::FORBIDDEN }\n\
        sub handler { my $c = shift; $c->client_socket->send($c->notes->get('seen') . $c->pnotes('seen')->[0]); 0 }";
    let open = Listening::new(code, "PerlPreConnectionHandler My::pre");
    assert_eq!(open.connect().rest(), b"pre1");
    let closed = Listening::new(code, "PerlPreConnectionHandler My::pre My::refuse");
    closed.connect().is_closed();
}

#[test]
fn state_of_a_connection_handler_ends_with_its_connection() {
    let code = "our ($n, $kept) = (0);\nsub handler { my $c = shift; my $said = $kept ? eval { $kept->client_ip } || $@ : 'first';\n\
        $c->client_socket->send(\"$n $said\"); $c->pool->cleanup_register(sub { $n++ }); $kept = $c; print 'for nobody'; 0 }";
    let site = site(code);
    let port = free_port();
    let server = site.serve(&format!("MaxClients 1\nStartServers 1\n{}", conf(port, "")));
    let listening = Listening { server, port };
    assert_eq!(listening.connect().rest(), b"0 first");
    let second = String::from_utf8(listening.connect().rest()).expect("text");
    assert!(second.starts_with("1 this request is over"), "{second}");
}

#[test]
fn a_connection_handler_that_dies_is_logged_with_its_line_and_the_connection_is_closed() {
    let code = "sub handler { my $c = shift; $c->client_socket->send('a');\n\n#line 70 \"My.pm\"\n\ndie \"lost it\"; }";
    let site = Listening::new(code, "");
    assert_eq!(site.connect().rest(), b"a");
    site.server.logged("lost it at ");
    site.server.until_idle(2);
}

#[test]
fn a_socket_that_the_handler_closes_is_closed_at_once() {
    let code = "sub handler { my $c = shift; $c->client_socket->send('a'); $c->client_socket->close; sleep 1 while !-e \"$ENV{DIR}/go\"; 0 }";
    let site = Listening::new(code, "PerlSetEnv DIR @DIR@");
    let mut client = site.connect();
    assert_eq!(client.rest(), b"a");
    assert!(site.server.workers().iter().any(|(_, state)| state == "Busy"));
    site.server.site.write("go", "");
    site.server.until_idle(2);
}

#[test]
fn one_connection_per_worker_is_served_and_the_others_wait() {
    let site = Listening::new(ECHO, "");
    let mut first = [site.connect_to_worker(), site.connect_to_worker()];
    let mut waiting: Vec<Connection> = (0..98).map(|_| site.connect()).collect();
    waiting.iter_mut().for_each(|client| client.raw("waited\n"));
    until("the other connections are queued", || site.server.status()["front"]["queued"].as_u64() == Some(98));
    assert_eq!(site.server.text("/page"), "a page", "a file needs no worker");
    for client in &mut first {
        client.finish_sending();
        client.is_closed();
    }
    for client in &mut waiting {
        client.finish_sending();
    }
    for client in &mut waiting {
        assert_eq!(client.rest(), b"waited\n");
    }
    site.server.until_idle(2);
    assert_eq!(site.server.status()["front"]["handed_over"].as_u64(), Some(100));
}

#[test]
fn a_connection_that_waits_for_too_long_is_closed() {
    let site = Listening::new(ECHO, "QueueTimeout 1s");
    site.server.until_idle(2);
    let _busy = [site.connect_to_worker(), site.connect_to_worker()];
    site.connect().is_closed();
    site.server.logged("is closed: no worker was free in time");
}

#[test]
fn a_client_that_goes_away_frees_the_worker() {
    let site = Listening::new(ECHO, "");
    let clients = [site.connect_to_worker(), site.connect_to_worker()];
    drop(clients);
    site.server.until_idle(2);
    site.connect_to_worker();
}

#[test]
fn request_timeout_ends_a_loop_and_a_wait() {
    let code = "sub handler { my $c = shift; my $s = $c->client_socket; $s->recv(my $what, 10);\n\
        $s->opt_set(APR::Const::SO_NONBLOCK, 0); if ($what =~ /wait/) { 1 while $s->recv($what, 10) } else { 1 while 1 } 0 }";
    let site = Listening::new(code, "RequestTimeout 1s");
    site.server.until_idle(2);
    let before = site.server.workers();
    for what in ["wait\n", "loop\n"] {
        let mut client = site.connect();
        client.raw(what);
        client.is_closed();
    }
    site.server.logged("RequestTimeout has passed for CONNECTION 127.0.0.1:");
    site.server.until_idle(2);
    assert_eq!(site.server.workers(), before, "no worker was killed");
}

#[test]
fn timeout_is_how_long_the_socket_waits_for_the_client() {
    let code = "use APR::Status (); sub handler { my $s = $_[0]->client_socket;\n\
        eval { $s->recv(my $text, 10); 1 } or $s->send(APR::Status::is_TIMEUP($@) ? 'late' : \"$@\"); 0 }";
    let port = free_port();
    let server = site(code).serve(&format!("Timeout 1\n{}", conf(port, "")));
    assert_eq!(Listening { server, port }.connect().rest(), b"late");
}

#[test]
fn a_pool_of_its_own_leaves_the_others_to_http() {
    let port = free_port();
    let page = "package My::Page; use Apache2::RequestRec (); use Apache2::RequestIO (); sub handler { $_[0]->print('perl'); 0 } 1;";
    let conf = format!(
        "<WorkerPool lines>\nPerlSwitches -Ilib\nMaxClients 1\nStartServers 1\n</WorkerPool>\n<Location /perl>\nSetHandler modperl\n\
         PerlResponseHandler My::Page\n</Location>\n{}",
        conf(port, "PerlPool lines")
    );
    let server = site(ECHO).file("lib/My/Page.pm", page).serve(&conf);
    let listening = Listening { server, port };
    let _busy = listening.connect_to_worker();
    let _waits = listening.connect();
    until("one waits", || listening.server.status()["front"]["queued"].as_u64() == Some(1));
    assert_eq!(listening.server.text("/perl"), "perl");
}

#[test]
fn a_reload_and_a_stop_let_connections_end() {
    let mut site = Listening::new(ECHO, "");
    let mut old = site.connect_to_worker();
    site.server.reload().succeeded();
    let mut new = site.connect_to_worker();
    old.raw("still here\n");
    old.expect("still here\n");
    site.server.signal(Signal::SIGTERM);
    site.server.logged("stopping gracefully");
    for client in [&mut old, &mut new] {
        client.raw("to the end\n");
        client.expect("to the end\n");
        client.finish_sending();
        client.is_closed();
    }
    assert_eq!(site.server.wait(), 0);
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let port = free_port();
    let server = site(ECHO).serve(&format!("GracefulShutdownTimeout 1\n{}", conf(port, "")));
    let mut site = Listening { server, port };
    let mut client = site.connect_to_worker();
    site.server.signal(Signal::SIGTERM);
    client.is_closed();
    assert_eq!(site.server.wait(), 0);
}

#[test]
fn status_and_metrics_show_connections_in_workers() {
    let port = free_port();
    let conf = format!("<Location /metrics>\nSetHandler server-metrics\n</Location>\n{}", conf(port, ""));
    let site = Listening { server: site(ECHO).serve(&conf), port };
    let _busy = site.connect_to_worker();
    let table = site.server.control(["status"]).succeeded().out;
    assert!(table.contains("CONNECTION 127.0.0.1:"), "{table}");
    assert!(table.contains("handed    1 connections to workers"), "{table}");
    let metrics = site.server.text("/metrics");
    assert!(metrics.contains("\ncameleer_connections_handed_over_total 1\n"), "{metrics}");
}

#[test]
fn a_connection_over_the_limits_is_closed_without_http() {
    let port = free_port();
    let site = Listening { server: site(ECHO).serve(&format!("MaxConnectionsPerClient 1\n{}", conf(port, ""))), port };
    let mut first = site.connect_to_worker();
    until("a second one is closed", || site.connect().rest().is_empty());
    first.raw("more\n");
    first.expect("more\n");
}

/// Asserts that `check` rejects this configuration, which begins at line 3 of site.conf, with `expected`.
#[track_caller]
fn refused(conf: &str, expected: &str) {
    let site = site(ECHO).certificate("site", &["localhost"]);
    site.configure(&format!("PerlSwitches -Ilib\n{conf}"));
    site.cameleer(["check", "-f", "site.conf"]).failed(78, &site.filled(expected));
}

#[test]
fn a_host_with_a_connection_handler_has_its_own_address_and_no_tls() {
    let host = "<VirtualHost *:8084>\nPerlProcessConnectionHandler My\n</VirtualHost>\n";
    refused(
        &format!("{host}<VirtualHost *:8084>\nServerName web.example\n</VirtualHost>"),
        "site.conf:4: PerlProcessConnectionHandler: the virtual host at @DIR@/site.conf:6 has the same address",
    );
    refused(
        "<VirtualHost *:8084>\nPerlProcessConnectionHandler My\nSSLEngine On\nSSLCertificateFile site.crt\nSSLCertificateKeyFile site.key\n\
         </VirtualHost>",
        "site.conf:4: PerlProcessConnectionHandler: connections are passed on unchanged, but SSLEngine at @DIR@/site.conf:5 turns on TLS",
    );
    refused(
        "<VirtualHost *:8084>\nPerlPreConnectionHandler My\n</VirtualHost>",
        "site.conf:4: PerlPreConnectionHandler: has no effect on HTTP connections, which the front handles",
    );
}

#[test]
fn filters_of_connections_are_refused_with_a_way_out() {
    let filter = "use base 'Apache2::Filter'; sub f : FilterConnectionHandler { 0 }";
    for name in ["PerlInputFilterHandler", "PerlOutputFilterHandler"] {
        let site = site(filter);
        site.configure(&format!("PerlSwitches -Ilib\nPerlModule My\n{name} My::f"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, &format!("{name} My::f: is a connection filter"));
    }
}

#[test]
fn check_warns_of_the_cost_of_connection_handlers() {
    let site = site(ECHO);
    site.configure(&conf(8084, ""));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded().err;
    assert!(
        output.contains("site.conf:7: warning: PerlProcessConnectionHandler: each open connection occupies one of 2 workers until its handler returns, at most 300s"),
        "{output}"
    );
    let amber = site.cameleer(["check", "--compat", "-f", "site.conf"]).out;
    assert!(amber.contains("each open connection occupies one of 2 workers"), "{amber}");
}

#[test]
fn an_address_may_name_the_protocol_that_is_spoken_there() {
    let site = site(ECHO);
    site.configure(&format!("{}\nListen 127.0.0.1:8085 smtp", conf(8084, "")));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded().err;
    assert!(output.contains("Listen: protocol smtp is ignored: only http and https are known"), "{output}");
}
