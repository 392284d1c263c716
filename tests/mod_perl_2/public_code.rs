//! Parts of the API, and of directives in Perl modules, that published mod_perl 2 code uses. Expected values are
//! httpd's.

use super::{serve, site};
use crate::support::Site;

const CAMP: &str = r#"package Camp;
use strict;
use warnings;
use Apache2::RequestRec ();
use Apache2::RequestIO ();
use Apache2::RequestUtil ();
use Apache2::ServerRec ();
use Apache2::Module ();
use Apache2::CmdParms ();
use Apache2::Command ();
use Apache2::Directive ();
use Apache2::Const -compile => qw(OK OR_ALL RSRC_CONF RAW_ARGS TAKE1);

package Camp::Base;
sub Oasis { my ($self, $parms, $value) = @_; $self->{oasis} = $value }

package Camp;
our @ISA = 'Camp::Base';

my $everywhere = Apache2::Const::OR_ALL | Apache2::Const::RSRC_CONF;
Apache2::Module::add(__PACKAGE__, [
    { name => '<Tent', func => 'tent', args_how => Apache2::Const::RAW_ARGS, req_override => $everywhere },
    { name => '<Fire', func => 'fire', args_how => Apache2::Const::TAKE1, req_override => $everywhere },
    { name => 'Tent', func => 'one_tent', args_how => Apache2::Const::TAKE1, req_override => $everywhere },
    { name => 'Oasis', args_how => Apache2::Const::TAKE1, req_override => $everywhere },
]);

sub tent {
    my ($self, $parms, $rest) = @_;
    my $directive = $parms->directive;
    my $child = $directive->first_child;
    my @told = ($parms->cmd->name, $directive->directive, $directive->args, $rest, $directive->as_string =~ s/\n/;/gr);
    push @told, $child->directive, $child->args, $child->line_num - $directive->line_num, $child->next->directive;
    $self->{tent} = join '|', @told;
}

sub fire {
    my ($self, $parms, $word) = @_;
    my $inside = $parms->directive->as_hash->{Fire}{small};
    $self->{fire} = join '|', $word, map { "$_=$inside->{$_}" } sort keys %$inside;
}

sub one_tent {
    my ($self, $parms, $word) = @_;
    my $directive = $parms->directive;
    $self->{line} = join '|', $word, $parms->cmd->name, $directive->directive, $directive->args, $directive->as_string;
    Apache2::Module::get_config(__PACKAGE__, $parms->server)->{word} = $word;
}

sub SERVER_MERGE { my ($base, $new) = @_; bless { %$base, %$new }, ref $base }

sub handler {
    my $r = shift;
    my $config = Apache2::Module::get_config(__PACKAGE__, $r->server, $r->per_dir_config);
    $r->print($config->{ $r->args } // 'nothing');
    Apache2::Const::OK;
}

sub count {
    my $r = shift;
    my $config = Apache2::Module::get_config(__PACKAGE__, $r->server);
    $r->print("$config->{word} ", ++$config->{count});
    Apache2::Const::OK;
}
1;
"#;

fn camp(inside: &str, more: &str) -> (Site, String) {
    let conf = format!(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlLoadModule Camp\nDocumentRoot htdocs\n<Location /camp>\nSetHandler modperl\n\
         PerlResponseHandler Camp\n{inside}\n</Location>\n{more}"
    );
    (Site::new().file("lib/Camp.pm", CAMP), conf)
}

#[test]
fn a_container_of_a_module_knows_what_stands_inside() {
    let (site, conf) = camp(
        "<Tent two humps>\n  Sand   warm\n  # a comment\n\n  Night \"very cold\"\n</Tent>\n<Fire small>\nWood 'dry'\nSmoke no\n</Fire>",
        "",
    );
    let server = site.serve(&conf);
    assert_eq!(
        server.text("/camp?tent"),
        "<Tent|<Tent|two humps>|two humps>|Sand warm;Night \"very cold\";|Sand|warm|1|Night"
    );
    assert_eq!(server.text("/camp?fire"), "small>|Smoke=no|Wood='dry'");
}

#[test]
fn a_directive_and_a_container_of_one_name_are_two() {
    let (site, conf) = camp("<Tent two humps>\nSand warm\nNight cold\n</Tent>\nTent 'one hump'", "");
    let server = site.serve(&conf);
    assert_eq!(server.text("/camp?line"), "one hump|Tent|Tent|'one hump'|");
    assert!(server.text("/camp?tent").starts_with("<Tent|<Tent|two humps>|"), "{}", server.text("/camp?tent"));
}

#[test]
fn a_container_that_is_written_as_a_line_is_an_error() {
    let (site, conf) = camp("Fire small", "");
    site.configure(&conf);
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "Fire: is a container; write <Fire ...>");
}

#[test]
fn the_sub_of_a_directive_may_be_inherited() {
    let (site, conf) = camp("Oasis far", "");
    assert_eq!(site.serve(&conf).text("/camp?oasis"), "far");
}

#[test]
fn state_of_a_module_with_its_server_survives_added_directives() {
    let (site, conf) = camp(
        "",
        "Tent main\n<VirtualHost *>\nTent own\n</VirtualHost>\n\
         <Directory @DIR@/htdocs>\nAllowOverride All\nSetHandler modperl\nPerlResponseHandler Camp::count\n</Directory>",
    );
    let server = site
        .file("htdocs/page", "")
        .file("htdocs/in/page", "")
        .file("htdocs/in/.htaccess", "Oasis near\n")
        .serve(&conf);
    assert_eq!(server.text("/page"), "own 1");
    assert_eq!(server.text("/in/page"), "own 2");
    assert_eq!(server.text("/page"), "own 3");
}

#[test]
fn a_request_without_a_file_has_the_type_of_no_file() {
    let code = "use APR::Finfo ();\nuse Apache2::SubRequest ();\nuse APR::Const -compile => qw(FILETYPE_NOFILE FILETYPE_REG FILETYPE_DIR);\n\
        sub handler { my $r = shift; my @types = map { $_->finfo->filetype } $r, map { $r->lookup_uri($_) } qw(/none /page /page/info /);\n\
        $r->print(join '|', @types, APR::Const::FILETYPE_NOFILE, APR::Const::FILETYPE_REG, APR::Const::FILETYPE_DIR); 0 }";
    let server = site(code).file("htdocs/page", "text").serve(&format!("DocumentRoot htdocs\n{}", super::conf("")));
    assert_eq!(server.text("/my"), "0|0|1|1|2|0|1|2");
}

#[test]
fn constants_of_mod_perl_show_its_version() {
    let code = "sub told { defined $mod_perl::VERSION ? $mod_perl::VERSION : 'undef' }\nour $before = told();\n\
        sub handler { my $r = shift; my $module = $r->args; eval \"require $module\" or die $@;\n\
        $r->print(join '|', $before, told(), exists $INC{'mod_perl.pm'} ? 1 : 0, eval 'use mod_perl 2.0; 1' ? 1 : $@); 0 }\n";
    for module in [
        "APR::Const",
        "Apache2::Const",
        "ModPerl::Const",
        "ModPerl::Registry",
        "ModPerl::MethodLookup",
        "Apache2::compat",
        "Apache2::Status",
    ] {
        let head = "package Asks;\nuse Apache2::RequestRec ();\nuse Apache2::RequestIO ();\n";
        let conf = "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule Asks\n<Location /asks>\nSetHandler modperl\n\
            PerlResponseHandler Asks\n</Location>";
        let server = Site::new().file("lib/Asks.pm", &format!("{head}{code}1;\n")).serve(conf);
        assert_eq!(server.text(&format!("/asks?{module}")), "undef|2.000012|1|1", "{module}");
    }
}

#[test]
fn mod_perl_by_its_old_name_is_mod_perl_2() {
    let code = "use mod_perl 1.9917;\nsub handler { $_[0]->print(join '|', $mod_perl::VERSION, eval 'use mod_perl 3; 1' ? 'newer' : $@); 0 }";
    let text = serve(code, "").text("/my");
    assert!(text.starts_with("2.000012|mod_perl version 3 required--this is only version 2.000012 at "), "{text}");
}

#[test]
fn phases_go_by_shorter_names_too() {
    let code = "use APR::Table ();\nsub noted { my $r = shift; $r->notes->set(ran => ($r->notes->get('ran') // '') . ' fixup'); 0 }\n\
        sub early { my $r = shift; $r->push_handlers($_ => \\&noted) for qw(Fixup FixupHandler PerlFixup PerlFixupHandler); \
        $r->set_handlers(Response => [ \\&other ]) if $r->args; 0 }\n\
        sub other { $_[0]->print('other'); 0 }\n\
        sub handler { my $r = shift; my $names = $r->get_handlers('ResponseHandler');\n\
        $r->print(join '|', $r->notes->get('ran'), scalar @$names, $r->push_handlers(Nonsense => \\&other), $r->get_handlers('Nonsense') // 'undef'); 0 }";
    let server = serve(code, "PerlHeaderParserHandler My::early");
    assert_eq!(server.text("/my"), " fixup fixup fixup fixup|1|0|undef");
    assert_eq!(server.text("/my?set"), "other");
}

#[test]
fn the_filters_of_an_answer_end_in_those_of_httpd() {
    let code = "use Apache2::Filter ();\nuse Apache2::FilterRec ();\nuse Apache2::SubRequest ();\n\
        sub chain { my ($at, @names) = $_[0]->output_filters; for (; $at; $at = $at->next) { push @names, $at->frec->name } return \"@names\" }\n\
        sub filter { my $f = shift; while ($f->read(my $text)) { $f->print($text) } 0 }\n\
        sub handler { my $r = shift; $r->content_type('text/plain'); $r->print(chain($r), '|', chain($r->lookup_uri('/')), '|'); \
        $r->rflush; $r->print(chain($r)); 0 }";
    let text = serve(code, "PerlOutputFilterHandler My::filter").text("/my");
    let before = "byterange content_length http_header http_outerror core";
    assert!(text.starts_with(&format!("modperl_request_output {before}|subreq_core {before}|")), "{text}");
    assert!(text.contains("|modperl_request_output content_length http_outerror "), "{text}");
}

#[test]
fn output_passed_to_a_filter_of_httpd_is_sent() {
    let code = "use Apache2::Filter ();\nuse Apache2::Connection ();\nuse APR::Brigade ();\nuse APR::Bucket ();\n\
        sub handler { my $r = shift; $r->content_type('text/plain'); my $f = $r->output_filters;\n\
        $f = $f->next while $f->frec->name ne 'http_header'; my $alloc = $r->connection->bucket_alloc;\n\
        my $brigade = APR::Brigade->new($r->pool, $alloc); $brigade->insert_tail(APR::Bucket->new($alloc, 'hello'));\n\
        $f->pass_brigade($brigade); 0 }";
    assert_eq!(serve(&format!("use Apache2::FilterRec ();\n{code}"), "").text("/my"), "hello");
}

#[test]
fn a_note_is_the_callers_own_scalar() {
    let code = "use Apache2::Connection ();\nuse Apache2::ConnectionUtil ();\nour $gone = 0;\nsub Camel::DESTROY { $gone++ }\n\
        sub handler { my $r = shift; my ($count, $camel) = (1, bless {}, 'Camel'); my $before = $gone;\n\
        my $new = $r->pnotes(count => $count); $r->pnotes(camel => $camel); $r->connection->pnotes(count => $count); $count++;\n\
        $r->print(join '|', $new, $r->pnotes('count'), $r->connection->pnotes('count'), ref $r->pnotes('camel'), $before); 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "1|2|2|Camel|0");
    assert_eq!(server.text("/my"), "1|2|2|Camel|1", "it ends with its request");
}
