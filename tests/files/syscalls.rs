//! File system calls of a request, counted by strace on the front and the worker of a warm server.

use std::fs;
use std::io::Read;
use std::time::Instant;

use crate::support::{Request, Response, Server, Site, Trace, own_memory};

/// Number of counted requests.
const N: usize = 20;

/// `Plain` does not touch files; `Asks` tests whether its file exists.
const HANDLERS: &str = "package Plain; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print($r->uri); 0 }\n\
    package Asks; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print(-e $r->filename ? 1 : 0); 0 }\n1;\n";

#[track_caller]
fn serve(site: Site, conf: &str) -> Server {
    let server = site.file("lib/Handlers.pm", HANDLERS).serve(&format!(
        "MaxClients 1\nStartServers 1\nMaxSpareServers 1\nPerlLib lib\nPerlModule Handlers\nMaxKeepAliveRequests 0\n{conf}"
    ));
    // A site with programs has a process for them beside its worker.
    server.until_idle(if conf.contains("CgiMaxProcesses 1\n") { 2 } else { 1 });
    server
}

/// Requests `targets` in turn, [`N`] requests a round. Returns the calls of the second round; the first absorbs
/// one-time work.
#[track_caller]
fn calls_of(server: &Server, targets: &[&str]) -> Vec<String> {
    let mut connection = server.connect();
    let mut round = || {
        for target in targets.iter().cycle().take(N) {
            connection.ask(Request::get(target)).is(200);
        }
    };
    round();
    let trace = Trace::begin(server);
    round();
    trace.end()
}

/// Counts until the counts are `few`, at most six times, and returns the lowest ones. A call of a timer may fall into a
/// round that takes long; a call of the requests is in each round.
fn fewest<const N: usize>(count: impl Fn() -> [usize; N], few: impl Fn(&[usize; N]) -> bool) -> [usize; N] {
    let mut least = count();
    for _ in 0..5 {
        if few(&least) {
            break;
        }
        let again = count();
        least = std::array::from_fn(|at| least[at].min(again[at]));
    }
    least
}

#[track_caller]
fn costs_nothing(server: &Server, targets: &[&str]) {
    let mut calls = calls_of(server, targets);
    for _ in 0..2 {
        if !calls.is_empty() && calls.len() < N {
            calls = calls_of(server, targets);
        }
    }
    assert!(
        calls.is_empty(),
        "{targets:?}: {} calls in {N} requests: {:#?}",
        calls.len(),
        &calls[..calls.len().min(20)]
    );
}

const PLAIN: &str = "<Location /perl>\nSetHandler perl-script\nPerlHandler Plain\n</Location>\n";
const TARGETS: [&str; 4] = ["/perl", "/perl/a", "/perl/a/b/c/d/e/f", "/perl/a/b?c=d"];

#[test]
fn a_perl_location_costs_no_look_at_the_disk() {
    costs_nothing(&serve(Site::new(), PLAIN), &TARGETS);
}

#[test]
fn a_perl_location_below_an_existing_alias_costs_no_look_at_the_disk() {
    let server = serve(Site::new().file("scripts/a/b/page", ""), &format!("Alias /perl @DIR@/scripts\n{PLAIN}"));
    costs_nothing(&server, &TARGETS);
}

#[test]
fn a_perl_location_with_a_trans_handler_costs_no_look_at_the_disk() {
    for way in ["Alias /perl /", "PerlModule Apache::Constants\nPerlTransHandler Apache::Constants::OK"] {
        costs_nothing(&serve(Site::new(), &format!("{way}\n{PLAIN}")), &TARGETS);
    }
}

#[test]
fn a_perl_location_with_rules_for_addresses_and_files_costs_no_look_at_the_disk() {
    let rules = "<Files ~ \"^\\.ht\">\nOrder Allow,Deny\nDeny from all\n</Files>\n\
                 <Location />\nOrder Allow,Deny\nAllow from 127.0.0.0/8\n</Location>\n";
    costs_nothing(&serve(Site::new(), &format!("{rules}{PLAIN}")), &TARGETS);
}

#[test]
fn a_password_file_is_looked_at_once_a_second() {
    let site = Site::new().file("users", "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=");
    let rules = "<Location /perl>\nAuthType Basic\nAuthName x\nAuthUserFile users\nRequire user ana\n</Location>\n";
    let server = serve(site, &format!("{PLAIN}{rules}"));
    let request = || Request::get("/perl/a").header("Authorization", "Basic YW5hOng=");
    let mut connection = server.connect();
    connection.ask(request()).is(200);
    let trace = Trace::begin(&server);
    let begun = Instant::now();
    (0..N).for_each(|_| drop(connection.ask(request()).is(200)));
    let seconds = begun.elapsed().as_secs() as usize;
    let calls = trace.end();
    assert!(calls.len() <= seconds + 1, "{N} requests in {seconds} s: {calls:#?}");
}

/// Reading /etc/hosts is the first step of every name lookup, so its absence proves that no lookup happens.
#[test]
fn names_are_looked_up_only_where_that_is_wanted() {
    let looks = |conf: &str| {
        let server = serve(Site::new(), &format!("{PLAIN}{conf}"));
        let trace = Trace::begin(&server);
        server.get("/perl/a").is(200);
        trace.end().iter().filter(|call| call.contains("/etc/hosts")).count()
    };
    assert_eq!(looks("HostnameLookups Off\n<Location /perl>\nAllow from 127\n</Location>"), 0);
    assert_eq!(looks("<Location /other>\nDeny from example.com\n</Location>"), 0);
    assert!(looks("HostnameLookups On") > 0);
    assert!(looks("<Location /perl>\nDeny from example.com\n</Location>") > 0);
}

#[test]
fn a_perl_location_with_htaccess_files_costs_no_look_at_the_disk() {
    let site =
        Site::new().file("htdocs/.htaccess", "PerlSetVar X 1").file("htdocs/perl/a/b/.htaccess", "PerlSetVar X 2");
    let server = serve(site, &format!("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n{PLAIN}"));
    costs_nothing(&server, &TARGETS);
}

#[test]
fn a_new_path_of_a_perl_location_costs_no_look_at_the_disk() {
    let site = Site::new().file("htdocs/.htaccess", "PerlSetVar X 1");
    let server = serve(site, &format!("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n{PLAIN}"));
    server.get("/perl/first").is(200);
    let mut connection = server.connect();
    let trace = Trace::begin(&server);
    for n in 0..N {
        connection.ask(Request::get(&format!("/perl/item/{n}"))).is(200);
    }
    let calls = trace.end();
    assert!(calls.is_empty(), "{calls:#?}");
}

#[test]
fn a_handler_that_looks_at_its_file_does_so_once() {
    let server = serve(Site::new(), "<Location /asks>\nSetHandler perl-script\nPerlHandler Asks\n</Location>");
    let calls = calls_of(&server, &["/asks/page"]);
    let own = calls.iter().filter(|call| call.contains("newfstatat(") && call.contains("/htdocs/asks\"")).count();
    assert_eq!(own, N, "what is counted is what the handler does: {calls:#?}");
}

#[test]
fn registry_looks_once_at_its_script() {
    let site = Site::new().script("scripts/test.pl", "print \"Content-Type: text/plain\\n\\nhello\";\n");
    let server = serve(
        site,
        "Alias /perl/ @DIR@/scripts/\n\
         <Directory @DIR@/scripts>\nAllowOverride All\n</Directory>\n\
         <Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nPerlSendHeader On\nOptions +ExecCGI\n</Location>",
    );
    let calls = calls_of(&server, &["/perl/test.pl"]);
    let stats = calls.iter().filter(|call| !call.contains("chdir(")).count();
    assert_eq!(stats, N, "{:#?}", &calls[..calls.len().min(12)]);
}

#[test]
fn a_file_is_opened_once_and_not_looked_at_before() {
    for options in ["FollowSymLinks", "None", "SymLinksIfOwnerMatch"] {
        let conf = format!("OpenFileCache Off\nOptions {options}");
        let server = serve(Site::new().file("htdocs/a/b/page.html", "page"), &conf);
        let calls = calls_of(&server, &["/a/b/page.html"]);
        let opened = calls.iter().filter(|line| line.contains("openat2(")).count();
        assert_eq!((opened, calls.len()), (N, N), "Options {options}: {:#?}", &calls[..calls.len().min(12)]);
    }
}

#[test]
fn a_way_with_links_is_believed_for_a_second() {
    let site = Site::new().file("releases/1/page.html", "page");
    std::os::unix::fs::symlink(site.path("releases/1"), site.path("htdocs/current")).expect("linked");
    let server = serve(site, "Options SymLinksIfOwnerMatch");
    let begun = Instant::now();
    let calls = calls_of(&server, &["/current/page.html"]);
    let links = calls.iter().filter(|line| line.contains("readlink")).count();
    let seconds = begun.elapsed().as_secs() as usize;
    assert!(links < N / 4 + 2 * seconds, "{links} of {}: {:#?}", calls.len(), &calls[..calls.len().min(12)]);
}

#[test]
fn a_large_answer_does_not_have_the_front_give_and_take_memory_for_each_packet() {
    let handler = "package Big; my $piece = 'x' x 65536; \
                   sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print($piece) for 1 .. 800; 0 } 1;";
    let server = serve(
        Site::new().file("lib/Big.pm", handler),
        "<Location /big>\nSetHandler perl-script\nPerlHandler +Big\n</Location>",
    );
    assert_eq!(server.get("/big").is(200).body.len(), 800 << 16);
    let trace = Trace::of(&server, &[server.front()], "brk,mmap,munmap,madvise");
    assert_eq!(server.get("/big").is(200).body.len(), 800 << 16);
    let calls = trace.end();
    assert!(calls.len() < 80, "{} calls for 800 packets: {:#?}", calls.len(), &calls[..20]);
}

#[test]
fn the_front_caches_little() {
    let server = serve(Site::new().file("htdocs/page.html", "page"), PLAIN);
    let upload = || Request::new("POST", "/perl").body(vec![b'x'; 1 << 20]);
    server.send(upload()).is(200);
    let before = own_memory(server.front());
    for _ in 0..30 {
        server.send(upload()).is(200);
    }
    let after = own_memory(server.front());
    assert!(after < before + (6 << 20), "from {before} to {after} bytes");
}

/// The calls of one request whose response has this status.
#[track_caller]
fn calls_of_one(server: &Server, target: &str, status: u16) -> Vec<String> {
    let trace = Trace::begin(server);
    server.get(target).is(status);
    trace.end()
}

const SPEAKERS: &str = "\
    <Location /plain>\nSetHandler perl-script\nPerlHandler Plain\n</Location>\n\
    <Location /typed>\nSetHandler perl-script\nPerlHandler Typed\n</Location>\n\
    <Location /app>\nSetHandler psgi\nPsgiApp app.psgi\n</Location>\n\
    Alias /perl/ @DIR@/scripts/\n\
    <Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nPerlSendHeader On\nOptions +ExecCGI\n</Location>";

/// A request that did not change the process needs no system call that checks for changes.
#[test]
fn a_worker_makes_no_call_but_to_sleep_and_to_wake_the_front() {
    let typed = "package Typed; sub handler { my $r = shift; $r->content_type('text/plain'); $r->send_http_header; $r->print('x'); 0 } 1;";
    let site = Site::new()
        .file("lib/Typed.pm", typed)
        .file("app.psgi", "sub { [200, ['Content-Type', 'text/plain'], ['hello']] }")
        .script("scripts/test.pl", "print \"Content-Type: text/plain\\n\\nhello\";\n");
    let server = serve(site, &format!("PerlModule Typed\n{SPEAKERS}"));
    // A script costs three calls: it is checked on disk, runs in its folder, and the worker leaves that folder.
    for (target, own) in [("/plain", 0), ("/typed", 0), ("/app", 0), ("/perl/test.pl", 3)] {
        let mut connection = server.connect();
        let mut round = || (0..N).for_each(|_| drop(connection.ask(Request::get(target)).is(200)));
        round();
        let workers: Vec<i32> = server.workers().into_iter().map(|(pid, _)| pid).collect();
        let trace = Trace::of(&server, &workers, "all");
        let began = Instant::now();
        round();
        let looks = 2 * (began.elapsed().as_millis() / 5 + 1);
        let mut calls = trace.end_of_all();
        // The worker reads its memory size before and after a request, at most every 5 ms.
        let is_look = |call: &str| call.contains("pread64(") && call.contains(", 128, 0) = ");
        let looked = calls.iter().filter(|call| is_look(call)).count();
        assert!(looked as u128 <= looks * workers.len() as u128, "{target}: {looked} looks where {looks} are due");
        calls.retain(|call| !is_look(call));
        // The worker sleeps in recvmsg and wakes a sleeping front through an eventfd.
        let is_bell = |call: &str| call.contains("write(") && call.contains(r#", "\1\0\0\0\0\0\0\0", 8)"#);
        calls.retain(|call| !call.contains("recvmsg(") && !is_bell(call));
        // The worker counts its open descriptors now and then: one extra call.
        assert!(
            (own * N..=own * N + 1).contains(&calls.len()),
            "{target}: {} calls: {:#?}",
            calls.len(),
            &calls[..calls.len().min(12)]
        );
    }
}

/// A handler that looks up `/sub` plus its path info as a subrequest.
const LOOKS_UP: &str = "package Up; sub handler { my $r = shift; my $sub = $r->lookup_uri('/sub' . $r->path_info);\n\
    $r->send_http_header('text/plain'); $r->print($sub->filename); 0 }\n1;\n";

#[test]
fn names_below_a_missing_folder_are_not_looked_up() {
    let site = Site::new().file("lib/Up.pm", LOOKS_UP).file("htdocs/there/page", "").file("htdocs/.htaccess", "");
    let server = serve(
        site,
        "PerlModule Up\nCgiMaxProcesses 1\nScriptAlias /cgi/ @DIR@/scripts/\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         <FilesMatch \"^a$\">\nForceType text/plain\n</FilesMatch>\n\
         <Location /asks>\nSetHandler perl-script\nPerlHandler Asks\n</Location>\n\
         <Location /up>\nSetHandler perl-script\nPerlHandler Up\n</Location>",
    );
    for (start, status) in
        [("/there/gone", 404), ("/there/page", 404), ("/cgi/gone.pl", 404), ("/asks/gone", 200), ("/up", 200)]
    {
        let calls = |segments| {
            server.get(&format!("{start}/other{}", "/a".repeat(segments))).is(status);
            calls_of_one(&server, &format!("{start}{}", "/a".repeat(segments)), status).len()
        };
        let [few, many] = fewest(|| [3, 900].map(calls), |[few, many]| few == many && *few < 30);
        assert!(few == many && few < 30, "{start}: {few} calls for 3 segments that are missing, {many} for 900");
    }
}

/// Depth of the nested folders that exist.
const DEEP: usize = 300;
/// Upper bounds for one request, whatever its path: calls of openat2, and all file calls.
const MAX_OPENED: usize = 40;
const MAX_CALLS: usize = 60;

/// Paths of nearly the maximum length that end, or leave the existing folders, at different places.
fn long_paths() -> Vec<String> {
    let deep = "/a".repeat(DEEP);
    let starts = ["/new", &deep, "/page.html", &format!("/link{deep}"), "/asks", "/asks/page.html"];
    let ends = starts.map(|start| format!("{start}{}", "/b".repeat(650)));
    let links = [1, 7, 8, 700].map(|links| "/link".repeat(links));
    let more_than_are_allowed = "/b".repeat(2000);
    ends.into_iter().chain(links).chain([more_than_are_allowed]).collect()
}

#[test]
fn the_longest_path_costs_few_looks_wherever_it_ends() {
    let perl = "<Location /asks>\nSetHandler perl-script\nPerlHandler Plain\n</Location>";
    // Because of this rule any component of the path may be a file name, so the front must check the disk before it
    // asks a worker.
    let ambiguous = "<FilesMatch \"^b$\">\nForceType text/plain\n</FilesMatch>";
    for options in ["FollowSymLinks", "None", "SymLinksIfOwnerMatch"] {
        for overrides in ["None", "All"] {
            let site = Site::new().file("htdocs/page.html", "").file(&format!("htdocs{}/page", "/a".repeat(DEEP)), "");
            std::os::unix::fs::symlink(".", site.path("htdocs/link")).expect("linked");
            let folder = format!("<Directory @DIR@/htdocs>\nAllowOverride {overrides}\n</Directory>");
            let server = serve(site, &format!("Options {options}\n{folder}\n{ambiguous}\n{perl}"));
            for path in long_paths() {
                // The first request reads `.htaccess` files of existing folders once; the second is measured without
                // that.
                server.get(&format!("{path}/c"));
                let calls_and_opened = || {
                    let trace = Trace::begin(&server);
                    server.get(&path);
                    let calls = trace.end();
                    [calls.len(), calls.iter().filter(|call| call.contains("openat2(")).count()]
                };
                let is_few = |[calls, opened]: &[usize; 2]| *opened <= MAX_OPENED && *calls <= MAX_CALLS;
                let [calls, opened] = fewest(calls_and_opened, is_few);
                assert!(
                    is_few(&[calls, opened]),
                    "{options}, {overrides}: {calls} calls for {path}, {opened} of them to open"
                );
            }
        }
    }
}

#[test]
fn no_more_than_eight_links_of_one_owner_are_followed() {
    let site = Site::new().file("htdocs/a/page", "page");
    std::os::unix::fs::symlink("..", site.path("htdocs/a/up")).expect("linked");
    std::os::unix::fs::symlink("a", site.path("htdocs/b")).expect("linked");
    let server = serve(site, "Options SymLinksIfOwnerMatch");
    let path = |times: usize| format!("{}/a/page", "/b/up".repeat(times));
    server.get(&path(4)).is(200);
    server.get(&path(5)).is(403);
    server.get(&format!("{}/missing", path(4))).is(404);
}

/// Decompresses the body: compressed bytes differ by where the front flushed while it waited for the disk.
fn unpacked(response: Response) -> Vec<u8> {
    let mut plain = Vec::new();
    match response.header("content-encoding") {
        Some(_) => drop(flate2::read::GzDecoder::new(&response.body[..]).read_to_end(&mut plain).expect("it is whole")),
        None => plain = response.body,
    }
    plain
}

/// Drops the file from the page cache, so that the next read needs the disk.
fn forget(file: &std::path::Path) {
    let file = fs::File::open(file).expect("our own file");
    file.sync_all().expect("on the disk");
    let all = nix::fcntl::PosixFadviseAdvice::POSIX_FADV_DONTNEED;
    nix::fcntl::posix_fadvise(&file, 0, 0, all).expect("the system forgets");
}

#[test]
fn the_thread_of_the_clients_never_waits_for_the_disk() {
    let text = "what is read ".repeat(40_000);
    let site = Site::new()
        .file("htdocs/long.bin", &text)
        .file("htdocs/short.bin", &text[..1000])
        .file("htdocs/short.txt", &text[..1000])
        .file("htdocs/head.asis", &format!("Content-Type: text/plain\n\n{text}"));
    let server = serve(site, "AddHandler send-as-is asis\nAddOutputFilterByType DEFLATE text/plain\nFrontThreads 1");
    let front = server.front().to_string();
    let gzip = ("Accept-Encoding", "gzip");
    let (mut missed, mut aside) = (Vec::new(), Vec::new());
    for (name, range) in [
        ("long.bin", "bytes=0-"),
        ("long.bin", "bytes=70000-170000"),
        ("long.bin", "bytes=1-2,70000-170000"),
        ("short.bin", "bytes=0-"),
        ("short.txt", "bytes=0-"),
        ("head.asis", "bytes=0-"),
    ] {
        let request = || Request::get(&format!("/{name}")).header("Range", range).header(gzip.0, gzip.1);
        let known = unpacked(server.send(request()));
        forget(&server.site.path(&format!("htdocs/{name}")));
        let trace = Trace::of(&server, &[front.parse().expect("a number")], "read,pread64,preadv,preadv2");
        assert!(unpacked(server.send(request())) == known, "{name}, {range}");
        let mut reads = trace.end_of_all();
        reads.retain(|call| call.contains("pread"));
        let (by_front, by_others): (Vec<String>, Vec<String>) =
            reads.into_iter().partition(|call| call.starts_with(&front));
        assert!(by_front.iter().all(|call| call.contains("RWF_NOWAIT")), "{name}, {range}: {by_front:#?}");
        missed.extend(by_front.into_iter().filter(|call| call.contains(" = -1 EAGAIN")));
        aside.extend(by_others);
    }
    // On a file system in memory no read misses, so none moves to another thread.
    assert_eq!(aside.is_empty(), missed.is_empty(), "{missed:#?}\n{aside:#?}");
}

#[test]
fn a_folder_is_read_on_another_thread_than_the_one_that_has_all_clients() {
    let site = Site::new().file("htdocs/list/a", "").file("htdocs/list/b", "");
    let server = serve(site, "Options Indexes");
    let front = server.status()["front_pid"].as_i64().expect("the front has a number");
    let calls = calls_of_one(&server, "/list/", 200);
    let readers: Vec<&str> = calls
        .iter()
        .filter(|call| call.contains("getdents64"))
        .filter_map(|call| call.split_whitespace().next())
        .collect();
    assert!(!readers.is_empty() && readers.iter().all(|thread| *thread != front.to_string()), "{calls:#?}");
}
