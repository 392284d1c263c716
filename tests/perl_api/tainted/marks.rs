//! Values that are tainted. The source is mod_perl 1.31: Apache.xs, Table.xs and mod_perl.h (mp_setenv, PUSHelt).

use crate::support::{REGISTRY, Request, Server, Site};

/// A handler that prints for each expression whether its value is tainted.
fn serve(expressions: &[&str]) -> Server {
    let lines: String = expressions.iter().map(|e| format!("(map {{ tainted($_) ? 1 : 0 }} {e}),\n")).collect();
    let code = format!(
        "package My;\nuse Scalar::Util 'tainted';\nsub handler {{ my $r = shift; my $c = $r->connection;\n\
         $r->read(my $body, 4) if $r->args =~ /read/;\nmy @said = (\n{lines});\n\
         $r->send_http_header('text/plain'); $r->print(join ' ', @said); 0 }}\n1;\n"
    );
    Site::new().file("lib/My.pm", &code).serve(
        "PerlLib lib\nPerlModule My\nPerlSetVar Said value\nPerlSetEnv Given value\n<Location /my>\nSetHandler perl-script\n\
         PerlHandler My\n</Location>\nPerlHeaderParserHandler 'sub { $_[0]->headers_out->{Sent} = 1; 0 }'",
    )
}

#[track_caller]
fn assert_marks(mark: &str, expressions: &[&str]) {
    let server = serve(expressions);
    let value = server.send(Request::post("/my/info?args", "a=b").header("Authorization", "Basic YTpi")).is(200).text();
    for (found, expression) in value.split(' ').zip(expressions) {
        assert_eq!(found, mark, "{expression}");
    }
    assert_eq!(value.split(' ').count(), expressions.len(), "{value}");
}

#[test]
fn input_of_the_client_is_tainted() {
    assert_marks(
        "1",
        &[
            "scalar $r->args",
            "($r->args)[0]",
            "$r->query_string",
            "scalar $r->content",
            "$r->header_in('Host')",
            "do { my %h = $r->headers_in; $h{Host} }",
            "$r->header_out('Sent')",
            "$r->cgi_header_out('Sent')",
            "$ENV{QUERY_STRING}",
            "$ENV{HTTP_HOST}",
            "$ENV{REMOTE_ADDR}",
            "$ENV{SERVER_SOFTWARE}",
            "$ENV{SCRIPT_FILENAME}",
            "$ENV{PATH}",
            "$ENV{Given}",
            "do { my %e = $r->cgi_env; $e{HTTP_HOST} }",
        ],
    );
}

#[test]
fn a_body_that_was_read_is_tainted() {
    let server = serve(&["$body"]);
    let read = server.send(Request::post("/my?read", "a=b"));
    assert_eq!(read.text(), "1");
}

#[test]
fn values_of_the_server_are_not_tainted() {
    assert_marks(
        "0",
        &[
            "$r->document_root",
            "$r->filename",
            "$r->uri",
            "$r->unparsed_uri",
            "$r->path_info",
            "$r->method",
            "$r->protocol",
            "$r->the_request",
            "$r->hostname",
            "$r->get_server_name",
            "$r->content_type",
            "$r->handler",
            "$r->auth_type // 'none'",
            "$r->dir_config('Said')",
            "$r->dir_config->get('Said')",
            "$r->server->dir_config('Said')",
            "$r->server_root_relative('x')",
            "$r->server->server_hostname",
            "$r->server->server_admin",
            "$r->server->error_fname",
            "$c->remote_ip",
            "$c->local_ip",
            "$r->get_remote_host",
            "$r->notes('x') // ''",
            "do { $r->notes(x => 'y'); $r->notes('x') }",
            "$r->subprocess_env('HTTP_HOST') // ''",
            "$r->headers_in->get('Host')",
            "$r->headers_in->{Host}",
            "(keys %{$r->headers_in})[0]",
            "($r->get_basic_auth_pw)[1]",
            "$c->user",
            "$Apache::Server::CWD",
            "$0",
            "$^X",
        ],
    );
}

#[test]
fn a_scripts_name_in_dollar_zero_and_its_folder_are_not_tainted() {
    let site = Site::new().script(
        "scripts/test.pl",
        "use Scalar::Util 'tainted'; print \"Content-Type: text/plain\\n\\n\", tainted($0) ? 1 : 0, -e $0 ? ' there' : '';\n",
    );
    assert_eq!(site.serve(REGISTRY).text("/perl/test.pl"), "0 there");
}

#[test]
fn a_file_that_the_client_names_can_be_read_and_no_program_started() {
    let site = Site::new().file("htdocs/a.txt", "text").script(
        "scripts/test.pl",
        "my $r = shift; my ($name) = $r->args; $r->send_http_header('text/plain'); open my $f, '<', $name or die; print <$f>;\n\
         print eval { open my $p, '-|', $name; 1 } ? ' ran' : ' refused';",
    );
    let server = site.serve(REGISTRY);
    let name = server.site.filled("@DIR@/htdocs/a.txt");
    assert_eq!(server.text(&format!("/perl/test.pl?{name}")), "text refused");
}

#[test]
fn a_script_may_not_hand_what_the_client_sent_to_a_shell() {
    let site = Site::new().script(
        "scripts/test.pl",
        "my $r = shift; local $ENV{PATH} = '/bin'; $r->send_http_header('text/plain');\n\
         for my $text ($r->args, $ENV{SERVER_SOFTWARE}, $r->header_in('User-Agent'), $r->content) {\n\
         eval { system $text; 1 } and print \"ran\\n\" }\nprint 'done';\n",
    );
    let server = site.serve(REGISTRY);
    let value = server.send(Request::post("/perl/test.pl?true", "true").header("User-Agent", "true")).text();
    assert_eq!(value, "done");
}
