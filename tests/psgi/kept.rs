//! Objects that an application stores beyond their request fail when they would act on a later one, which belongs to
//! another client.

use super::serve_with_one_worker;
use crate::support::Request;

/// Pairs of code in which the first request stores `$kept`, and its use by a later request.
const KEPT: &[(&str, &str)] = &[
    ("return sub { $kept = $_[0]->([200, []]); $kept->write('first') }", "$kept->write('foreign')"),
    ("return sub { $kept = $_[0]->([200, []]); $kept->write('first'); $kept->close }", "$kept->close"),
    ("return sub { $kept = $_[0]; $_[0]->([200, [], ['first']]) }", "$kept->([200, [], ['foreign']])"),
    ("return sub { $kept = $_[0]; return }", "$kept->([200, ['X-Foreign', 1], ['foreign']])"),
    ("return sub { $kept = $_[0]; return }", "$kept->([200, ['X-Foreign', 1]])->write('foreign')"),
    ("$kept = $env->{'psgi.input'}", "$kept->read(my $foreign, 100); $taken = $foreign"),
    ("$kept = $env->{'psgi.input'}", "read $kept, my $foreign, 100; $taken = $foreign"),
    ("$kept = $env->{'psgi.input'}", "$taken = <$kept>"),
    ("$kept = $env->{'psgi.input'}", "$kept->seek(0, 0)"),
    ("$env->{'psgi.input'}->read(my $one, 1); $kept = $env->{'psgi.input'}", "$taken = getc $kept"),
    ("our $weak = $env->{'psgi.input'}; *KEPT = $env->{'psgi.input'}; $kept = \\*KEPT", "$taken = <$kept>"),
    ("$kept = $env", "$kept->{'psgi.input'}->read(my $foreign, 100); $taken = $foreign"),
    ("$kept = $env->{'psgix.informational'}", "$kept->(103, ['Link', '</foreign>'])"),
    ("$kept = $env", "$kept->{'psgix.informational'}->(103, ['Link', '</foreign>'])"),
    ("$kept = $env->{'cameleer.extend_timeout'}", "$kept->(600)"),
    (
        "push @{ $env->{'psgix.cleanup.handlers'} }, sub { $kept = $_[0]{'psgix.informational'} }",
        "$kept->(103, ['Link', '</foreign>'])",
    ),
];

#[test]
fn objects_kept_from_one_request_refuse_to_act_on_another() {
    let mut wrong = Vec::new();
    for (keeps, uses) in KEPT {
        let server = serve_with_one_worker(&format!(
            "my $kept; sub {{ my $env = shift;\n\
             if ($env->{{PATH_INFO}} eq '/keep') {{ {keeps}; return [200, [], ['first']] }}\n\
             my $taken; my $done = eval {{ {uses}; 1 }}; my $said = $done ? 'done' : $@;\n\
             $env->{{'psgi.input'}}->read(my $own, 100);\n\
             [200, [], [$taken // '', \"own=$own: $said\"]] }}"
        ));
        let _ = server.send(Request::post("/keep", "body of the first"));
        for _ in 0..2 {
            let response = server.send(Request::post("/use", "second"));
            let body = response.text();
            let is_own = body.starts_with("own=second: ") && body.contains("this request is over");
            if response.status != 200 || response.header("x-foreign").is_some() || !is_own {
                wrong.push(format!("{keeps}, then {uses}: {} {body:?}", response.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_environment_that_was_kept_changes_nothing_of_a_later_request() {
    let server = serve_with_one_worker(
        "my $kept; sub { my $env = shift;\n\
         if ($kept) { $kept->{'psgix.harakiri.commit'} = 1; push @{ $kept->{'psgix.cleanup.handlers'} }, sub { exit } }\n\
         $kept ||= $env; [200, [], [$$]] }",
    );
    let worker = server.text("/keep");
    assert_eq!([server.text("/use"), server.text("/use")], [worker.clone(), worker]);
}

#[test]
fn the_input_of_one_request_stays_usable_for_the_whole_of_it() {
    let server = serve_with_one_worker(
        "sub { my $env = shift; my $in = $env->{'psgi.input'};\n\
         push @{ $env->{'psgix.cleanup.handlers'} }, sub { $in->seek(0, 0); read $in, my $again, 100; warn \"again: $again\\n\" };\n\
         local *STDIN = $in; read STDIN, my $body, 100; [200, [], [$body]] }",
    );
    for body in ["first", "second"] {
        assert_eq!(server.post("/", body).text(), body);
        server.logged(&format!("again: {body}"));
    }
}

#[test]
fn the_error_stream_works_in_later_requests() {
    let server = serve_with_one_worker(
        "my $log; sub { $log ||= $_[0]{'psgi.errors'}; print $log \"line of $_[0]{PATH_INFO}\\n\"; [200, [], ['ok']] }",
    );
    for path in ["/one", "/two"] {
        assert_eq!(server.text(path), "ok");
        server.logged(&format!("line of {path}"));
    }
}
