//! Methods of mod_perl 2: all that ModPerl::MethodLookup lists exist here. The list of `check --compat`,
//! tools/compat/src/generation_2.txt, matches the classes of a running server.

use super::serve;

/// Prints a line for each class: its name and its methods, including inherited ones. Classes of constants are left out.
/// Apache2::compat is left out, too, because it adds methods of mod_perl 1.
const LIST: &str = r#"
use B ();
use File::Find ();
use mro ();
sub modules {
    my %found;
    for my $folder (grep { -e "$_/Cameleer/ModPerl2.pm" || -e "$_/Cameleer.pm" } @INC) {
        File::Find::find({ no_chdir => 1, wanted => sub {
            my ($name) = m{\A\Q$folder\E/((?:Apache2|APR|ModPerl)(?:/.*)?)\.pm\z} or return;
            $found{$name =~ s{/}{::}gr} = 1 unless $name =~ /compat|Const\b/ } }, $folder);
    }
    return sort keys %found;
}
sub classes {
    my ($package) = @_;
    no strict 'refs';
    return $package, map { classes("${package}::" . s/::\z//r) } grep { /\A\w+::\z/ } sort keys %{"${package}::"};
}
sub is_method {
    my ($class, $name) = @_;
    no strict 'refs';
    return 0 if $name !~ /\A[A-Za-z]\w*\z/ || $name =~ /\A(?:BEGIN|CLONE|CLONE_SKIP|DESTROY|import)\z/ || !defined &{"${class}::$name"};
    return B::svref_2object(\&{"${class}::$name"})->GV->STASH->NAME =~ /\A(?:Apache2?|APR|ModPerl|Cameleer)(?:::|\z)/;
}
sub handler {
    my $r = shift;
    for my $module (modules()) { eval "require $module; 1" or ($@ =~ /not available|is missing/ or warn $@) }
    for my $class (map { classes($_) } qw(APR Apache2 ModPerl)) {
        next if $class =~ /Const\b|compat|::Differing|::Tied|::Own|XSLoader|APR::Request::(?:Cookie::Header|Decode|Handle|Multipart|Parser::|Spool|Store|Table|Value)/;
        my %names;
        no strict 'refs';
        for my $at (@{ mro::get_linear_isa($class) }) { $names{$_} = 1 for grep { is_method($at, $_) } keys %{"${at}::"} }
        $r->print(join(' ', $class, sort keys %names), "\n") if %names;
    }
    return 0;
}
"#;

#[test]
fn the_classes_have_the_promised_methods() {
    let body = serve(LIST, "").text("/my");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/compat/src/generation_2.txt");
    if std::env::var_os("CAMELEER_BLESS").is_some() {
        std::fs::write(path, &body).expect("written");
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    for (found, known) in body.lines().zip(known.lines()) {
        assert_eq!(found, known, "bless it: CAMELEER_BLESS=1");
    }
    assert_eq!(body.lines().count(), known.lines().count(), "bless it: CAMELEER_BLESS=1");
    assert!(body.contains("Apache2::RequestRec ") && body.contains("APR::Table "), "{body}");
}

/// Methods in mod_perl 2's own list that this server cannot provide: they return structures of httpd that Perl code
/// cannot use.
const NOT_OURS: [&str; 6] = [
    "Apache2::Connection::sbh",
    "Apache2::Module::remove_loaded_module",
    "Apache2::RequestRec::allowed_methods",
    "Apache2::RequestRec::allowed_xmethods",
    "Apache2::RequestRec::send_mmap",
    "Apache2::ServerRec::context",
];

#[test]
fn every_method_of_mod_perl_2s_own_list_is_there() {
    let code = r#"
        use ModPerl::MethodLookup ();
        sub handler {
            my $r = shift;
            ModPerl::MethodLookup::preload_all_modules();
            for my $module (sort(ModPerl::MethodLookup::avail_modules())) {
                my ($hint, @methods) = ModPerl::MethodLookup::lookup_module($module);
                for my $method (@methods) {
                    next if $method eq 'DESTROY';
                    my ($class) = $hint =~ /^\Q$method\E +([A-Z]\S*)$/m;
                    $class //= $module;
                    no strict 'refs';
                    $r->print("${class}::$method\n") unless defined &{"${module}::$method"} || $class->can($method);
                }
            }
            return 0;
        }
        "#;
    let server = serve(code, "");
    let missing = server.text("/my");
    let missing: Vec<&str> = missing.lines().collect();
    assert_eq!(missing, NOT_OURS);
    assert!(!server.log().contains("was not loaded"), "{}", server.log());
}

#[test]
fn the_module_of_a_method_can_be_looked_up() {
    let code = r#"
        use ModPerl::MethodLookup;
        sub handler {
            my $r = shift;
            my @asked = (['construct_url'], ['APR::Bucket::read', $r], ['read', 'APR::Bucket'], ['read'], ['read', 'My'], ['header_in'], ['nope']);
            for (@asked) { my ($hint, @modules) = ModPerl::MethodLookup::lookup_method(@$_); $r->print("$hint(@modules)\n") }
            my (undef, @methods) = ModPerl::MethodLookup::lookup_object($r);
            $r->print(scalar(grep { /\A(?:construct_url|print)\z/ } @methods), "\n");
            return 0;
        }
        "#;
    let expected = "The method construct_url needs its module:\n\tuse Apache2::URI ();\n(Apache2::URI)\n\
        The method read needs its module:\n\tuse Apache2::RequestIO ();\n(Apache2::RequestIO)\n\
        The method read needs its module:\n\tuse APR::Bucket ();\n(APR::Bucket)\n\
        Several modules have the method read; load the one for your object:\n\tuse APR::Bucket ();\n\tuse Apache2::Filter ();\n\
        \tuse Apache2::RequestIO ();\n(APR::Bucket Apache2::Filter Apache2::RequestIO)\n\
        My has no method read; modules that have it: APR::Bucket, Apache2::Filter, Apache2::RequestIO\n()\n\
        header_in is a method of mod_perl 1, use headers_in instead, which mod_perl 1 has, too\n\
        The method headers_in needs its module:\n\tuse Apache2::RequestRec ();\n(Apache2::RequestRec)\n\
        No module of mod_perl 2 has a method nope\n()\n2\n";
    assert_eq!(serve(code, "").text("/my"), expected);
}
