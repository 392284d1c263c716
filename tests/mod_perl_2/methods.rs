//! What `check --compat` knows of mod_perl 2's methods is what the classes of a server that runs have: src/compat/generation_2.txt.

use super::serve;

/// A line for each class: its name and what can be called on it, inherited methods too. Apache2::compat is left out, which puts methods
/// of mod_perl 1 among them, and so are the classes of constants.
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
    for my $module (modules()) { eval "require $module; 1" or ($@ =~ /not offered|is missing/ or warn $@) }
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
fn what_is_promised_of_methods_is_what_the_classes_have() {
    let said = serve(LIST, "").text("/my");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/compat/generation_2.txt");
    if std::env::var_os("CAMELEER_BLESS").is_some() {
        std::fs::write(path, &said).expect("written");
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    for (said, known) in said.lines().zip(known.lines()) {
        assert_eq!(said, known, "bless it: CAMELEER_BLESS=1");
    }
    assert_eq!(said.lines().count(), known.lines().count(), "bless it: CAMELEER_BLESS=1");
    assert!(said.contains("Apache2::RequestRec ") && said.contains("APR::Table "), "{said}");
}
