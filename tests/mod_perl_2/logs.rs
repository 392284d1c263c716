//! The format of error log lines, in which the fields have the positions of httpd's.

use super::{conf, site};

#[test]
fn server_messages_have_no_request_fields() {
    let code = "use Apache2::ServerRec ();\nuse Apache2::Log ();\nuse APR::Const -compile => qw(SUCCESS ENOTIME);\n\
        use Apache2::Const -compile => qw(:log);\n\
        sub handler { my $r = shift; my $s = $r->server; $r->log_error('of r'); $s->log_error('of s'); $s->warn('warned');\n\
        $r->log->error('of log'); $s->log_serror(__FILE__, 7, Apache2::Const::LOG_ERR|Apache2::Const::LOG_STARTUP, 0, 'bare');\n\
        $r->log_rerror(__FILE__, 7, Apache2::Const::LOG_CRIT, APR::Const::ENOTIME, 'of rerror');\n\
        $r->server->loglevel(Apache2::Const::LOG_ERR); $s->log->warn('hidden'); $s->log->notice('shown'); 0 }";
    let server = site(code).serve(&format!("{}\nLogLevel warn\n", conf("")));
    server.get("/my");
    let log = server.log();
    let line =
        |text: &str| log.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text} in {log}"));
    assert!(line("of r").contains("] of r, client 127.0.0.1:"), "{}", line("of r"));
    assert!(line("of r").ends_with(", worker=0 GET /my"), "{}", line("of r"));
    assert!(line("of s").contains("[perl:error] [pid ") && line("of s").ends_with("] of s"), "{}", line("of s"));
    assert!(line("warned").ends_with("] warned") && line("warned").contains("[perl:warn]"));
    assert!(line("of log").contains("[client 127.0.0.1:") && line("of log").ends_with(" worker=0 GET /my: of log"));
    assert_eq!(line("bare"), "bare");
    let crit = line("of rerror");
    assert!(crit.contains("[perl:crit]") && crit.contains("] (20007)No time was provided"), "{crit}");
    assert!(crit.contains(": [client 127.0.0.1:") && crit.contains("] of rerror, client"), "{crit}");
    assert!(line("shown").contains("[perl:notice]") && !log.contains("hidden"));
}

#[test]
fn a_program_that_puts_a_level_back_gets_the_configured_one() {
    let code = "use Apache2::ServerRec ();\nuse Apache2::Log ();\nuse Apache2::Const -compile => qw(:log);\n\
        sub handler { my $r = shift; my $s = $r->server; my $before = $s->loglevel; $s->loglevel(Apache2::Const::LOG_ERR);\n\
        $s->log->warn('hidden'); $s->loglevel($before); $s->log->debug(\"shown $before\"); 0 }";
    let server = site(code).serve(&format!("{}\nLogLevel trace8\n", conf("")));
    server.get("/my");
    server.logged("shown 15");
    assert!(!server.log().contains("hidden"), "{}", server.log());
}
