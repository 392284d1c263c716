//! Work at the end of a process, and state that processes of one fork share: objects, END blocks, files, children.

use nix::sys::signal::Signal;

use crate::support::{Server, Site, until};

const ONE: &str = "MaxClients 1\nStartServers 1\nMinSpareServers 1\nPerlLib lib\nPerlModule My\n";

/// Serves `/my` with the handler `My` of this code.
fn serve(code: &str, conf: &str) -> Server {
    let module = format!("package My;\nuse strict;\n{code}\n1;\n");
    Site::new()
        .file("lib/My.pm", &module)
        .serve(&format!("{ONE}{conf}\n<Location /my>\nSetHandler perl-script\nPerlHandler My\n</Location>"))
}

/// Objects whose destructor appends a line to a file.
const LINE: &str = "sub line { my ($name) = @_; open my $f, '>>', '@DIR@/tmp/ends' or die $!; print $f \"$name\\n\" }\n\
    package My::Object { sub new { bless { name => $_[1] } } sub DESTROY { My::line($_[0]{name} . ($$ == $My::mold ? ' in the mold' : '')) } }\n\
    our $mold = $$;\n";

#[test]
fn each_process_ends_the_objects_that_it_has_made() {
    let code = format!(
        "{LINE}our $start = My::Object->new('start'); our ($own, %hash); my $cycle;\n\
         sub handler {{ $own //= My::Object->new('own'); $hash{{x}} //= My::Object->new('kept');\n\
         unless ($cycle++) {{ my $o = My::Object->new('cycle'); $o->{{self}} = $o }} $_[0]->print('x') }}\n\
         END {{ line('END in the mold') if $$ == $mold }}"
    );
    let mut server = serve(&code, "MaxRequestsPerChild 2\n");
    server.text("/my");
    assert_eq!(server.site.read("tmp/ends"), "", "all of them live");
    server.text("/my");
    until("the worker's objects end", || server.site.read("tmp/ends").lines().count() == 3);
    let mut ended: Vec<String> = server.site.read("tmp/ends").lines().map(str::to_owned).collect();
    ended.sort();
    assert_eq!(ended, ["cycle", "kept", "own"], "what start-up has made is the mold's");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    let ended = server.site.read("tmp/ends");
    assert!(ended.ends_with("END in the mold\nstart in the mold\n"), "{ended}");
}

#[test]
fn a_destructor_that_dies_or_exits_leaves_the_others_theirs() {
    let code = format!(
        "{LINE}package My::Dies {{ our @ISA = 'My::Object'; sub DESTROY {{ $_[0]->SUPER::DESTROY; die \"no end\\n\" }} }}\n\
         package My::Exits {{ our @ISA = 'My::Object'; sub DESTROY {{ $_[0]->SUPER::DESTROY; exit 3 }} }}\n\
         our @all; sub handler {{ @all = map {{ $_->new('one') }} qw(My::Object My::Dies My::Exits My::Object My::Dies); $_[0]->print('x') }}"
    )
    .replace("bless { name => $_[1] }", "bless { name => $_[1] }, $_[0]");
    let server = serve(&code, "MaxRequestsPerChild 1\n");
    server.text("/my");
    until("all five ends", || server.site.read("tmp/ends") == "one\n".repeat(5));
    server.logged("no end");
}

#[test]
fn a_destructor_that_never_returns_does_not_hold_up_a_stop() {
    let code = "package My::Stays { sub DESTROY { sleep 1 while 1 } }\nour ($start, $own) = bless [], 'My::Stays';\n\
        sub handler { $own = bless [], 'My::Stays'; $_[0]->print('x') }\nEND { sleep 1 while $My::mold && $My::mold == $$ }";
    for mold in ["", "our $mold = $$;\n"] {
        let mut server = serve(&format!("{mold}{code}"), "");
        server.text("/my");
        server.signal(Signal::SIGTERM);
        assert_eq!(server.wait(), 0);
        server.logged("END blocks and destructors took longer than 3 s");
    }
}

#[test]
fn folders_of_start_up_go_with_the_server_and_those_of_a_worker_with_the_worker() {
    let app = "use File::Temp qw(tempdir tempfile);\nmy $dir = tempdir(CLEANUP => 1); my $object = File::Temp->newdir; my ($fh, $file) = tempfile(UNLINK => 1);\n\
        our $own; sub { $own //= File::Temp->newdir; $_[0]{'psgix.harakiri.commit'} = $_[0]{PATH_INFO} eq '/end'; [200, [], [\"$own $dir $object $file\"]] };";
    let mut server = Site::new().file("app.psgi", app).run_with_one_worker(["app.psgi"]);
    let body = server.text("/end");
    let paths: Vec<&str> = body.split(' ').collect();
    let is_there = |path: &str| std::path::Path::new(path).exists();
    until("the worker's folder is gone", || !is_there(paths[0]));
    assert!(paths[1..].iter().all(|path| is_there(path)), "{body}");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    assert!(!paths.iter().any(|path| is_there(path)), "{body}");
}

#[test]
fn workers_that_read_a_file_of_start_up_each_read_all_of_it() {
    let data: String = (0..9000).map(|number| format!("line {number}\n")).collect();
    let module = format!(
        "package My;\nuse strict;\nmy $first = <DATA>;\nopen my $file, '<:encoding(UTF-8)', '@DIR@/data.txt' or die $!; my $head = <$file>;\n\
         sub handler {{ my $r = shift; my @data = <DATA>; my @file = <$file>; $r->print(\"$$ \", scalar @data, ' ', scalar @file, ' ', \
         length $file[-1] // '') }}\n1;\n__DATA__\n{data}"
    );
    let server = Site::new().file("lib/My.pm", &module).file("data.txt", &format!("{data}ä\n")).serve(&format!(
        "{ONE}MaxRequestsPerChild 1\n<Location /my>\nSetHandler perl-script\nPerlHandler My\n</Location>"
    ));
    let mut workers = std::collections::HashSet::new();
    for _ in 0..3 {
        let body = server.text("/my");
        let (worker, rest) = body.split_once(' ').expect("two words");
        assert_eq!(rest, "8999 9000 2");
        workers.insert(worker.to_owned());
    }
    assert_eq!(workers.len(), 3);
}

#[test]
fn a_folder_that_start_up_has_open_is_listed_by_each_worker() {
    let code = "opendir my $folder, '@DIR@/htdocs' or die $!; my $first = readdir $folder;\n\
        sub handler { my $r = shift; my @names = readdir $folder; $r->print(\"$$ \", scalar @names) }";
    let module = format!("package My;\nuse strict;\n{code}\n1;\n");
    let site = (0..2000).fold(Site::new(), |site, number| site.file(&format!("htdocs/{number}.txt"), ""));
    let server = site.file("lib/My.pm", &module).serve(&format!(
        "{ONE}MaxRequestsPerChild 1\n<Location /my>\nSetHandler perl-script\nPerlHandler My\n</Location>"
    ));
    let body: Vec<String> = (0..3).map(|_| server.text("/my")).collect();
    assert!(body.iter().all(|line| line.ends_with(" 2001")), "{body:?}");
}

#[test]
fn a_file_of_start_up_that_no_worker_may_open_is_named() {
    if !nix::unistd::geteuid().is_root() {
        return; // only a server that root starts switches to another user
    }
    let code = "my $name = '@DIR@/tmp/secret'; open my $f, '>', $name or die $!; print $f 'x' x 20_000; close $f;\n\
        open our $secret, '<', $name or die $!; chmod 0, $name or die $!; sub handler { $_[0]->print('x') }";
    let site = Site::new().file("lib/My.pm", &format!("package My;\nuse strict;\n{code}\n1;\n"));
    std::fs::set_permissions(site.path("tmp"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("ours");
    site.configure(&format!("User nobody\nGroup nogroup\n{ONE}"));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(
        output.err.contains("/tmp/secret open for reading") && output.err.contains("share its position"),
        "{output:?}"
    );
}

#[test]
fn the_exit_status_of_a_child_is_known_to_a_later_request() {
    let code = "our %pid; our $pipe;\n\
        sub begin { $pid{$_} = fork // die $! or exit_with($_) for 3, 4, 9; open $pipe, '-|', 'echo from the pipe; exit 7' or die $!; 'begun' }\n\
        sub exit_with { my $code = shift; require POSIX; kill 9, $$ if $code == 9; POSIX::_exit($code) }\n\
        sub one { my $got = waitpid $pid{3}, 0; join ' ', $got == $pid{3} ? 'found' : $got, $? >> 8, waitpid($pid{3}, 0) }\n\
        sub killed { my $got = waitpid $pid{9}, 1; join ' ', $got == $pid{9} ? 'found' : $got, $? & 127 }\n\
        sub any { my $got = wait; join ' ', $got == $pid{4} ? 'found' : $got, $? >> 8 }\n\
        sub piped { my $line = <$pipe>; chomp $line; close $pipe; join ' ', $line, $? >> 8 }\n\
        sub none { wait }\n\
        sub handler { my $r = shift; no strict 'refs'; $r->print(&{$r->args}()) }";
    let server = serve(code, "");
    assert_eq!(server.text("/my?begin"), "begun");
    let worker = server.workers()[0].0;
    until("nobody has become a zombie", || crate::support::children(worker).is_empty());
    for (what, expected) in
        [("piped", "from the pipe 7"), ("one", "found 3 -1"), ("killed", "found 9"), ("any", "found 4"), ("none", "-1")]
    {
        assert_eq!(server.text(&format!("/my?{what}")), expected, "{what}");
    }
}

#[test]
fn start_up_code_that_ignores_its_children_makes_no_errors_of_workers_ends() {
    let server = serve(
        "$SIG{CHLD} = 'IGNORE';\nsub handler { $_[0]->print(\"$$ \", system('sh', '-c', 'exit 3') >> 8) }",
        "MaxRequestsPerChild 1\n",
    );
    let body: Vec<String> = (0..3).map(|_| server.text("/my")).collect();
    assert!(body.iter().all(|line| line.ends_with(" 3")), "{body:?}");
    server.reload().succeeded();
    server.text("/my");
    let log = server.log();
    let is_bad = |line: &&str| ["error]", "warn]", "crit]"].iter().any(|level| line.contains(level));
    let bad: Vec<&str> = log.lines().filter(is_bad).filter(|line| !line.contains("reached MaxClients")).collect();
    assert!(bad.is_empty(), "{bad:?}");
}
