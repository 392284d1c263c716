//! PerlTaintCheck, PerlWarn and switches without effect.

use super::{check, serve};

#[test]
fn with_perl_taint_check_what_clients_send_reaches_no_shell() {
    let server = serve(
        r#"PerlTaintCheck On
SetHandler perl-script
PerlHandler "sub { my $r = shift; $ENV{PATH} = '/usr/bin:/bin'; delete @ENV{qw(IFS CDPATH ENV BASH_ENV)}; \
    my $text = $r->args; if ($r->uri eq '/matched') { $text =~ /^(\w+)$/; $text = $1 } \
    $r->print(eval { `echo $text` } // $@); 0 }""#,
    );
    assert!(server.text("/?evil").contains("Insecure dependency"), "{}", server.text("/?evil"));
    assert_eq!(server.text("/matched?good"), "good\n");
}

#[test]
fn perl_warn_is_perls_minus_w() {
    let handler = "SetHandler perl-script\nPerlHandler 'sub { my $undef; my $x = \"a$undef\"; $_[0]->print($^W); 0 }'";
    let quiet = serve(handler);
    assert_eq!(quiet.text("/"), "0");
    let loud = serve(&format!("PerlWarn On\n{handler}"));
    assert_eq!(loud.text("/"), "1");
    loud.logged("Use of uninitialized value $undef");
    assert!(!quiet.log().contains("uninitialized"));
}

/// mod_perl 1 allows both in virtual hosts, where they hold for the whole process.
#[test]
fn a_virtual_host_may_turn_a_switch_of_perl_on() {
    let handler = "SetHandler perl-script\nPerlHandler 'sub { $_[0]->print($^W); 0 }'\n";
    let on = "<VirtualHost *>\nPerlWarn On\nPerlTaintCheck Off\n</VirtualHost>";
    let server = serve(&format!("{handler}{on}"));
    assert_eq!(server.text("/"), "1");
    server.logged("PerlTaintCheck: has no effect, because hosts share one perl");
}

#[test]
fn switches_of_mod_perl_1_without_effect_are_accepted_and_opmask_is_explained() {
    check("PerlFreshRestart On\nPerlScript @DIR@/lib/Who.pm").succeeded();
    check("\nPerlOpmask mask").failed(78, "site.conf:2: PerlOpmask: operator masks are not supported");
}
