//! `%ENV` of a `perl-script` handler is tied to `$r->subprocess_env`.

use super::site;
use crate::support::{Server, until};

fn serve(code: &str) -> Server {
    site(&format!("use APR::Table ();\n{code}")).serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\n<Location /my>\nSetHandler perl-script\n\
         PerlResponseHandler My\n</Location>",
    )
}

#[test]
fn changes_of_env_show_in_the_table() {
    let code = "sub handler { my $r = shift; my $env = $r->subprocess_env; my @seen;\n\
        my $look = sub { push @seen, $env->get('CAMEL') // '-' };\n\
        $ENV{CAMEL} = 2; $look->(); $ENV{CAMEL} .= 6; $look->(); $ENV{CAMEL}++; $look->(); delete $ENV{CAMEL}; $look->();\n\
        { local $ENV{CAMEL} = 'local'; $look->() } $look->();\n\
        { local %ENV = (CAMEL => 'whole'); $look->(); push @seen, $env->get('SERVER_PORT') // 'none' }\n\
        $look->(); push @seen, $env->get('SERVER_PORT') ? 'port' : 'none';\n\
        my $reference = \\%ENV; $reference->{CAMEL} = 'referred'; $look->();\n\
        $r->print(join ' ', @seen); 0 }";
    let server = serve(code);
    for _ in 0..2 {
        assert_eq!(server.text("/my"), "2 26 27 - local - whole none - port referred");
    }
}

#[test]
fn changes_of_the_table_show_in_env() {
    let code = "sub handler { my $r = shift; my @seen = $ENV{CAMEL} // '-';\n\
        $r->subprocess_env(CAMEL => 'one'); push @seen, $ENV{CAMEL};\n\
        $r->subprocess_env->set(CAMEL => 'two'); push @seen, $ENV{CAMEL}, `echo \\$CAMEL`;\n\
        $r->subprocess_env->unset('CAMEL'); push @seen, $ENV{CAMEL} // '-';\n\
        $r->print(join ' ', @seen); 0 }";
    assert_eq!(serve(code).text("/my"), "- one two two\n -");
    let code = "sub handler { my $r = shift; my $before = keys %ENV; $r->subprocess_env->clear; my $port = $ENV{SERVER_PORT} // '-';\n\
        $ENV{CAMEL} = 1; $r->print(join ' ', $port, keys(%ENV) < $before ? 'less' : 'more', $r->subprocess_env->get('SERVER_PORT') // '-'); 0 }";
    assert_eq!(serve(code).text("/my"), "- less -");
}

#[test]
fn many_changes_of_env_are_reported_as_a_whole() {
    let code = "sub handler { my $r = shift; my $env = $r->subprocess_env; $env->get('X');\n\
        for my $n (1 .. 3000) { $ENV{\"N$n\"} = $n; delete $ENV{\"N$n\"} if $n % 2 }\n\
        $r->print(join ' ', map { $env->get($_) // '-' } qw(N1 N2 N2999 N3000 REQUEST_METHOD)); 0 }";
    assert_eq!(serve(code).text("/my"), "- 2 - 3000 GET");
}

#[test]
fn a_value_that_runs_code_is_not_copied_to_the_table() {
    let code = "package Loud { use overload '\"\"' => sub { $Loud::asked++; $_[0][0]->subprocess_env('X'); 'loud' } }\n\
        sub handler { my $r = shift; $ENV{LOUD} = bless [$r], 'Loud';\n\
        $r->print($r->subprocess_env->get('LOUD') // 'none', $Loud::asked // 0, keys(%ENV) > 3 ? ' more' : ''); 0 }";
    assert_eq!(serve(code).text("/my"), "none0 more");
}

#[test]
fn a_value_that_was_matched_or_emptied_stays_in_the_table() {
    let code = "sub handler { my $r = shift; my $env = $r->subprocess_env; my @seen; $ENV{QUERY_STRING} =~ /a/g; { my %copy = %ENV; local %ENV = %ENV; }\n\
        push @seen, $env->get('QUERY_STRING'); $ENV{CAMEL} = 'new'; $ENV{CAMEL} =~ /n/g; push @seen, $env->get('CAMEL');\n\
        $ENV{CAMEL} = \"caf\\x{e9}\\x{20ac}\"; my $length = length $ENV{CAMEL}; push @seen, length $env->get('CAMEL');\n\
        $ENV{CAMEL} = undef; push @seen, defined $env->get('CAMEL') ? $env->get('CAMEL') : 'none';\n\
        $r->print(join '|', @seen); 0 }";
    assert_eq!(serve(code).text("/my?a=1"), "a=1|new|8|");
}

#[test]
fn changes_of_env_are_logged_and_passed_on() {
    let code = "use Apache2::SubRequest ();\nsub handler { my $r = shift;\n\
        if ($r->uri eq '/my/on') { $r->print($r->subprocess_env('REDIRECT_CLASS') // 'none', ' ', $ENV{REDIRECT_CLASS} // 'none'); return 0 }\n\
        if ($r->args eq 'lookup') { $ENV{CLASS} = 'iron'; $r->print($r->lookup_uri('/my/on')->subprocess_env('CLASS') // 'none'); return 0 }\n\
        $ENV{CLASS} = 'gold'; $ENV{REMOVED} = 1; delete $ENV{REMOVED};\n\
        if ($r->args eq 'redirect') { $r->internal_redirect('/my/on'); return 0 }\n\
        die \"no\\n\" if $r->args eq 'die'; $r->print('done'); 0 }";
    let server = site(&format!("use APR::Table ();\n{code}")).serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\nCustomLog access.log \"%U%q %{CLASS}e %{REMOVED}e\"\n\
         <Location /my>\nSetHandler perl-script\nPerlResponseHandler My\n</Location>",
    );
    assert_eq!(server.text("/my?redirect"), "gold gold");
    assert_eq!(server.text("/my?lookup"), "iron");
    assert_eq!(server.text("/my?plain"), "done");
    server.get("/my?die").is(500);
    let lines = || std::fs::read_to_string(server.site.path("access.log")).unwrap_or_default();
    until("four requests are logged", || lines().lines().count() == 4);
    for expected in ["/my?lookup iron -", "/my?plain gold -", "/my?die gold -"] {
        assert!(lines().lines().any(|line| line == expected), "{expected}: {}", lines());
    }
}

/// A subrequest's handler has an `%ENV` that is tied to its own table; the main request's `%ENV` stays unchanged.
#[test]
fn a_handler_of_a_subrequest_has_an_env_that_is_tied_to_its_table() {
    let code = "use Apache2::SubRequest ();\nsub handler { my $r = shift; my $env = $r->subprocess_env;\n\
        if ($r->uri ne '/my') { $ENV{CAMEL} .= 'y'; $ENV{INNER} = 'in'; $env->set(TABLE => 'set'); delete $ENV{GONE};\n\
        $r->print(join ' ', map { $_ // '-' } $env->get('CAMEL'), $env->get('INNER'), $ENV{TABLE}, scalar $env->get('GONE'), $ENV{REQUEST_URI}); return 0 }\n\
        $ENV{CAMEL} = 'mai'; $ENV{GONE} = 1; $ENV{OUTER} = 'out'; my $sub = $r->lookup_uri('/my/inner'); $sub->run; my $inner = $sub->subprocess_env;\n\
        $r->print(join ' ', ' |', map { $_ // '-' } $inner->get('INNER'), $inner->get('OUTER'), $ENV{CAMEL}, $env->get('CAMEL'), $ENV{INNER} // undef,\n\
        scalar $env->get('INNER'), $ENV{GONE}); $ENV{LATE} = 'late'; $r->print(' ', $env->get('LATE')); 0 }";
    let server = serve(code);
    for _ in 0..2 {
        assert_eq!(server.text("/my"), "maiy in set - /my | in out mai mai - - 1 late");
    }
}

/// Configuration code sees the values of `PerlSetEnv` directives that precede it.
#[test]
fn perl_set_env_is_set_for_code_after_its_line() {
    let code = "our @seen; sub see { push @seen, $ENV{CAMEL} // '-' }\n\
        sub handler { my $r = shift; $r->print(join ' ', @seen, $ENV{CAMEL}, $ENV{LAST} // '-'); 0 }";
    let start = "My::see(); $ENV{CAMEL} = 'file'; 1;";
    let lines = "<Perl>\nMy::see();\n</Perl>\nPerlSetEnv CAMEL one\n<Perl>\nMy::see(); $ENV{CAMEL} = 'section';\n</Perl>\n\
        <Perl>\nMy::see();\n</Perl>\nPerlSetEnv CAMEL two\n<Location /other>\nPerlSetEnv CAMEL of_a_place\n</Location>\n\
        <Perl>\nMy::see();\n</Perl>\n\
        PerlSetEnv LAST given\nPerlPostConfigRequire \"@DIR@/start.pl\"\n<Location /my/place>\nPerlSetEnv CAMEL place\n</Location>";
    let server = site(code).file("start.pl", start).serve(&format!("{}\n{lines}", super::conf("")));
    assert_eq!(server.text("/my"), "- one section two two file given");
    assert_eq!(server.text("/my/place"), "- one section two two place given");
}

/// `PerlSetEnv` before perl's start is set when perl starts: files and modules see the last value.
#[test]
fn perl_set_env_is_there_before_files_and_modules_that_wait_for_perl() {
    let code = "our $seen = $ENV{CAMEL} // '-'; sub handler { my $r = shift; $r->print(\"$seen $ENV{CAMEL}\"); 0 }";
    let conf = format!(
        "{}\nPerlSetEnv CAMEL one\nPerlSetEnv CAMEL two\n\
        <VirtualHost *>\nServerName own.example\nPerlSetEnv CAMEL host\n</VirtualHost>",
        super::conf("")
    );
    assert_eq!(site(code).serve(&conf).text("/my"), "two host");
}

#[test]
fn variables_of_set_env_exist_from_fixup_on() {
    let code = "use APR::Table ();\n\
        sub look { my $r = shift; $r->notes->add(seen => ModPerl::Util::current_callback() =~ s/^Perl|Handler$//gr . '=' . ($r->subprocess_env->get('CAMEL') // '-')); -1 }\n\
        sub handler { my $r = shift; look($r); $r->print(join ' ', $r->notes->get('seen'), $ENV{CAMEL} // '-', $ENV{EARLY}); 0 }";
    let early = "PerlPostReadRequestHandler My::look\nPerlTransHandler My::look\nSetEnv CAMEL main\n<Location /my>\nPerlHeaderParserHandler My::look\nPerlTypeHandler My::look\n\
        PerlFixupHandler My::look\nSetEnv CAMEL two\nPerlSetEnv EARLY yes\nSetHandler perl-script\nPerlResponseHandler My\n</Location>\n\
        <Location /my/main>\nUnsetEnv CAMEL\n</Location>";
    let server = site(&format!("use ModPerl::Util ();\n{code}"))
        .serve(&format!("MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\n{early}"));
    for _ in 0..2 {
        assert_eq!(
            server.text("/my"),
            "PostReadRequest=- Trans=- HeaderParser=- Type=- Fixup=two Response=two two yes"
        );
        assert_eq!(server.text("/my/main"), "PostReadRequest=- Trans=- HeaderParser=- Type=- Fixup=- Response=- - yes");
    }
}

#[test]
fn the_environment_has_the_names_of_httpd_2_4() {
    let code = "sub handler { my $r = shift; $r->subprocess_env if $r->args; $r->print(join ' ', map { $ENV{$_} // '-' }\n\
        qw(GATEWAY_INTERFACE REQUEST_SCHEME REQUEST_METHOD)); 0 }";
    let place = |path: &str, handler: &str| {
        format!("<Location {path}>\nSetHandler {handler}\nPerlResponseHandler My\n</Location>\n")
    };
    let head = "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\n";
    let server = site(code).serve(&format!("{head}{}{}", place("/perl", "perl-script"), place("/plain", "modperl")));
    assert_eq!(server.text("/perl"), "CGI/1.1 http GET");
    assert_eq!(server.text("/plain"), "- - -");
    assert_eq!(server.text("/plain?1"), "CGI/1.1 http GET");
}
