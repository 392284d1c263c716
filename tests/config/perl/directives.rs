//! Directives that Perl modules define.

use super::{check, site};

const COLORS: &str = r#"package Colors;
use strict;
use Apache::ModuleConfig ();
use Apache::Constants qw(OK);
use DynaLoader ();
our @ISA = 'DynaLoader';
our $VERSION = '1.0';
__PACKAGE__->bootstrap($VERSION) if $ENV{MOD_PERL};

sub DIR_CREATE { return bless { colors => [] }, shift }
sub DIR_MERGE {
    my ( $base, $new ) = @_;
    return bless { %$base, %$new, colors => [ @{ $base->{colors} }, @{ $new->{colors} } ] }, ref $base;
}
sub SERVER_CREATE { return bless { fallback => 'none' }, shift }

sub Color ($$$)     { my ( $c, $parms, $color ) = @_; die "no $color here\n" if $color eq 'pink'; $c->{color} = $color }
sub Colors ($$@)    { my ( $c, $parms, $color ) = @_; push @{ $c->{colors} }, $color }
sub ColorPair ($$$;$) { my ( $c, $parms, @pair ) = @_; $c->{pair} = join '+', @pair }
sub ColorFallback ($$$) { my ( $c, $parms, $name ) = @_; Apache::ModuleConfig->get( $parms->server )->{fallback} = $name }
sub Plain ($$)      { my ($c) = @_; $c->{plain} = 1 }
sub Path ($$$)      { my ( $c, $parms, $text ) = @_; $c->{path} = $parms->path . " $text" }

sub handler {
    my $r = shift;
    my $c = Apache::ModuleConfig->get($r);
    my $s = Apache::ModuleConfig->get( $r->server, __PACKAGE__ );
    $r->send_http_header('text/plain');
    $r->print( join '|', map { $_ // '-' } @$c{qw(color pair plain path)}, "@{$c->{colors}}", $s->{fallback} );
    return OK;
}
1;
"#;

#[test]
fn a_module_without_its_compiled_half_defines_directives_by_its_prototypes() {
    let server = site().file("lib/Colors.pm", COLORS).serve(
        r#"PerlLib lib
PerlModule Colors
SetHandler perl-script
PerlHandler Colors
Color red
Colors a b
ColorFallback "light grey"
<Location /in>
    Color "dark green"
    Colors c
    ColorPair one two
    Plain
    Path "of this"
</Location>"#,
    );
    assert_eq!(server.text("/"), "red|-|-|-|a b|light grey");
    assert_eq!(server.text("/in"), "dark green|one+two|1|/in of this|a b c|light grey");
    server.reload().succeeded();
    assert_eq!(server.text("/in"), "dark green|one+two|1|/in of this|a b c|light grey");
}

#[test]
fn a_table_names_directives_and_sections_with_lines_of_their_own() {
    let palette = r#"package Palette;
use Apache::ExtUtils qw(command_table);
use Apache::ModuleConfig ();
command_table( [
    { name => '<Palette', func => 'palette', args_how => 'RAW_ARGS' },
    { name => 'Paint', func => 'paint', args_how => 'TAKE12', errmsg => 'a color and perhaps a tool', cmd_data => 'data' },
    { name => 'Wet', func => 'wet', args_how => 'FLAG' },
] );
sub palette {
    my ( $c, $parms, $args ) = @_;
    $args =~ s/>$//;
    while ( $parms->getline( my $line ) ) { last if $line =~ m{^</Palette>}i; push @{ $c->{lines} }, "$args:$line" }
}
sub paint { my ( $c, $parms, @args ) = @_; $c->{paint} = join ',', ref $parms, $parms->info, $parms->cmd->name, @args }
sub wet   { $_[0]{wet} = $_[2] }
sub handler {
    my $r = shift;
    my $c = Apache::ModuleConfig->get($r);
    $r->print( join '|', @{ $c->{lines} }, $c->{paint}, $c->{wet} );
    return 0;
}
1;
"#;
    let site = site().file("lib/Palette.pm", palette);
    let conf = |paint: &str| {
        format!(
            "PerlLib lib\nPerlModule Palette\nSetHandler perl-script\nPerlHandler Palette\n\
             <Palette oil>\nnot \"a directive\n$x = 1\n</Palette>\n{paint}\nWet On"
        )
    };
    for (wrong, words) in [
        ("Paint", "Paint: a color and perhaps a tool, got 0"),
        ("Paint a b c", "got 3"),
        ("Wet Perhaps", "expected On or Off"),
    ] {
        site.configure(&conf(wrong));
        let output = site.cameleer(["check", "-f", "site.conf"]).failed(78, words);
        assert!(output.err.contains("site.conf:10: "), "{output:?}");
    }
    let server = site.serve(&conf("Paint red 'wide brush'"));
    assert_eq!(server.text("/"), "oil:not \"a directive|oil:$x = 1|Apache::CmdParms,data,Paint,red,wide brush|1");
}

#[test]
fn a_module_that_refuses_a_value_is_quoted_with_file_and_line() {
    let site = site().file("lib/Colors.pm", COLORS);
    site.configure("\nPerlLib lib\nPerlModule Colors\nColor pink\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "site.conf:4: no pink here");
    site.configure("\nPerlLib lib\nColor red\nPerlModule Colors\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "site.conf:3: Color: is not a directive");
    check("\nPerlLib lib\nPerlModule Who\nColor red\n").failed(78, "site.conf:4: Color: is not a directive");
}

#[test]
fn every_way_to_load_a_module_brings_its_directives() {
    let site = site().file("lib/Colors.pm", COLORS).file("start.pl", "use Colors; 1;");
    let lines = [
        "PerlModule Colors",
        "PerlRequire start.pl",
        "PerlScript start.pl",
        "PerlEval 'require Colors'",
        "PerlHandler +Colors",
    ];
    for line in lines {
        site.configure(&format!("PerlLib lib\n{line}\nColor red\n"));
        site.cameleer(["check", "-f", "site.conf"]).succeeded();
    }
}
