//! Apache::Peek, RegistryLexInfo, Leak, Debug, StatINC, Symbol, Timeit.

use super::{CONF, URL, script, with_script};
use crate::support::{Server, Site};

#[test]
fn peek_dumps_to_the_client() {
    let server = script(
        "use Apache::Peek; my $v = 'Chris'; $v =~ /\\w/g; print 'pos: ', pos $v, \"\\n\"; Dump($v); DumpArray(1, 7, 'x');",
        "",
    );
    let text = server.text(URL);
    assert!(text.starts_with("pos: 1\nSV = PVMG("), "{text}");
    assert!(text.contains("\"Chris\"\\0") && text.contains("MG_TYPE = PERL_MAGIC_regex_global(g)"), "{text}");
    assert!(text.contains("Elt No. 1\nSV = PV("), "{text}");
    assert!(!server.log().contains("SV ="), "{}", server.log());
}

#[test]
fn a_preloaded_variable_has_one_address_in_all_workers() {
    let server = Site::new()
        .file("lib/MyShared.pm", "package MyShared; use Apache::Peek; my $readonly = 'Chris'; sub match { $readonly =~ /\\w/g } sub dump { Dump($readonly) } 1;")
        .script("scripts/test.pl", "use MyShared; print \"Content-type: text/plain\\r\\n\\r\\nPID: $$\\n\"; MyShared::match(); MyShared::dump();")
        .serve(&CONF.replace("MaxClients 1", "MaxClients 2").replace("StartServers 1", "StartServers 2").replace("PerlLib lib", "PerlLib lib\nPerlModule MyShared"));
    let dumps: std::collections::BTreeMap<String, String> =
        crate::support::eventually("both workers have answered", || {
            let texts: Vec<String> = (0..20)
                .map(|_| server.connect())
                .collect::<Vec<_>>()
                .iter_mut()
                .map(|c| c.ask(crate::support::Request::get(URL)).text())
                .collect();
            let by_pid: std::collections::BTreeMap<_, _> = texts
                .iter()
                .filter_map(|t| t.split_once('\n'))
                .map(|(pid, dump)| (pid.to_owned(), dump.to_owned()))
                .collect();
            (!by_pid.is_empty()).then_some(by_pid)
        });
    let addresses: std::collections::BTreeSet<&str> =
        dumps.values().filter_map(|d| d.split(" at ").nth(1)?.lines().next()).collect();
    assert_eq!(addresses.len(), 1, "{dumps:?}");
}

#[test]
fn devel_peek_into_a_file_that_stderr_was_opened_to() {
    let server = script(
        "use Devel::Peek; my $readonly = 'Chris'; open OLDERR, '>&STDERR'; open STDERR, '>', '@DIR@/dump' or die; Dump($readonly); close STDERR; open STDERR, '>&OLDERR'; print 'done';",
        "",
    );
    assert_eq!(server.text(URL), "done");
    assert!(server.site.read("dump").contains("\"Chris\""), "{}", server.site.read("dump"));
}

#[test]
fn lex_info_shows_what_a_run_changes() {
    let server = Site::new()
        .script("scripts/count.pl", "print \"Content-Type: text/plain\\n\\nsecret\"; my $counter = 40 unless $counter; my $constant = 'still'; bump(); sub bump { $counter += 2 } ")
        .serve(&format!("{CONF}Alias /lex/ \"@DIR@/scripts/\"\n<Location /lex>\nSetHandler perl-script\nPerlHandler Apache::RegistryLexInfo\nOptions +ExecCGI\n</Location>"));
    server.text("/lex/count.pl");
    let text = server.text("/lex/count.pl");
    assert!(text.contains("Lexical variables of /lex/count.pl"), "{text}");
    assert!(text.contains("$counter in sub bump\n-   IV = 42\n+   IV = 44"), "{text}");
    assert!(!text.contains("$constant in") && !text.contains("secret"), "{text}");
}

#[test]
fn leak_counts_what_is_not_freed() {
    let server = script(
        "use Apache::Leak qw(leak_test NoteSV CheckSV); our @kept; print leak_test { my $x = { a => 1 } }; print ' ', leak_test { push @kept, [1, 2] }; NoteSV(my $n); my @more = map { [] } 1 .. 50; print ' ', CheckSV($n) >= 100 ? 'many' : 'few';",
        "",
    );
    let text = server.text(URL);
    let words: Vec<&str> = text.split(' ').collect();
    assert_eq!((words[0], words[2]), ("0", "many"), "{text}");
    assert!(words[1].parse::<u32>().is_ok_and(|n| (3..20).contains(&n)), "{text}");
    server.logged("values were made and not freed at");
}

#[test]
fn debug_is_a_page_where_everything_is_escaped() {
    let server = Site::new()
        .script("scripts/test.pl", "use Apache::Debug; shift->dump(500, 'because <b>')")
        .serve(&format!("{CONF}PerlSetVar Name <value>"));
    let request = crate::support::Request::get(URL).header("X-Evil", "<script>");
    let text = server.send(request).is(500).text();
    assert!(
        text.contains("because &lt;b&gt;") && text.contains("&lt;value&gt;") && text.contains("&lt;script&gt;"),
        "{text}"
    );
    assert!(!text.contains("<script>"), "{text}");
}

fn reloading(module: &str) -> Server {
    let site = with_script(Site::new(), "use Apache::StatINC; Apache::StatINC::handler($r); require Word; print Word::word(), ' ', Word->can('old') ? 'old' : '-';").file("lib/Word.pm", module);
    site.serve(&format!("{CONF}PerlModule Apache::StatINC Word\nPerlSetVar StatINC_Debug 1"))
}

#[test]
fn a_changed_module_is_loaded_again() {
    let server = reloading("package Word; sub word { 'first' } sub old { 1 } 1;");
    assert_eq!(server.text(URL), "first old");
    server.site.write("lib/Word.pm", "package Word; sub word { 'second' } 1;");
    assert_eq!(server.text(URL), "second old");
    server.logged("loaded Word.pm again");
    server.site.write("lib/Word.pm", "package Word; sub word { 'third' ");
    assert_eq!(server.text(URL), "second old");
    server.logged("Word.pm, the loaded version stays: ");
}

#[test]
fn symbol_empties_what_a_package_defined_itself() {
    let server = script(
        "package Aa; use Apache::Symbol; use POSIX 'floor'; sub one { 1 } sub two { 2 } use constant PI => 3; Apache::Symbol::undef_functions('Aa', '::two$');\
         print join ' ', (defined &Aa::one ? 'one' : '-'), (defined &Aa::two ? 'two' : '-'), floor(2.5), Apache::Symbol::cv_const_sv(\\&PI) // 'undef';",
        "",
    );
    assert!(server.text(URL).starts_with("- two 2"), "{}", server.text(URL));
}

#[test]
fn timeit_logs_the_clock_and_the_processor() {
    let server = script("use Apache::Timeit; Apache::Timeit::handler($r); print 'x';", "");
    server.text(URL);
    let line = server.logged("timing request for /perl/test.pl:");
    assert!(line.contains("wallclock secs (") && line.contains("CPU)"), "{line}");
}
