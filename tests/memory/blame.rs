use serde_json::Value;

use crate::support::{Server, Site, eventually};

/// Ways to unshare memory from the mod_perl documentation, each with at least 2 MB of package data.
const DATA: &str = "package My::Data;\n\
    our @NUMBERS = (1 .. 100_000);\n\
    our @TEXTS = map { \"text $_\" } 1 .. 50_000;\n\
    our @REFERRED = map { [$_] } 1 .. 50_000;\n\
    my %CACHE = map { $_ => 'x' x 50 } 1 .. 20_000;\n\
    sub read_numbers { my $length = 0; $length += length $_ for @NUMBERS; $length }\n\
    sub search { for (@TEXTS) { /t/g } 1 }\n\
    sub refer { my @copies = @REFERRED; scalar @copies }\n\
    sub hold { push @My::Held::ALL, \\$_ for @REFERRED; 1 }\n\
    sub write { $_ = 'y' x 50 for values %CACHE; 1 }\n\
    sub keep { $My::Kept::PAGE = 'z' x 3_000_000; 1 }\n\
    sub grow { my $self = bless {}, 'My::Leaked'; $self->{self} = $self; $self->{text} = 'l' x 2_000_000; 1 }\n1;\n";

fn serve() -> Server {
    let app = "use My::Data; sub { my ($sub) = $_[0]{PATH_INFO} =~ m{/(\\w+)}; [200, [], [My::Data->can($sub)->()]] }";
    let server = Site::new().file("lib/My/Data.pm", DATA).file("app.psgi", app).serve(
        "StartServers 2\nMinSpareServers 1\nMaxSpareServers 2\nMaxClients 2\nPerlLib lib\n\
         <Location />\nPsgiApp app.psgi\n</Location>",
    );
    server.until_idle(2);
    server
}

/// The owners in `mem --blame`, the largest first.
fn blame(server: &Server) -> Vec<Value> {
    let blame = eventually("both workers have no request, and are asked", || {
        let output = server.control(["mem", "--blame", "--json"]).succeeded();
        let blame: Value = serde_json::from_str(&output.out).expect("JSON");
        (blame["asked"] == 2).then_some(blame)
    });
    blame["owners"].as_array().expect("a list").clone()
}

/// Checks that `name` owns the most private memory after a request for `sub`, at least `at_least` bytes of it in the
/// field `why`.
#[track_caller]
fn is_to_blame(sub: &str, name: &str, why: &str, at_least: u64) {
    let server = serve();
    let bytes = |owner: &Value, of: &str| owner[of].as_u64().unwrap_or_else(|| panic!("bytes: {owner}"));
    let before = blame(&server);
    let had = before.iter().find(|owner| owner["name"] == name).map_or(0, |owner| bytes(owner, "private"));
    assert!(had < 300_000, "{name} has {had} before anybody touched it");
    server.get(&format!("/{sub}")).is(200);
    let owners = blame(&server);
    let first = owners.first().expect("somebody has private memory");
    assert_eq!(first["name"], name, "{:#?}", &owners[..3]);
    assert!(bytes(first, why) >= at_least, "{first}");
    let table = server.control(["mem", "--blame"]).succeeded().out;
    assert!(table.lines().nth(3).expect("a first owner").ends_with(name), "{table}");
}

#[test]
fn numbers_that_are_read_as_strings_are_named() {
    is_to_blame("read_numbers", "My::Data @NUMBERS", "written", 2_000_000);
}

#[test]
fn texts_in_which_a_pattern_keeps_its_place_are_named() {
    is_to_blame("search", "My::Data @TEXTS", "written", 1_000_000);
}

#[test]
fn data_with_temporary_references_is_restored() {
    is_to_blame("refer", "My::Data @REFERRED", "restored", 1_000_000);
}

#[test]
fn data_with_new_references_is_counted() {
    is_to_blame("hold", "My::Data @REFERRED", "counted", 1_000_000);
}

#[test]
fn a_lexical_of_a_file_is_named_with_its_package() {
    is_to_blame("write", "My::Data my %CACHE", "written", 1_000_000);
}

#[test]
fn data_from_after_the_fork_is_new() {
    is_to_blame("keep", "My::Kept $PAGE", "new", 3_000_000);
}

#[test]
fn data_without_a_variable_has_the_name_of_its_class() {
    is_to_blame("grow", "(no variable) My::Leaked", "new", 2_000_000);
}

#[test]
fn two_searches_at_once_both_find_all_pages() {
    let server = serve();
    server.get("/keep").is(200);
    std::thread::scope(|scope| {
        for search in [(); 2].map(|()| scope.spawn(|| blame(&server))) {
            let owners = search.join().expect("a search that succeeds");
            let kept = owners.iter().find(|owner| owner["name"] == "My::Kept $PAGE").expect("an owner");
            assert!(kept["new"].as_u64() >= Some(3_000_000), "{kept}");
        }
    });
}

#[test]
fn all_private_memory_is_named_by_the_kind_of_its_mapping() {
    let server = serve();
    server.get("/keep").is(200);
    let blame = eventually("both workers have no request, and are asked", || {
        let output = server.control(["mem", "--blame", "--json"]).succeeded();
        let blame: Value = serde_json::from_str(&output.out).expect("JSON");
        (blame["asked"] == 2).then_some(blame)
    });
    let kinds = blame["kinds"].as_object().expect("an object");
    let bytes = |kind: &str| kinds.get(kind).and_then(Value::as_u64).unwrap_or(0);
    let process = bytes("heap") + bytes("anonymous memory");
    assert!(process > 2_000_000, "the page of 3 MB: {kinds:?}");
    assert!(bytes("page tables") > 0 && bytes("stacks in the kernel") == 2 * 16 * 1024, "{kinds:?}");
    assert!(kinds.keys().any(|kind| kind.starts_with("data of ")), "{kinds:?}");
    let table = server.control(["mem", "--blame"]).succeeded().out;
    assert!(table.contains("kind of mapping") && table.contains("  page tables\n"), "{table}");
}
