//! The ways to spell a handler, and messages about incorrect ones.

use super::{check, site};

const MODULE: &str = r#"package Spelt;
use Apache::Constants qw(OK);
our $Loaded = 'loaded at the start' if $Apache::Server::Starting || $Apache::Server::ReStarting;
sub said { my ( $r, $text ) = @_; $r->send_http_header('text/plain'); $r->print( $text, ' ', $Loaded // 'loaded late' ); return OK }
sub handler { return said( $_[0], 'handler' ) }
sub named   { return said( $_[0], 'named' ) }
sub method  { my ( $class, $r ) = @_; return said( $r, "$class method" ) }
1;
"#;

#[test]
fn every_spelling_of_a_handler_runs() {
    let server = site().file("lib/Spelt.pm", MODULE).serve(
        r#"PerlLib lib
PerlModule Apache::Constants
SetHandler perl-script
<Location /package>
    PerlHandler Spelt
</Location>
<Location /sub>
    PerlHandler Spelt::named
</Location>
<Location /method>
    PerlHandler Spelt->method
</Location>
<Location /text>
    PerlHandler 'sub { my $r = shift; \
        $r->print("text ${\ $r->uri}") if $r->uri =~ m|^/text|; \
        return $r->uri =~ m|^/text| ? Apache::Constants::OK \
                                    : Apache::Constants::DECLINED; }'
</Location>
<Location /constant>
    PerlHandler "sub { $_[0]->print('before '); 0 }" Apache::Constants::OK "sub { $_[0]->print('after'); 0 }"
</Location>"#,
    );
    assert_eq!(server.text("/package"), "handler loaded late");
    assert_eq!(server.text("/sub"), "named loaded late");
    assert_eq!(server.text("/method"), "Spelt method loaded late");
    assert_eq!(server.text("/text"), "text /text");
    assert_eq!(server.text("/constant"), "before after");
}

#[test]
fn a_plus_loads_the_module_at_the_start() {
    let server = site().file("lib/Spelt.pm", MODULE).serve(
        "PerlLib lib\nSetHandler perl-script\n<Location /package>\nPerlHandler +Spelt\n</Location>\n\
         <Location /method>\nPerlHandler +Spelt->method\n</Location>\n<Location /sub>\nPerlHandler +Spelt::named\n</Location>\n",
    );
    assert_eq!(server.text("/package"), "handler loaded at the start");
    assert_eq!(server.text("/sub"), "named loaded at the start");
    assert_eq!(server.text("/method"), "Spelt method loaded at the start");
    check("\nSetHandler perl-script\nPerlHandler +Not::There\n")
        .failed(78, "site.conf:3: PerlHandler: Can't locate Not/There.pm");
}

#[test]
fn an_error_of_start_up_code_names_its_directive_and_what_to_do() {
    let advice = "(you may need to install the Not::There module); correct the name, or add its folder with PerlLib";
    let handler = "\nSetHandler perl-script\nPerlHandler +Not::There\n";
    let output = check(handler).failed(78, &format!("3: PerlHandler: Can't locate Not/There.pm in @INC {advice}"));
    assert!(!output.err.contains("@INC contains"), "perl's list of folders is left out: {output:?}");
    assert_eq!(output.err.matches("Not::There module").count(), 1, "the error is reported once: {output:?}");
    let output = check("\nSetHandler perl-script\nPerlHandler Not::There\n")
        .failed(78, "3: PerlHandler: Can't find Not::There->handler: no module Not::There in @INC; correct the name");
    assert!(!output.err.contains("/perl/lib"), "{output:?}");
    check("\nPerlRequire nosuch.pl\n").failed(78, "nosuch.pl; correct the path, which starts at ServerRoot");
    check("\nPsgiApp nosuch.psgi\n").failed(78, "site.conf:2: PsgiApp: ");
    check("\nPsgiEval \"die 'it is broken'\"\n").failed(78, "site.conf:2: PsgiEval: it is broken at ");
}

#[test]
fn cameleer_perl_lib_names_the_first_library_folder() {
    let site = site().file("perl/Cameleer.pm", "package Cameleer; die qq{this library, not that\\n}; 1;");
    site.configure("");
    let mut command = site.command(["check", "-f", "site.conf"]);
    command.env("CAMELEER_PERL_LIB", site.path("perl"));
    crate::support::Finished::of(&mut command).failed(78, "this library, not that");
    command.env("CAMELEER_PERL_LIB", site.path("lib"));
    crate::support::Finished::of(&mut command).succeeded();
}

#[test]
fn an_unknown_log_item_is_reported_with_file_and_line() {
    check("\nCustomLog a.log \"%h %{x}Q\"")
        .failed(78, "site.conf:2: CustomLog: \"%h %{x}Q\": unknown log item %{x}Q: ");
    let unknown = "site.conf:2: LogFormat: \"%Q\": unknown log item %Q: ";
    for conf in ["\nLogFormat \"%Q\" mine\nCustomLog a.log mine", "\nLogFormat \"%Q\" unused"] {
        let output = check(conf).failed(78, unknown);
        assert_eq!(output.err.matches("%Q:").count(), 1, "{output:?}");
    }
}
