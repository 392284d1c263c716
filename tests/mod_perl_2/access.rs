//! Access rules in Perl code: PerlAddAuthzProvider for words of `Require`, PerlAddAuthnProvider for
//! `AuthBasicProvider`.

use super::site;
use crate::support::{Request, Server};

const CODE: &str = "use Apache2::Const -compile => qw(:authz_status);\nuse Apache2::Access ();\n\
    sub handler { my $r = shift; $r->print('in: ', $r->user // 'nobody'); 0 }\n\
    sub letters { my ($r, $words) = @_; $r->args eq $words ? Apache2::Const::AUTHZ_GRANTED : Apache2::Const::AUTHZ_DENIED }\n\
    sub member : method { my ($class, $r, $words) = @_; my $user = $r->user // return Apache2::Const::AUTHZ_DENIED_NO_USER;\n\
    (grep { $_ eq $user } split / /, $words) ? Apache2::Const::AUTHZ_GRANTED : Apache2::Const::AUTHZ_DENIED }\n\
    sub broken { my ($r, $words) = @_; die \"no idea\\n\" if $words eq 'dies'; $words eq 'odd' ? 17 : Apache2::Const::AUTHZ_GENERAL_ERROR }\n\
    sub login { my $r = shift; my ($status, $password) = $r->get_basic_auth_pw; return $status if $status;\n\
    return 0 if $password eq 'x'; $r->note_basic_auth_failure; Apache2::Const::AUTH_REQUIRED }";

/// Users `ana` and `ben`, both with the password `x`.
const ANA: &str = "Basic YW5hOng=";
const BEN: &str = "Basic YmVuOng=";

/// Serves the handler at each path, with that path's lines.
#[track_caller]
fn serve(places: &[(&str, &str)]) -> Server {
    let place = |(path, lines): &(&str, &str)| {
        format!(
            "<Location {path}>\nSetHandler modperl\nPerlResponseHandler My\nAuthType Basic\nAuthName x\n\
             PerlAuthenHandler My::login\n{lines}\n</Location>\n"
        )
    };
    let providers = "PerlAddAuthzProvider letters My::letters\nPerlAddAuthzProvider member My->member\n\
        PerlAddAuthzProvider broken My::broken\n";
    let places: String = places.iter().map(place).collect();
    site(CODE).serve(&format!("PerlSwitches -Ilib\nPerlModule My\n{providers}{places}"))
}

#[test]
fn a_provider_gets_the_rest_of_its_line_and_decides() {
    let server = serve(&[("/my", "Require letters a+b c")]);
    server.get("/my?a+b").is(403);
    assert_eq!(server.get("/my?a").status, 403);
    let server = serve(&[("/my", "Require letters ab")]);
    assert_eq!(server.text("/my?ab"), "in: nobody");
}

#[test]
fn a_provider_that_needs_the_user_is_called_again() {
    let server = serve(&[("/my", "Require member ana eva")]);
    server.get("/my").is(401);
    let with = |who: &str| server.send(Request::get("/my").header("Authorization", who));
    assert_eq!(with(ANA).is(200).text(), "in: ana");
    with(BEN).is(401);
}

#[test]
fn providers_stand_in_sections_beside_other_words() {
    let all = "<RequireAll>\nRequire valid-user\nRequire letters x\nRequire not member ben\n</RequireAll>";
    let server = serve(&[("/all", all), ("/any", "Require letters x\nRequire user ben")]);
    let with = |target: &str, who: &str| server.send(Request::get(target).header("Authorization", who)).status;
    assert_eq!((with("/all?x", ANA), with("/all?x", BEN), with("/all?y", ANA)), (200, 401, 403));
    assert_eq!(server.get("/all?x").status, 401);
    assert_eq!((server.get("/any?x").status, server.get("/any?y").status, with("/any?y", BEN)), (200, 401, 200));
}

#[test]
fn a_file_is_refused_to_users_whom_a_provider_denies() {
    let site = site(CODE).file("htdocs/closed/a.txt", "text").file("htdocs/closed/b/.htaccess", "Require letters z\n");
    site.write("htdocs/closed/b/c.txt", "inner");
    let conf = "PerlSwitches -Ilib\nPerlModule My\nPerlAddAuthzProvider letters My::letters\n<Directory @DIR@/htdocs>\nAllowOverride All\n\
        </Directory>\n<Directory @DIR@/htdocs/closed>\nRequire letters y\n</Directory>";
    let server = site.serve(conf);
    server.get("/closed/a.txt").is(403);
    assert_eq!(server.text("/closed/a.txt?y"), "text");
    server.get("/closed/b/c.txt?y").is(403);
    assert_eq!(server.text("/closed/b/c.txt?z"), "inner");
}

#[test]
fn a_provider_that_dies_or_returns_nonsense_admits_no_client() {
    let server =
        serve(&[("/dies", "Require broken dies"), ("/odd", "Require broken odd"), ("/failed", "Require broken x")]);
    for (path, expected) in
        [("/dies", "no idea"), ("/odd", "the provider My::broken returned \"17\""), ("/failed", "returned \"3\"")]
    {
        server.get(path).is(500);
        server.logged(expected);
    }
}

#[test]
fn a_word_without_a_provider_above_it_is_an_error() {
    let site = site(CODE);
    site.configure(
        "\nPerlSwitches -Ilib\nPerlModule My\n<Location /my>\nRequire letters x\n</Location>\nPerlAddAuthzProvider letters My::letters",
    );
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "site.conf:5: Require: ");
}

/// User `eva`, whose password is in the file; the code knows `ana:x` and `ben:z`.
const EVA: &str = "Basic ZXZhOnk=";
const BEN_Z: &str = "Basic YmVuOno=";

/// A site whose code knows ana and ben, and returns an invalid status for `dan`.
fn site_of_passwords() -> crate::support::Site {
    let code = "use Apache2::Const -compile => qw(:authn_status);\nuse Apache2::ServerUtil ();\nmy %known = (ana => 'x', ben => 'z');\n\
        sub handler { my $r = shift; $r->print('in: ', $r->user); 0 }\n\
        sub knows { my ($r, $user, $password) = @_; return 17 if $user eq 'dan';\n\
        return Apache2::Const::AUTH_USER_NOT_FOUND unless exists $known{$user};\n\
        $password eq $known{$user} ? Apache2::Const::AUTH_GRANTED : Apache2::Const::AUTH_DENIED }\n\
        Apache2::RequestUtil::register_auth_provider(Apache2::ServerUtil->server->process->pool, 'authn', 'one', 0,\n\
        sub { $_[1] eq 'ana' ? My::knows(@_) : Apache2::Const::AUTH_USER_NOT_FOUND }, undef, 0);";
    // Made by `openssl passwd -apr1 y`.
    site(code).file("users", "eva:$apr1$camel$eqOX8YJaT2HXnLta8O/4Y0\nana:$apr1$camel$eqOX8YJaT2HXnLta8O/4Y0\n")
}

#[test]
fn code_knows_passwords_beside_the_file_or_alone() {
    let place = |(path, providers): (&str, &str)| {
        format!(
            "<Location {path}>\nSetHandler modperl\nPerlResponseHandler My\nAuthType Basic\nAuthName x\nAuthUserFile @DIR@/users\n\
             AuthBasicProvider {providers}\nRequire valid-user\n</Location>\n"
        )
    };
    let places =
        [("/code", "code"), ("/first", "code file"), ("/last", "file code"), ("/one", "one"), ("/both", "one code")];
    let conf = format!(
        "PerlSwitches -Ilib\nPerlLoadModule My\nPerlAddAuthnProvider code My::knows\n{}",
        places.map(place).concat()
    );
    let server = site_of_passwords().serve(&conf);
    let status = |path: &str, who: &str| server.send(Request::get(path).header("Authorization", who)).status;
    let all = |path: &str| [ANA, BEN, BEN_Z, EVA].map(|who| status(path, who));
    assert_eq!(all("/code"), [200, 401, 200, 401]);
    assert_eq!(all("/first"), [200, 401, 200, 200]);
    // `ana` has another password in the file.
    assert_eq!(all("/last"), [401, 401, 200, 200]);
    assert_eq!(all("/one"), [200, 401, 401, 401]);
    assert_eq!(all("/both"), [200, 401, 200, 401]);
    let response = server.get("/code");
    assert_eq!((response.status, response.header("WWW-Authenticate")), (401, Some("Basic realm=\"x\"".to_owned())));
    assert_eq!(server.send(Request::get("/both").header("Authorization", BEN_Z)).text(), "in: ben");
    assert_eq!(status("/code", "Basic ZGFuOnE="), 500);
    server.logged("the provider My::knows returned \"17\"");
}

#[test]
fn a_provider_of_passwords_must_have_been_named() {
    let site = site_of_passwords();
    for (providers, expected) in [
        (
            "nobody",
            "expected file, dbm, dbd, ldap, socache, or the name of a PerlAddAuthnProvider or AuthnProviderAlias above this line, got \"nobody\"",
        ),
        ("code file code", "expected the names of Perl providers before all others or behind them"),
    ] {
        site.configure(&format!(
            "PerlAddAuthnProvider code My::knows\n<Location /a>\nAuthBasicProvider {providers}\n</Location>\n"
        ));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, expected);
    }
}
