//! Apache2::Request, Apache2::Upload, Apache2::Cookie, APR::Request: parameters, files and cookies from clients.

use super::{serve, site};
use crate::support::{Request, Server, Site, until};

/// Code at the start of each handler; `show` prints the result or the exception of its code.
const USE: &str = "use Apache2::Request ();\nuse Apache2::Upload ();\nuse Apache2::Cookie ();\nuse APR::Request::Error ();\n\
    sub show { my ($r, $name, $code) = @_; my @got = eval { $code->() }; my $e = $@;\n\
    $r->print(\"$name=\", ref $e ? ref($e) . ':' . ($e + 0) . \":$e\" : $e ? \"died:$e\" : join(',', map { $_ // 'undef' } @got), \"\\n\"); }\n";

fn handler(body: &str) -> String {
    format!("{USE}sub handler {{ my $r = shift;\n{body}\n0 }}")
}

fn serve_handler(body: &str) -> Server {
    serve(&handler(body), "")
}

const FORM: &str = "application/x-www-form-urlencoded";

fn post(server: &Server, target: &str, content_type: &str, body: &[u8]) -> String {
    server.send(Request::new("POST", target).header("Content-Type", content_type).body(body)).text()
}

fn part(disposition: &str, data: &str) -> String {
    format!("--X\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{data}\r\n")
}

const MULTIPART: &str = "multipart/form-data; boundary=X";

#[test]
fn parameters_come_as_scalars_lists_names_and_tables() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r);\n\
        show($r, first => sub { scalar $q->param('A') }); show($r, all => sub { $q->param('a') });\n\
        show($r, names => sub { $q->param }); show($r, args => sub { $q->APR::Request::args('a') }); show($r, body => sub { $q->body('a') });\n\
        show($r, none => sub { scalar $q->param('none') });\n\
        my $table = $q->param; show($r, values => sub { values %$table });\n\
        my @seen; $table->do(sub { push @seen, \"$_[0]$_[1]\"; 1 }, 'a'); show($r, done => sub { @seen });\n\
        show($r, status => sub { map { $_ + 0 } $q->param_status });",
    );
    let text = post(&server, "/my?a=1&b=two+words&a=%C3%A9", FORM, b"a=3;c=%u20ac&a=x%00y");
    let expected = "first=1\nall=1,\u{e9},3,x\0y\nnames=a,b,a,a,c,a\nargs=1,\u{e9}\nbody=3,x\0y\nnone=undef\n\
        values=1,two words,\u{e9},3,\u{20ac},x\0y\ndone=a1,a\u{e9},a3,ax\0y\nstatus=0,0\n";
    assert_eq!(text, expected);
}

#[test]
fn invalid_input_is_an_error_object_where_it_matters() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r);\n\
        show($r, one => sub { scalar $q->APR::Request::args('a') }); show($r, lost => sub { $q->APR::Request::args('x') }); show($r, table => sub { my $t = $q->APR::Request::args; 1 });\n\
        show($r, param => sub { $q->param('a') }); show($r, status => sub { $q->args_status });\n\
        show($r, inner => sub { eval { my $t = $q->APR::Request::args; 1 } or $@->APR::Request::args('a') });\n\
        show($r, line => sub { eval { my $t = $q->APR::Request::args; 1 } or $@->{file} =~ /My.pm/ && $@->{line} > 10 ? 'mine' : $@->{file} });",
    );
    let text = server.text("/my?a=1&x=%zz&a=2");
    let error = "APR::Request::Error:120012:Invalid byte sequence";
    let expected =
        format!("one=1\nlost={error}\ntable={error}\nparam=1\nstatus=Invalid byte sequence\ninner=1\nline=mine\n");
    assert_eq!(text, expected);
}

#[test]
fn a_body_over_the_limit_is_an_exception_and_param_is_silent() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r, POST_MAX => '1K'); show($r, body => sub { $q->body }); show($r, param => sub { $q->param('a') });\n\
        show($r, status => sub { $q->body_status + 0 }); show($r, again => sub { Apache2::Request->new($r, POST_MAX => 2000) });\n\
        show($r, lower => sub { Apache2::Request->new($r, POST_MAX => 100)->read_limit });",
    );
    let text = post(&server, "/my", FORM, format!("a={}", "x".repeat(2000)).as_bytes());
    assert_eq!(
        text,
        "body=APR::Request::Error:120031:Exceeds configured maximum limit\nparam=\nstatus=120031\n\
         again=APR::Request::Error:120030:Conflicting information\nlower=100\n"
    );
    assert!(server.log().contains("the body has 2002 bytes, and the limit is 1024"), "{}", server.log());
    assert!(post(&server, "/my", FORM, b"a=1").starts_with("body=a\nparam=1\nstatus=0\n"));
}

#[test]
fn a_parsed_body_can_be_read_and_a_read_body_can_be_parsed() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r); $r->read(my $start, 3); my $b = $q->param('b'); $r->read(my $rest, 100);\n\
        $r->print(\"$start|$b|$rest|\" . $q->param('a')); ",
    );
    assert_eq!(post(&server, "/my", FORM, b"a=1&b=2"), "a=1|2|&b=2|1");
}

#[test]
fn json_bodies_are_not_parsed_and_stay_readable() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r); show($r, body => sub { $q->body }); show($r, status => sub { $q->body_status + 0, $q->body_status });\n\
        show($r, param => sub { $q->param('q') }); $r->read(my $json, 100); $r->print($json);",
    );
    let text = post(&server, "/my?q=1", "application/json", b"{\"a\":1}");
    assert_eq!(text, "body=\nstatus=120024,Missing parser\nparam=1\n{\"a\":1}");
}

#[test]
fn uploads_are_files_with_all_ways_to_read_them() {
    let code = handler(
        "my $q = Apache2::Request->new($r, BRIGADE_LIMIT => 1000, TEMP_DIR => $r->dir_config('Spool')); my ($up) = $q->upload('f'); my $table = $q->upload;\n\
        show($r, what => sub { $up->name, $up->filename, $up->size, $up->type, $up->info->{'X-Camel'}, ref $up });\n\
        show($r, names => sub { $q->upload }); show($r, table => sub { keys %$table });\n\
        show($r, slurp => sub { my $data; $up->slurp($data) . ':' . length $data });\n\
        my $io = $up->io; show($r, io => sub { scalar(<$io>) =~ tr/\\n//dr, do { $io->read(my $x, 3); $x } });\n\
        my $fh = $up->fh; show($r, fh => sub { -s $fh, scalar(<$fh>) =~ tr/\\n//dr });\n\
        show($r, brigade => sub { my $bb = $up->bb; ref $bb, $bb->length });\n\
        show($r, file => sub { $up->tempname =~ m{/apreq\\w{6}\\z} && -s $up->tempname });\n\
        my $to = $r->dir_config('Spool') . '/linked'; show($r, link => sub { $up->link($to), -s $to });\n\
        show($r, other => sub { eval { $q->upload('a'); 1 }, scalar $q->param('a'), $q->param('f') }); $r->print('at ', $up->tempname);",
    );
    let server = serve(&code, "PerlSetVar Spool \"@DIR@\"");
    for rows in [3, 3000] {
        let data = "a line\n".repeat(rows);
        let file = format!(
            "--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"C:\\x y.txt\"\r\nContent-Type: text/plain; charset=x\r\n\
             X-Camel: two humps\r\n\r\n{data}\r\n"
        );
        let text = post(&server, "/my", MULTIPART, (part("name=\"a\"", "1") + &file + "--X--\r\n").as_bytes());
        let size = data.len();
        let (message, name) = text.split_once("at ").expect("the file's name");
        assert_eq!(
            message,
            format!(
                "what=f,C:\\x y.txt,{size},text/plain,two humps,Apache2::Upload\nnames=f\ntable=f\nslurp={size}:{size}\nio=a line,a l\n\
                 fh={size},a line\nbrigade=APR::Brigade,{size}\nfile={size}\nlink=1,{size}\nother=1,1,C:\\x y.txt\n"
            )
        );
        until("the file goes with the request", || !std::path::Path::new(name).exists());
        std::fs::remove_file(server.site.path("linked")).expect("linked");
    }
}

#[test]
fn a_multipart_that_ends_in_the_middle_is_an_error_and_what_was_whole_is_there() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r); show($r, a => sub { scalar $q->body('a') }); show($r, body => sub { $q->body });\n\
        show($r, upload => sub { $q->upload('f') }); show($r, status => sub { $q->body_status });",
    );
    let whole = part("name=\"a\"", "1") + &part("name=\"f\"; filename=\"x\"", &"data".repeat(30_000)) + "--X--";
    let end = "APR::Request::Error:70014:End of file found";
    for cut in [whole.len() - 5, whole.len() / 2, 80] {
        let text = post(&server, "/my", MULTIPART, &whole.as_bytes()[..cut]);
        assert_eq!(text, format!("a=1\nbody={end}\nupload={end}\nstatus=End of file found\n"), "{cut}");
    }
    for garbage in ["", "hello", "--X"] {
        let text = post(&server, "/my", MULTIPART, garbage.as_bytes());
        assert!(text.contains("status=End of file found") || text.contains("status=Success"), "{garbage}: {text}");
    }
    let text = post(&server, "/my", "multipart/form-data", whole.as_bytes());
    assert!(text.ends_with("status=Internal apreq error\n"), "{text}");
}

#[test]
fn a_multipart_in_a_part_gives_its_name_to_the_files_in_it() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r); show($r, status => sub { $q->body_status + 0 });\n\
        show($r, files => sub { map { my $data; $_->slurp($data); $_->filename . $data } $q->upload('files') }); show($r, z => sub { $q->param('z') });",
    );
    let inner = "--Y\r\nContent-Disposition: file; filename=\"1\"\r\n\r\none\r\n--Y\r\nContent-Disposition: file; filename=\"2\"\r\n\r\n\
        two\r\n--Y--\r\n";
    let mixed = format!(
        "--X\r\nContent-Disposition: form-data; name=\"files\"\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n{inner}{}--X--\r\n",
        part("name=\"z\"", "9")
    );
    assert_eq!(post(&server, "/my", MULTIPART, mixed.as_bytes()), "status=0\nfiles=1one,2two\nz=9\n");
    // The maximum is eight nested multiparts.
    let deep: String = (1..=9)
        .map(|level| {
            format!(
                "--{}\r\nContent-Type: multipart/mixed; boundary={}\r\n\r\n",
                "X".repeat(level),
                "X".repeat(level + 1)
            )
        })
        .collect();
    assert!(post(&server, "/my", MULTIPART, deep.as_bytes()).starts_with("status=120000\n"));
}

#[test]
fn an_upload_hook_sees_the_bytes_and_may_die() {
    let server = serve_handler(
        "my ($bytes, $last) = (0); my $q = Apache2::Request->new($r, HOOK_DATA => 'note', UPLOAD_HOOK => sub { my ($up, $data, $length, $note) = @_;\n\
        die \"no camels\\n\" if $r->args; $bytes += $length; $last = join ':', $up->name, $up->upload_filename, $note unless defined $data });\n\
        show($r, upload => sub { $q->upload('f')->size }); show($r, hook => sub { $bytes, $last }); show($r, a => sub { scalar $q->param('a') });",
    );
    let body = part("name=\"a\"", "1") + &part("name=\"f\"; filename=\"x\"", &"d".repeat(200_000)) + "--X--\r\n";
    assert_eq!(post(&server, "/my", MULTIPART, body.as_bytes()), "upload=200000\nhook=200000,f:x:note\na=1\n");
    let text = post(&server, "/my?die=1", MULTIPART, body.as_bytes());
    assert!(text.starts_with("upload=APR::Request::Error:120000:Internal apreq error\n"), "{text}");
    assert!(text.ends_with("a=1\n"), "{text}");
    assert!(server.log().contains("Upload hook failed: no camels"), "{}", server.log());
}

#[test]
fn uploads_can_be_refused() {
    let server = serve_handler(
        "my $q = Apache2::Request->new($r, DISABLE_UPLOADS => 1); show($r, body => sub { $q->body }); show($r, a => sub { scalar $q->param('a') });",
    );
    let field = part("name=\"a\"", "1");
    let file = part("name=\"f\"; filename=\"x\"", "data");
    assert_eq!(post(&server, "/my", MULTIPART, format!("{field}--X--").as_bytes()), "body=a\na=1\n");
    let text = post(&server, "/my", MULTIPART, format!("{field}{file}--X--").as_bytes());
    assert_eq!(text, "body=APR::Request::Error:120000:Internal apreq error\na=1\n");
}

#[test]
fn long_bodies_cost_by_their_length() {
    let server = serve(
        &handler(
            "my $q = Apache2::Request->new($r); show($r, status => sub { $q->body_status + 0 }); show($r, count => sub { scalar(my @n = $q->param) });\n\
            show($r, size => sub { my $up = $q->upload('f'); $up ? $up->size : length($q->param('v') // '') });",
        ),
        "",
    );
    let long = "x".repeat(8 << 20);
    assert_eq!(
        post(&server, "/my", FORM, format!("v={long}").as_bytes()),
        format!("status=0\ncount=1\nsize={}\n", long.len())
    );
    // A name without end, a field too many, a header without end, a million boundary-like lines that are not
    // boundaries.
    assert_eq!(post(&server, "/my", FORM, long.replace('x', "&").as_bytes()), "status=0\ncount=0\nsize=0\n");
    assert!(post(&server, "/my", FORM, "a=1&".repeat(20_000).as_bytes()).starts_with("status=120031\n"));
    let header = format!("--X\r\nA: {long}");
    assert!(post(&server, "/my", MULTIPART, header.as_bytes()).starts_with("status=120031\n"));
    let data = "\r\n--Y".repeat(1 << 20);
    let file = part("name=\"f\"; filename=\"x\"", &data) + "--X--\r\n";
    assert_eq!(post(&server, "/my", MULTIPART, file.as_bytes()), format!("status=0\ncount=1\nsize={}\n", data.len()));
}

#[test]
fn repetitions_in_a_body_count_where_they_cost_more_than_their_bytes() {
    let server = serve_handler("my $q = Apache2::Request->new($r); $r->print($q->body_status + 0);");
    let disposition = "--X\r\nContent-Disposition: form-data; name=a\r\n";
    let lines = format!("{disposition}{}\r\nv\r\n", "a:\n".repeat(5000));
    let nested = "--X\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c--\r\n";
    for (part, few, many) in [(lines.as_str(), 9, 11), (nested, 900, 1100)] {
        let body = |count: usize| part.repeat(count) + "--X--\r\n";
        assert_eq!(post(&server, "/my", MULTIPART, body(few).as_bytes()), "0", "{few}");
        assert_eq!(post(&server, "/my", MULTIPART, body(many).as_bytes()), "120031", "{many}");
    }
}

#[test]
fn a_decoded_name_finds_the_utf8_parameter() {
    let server = serve_handler(
        "use utf8; my $q = Apache2::Request->new($r); my $table = $q->APR::Request::args; my @done;\n\
        show($r, one => sub { scalar $q->param('größe') }); show($r, all => sub { $q->param('GRößE') });\n\
        my $name = 'größe'; show($r, get => sub { scalar $table->{$name}, exists $table->{$name} ? 'there' : 'none' });\n\
        $table->do(sub { push @done, $_[1]; 1 }, 'größe'); show($r, done => sub { @done });\n\
        show($r, other => sub { scalar $q->param(\"GR\\xE3\\xB6\\xE3\\x9FE\") });",
    );
    let text = server.text("/my?gr%C3%B6%C3%9Fe=2&GR%C3%B6%C3%9FE=3");
    assert_eq!(text, "one=2\nall=2,3\nget=2,there\ndone=2,3\nother=undef\n");
}

#[test]
fn under_taint_mode_all_that_the_client_sent_is_tainted() {
    let code = handler(
        "use Scalar::Util 'tainted'; my $q = Apache2::Request->new($r); my $up = $q->upload('f'); my $jar = Apache2::Cookie::Jar->new($r);\n\
        show($r, upload => sub { map { tainted($_) ? 1 : 0 } $up->filename, $up->name });\n\
        show($r, cookie => sub { map { tainted($_) ? 1 : 0 } map { ($_->name, $_->raw_value, $_->path) } $jar->cookies('a') });\n\
        show($r, param => sub { map { tainted($_) ? 1 : 0 } $q->param('b'), $q->param });",
    );
    let conf = "MaxClients 1\nPerlSwitches -T -Ilib\nPerlModule My\n<Location /my>\nSetHandler modperl\nPerlResponseHandler My\n</Location>";
    let server = site(&code).serve(conf);
    let body = "--X\r\nContent-Disposition: form-data; name=f; filename=\"x\"\r\n\r\n\
        data\r\n--X\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n1\r\n--X--\r\n";
    let request = Request::new("POST", "/my").header("Content-Type", MULTIPART);
    let answer =
        server.send(request.header("Cookie", "$Version=1; a=b; $Path=\"/c\"; a=\"d\"; $Path=e").body(body.as_bytes()));
    assert_eq!(answer.text(), "upload=1,1\ncookie=1,1,1,1,1,1\nparam=1,1,1\n");
}

#[test]
fn the_limits_of_a_place_are_directives() {
    let code = handler(
        "my $q = Apache2::Request->new($r); $r->print(join ' ', $q->read_limit, $q->brigade_limit, $q->temp_dir);",
    );
    let server = site(&code).serve(
        "LoadModule apreq_module modules/mod_apreq2.so\nMaxClients 1\nPerlSwitches -Ilib\nAPREQ2_ReadLimit 1M\nAPREQ2_BrigadeLimit 2K\n\
         APREQ2_TempDir \"@DIR@/spool\"\n<Location /my>\nSetHandler modperl\nPerlResponseHandler My\nAPREQ2_ReadLimit 2M\nAPREQ2_BrigadeLimit 1K\n\
         </Location>",
    );
    assert_eq!(server.text("/my"), format!("1048576 1024 {}/spool", server.site.folder().display()));
}

#[test]
fn cookies_come_and_go() {
    let server = serve_handler(
        "my $jar = Apache2::Cookie::Jar->new($r); show($r, names => sub { $jar->cookies }); show($r, a => sub { map { $_->value } $jar->cookies('a') });\n\
        my %all = eval { Apache2::Cookie->fetch($r) }; show($r, list => sub { $all{list} ? $all{list}->value : 'none' }); show($r, status => sub { $jar->status });\n\
        my $c = Apache2::Cookie->new($r, -name => 'n', -value => { k => 'v w' }, -path => '/p', -secure => 1, -httponly => 1); $c->bake($r);\n\
        Apache2::Cookie->new($r, name => 'm', value => [1, '&'], version => 1, domain => 'd')->bake2($r);\n\
        show($r, thaw => sub { Apache2::Cookie->thaw('k&v+w') }); show($r, raw => sub { $c->raw_value, \"$c\" });\n\
        show($r, none => sub { Apache2::Cookie->new($r, name => 'x') }); show($r, cannot => sub { $c->bake2($r) });",
    );
    let answer = server.send(
        Request::get("/my")
            .header("Cookie", "a=1; list=x&y%20z; a=2")
            .header("Cookie", "$Version=1; b=\"3\"; $Path=\"/\""),
    );
    let text = answer.text();
    let baked = "n=k&v+w; path=/p; secure; HttpOnly";
    let expected = format!(
        "names=a,list,a,b\na=1,2\nlist=x,y z\nstatus=Success\nthaw=k,v w\nraw=k&v+w,{baked}\nnone=\ncannot=died:this cookie has no version"
    );
    assert!(text.starts_with(&expected), "{text}");
    assert_eq!(answer.header("Set-Cookie").as_deref(), Some(baked));
    assert_eq!(answer.header("Set-Cookie2").as_deref(), Some("m=1&%26; Version=1; domain=\"d\""));
    let text = server.send(Request::get("/my").header("Cookie", "a=1; b; c=3")).text();
    let error = "APR::Request::Error:120021:Expected token not present";
    assert!(
        text.starts_with(&format!("names={error}\na={error}\nlist=none\nstatus=Expected token not present\n")),
        "{text}"
    );
}

#[test]
fn a_cookie_may_have_an_empty_value_wherever_it_stands() {
    let server = serve_handler(
        "my $jar = Apache2::Cookie::Jar->new($r); show($r, status => sub { $jar->status + 0 });\n\
        show($r, all => sub { map { $_->name . '=' . $_->raw_value } map { $jar->cookies($_) } $jar->cookies });",
    );
    let cases = [
        ("a=", "a="),
        ("sid=1; theme=", "sid=1,theme="),
        ("a=; b=1", "a=,b=1"),
        ("a=,b=", "a=,b="),
        ("a= ", "a="),
        ("a=1; ", "a=1"),
        ("$Version=1; a=; $Path=", "a="),
    ];
    for (sent, all) in cases {
        let text = server.send(Request::get("/my").header("Cookie", sent)).text();
        assert_eq!(text, format!("status=0\nall={all}\n"), "{sent}");
    }
}

#[test]
fn a_request_that_was_redirected_keeps_what_was_parsed() {
    let code = handler(
        "my $q = Apache2::Request->new($r); if ($r->uri eq '/my') { $q->param('b'); $r->internal_redirect('/my/2?a=2'); return 0 }\n\
        $r->print(join '|', $r->uri, map { $q->param($_) // 'none' } qw(a b));",
    );
    let server = serve(&format!("use Apache2::SubRequest ();\n{code}"), "");
    assert_eq!(post(&server, "/my?a=1", FORM, b"b=3"), "/my/2|2|3");
}

#[test]
fn a_client_that_goes_in_the_middle_reaches_no_handler() {
    let server = serve_handler("my $q = Apache2::Request->new($r); $r->print($q->param('a'), \"\\n\"); warn 'parsed';");
    let head = format!("POST /my HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 1000\r\n\r\na=1");
    server.connect().raw(head.as_bytes());
    assert_eq!(post(&server, "/my", FORM, b"a=2"), "2\n");
    assert_eq!(server.log().matches("parsed").count(), 1, "{}", server.log());
}

#[test]
fn apache2_request_needs_no_other_module_of_libapreq() {
    let code = "use Apache2::Request ();\nsub My::handler { my $r = shift; my $q = Apache2::Request->new($r, POST_MAX => 2);\n\
        my $error = eval { $q->body } ? 'none' : \"$@\"; $r->content_type('text/plain'); print STDOUT $q->param('a') // $error;\n\
        my $jar = $q->jar or return 0; print STDOUT join ' ', '', $jar->{a}, scalar $q->jar('a'); 0 }\n1;\n";
    let conf = "MaxClients 1\nPerlSwitches -Ilib\nPerlModule My\n<Location /my>\nSetHandler perl-script\nPerlResponseHandler My\n</Location>";
    let server = Site::new().file("lib/My.pm", &format!("package My;\n{code}")).serve(conf);
    assert_eq!(server.text("/my?a=1"), "1");
    assert_eq!(post(&server, "/my", FORM, b"a=1"), "Exceeds configured maximum limit");
    let cookie = Request::get("/my?a=1").header("Cookie", "$Version=1; a=b; $Expires=x");
    assert_eq!(server.send(cookie).text(), "1 b b");
}
