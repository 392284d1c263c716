//! Apache::Status, B::TerseSize, Apache::Symdump.

use super::CONF;
use crate::support::{Server, Site, until};

fn serve(site: Site, before: &str, inside: &str) -> Server {
    site.serve(&format!("{before}\n{CONF}<Location /perl-status>\nSetHandler perl-script\nPerlHandler Apache::Status\n{inside}\n</Location>"))
}

const OO: &str = "use CGI ();\nmy $q = CGI->new;\nprint $q->header;\nprint $q->b(\"Hello\");\n";
const PROCEDURAL: &str = "use CGI qw(header b);\nprint header();\nprint b(\"Hello\");\n";

/// Bytes and operators in the line that begins with `name`.
fn sizes(page: &str, name: &str) -> (u64, u64) {
    let line = page
        .lines()
        .find(|line| line.trim_start_matches("<pre>").split(' ').next() == Some(name))
        .unwrap_or_else(|| panic!("{name} in {page}"));
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

#[test]
fn the_menu_leads_to_loaded_modules() {
    let server = serve(
        Site::new().file("lib/My/Mod.pm", "package My::Mod; our $VERSION = '1.25'; 1;"),
        "",
        "PerlModule My::Mod",
    );
    let menu = server.text("/perl-status");
    for (name, title) in [
        ("inc", "Loaded Modules"),
        ("rgysubs", "Compiled Registry Scripts"),
        ("symdump", "Symbol Table Dump"),
        ("isa_tree", "ISA Tree"),
        ("env", "Environment"),
    ] {
        assert!(menu.contains(&format!("<a href=\"/perl-status?{name}\">{title}</a>")), "{title} in {menu}");
    }
    let page = server.text("/perl-status?inc");
    let row = page.lines().find(|line| line.contains("/My/Mod.pm")).unwrap_or_else(|| panic!("{page}"));
    assert!(
        row.contains("<a href=\"/perl-status/My::Mod\">My::Mod</a></td><td>1.25</td><td>") && row.contains(" 20"),
        "{row}"
    );
    assert!(server.text("/perl-status?myconfig").contains("Summary of my perl5"));
    assert!(server.text("/perl-status?hooks").contains("ChildInit"));
    assert!(server.text("/perl-status?symdump").contains("Apache::Status"));
    assert!(server.text("/perl-status?inh_tree").contains("Apache"));
}

#[test]
fn a_script_with_two_names_is_listed_under_both() {
    let site = Site::new().script("scripts/one.pl", "print \"Content-Type: text/plain\\n\\nx\";");
    std::os::unix::fs::symlink(site.path("scripts/one.pl"), site.path("scripts/two.pl")).expect("a link");
    let server = serve(site, "", "");
    assert!(server.text("/perl-status?rgysubs").contains("No script was compiled"));
    server.text("/perl/one.pl");
    server.text("/perl/two.pl");
    let page = server.text("/perl-status?rgysubs");
    assert!(
        page.contains(">Apache::ROOT::perl::one_2epl</a>") && page.contains(">Apache::ROOT::perl::two_2epl</a>"),
        "{page}"
    );
}

#[test]
fn memory_usage_of_scripts_with_objects_and_with_functions() {
    let site = Site::new().script("scripts/oo.pl", OO).script("scripts/mtd.pl", PROCEDURAL);
    let server = serve(
        site,
        "",
        "PerlSetVar StatusOptionsAll On\nPerlSetVar StatusTerse On\nPerlSetVar StatusTerseSize On\nPerlSetVar StatusTerseSizeMainSummary On\nPerlModule B::TerseSize",
    );
    server.text("/perl/oo.pl");
    server.text("/perl/mtd.pl");
    let page = server.text("/perl-status/Apache::ROOT::perl::oo_2epl");
    assert!(page.contains("/perl-status/Apache::ROOT::perl::oo_2epl?package_size\">Memory Usage</a>"), "{page}");
    let (oo, mtd) = (
        server.text("/perl-status/Apache::ROOT::perl::oo_2epl?package_size"),
        server.text("/perl-status/Apache::ROOT::perl::mtd_2epl?package_size"),
    );
    let ((oo_size, oo_ops), (mtd_size, mtd_ops)) = (sizes(&oo, "Totals:"), sizes(&mtd, "Totals:"));
    assert!(oo.contains(&format!("Totals: {oo_size} bytes | {oo_ops} OPs\n")), "{oo}");
    assert!(
        oo_size > 1000 && mtd_size > oo_size,
        "what functions import costs more than objects: {oo_size} {mtd_size}"
    );
    assert!(
        sizes(&oo, "handler").1 > sizes(&mtd, "handler").1,
        "and the calls of methods are the longer code: {oo_ops} {mtd_ops}"
    );
    assert!(sizes(&mtd, "header").0 > 100 && sizes(&mtd, "b").0 > 50, "{mtd}");
    let summary = server.text("/perl-status?main_size");
    assert!(server.text("/perl-status").contains("?main_size\">Memory Usage</a>"));
    assert!(summary.contains("/perl-status/CGI\">CGI</a>"), "{summary}");
}

const VALUES: &str = "package Val; our $text = '<script>alert(1)</script>'; our @list = (1, '<b>'); our %hash = (key => 'value'); sub add { my ($left, $right) = @_; return $left + $right } 1;";

#[test]
fn a_symbol_table_and_what_can_be_looked_at() {
    let server = serve(
        Site::new().file("lib/Val.pm", VALUES),
        "",
        "PerlModule Val B::TerseSize\nPerlSetVar StatusOptionsAll On",
    );
    let page = server.text("/perl-status/Val");
    assert!(page.contains("<h3>CODE</h3>\n<a href=\"/perl-status/Val::add/CODE?peek\">add</a>"), "{page}");
    assert!(page.contains("/perl-status/Val::text/SCALAR?dumper"), "{page}");
    for (url, has) in [
        ("Val::text/SCALAR?dumper", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("Val::list/ARRAY?dumper", "&lt;b&gt;"),
        ("Val::hash/HASH?peek", "SV = PVHV"),
        ("Val::add/CODE?deparse", "return $left + $right"),
        ("Val::add/CODE?terse", "leavesub"),
        ("Val::add/CODE?terse_size", "bytes | "),
        ("Val::add/CODE?lexinfo", "$left\n"),
    ] {
        let page = server.text(&format!("/perl-status/{url}"));
        assert!(page.contains(has), "{url}: {page}");
        assert!(!page.contains("<script>"), "{url}: {page}");
    }
}

#[test]
fn views_that_the_options_do_not_allow_are_refused() {
    let server = serve(Site::new().file("lib/Val.pm", VALUES), "", "PerlModule Val B::TerseSize");
    assert!(!server.text("/perl-status/Val").contains("SCALAR?"));
    for url in ["Val::text/SCALAR?dumper", "Val::text/SCALAR?peek", "Val?package_size", "Val::add/CODE?deparse"] {
        assert!(server.text(&format!("/perl-status/{url}")).contains("Not allowed here"), "{url}");
    }
    assert!(!server.text("/perl-status").contains("main_size"));
}

#[test]
fn input_of_a_client_is_neither_evaluated_nor_echoed() {
    let server = serve(Site::new(), "", "PerlSetVar StatusOptionsAll On");
    for url in ["%3Cscript%3E", "Val;system('x')", "No::Such::Package", "Val::x/CODE?deparse", "main::x'/SCALAR?dumper"]
    {
        let page = server.text(&format!("/perl-status/{url}"));
        assert!(page.contains("There is no") && !page.contains("<script>"), "{page}");
    }
    assert!(!server.text("/perl-status?symdump").contains("No::Such"), "nothing was made by asking");
}

#[test]
fn other_modules_add_pages() {
    let own = "package Own; Apache::Status->menu_item(own => 'Own <page>', sub { my ($r, $q) = @_; ['asked ', ref $r, ' ', $q->param('x') // 'undef'] }) if $INC{'Apache/Status.pm'}; 1;";
    let server =
        serve(Site::new().file("lib/Own.pm", own), "", "PerlModule Apache::Status Own Apache::Resource Apache::DBI");
    let menu = server.text("/perl-status");
    assert!(menu.contains("?own\">Own &lt;page&gt;</a>"), "{menu}");
    assert!(menu.contains("?rlimit\">Resource Limits</a>") && menu.contains("?DBI\">DBI connections</a>"), "{menu}");
    assert!(server.text("/perl-status?own&x=7").contains("asked Apache 7"));
    assert!(server.text("/perl-status?rlimit").contains("<td>RLIMIT_CPU</td><td>unlimited</td>"));
    assert!(server.text("/perl-status?DBI").contains("Datasource"));
}

#[test]
fn the_resource_page_needs_apache_status_loaded_first() {
    let server = serve(Site::new(), "PerlModule Apache::Resource Apache::Status", "");
    assert!(!server.text("/perl-status").contains("rlimit"));
}

#[test]
fn symdump_writes_what_a_request_added() {
    let site = Site::new()
        .file("logs/.keep", "")
        .file("lib/Sym.pm", "package Sym; use Apache::Symdump; sub handler { my $r = shift; ${'Sym::new_' . $r->args} = 1 if $r->args; $r->push_handlers(PerlLogHandler => \\&Apache::Symdump::handler); $r->send_http_header('text/plain'); $r->print($$); 0 } 1;");
    let server = site.serve(&format!("{CONF}<Location /sym>\nSetHandler perl-script\nPerlHandler Sym\n</Location>"));
    let pid = server.text("/sym");
    server.text("/sym?one");
    let second = format!("logs/symdump.{pid}.1");
    until("the second is written", || server.site.read(&second).contains("scalars Sym::new_one\n"));
    assert!(server.site.read(&format!("logs/symdump.{pid}.0")).contains("functions Sym::handler\n"));
    assert!(!server.site.read(&second).contains("functions Sym::handler\n"));
}

/// Requests every page that the menu and the pages of a package link to, with all options on.
#[test]
fn our_own_pages_leave_nothing_to_put_back() {
    let server = serve(
        Site::new().file("lib/My/Mod.pm", "package My::Mod; our $VERSION = '1.25'; sub handler { 0 } 1;"),
        "PerlModule B::TerseSize Apache::VMonitor Apache::Resource",
        "PerlModule My::Mod\nPerlSetVar StatusOptionsAll On\n</Location>\n<Location /monitor>\nSetHandler perl-script\nPerlHandler Apache::VMonitor\n\
         </Location>\n<Location /broken>\nSetHandler perl-script\nPerlHandler No::Such",
    );
    let links = regex::Regex::new("href=\"(/perl-status[^\"]*)\"").expect("a pattern");
    let linked =
        |page: &str| -> Vec<String> { links.captures_iter(page).map(|found| found[1].replace("&amp;", "&")).collect() };
    let mut pages = linked(&server.text("/perl-status"));
    assert!(pages.len() > 8, "{pages:?}");
    pages.extend(linked(&server.text("/perl-status/My::Mod")));
    pages.extend(["/perl-status?sig", "/monitor", "/perl-status/My::Mod"].map(str::to_owned));
    for page in pages {
        server.get(&page).is(200);
    }
    for error in ["/broken", "/nothing", "/perl-status/No::Package"] {
        server.get(error);
    }
    server.text("/perl-status");
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}
