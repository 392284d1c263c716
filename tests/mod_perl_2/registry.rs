//! Scripts under the Registry classes of mod_perl 2.

use crate::support::{Server, Site};

const SCRIPT: &str = "/perl/script.pl";

fn conf(class: &str) -> String {
    format!(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule {class}\nAlias /perl/ \"@DIR@/scripts/\"\n<Location /perl>\n\
         SetHandler perl-script\nPerlResponseHandler {class}\nPerlOptions +ParseHeaders\nOptions +ExecCGI\n</Location>"
    )
}

/// Serves one script, with a header that this function adds.
#[track_caller]
fn serve(class: &str, code: &str) -> Server {
    Site::new().file("scripts/script.pl", &with_header(code)).serve(&conf(class))
}

fn with_header(code: &str) -> String {
    format!("print qq(Content-Type: text/plain\\n\\n);\n{code}\n")
}

#[test]
fn a_script_stays_compiled_and_is_compiled_again_when_its_file_changed() {
    let server = serve(
        "ModPerl::Registry",
        "our $n; print ++$n, ' ', __PACKAGE__ =~ /^ModPerl::ROOT::ModPerl::Registry::/ ? 'ours' : __PACKAGE__;",
    );
    assert_eq!((server.text(SCRIPT), server.text(SCRIPT)), ("1 ours".to_owned(), "2 ours".to_owned()));
    server.site.write("scripts/script.pl", &with_header("our $n; print 'new ', ++$n;"));
    assert_eq!((server.text(SCRIPT), server.text(SCRIPT)), ("new 3".to_owned(), "new 4".to_owned()));
}

#[test]
fn perl_run_forgets_the_script_and_what_it_required() {
    let site = Site::new().file("scripts/lib.pl", "sub word { 'word' } 1;");
    let code = "our $n; require '@DIR@/scripts/lib.pl'; print ++$n, word();";
    let server = site.file("scripts/script.pl", &with_header(code)).serve(&conf("ModPerl::PerlRun"));
    assert_eq!((server.text(SCRIPT), server.text(SCRIPT)), ("1word".to_owned(), "1word".to_owned()));
}

#[test]
fn exit_ends_the_request_and_an_eval_sees_it_as_a_number() {
    let code = "print $$, ' '; eval { exit 3; 1 } or print $@ == ModPerl::EXIT ? 'caught' : $@; exit; print 'never';";
    let server = serve("ModPerl::Registry", code);
    let first = server.text(SCRIPT);
    assert!(first.ends_with(" caught"), "{first}");
    assert_eq!(server.text(SCRIPT), first);
}

#[test]
fn a_forked_child_may_exit() {
    let code = "my $kid = fork // die; if (!$kid) { exit 7 } waitpid $kid, 0; print $? >> 8;";
    assert_eq!(serve("ModPerl::Registry", code).text(SCRIPT), "7");
}

#[test]
fn end_blocks_run_at_the_end_of_each_request_also_after_exit() {
    let code = "our $r = shift; exit if $ENV{QUERY_STRING}; print 'body '; END { print 'end' }";
    let server = serve("ModPerl::Registry", code);
    for _ in 0..2 {
        assert_eq!((server.text(SCRIPT), server.text("/perl/script.pl?1")), ("body end".to_owned(), "end".to_owned()));
    }
}

#[test]
fn data_begins_anew_for_each_run() {
    let server = serve("ModPerl::Registry", "print <DATA>;\n__DATA__\none\ntwo");
    assert_eq!((server.text(SCRIPT), server.text(SCRIPT)), ("one\ntwo\n".to_owned(), "one\ntwo\n".to_owned()));
}

#[test]
fn errors_of_a_script_are_logged_with_its_line() {
    let server = serve("ModPerl::Registry", "die 'oh no' if $ENV{QUERY_STRING};\nprint 'fine';");
    assert_eq!(server.get("/perl/script.pl?1").status, 500);
    assert!(server.logged("oh no").contains("script.pl line 2."), "{}", server.log());
    assert_eq!(server.text(SCRIPT), "fine");
}

#[test]
fn an_error_after_a_part_of_the_body_is_appended_to_it() {
    let server = serve("ModPerl::Registry", "print 'some body'; die 'oh no';");
    let response = server.get(SCRIPT).is(200);
    assert!(response.text().starts_with("some body"), "{}", response.text());
    assert!(response.text().contains("internal error"), "{}", response.text());
}

#[test]
fn a_script_that_sets_the_status_answers_with_it() {
    let site = Site::new()
        .file("scripts/script.pl", "my $r = shift; $r->status(404); $r->content_type('text/plain'); $r->print('none')");
    let server = site.serve(&conf("ModPerl::Registry"));
    for _ in 0..2 {
        assert_eq!(server.get(SCRIPT).status, 404);
    }
}

#[test]
fn without_exec_cgi_a_script_is_forbidden_and_a_missing_one_is_not_found() {
    let server = Site::new()
        .file("scripts/script.pl", "1")
        .serve(&conf("ModPerl::Registry").replace("Options +ExecCGI", "Options None"));
    assert_eq!(server.get(SCRIPT).status, 403);
    assert!(server.log().contains("Options ExecCGI is off in this directory"), "{}", server.log());
    assert_eq!(server.get("/perl/none.pl").status, 404);
}

#[test]
fn a_subclass_changes_what_it_names() {
    let class = "package My::Run;\nuse strict;\nuse parent 'ModPerl::Registry';\n\
        sub handler : method { my ($class, $r) = @_ >= 2 ? @_ : (__PACKAGE__, @_); return $class->new($r)->default_handler }\n\
        sub rewrite { my $self = shift; my $rc = $self->SUPER::read_script(@_); ${ $self->{CODE} } =~ s/camel/dromedary/; $rc }\n\
        *read_script = \\&rewrite;\n\
        __PACKAGE__->install_aliases({ chdir_file => 'ModPerl::RegistryCooker::chdir_file_normal' });\n1;\n";
    let code = with_header("print 'camel ', -e 'script.pl' ? 'here' : 'elsewhere'");
    let server = Site::new().file("lib/My/Run.pm", class).file("scripts/script.pl", &code).serve(&conf("My::Run"));
    assert_eq!(server.text(SCRIPT), "dromedary here");
    assert_eq!(server.text(SCRIPT), "dromedary here");
}

#[test]
fn the_loader_compiles_before_the_fork() {
    let code = "use ModPerl::RegistryLoader ();\nmy $loader = ModPerl::RegistryLoader->new(trans => sub { '@DIR@/scripts' . $_[0] =~ s{^/perl}{}r });\n\
        $loader->handler('/perl/script.pl');\n1;\n";
    let script = with_header("BEGIN { our $by = $$ } our $by; print $by == $$ ? 'worker' : 'mold';");
    let server = Site::new().file("start.pl", code).file("scripts/script.pl", &script);
    let server = server.serve(&format!("{}\nPerlPostConfigRequire \"@DIR@/start.pl\"", conf("ModPerl::Registry")));
    assert_eq!(server.text(SCRIPT), "mold");
}

#[test]
fn a_script_without_output_is_an_empty_page_and_a_cgi_program_an_error() {
    let cgi = "ScriptAlias /cgi/ \"@DIR@/cgi/\"\nCgiMode fork\n";
    let site = Site::new().file("scripts/script.pl", "1;").script("cgi/silent.pl", "#!/usr/bin/perl\n1;\n");
    let server = site.serve(&format!("{}\n{cgi}", conf("ModPerl::Registry")));
    assert_eq!(server.get(SCRIPT).is(200).text(), "");
    server.get("/cgi/silent.pl").is(500);
}

/// As with httpd's mod_perl 2, which declines what is no file.
#[test]
fn the_path_of_a_folder_is_not_found() {
    let server = serve("ModPerl::Registry", "print 'here'");
    server.site.write("scripts/folder/a.txt", "a");
    server.get("/perl/folder/").is(404);
    server.get("/perl/folder").is(301);
    server.get("/perl/").is(404);
}
