//! Directives of Perl modules that occur only in `.htaccess` files, or in a request's own Perl code.

use crate::support::{Server, Site, until};

const PAINT: &str = r#"package Paint;
use strict;
use warnings;
use base 'Apache2::Module';
use Apache2::RequestRec ();
use Apache2::RequestIO ();
use Apache2::RequestUtil ();
use Apache2::CmdParms ();
use Apache2::Const -compile => qw(OK :override :options NOT_IN_HTACCESS);

Apache2::Module::add(__PACKAGE__, [
    { name => 'Paint', args_how => 'ITERATE' },
    { name => 'PaintIndexes', func => 'Paint', args_how => 'ITERATE', req_override => Apache2::Const::OR_INDEXES },
    { name => 'PaintServer', func => 'Paint', args_how => 'ITERATE', req_override => Apache2::Const::RSRC_CONF },
]);

our ($made, $gone) = (0, 0);
sub DIR_CREATE { $made++; bless { colors => [] }, shift }
sub DESTROY { $gone++ }
sub DIR_MERGE { my ($base, $new) = @_; $made++; bless { %$base, %$new, colors => [ @{ $base->{colors} }, @{ $new->{colors} } ] }, ref $base }

sub Paint {
    my ($self, $parms, $color) = @_;
    die "no $color here\n" if $color eq 'pink';
    push @{ $self->{colors} }, $color;
    $self->get_config($parms->server)->{last} = $color;
    @$self{qw(path options)} = ($parms->path, $parms->override_opts);
    $self->{context} = $parms->check_cmd_context(Apache2::Const::NOT_IN_HTACCESS);
}

sub fixup { my $r = shift; my $more = $r->args; $r->add_config(["Paint $more"]) if $more; Apache2::Const::OK }

sub handler : method {
    my ($class, $r) = @_;
    my $config = $class->get_config($r->server, $r->per_dir_config);
    my $server = $class->get_config($r->server);
    $r->print(join '|', "@{ $config->{colors} || [] }", map { $_ // '-' } @$config{qw(path options context)}, $server->{last});
    Apache2::Const::OK;
}
sub count { my $r = shift; $r->print($made - $gone); Apache2::Const::OK }
1;
"#;

/// A site whose pages `Paint` answers, with one worker.
#[track_caller]
fn serve(site: Site, allowed: &str, conf: &str) -> Server {
    site.file("lib/Paint.pm", PAINT).file("htdocs/page", "").serve(&format!(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlLoadModule Paint\nDocumentRoot htdocs\n\
         <Directory @DIR@/htdocs>\nAllowOverride {allowed}\nSetHandler modperl\nPerlResponseHandler Paint\nPerlFixupHandler Paint::fixup\n</Directory>\n\
         <Location /count>\nPerlResponseHandler Paint::count\n</Location>\n{conf}"
    ))
}

#[test]
fn a_module_gets_the_merged_values_of_htaccess_files() {
    let site = Site::new()
        .file("htdocs/.htaccess", "Paint red 'light green'\n")
        .file("htdocs/in/.htaccess", "Paint blue\n<Files page>\nPaint white\n</Files>\n")
        .file("htdocs/in/page", "");
    let folder = site.path("htdocs").display().to_string();
    let server = serve(site, "All", "<Directory @DIR@/htdocs/in>\nPaint black\n</Directory>");
    let refused = "Paint cannot occur within .htaccess section";
    assert_eq!(server.text("/page"), format!("red light green|{folder}|255|{refused}|light green"));
    let inner = server.text("/in/page");
    assert!(inner.starts_with("red light green black blue white|"), "{inner}");
    assert!(server.text("/in/other").starts_with(&format!("red light green black blue|{folder}/in|255|{refused}|")));
}

#[test]
fn a_changed_file_replaces_its_stored_compressed_form() {
    let server = serve(Site::new().file("htdocs/.htaccess", "Paint red\n"), "All", "");
    assert!(server.text("/page").starts_with("red|"));
    for at in 0..300 {
        // The sections of 300 versions are more than the worker caches at once.
        let files = format!("<Files page>\nPaint p{at}\n</Files>\n").repeat(20);
        server.site.write("htdocs/.htaccess", &format!("Paint c{at}\n{files}"));
        let wanted = format!("c{at} p{at} ");
        until(&wanted, || server.text("/page").starts_with(&wanted));
    }
    let alive: u32 = server.text("/count").parse().expect("a count");
    assert!((1..5000).contains(&alive), "{alive} of more than 6000 are left");
}

#[test]
fn req_override_and_allow_override_decide_where_directives_are_allowed() {
    for (allowed, line, logged) in [
        ("FileInfo", "PaintIndexes red", "is not allowed here: its <Directory> needs AllowOverride Indexes"),
        ("All", "PaintServer red", "is not allowed in .htaccess files; write it in the main configuration"),
        ("All", "Paint pink", "no pink here"),
        ("All", "Paints pink", "Paints: is not a directive"),
    ] {
        let server = serve(Site::new().file("htdocs/.htaccess", &format!("\n{line}")), allowed, "");
        for _ in 0..2 {
            server.get("/page").is(500);
        }
        server.logged(".htaccess:2: ");
        server.logged(logged);
    }
    let server = serve(Site::new().file("htdocs/.htaccess", "PaintIndexes red"), "Options=Indexes Indexes", "");
    assert!(server.text("/page").contains("|1|"), "{}", server.text("/page"));
    let server = serve(Site::new().file("htdocs/.htaccess", "Paint red"), "All", "PerlHtaccess Off");
    server.get("/page").is(500);
    server.logged("Paint: is not allowed in .htaccess files: the main configuration needs PerlHtaccess Vars");
}

#[test]
fn directives_that_perl_code_adds_apply_to_one_request() {
    let server = serve(Site::new().file("htdocs/.htaccess", "Paint red"), "All", "");
    assert!(server.text("/page?blue").starts_with("red blue|"), "{}", server.text("/page?blue"));
    assert!(server.text("/page").starts_with("red|"));
}

#[test]
fn a_modules_directives_in_one_htaccess_file_do_not_apply_to_another_folder() {
    let module = "package HT;\nuse strict;\nuse Apache2::Module ();\nuse Apache2::CmdParms ();\nuse Apache2::RequestRec ();\nuse Apache2::RequestIO ();\n\
        use Apache2::Const -compile => qw(OR_ALL TAKE1);\n\
        Apache2::Module::add(__PACKAGE__, [{ name => 'MyOne', func => 'HT::one', req_override => Apache2::Const::OR_ALL, args_how => Apache2::Const::TAKE1 }]);\n\
        sub one { $_[0]{one} = $_[2] }\nsub DIR_CREATE { bless {}, shift }\nsub DIR_MERGE { bless { %{$_[0]}, %{$_[1]} }, ref $_[0] }\n\
        sub handler { my $r = shift; my $c = Apache2::Module::get_config(__PACKAGE__, $r->server, $r->per_dir_config); $r->print($c->{one} // 'none'); 0 }\n1;\n";
    let conf = "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlLoadModule HT\nDocumentRoot htdocs\n\
        <Directory htdocs>\nAllowOverride All\nSetHandler modperl\nPerlResponseHandler HT\n</Directory>";
    let site = Site::new()
        .file("lib/HT.pm", module)
        .file("htdocs/A/.htaccess", "PerlSetVar x y\n")
        .file("htdocs/B/.htaccess", "MyOne of-B\n");
    let server = site.serve(conf);
    for (path, expected) in [("/A/x", "none"), ("/B/x", "of-B"), ("/A/x", "none"), ("/B/x", "of-B")] {
        assert_eq!(server.text(path), expected, "{path}");
    }
}
