//! Cameleer::Broadcast: messages from workers of all kinds to subscribers in event workers.

use nix::sys::signal::Signal;

use crate::support::{Server, Site, WebSocket, alive, signal, until};

/// Subscribes for each WebSocket, and once in each worker; publishes what WebSockets send.
const MOJO: &str = r#"use Mojolicious::Lite -signatures;
use Cameleer::Broadcast;

sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }

my $own;
hook before_server_start => sub { $own = Cameleer::Broadcast->subscribe(workers => sub ($message, $) { note("$$ $message") }) };

get '/pid' => sub ($c) { $c->render(text => $$) };
websocket '/listen/:channel' => sub ($c) {
    my $channel = $c->param('channel');
    $c->inactivity_timeout(0);
    my $subscription = Cameleer::Broadcast->subscribe($channel => sub ($message, $from) {
        die "on purpose\n" if $message eq 'die';
        $c->send({ text => length $message > 100 ? length $message : "$from: $message" });
    });
    $c->on(message => sub ($c, $text) { Cameleer::Broadcast->publish($channel, $text) });
    $c->on(finish => sub { undef $subscription });
    $c->send("$$");
};
app->start;
"#;

const PAGI: &str = r#"use v5.36;
use Future::AsyncAwait;
use Cameleer::Broadcast;

my $app = async sub ($scope, $receive, $send) {
    die "Unsupported scope type: $scope->{type}" if $scope->{type} ne 'websocket';
    await $receive->();
    await $send->({ type => 'websocket.accept' });
    my $subscription = Cameleer::Broadcast->subscribe('news', sub ($message, $channel) {
        $send->({ type => 'websocket.send', text => length $message > 100 ? length $message : "$channel: $message" })->retain;
    });
    await $send->({ type => 'websocket.send', text => "$$" });
    while (1) {
        my $event = await $receive->();
        last if $event->{type} eq 'websocket.disconnect';
        Cameleer::Broadcast->publish('news', $event->{text});
    }
};
$app;
"#;

/// The blocking program: its path says what to do.
const PSGI: &str = r#"use v5.36;
use Cameleer::Broadcast;
my $app = sub ($env) {
    my (undef, $do, $channel, $count) = split m{/}, $env->{PATH_INFO};
    my $body = '';
    if ($do eq 'presence') { $body = Cameleer::Broadcast->presence($channel) // 'unknown' }
    elsif ($do eq 'say') {
        $env->{'psgi.input'}->read(my $message, 100_000);
        $body = scalar(my @result = Cameleer::Broadcast->publish($channel, $message));
    }
    elsif ($do eq 'many')   { Cameleer::Broadcast->publish($channel, $_) for 1 .. $count }
    elsif ($do eq 'large')  { Cameleer::Broadcast->publish($channel, 'x' x 60_000) for 1 .. $count }
    elsif ($do eq 'length') { $body = eval { Cameleer::Broadcast->publish($channel, 'x' x $count); 'sent' } // $@ }
    elsif ($do eq 'wide')   { $body = eval { Cameleer::Broadcast->publish($channel, "\x{20ac}"); 'sent' } // $@ }
    elsif ($do eq 'name')   { $body = eval { Cameleer::Broadcast->publish('n' x $count, ''); 'sent' } // $@ }
    elsif ($do eq 'listen') { $body = eval { Cameleer::Broadcast->subscribe($channel, sub { }); 'done' } // $@ }
    return [ 200, [], [$body] ];
};
"#;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operating/broadcast.md"));

/// Two workers of Mojolicious below /live, two of PAGI below /pagi, a blocking pool for /work, with these directives.
#[track_caller]
fn serve_with(directives: &str) -> Server {
    let site = Site::new().file("live.pl", MOJO).file("pagi.pl", PAGI).file("work.psgi", PSGI);
    let server = site.serve(&format!(
        "StartServers 2\nMinSpareServers 1\nMaxSpareServers 2\nMaxClients 2\n{directives}<WorkerPool live>\nPsgiMode event\nStartServers 2\n</WorkerPool>\n\
         <WorkerPool pagi>\nPsgiMode event\nStartServers 2\n</WorkerPool>\n\
         <Location /live>\nPerlPool live\nPsgiApp @DIR@/live.pl\n</Location>\n\
         <Location /pagi>\nPerlPool pagi\nPsgiApp @DIR@/pagi.pl\n</Location>\n\
         <Location /work>\nPsgiApp @DIR@/work.psgi\n</Location>\n"
    ));
    server.until_idle(6);
    server
}

#[track_caller]
fn serve() -> Server {
    serve_with("")
}

/// A WebSocket that listens, and the pid of its worker.
#[track_caller]
fn listen(server: &Server, target: &str) -> (WebSocket, i32) {
    let mut socket = WebSocket::open(server, target);
    let pid = socket.text().parse().expect("a pid");
    (socket, pid)
}

#[track_caller]
fn until_present(server: &Server, channel: &str, count: u32) {
    let target = format!("/work/presence/{channel}");
    until("the channel has its subscribers", || server.text(&target) == count.to_string());
}

#[test]
fn a_request_to_a_blocking_pool_reaches_the_websockets_of_all_event_workers() {
    let server = serve();
    let targets = ["/live/listen/news", "/live/listen/news", "/pagi/", "/pagi/", "/live/listen/other"];
    let (mut sockets, mut pids): (Vec<WebSocket>, Vec<i32>) =
        targets.iter().map(|target| listen(&server, target)).unzip();
    pids.pop();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), 4, "each socket has a worker of its own");
    until_present(&server, "news", 4);
    let mut other = sockets.pop().expect("the last one");
    assert_eq!(server.post("/work/say/news", "one").text(), "0", "publish returns nothing");
    for socket in &mut sockets {
        assert_eq!(socket.text(), "news: one");
    }
    for index in 0..sockets.len() {
        sockets[index].send("two");
        for socket in &mut sockets {
            assert_eq!(socket.text(), "news: two", "once, also for the worker that publishes");
        }
    }
    server.post("/work/say/other", "three");
    assert_eq!(other.text(), "other: three", "it got nothing else");
}

#[test]
fn workers_of_both_generations_get_messages_of_each_other() {
    let server = serve();
    let (mut old, before) = listen(&server, "/live/listen/news");
    server.reload().succeeded();
    let (mut new, after) = listen(&server, "/live/listen/news");
    assert_ne!(before, after);
    until_present(&server, "news", 2);
    for (number, publish) in ["work", "old", "new"].into_iter().enumerate() {
        match publish {
            "old" => old.send(&number.to_string()),
            "new" => new.send(&number.to_string()),
            _ => drop(server.post("/work/say/news", &number.to_string())),
        }
        assert_eq!((old.text(), new.text()), (format!("news: {number}"), format!("news: {number}")), "{publish}");
    }
    old.close(1000);
    until("the old worker has ended", || !alive(before));
    until_present(&server, "news", 1);
}

#[test]
fn subscriptions_end_with_their_client_and_with_their_worker() {
    let server = serve();
    let (mut first, _) = listen(&server, "/live/listen/news");
    let (_second, pid) = listen(&server, "/live/listen/news");
    let (third, _) = listen(&server, "/live/listen/news");
    until_present(&server, "news", 3);
    drop(third);
    until_present(&server, "news", 2);
    signal(pid, Signal::SIGKILL);
    until_present(&server, "news", 1);
    server.post("/work/say/news", "still here");
    assert_eq!(first.text(), "news: still here");
    first.close(1000);
    until_present(&server, "news", 0);
    assert_eq!(server.text("/work/presence/unknown"), "0");
}

#[test]
fn what_cannot_be_sent_is_an_error_that_says_what_to_do() {
    let server = serve_with("BroadcastMaxMessage 1000\n");
    assert_eq!(server.text("/work/length/news/1000"), "sent");
    for (target, message) in [
        ("/work/length/news/1001", "a message of 1001 bytes is longer than BroadcastMaxMessage, 1000 at "),
        ("/work/wide/news", "a message has wide characters: encode it first at "),
        ("/work/name/news/0", "the name of a channel has 1 to 255 bytes, not 0 at "),
        ("/work/name/news/256", "the name of a channel has 1 to 255 bytes, not 256 at "),
        ("/work/listen/news", "subscribe in a pool with PsgiMode event at "),
    ] {
        let text = server.text(target);
        assert!(text.contains(message) && text.contains("work.psgi line"), "{target}: {text}");
    }
}

#[test]
fn a_subscriber_that_dies_does_not_stop_the_others() {
    let server = serve();
    let (mut socket, _) = listen(&server, "/live/listen/news");
    let (mut other, _) = listen(&server, "/pagi/");
    until_present(&server, "news", 2);
    server.post("/work/say/news", "die");
    server.post("/work/say/news", "go on");
    assert_eq!(socket.text(), "news: go on");
    assert_eq!((other.text(), other.text()), ("news: die".to_owned(), "news: go on".to_owned()));
    server.logged("a subscriber of news: on purpose");
}

#[test]
fn many_messages_arrive_whole_and_in_order() {
    let server = serve();
    let mut sockets = [listen(&server, "/live/listen/news").0, listen(&server, "/pagi/").0];
    until_present(&server, "news", 2);
    for _ in 0..3 {
        server.get("/work/many/news/1000").is(200);
        for socket in &mut sockets {
            for number in 1..=1000 {
                assert_eq!(socket.text(), format!("news: {number}"));
            }
        }
    }
    let longest = "y".repeat(64 * 1024);
    server.post("/work/say/news", &longest);
    for socket in &mut sockets {
        assert_eq!(socket.text(), "65536");
    }
}

#[test]
fn a_paused_worker_holds_neither_publishers_nor_other_workers() {
    let server = serve_with("<Location /metrics>\nSetHandler server-metrics\n</Location>\n");
    let (mut paused, pid) = listen(&server, "/live/listen/news");
    let (mut other, other_pid) = listen(&server, "/live/listen/news");
    assert_ne!(pid, other_pid);
    until_present(&server, "news", 2);
    signal(pid, Signal::SIGSTOP);
    // Several times what may wait for a worker.
    for _ in 0..10 {
        server.get("/work/large/news/20").is(200);
        for _ in 0..20 {
            assert_eq!(other.text(), "60000");
        }
    }
    server.logged("does not read its broadcast messages");
    let metrics = server.text("/metrics");
    assert!(metrics.contains("cameleer_broadcast_messages_total 200\n"), "{metrics}");
    let dropped = metrics.lines().find_map(|line| line.strip_prefix("cameleer_broadcast_dropped_total "));
    let dropped: u32 = dropped.expect("the metric").parse().expect("a number");
    assert!(dropped > 100, "{dropped}");
    assert_eq!(server.log().matches("does not read its broadcast messages").count(), 1);
    signal(pid, Signal::SIGCONT);
    for _ in 0..200 - dropped {
        assert_eq!(paused.text(), "60000");
    }
    server.post("/work/say/news", "again");
    assert_eq!(paused.text(), "news: again");
}

#[test]
fn a_new_front_gets_the_subscriptions_from_the_workers() {
    let server = serve();
    until_present(&server, "workers", 2);
    let front = server.front();
    signal(front, Signal::SIGKILL);
    until("there is another front", || {
        server.status()["front_pid"].as_i64().is_some_and(|pid| pid != i64::from(front))
    });
    until_present(&server, "workers", 2);
    server.post("/work/say/workers", "after");
    let noted = || server.site.has("noted") && server.site.read("noted").lines().count() == 2;
    until("both workers have it", noted);
}

#[test]
fn handlers_scripts_and_cleanups_publish() {
    let handler = "package Says;\nuse Apache2::RequestRec (); use Apache2::RequestIO (); use Apache2::RequestUtil ();\n\
        use Cameleer::Broadcast;\nsub handler {\n    my $r = shift;\n    \
        $r->push_handlers(PerlCleanupHandler => sub { Cameleer::Broadcast->publish('news', 'cleanup'); 0 });\n    \
        Cameleer::Broadcast->publish('news', 'handler');\n    $r->content_type('text/plain');\n    $r->print('done');\n    \
        return 0;\n}\n1;\n";
    let script = "use Cameleer::Broadcast;\nCameleer::Broadcast->publish('news', 'script');\nprint 'done';\n";
    let site = Site::new().file("live.pl", MOJO).file("lib/Says.pm", handler).file("perl/script.pl", script);
    let server = site.serve(
        "<WorkerPool live>\nPsgiMode event\nStartServers 1\n</WorkerPool>\nPerlSwitches -I@DIR@/lib\nPerlModule Says\n\
         <Location /live>\nPerlPool live\nPsgiApp @DIR@/live.pl\n</Location>\n\
         <Location /says>\nSetHandler modperl\nPerlResponseHandler Says\n</Location>\n\
         Alias /perl/ @DIR@/perl/\n<Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::Registry\nOptions +ExecCGI\n</Location>\n",
    );
    let (mut socket, _) = listen(&server, "/live/listen/news");
    assert_eq!(server.text("/says"), "done");
    assert_eq!((socket.text(), socket.text()), ("news: handler".to_owned(), "news: cleanup".to_owned()));
    assert_eq!(server.text("/perl/script.pl"), "done");
    assert_eq!(socket.text(), "news: script");
}

#[test]
fn the_example_of_the_page_works() {
    let block = |language: &str, number: usize| {
        let from = format!("```{language}\n");
        let text = PAGE.split(&from).nth(number).unwrap_or_else(|| panic!("no block {number} of {language}"));
        text.split("```").next().unwrap_or_default().to_owned()
    };
    let site = Site::new().file("live.pl", &block("perl", 1)).file("shop.psgi", &block("perl", 2));
    let conf = block("apache", 1).replace("/srv/site", &site.filled("@DIR@"));
    let server = site.serve(&conf);
    let count = || server.status()["front"]["broadcast"]["subscriptions"].as_u64();
    let mut sockets = [WebSocket::open(&server, "/live/orders"), WebSocket::open(&server, "/live/orders")];
    until("both have subscribed", || count() == Some(2));
    assert_eq!(server.post("/shop", "").text(), "thank you\n");
    for socket in &mut sockets {
        assert_eq!(socket.text(), "one more order");
    }
}
