//! Apache2::HookRun: a request's handlers run its phases.

use super::{serve, site};
use crate::support::Server;

/// A handler that runs every phase from PostReadRequest on. The response handler prints which phases ran.
const ALL: &str = r#"use Apache2::HookRun ();
use Apache2::Log ();
our @ran;
sub any { my $r = shift; push @ran, ModPerl::Util::current_callback(); $r->args && $r->args eq 'refuse' && $ran[-1] eq 'PerlAccessHandler' ? 403 : 0 }
sub early {
    my $r = shift;
    return -1 unless $r->uri =~ m{^/own};
    @ran = ();
    $r->push_handlers("Perl$_" => \&any) for qw(HeaderParserHandler AccessHandler AuthenHandler AuthzHandler TypeHandler FixupHandler LogHandler);
    my @said;
    for my $hook (qw(translate_name map_to_storage header_parser access_checker check_user_id auth_checker type_checker fixups)) {
        my $method = "run_$hook";
        my $said = $r->$method;
        return $said unless $said == 0 || $said == -1;
        push @said, $said;
    }
    if (($r->args // '') eq 'die') { $r->die(410); return Apache2::Const::DONE }
    $r->pnotes(said => "@said");
    my $said = $r->invoke_handler;
    return $said if $said;
    $r->run_log_transaction;
    $r->log_error('logged after ' . $ran[-1]);
    return Apache2::Const::DONE;
}
sub handler { my $r = shift; $r->print(join '|', map({ s/^Perl|Handler$//gr } @ran), $r->pnotes('said'), $r->dir_config('Place'), ModPerl::Util::current_callback()); 0 }
"#;

fn serve_all() -> Server {
    site(&format!("use ModPerl::Util ();\n{ALL}")).file("htdocs/own/page", "the file\n").serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\nDocumentRoot htdocs\nPerlPostReadRequestHandler My::early\n\
         <Location /own>\nPerlSetVar Place own\n</Location>\n\
         <Location /own/my>\nSetHandler modperl\nPerlResponseHandler My\nErrorDocument 410 /gone\n</Location>\n\
         <Location /gone>\nSetHandler modperl\nPerlResponseHandler \"sub { $_[0]->print('it is gone'); 0 }\"\n</Location>",
    )
}

#[test]
fn a_handler_takes_its_request_through_all_phases() {
    let server = serve_all();
    let ran = "HeaderParser|Access|Authen|Authz|Type|Fixup";
    assert_eq!(server.text("/own/my"), format!("{ran}|0 -1 0 0 0 0 0 0|own|PerlResponseHandler"));
    server.logged("logged after PerlLogHandler");
    assert_eq!(server.text("/own/page"), "the file\n", "who answers with a file");
    assert_eq!(server.get("/own/my?refuse").status, 403);
    server.get("/own/none").is(404);
}

#[test]
fn a_handler_ends_its_request_with_the_page_for_an_error() {
    let response = serve_all().get("/own/my?die");
    assert_eq!((response.status, response.text().as_str()), (410, "it is gone"));
}

#[test]
fn the_servers_own_rules_take_part() {
    let code = "use Apache2::HookRun ();\nuse Apache2::SubRequest ();\nsub early { my $r = shift;\n\
        return -1 unless $r->args && $r->args =~ /^(\\w+):(\\w+)$/;\n\
        $r->location_merge('/kept');\n$r->headers_in->set(Authorization => 'Basic ' . MIME::Base64::encode_base64(\"$1:$2\", ''));\n\
        $r->pnotes(said => join '|', map { my $m = \"run_$_\"; $r->$m } qw(access_checker check_user_id auth_checker)); -1 }\n\
        sub handler { my $r = shift; $r->print($r->pnotes('said') // 'nothing'); 0 }";
    let rules = "<Location /kept>\nAuthType Basic\nAuthName camels\nAuthUserFile users\nRequire user ann\nSatisfy Any\nAllow from all\n</Location>";
    let server = site(&format!("use MIME::Base64 ();\n{code}"))
        .file("users", "ann:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/\nbob:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/\n")
        .serve(&format!("{}\n{rules}", super::conf("PerlHeaderParserHandler My::early")));
    assert_eq!(server.text("/my"), "nothing");
    assert_eq!(server.text("/my?ann:secret"), "0|0|0");
    assert_eq!(server.text("/my?bob:secret"), "0|0|401");
    assert_eq!(server.text("/my?bob:wrong"), "0|401|401");
}

#[test]
fn users_that_only_perl_code_knows_are_left_to_the_code_that_may_push_its_handler() {
    let code = "sub early { my $r = shift; my $user = $r->args or return -1;\n\
        $r->push_handlers(PerlAuthenHandler => sub { $_[0]->user($user); $user eq 'ann' ? 0 : 401 });\n\
        $r->push_handlers(PerlAuthzHandler => sub { 0 }); -1 }\n\
        sub handler { my $r = shift; $r->print('in as ', $r->user); 0 }";
    let server = serve(code, "PerlHeaderParserHandler My::early\nAuthType none\nAuthName camels\nRequire valid-user");
    assert_eq!(server.text("/my?ann"), "in as ann");
    server.get("/my?bob").is(401);
    server.get("/my").is(500);
    server.logged("Require needs AuthType Basic or Digest and AuthName here");
}

#[test]
fn phases_that_run_themselves_end() {
    let code = "use Apache2::HookRun ();\nour $count = 0;\n\
        sub fixup { my $r = shift; $count++; my $said = $r->run_fixups; $said }\n\
        sub handler { my $r = shift; $r->print('answered'); 0 }\nsub count { my $r = shift; $r->print($count); 0 }";
    let server = serve(
        code,
        "PerlFixupHandler My::fixup\n</Location>\n<Location /count>\nSetHandler modperl\nPerlResponseHandler My::count",
    );
    server.get("/my").is(500);
    server.logged("more than 10 nested internal redirects or subrequests; look for a loop");
    assert_eq!(server.text("/count"), "11");
}

#[test]
fn a_record_that_is_over_runs_nothing() {
    let code = "use Apache2::HookRun ();\nour $old;\nsub handler { my $r = shift;\n\
        $r->print($old ? (eval { $old->run_fixups; 1 } ? 'ran' : $@) : 'first'); $old //= $r; 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "first");
    assert!(server.text("/my").contains("request is over"), "{}", server.text("/my"));
}

#[test]
fn handlers_of_an_inner_place_come_behind_the_outer_ones_where_that_is_wanted() {
    let code = "sub said { my ($r, $what) = @_; $r->notes->add(said => $what); 0 }\n\
        sub outer { said($_[0], 'outer') }\nsub inner { said($_[0], 'inner') }\nsub of_host { said($_[0], 'host'); -1 }\nsub of_server { said($_[0], 'server'); -1 }\n\
        sub upper { my $f = shift; while ($f->read(my $t, 4096)) { $f->print(uc $t) } 0 }\n\
        sub marked { my $f = shift; while ($f->read(my $t, 4096)) { $f->print(\"<$t>\") } 0 }\n\
        sub handler { my $r = shift; $r->print(join ' ', $r->notes->get('said')); 0 }";
    let outer = "PerlFixupHandler My::outer\nPerlOutputFilterHandler My::upper\n";
    let inner = "PerlFixupHandler My::inner\nPerlOutputFilterHandler My::marked\n";
    let conf = |options: &str| format!("{outer}{}", super::conf(&format!("{options}{inner}")));
    let serve = |options: &str| super::site(code).serve(&conf(options));
    assert_eq!(serve("").text("/my"), "<inner>");
    assert_eq!(serve("PerlOptions +MergeHandlers\n").text("/my"), "<OUTER INNER>");
    let host = "PerlTransHandler My::of_server\n<VirtualHost *>\nServerName a.example\nPerlOptions +MergeHandlers\nPerlTransHandler My::of_host\n</VirtualHost>\n";
    let server = super::site(code).serve(&format!("{}\n{host}", super::conf("")));
    assert_eq!(server.send(crate::support::Request::get("/my").header("Host", "a.example")).text(), "server host");
}
