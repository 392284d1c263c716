//! Argument styles of directives of Perl modules, and the contexts where they are allowed.

use super::site;

/// A handler that prints the arguments of each directive, in the order of the lines.
const TAKER: &str = r#"package Taker;
use strict;
use Apache::Constants ();
use Apache::ExtUtils ();
use Apache::ModuleConfig ();
sub note { my ( $c, $parms, @args ) = @_; $c->{said} .= '[' . join( ',', @args ) . ']' }
sub handler { my $r = shift; $r->print( Apache::ModuleConfig->get($r)->{said} ); return 0 }
"#;

/// An argument style of a directive, such as `TAKE1`.
struct Way {
    how: &'static str,
    /// The equivalent prototype; empty where none exists.
    prototype: &'static str,
    /// Arguments of a directive, and the arguments that its sub receives.
    good: &'static [(&'static str, &'static str)],
    bad: &'static [&'static str],
}

const WAYS: [Way; 12] = [
    Way { how: "NO_ARGS", prototype: "$$", good: &[("", "[]")], bad: &["a"] },
    Way { how: "TAKE1", prototype: "$$$", good: &[("\"a b\"", "[a b]")], bad: &["", "a b"] },
    Way { how: "TAKE2", prototype: "$$$$", good: &[("a b", "[a,b]")], bad: &["a", "a b c"] },
    Way { how: "TAKE3", prototype: "$$$$$", good: &[("a b c", "[a,b,c]")], bad: &["a b", "a b c d"] },
    Way { how: "TAKE12", prototype: "$$$;$", good: &[("a", "[a]"), ("a b", "[a,b]")], bad: &["", "a b c"] },
    Way { how: "TAKE23", prototype: "$$$$;$", good: &[("a b", "[a,b]"), ("a b c", "[a,b,c]")], bad: &["a", "a b c d"] },
    Way {
        how: "TAKE123",
        prototype: "$$$;$$",
        good: &[("a", "[a]"), ("a b", "[a,b]"), ("a b c", "[a,b,c]")],
        bad: &["", "a b c d"],
    },
    Way { how: "TAKE13", prototype: "", good: &[("a", "[a]"), ("a b c", "[a,b,c]")], bad: &["", "a b", "a b c d"] },
    Way { how: "ITERATE", prototype: "$$@", good: &[("a b c", "[a][b][c]")], bad: &[""] },
    Way { how: "ITERATE2", prototype: "$$@;@", good: &[("k a b", "[k,a][k,b]")], bad: &["", "k"] },
    Way { how: "RAW_ARGS", prototype: "", good: &[("a \"b  c\" <d>", "[a \"b  c\" <d>]"), ("", "[]")], bad: &[] },
    Way { how: "FLAG", prototype: "", good: &[("On", "[1]"), ("off", "[0]")], bad: &["", "yes", "On Off"] },
];

/// A module with up to three directives for each style: by its name, by its number, by the sub's prototype.
fn module() -> String {
    let mut text = TAKER.to_owned();
    for Way { how, prototype, .. } in &WAYS {
        text += &format!("sub Name{how} {{ goto &note }}\nsub Number{how} {{ goto &note }}\n");
        text += &format!(
            "Apache::ExtUtils::command_table([ {{ name => 'Name{how}', args_how => '{how}' }}, \
             {{ name => 'Number{how}', args_how => Apache::Constants::{how}() }} ]);\n"
        );
        if !prototype.is_empty() {
            text += &format!(
                "{{ no warnings; sub Proto{how} ({prototype}) {{ goto &note }} }}\nApache::ExtUtils::command_table(['Proto{how}']);\n"
            );
        }
    }
    text + "1;\n"
}

/// Names of the directives for one style.
fn names(way: &Way) -> Vec<String> {
    let spelt: &[&str] = if way.prototype.is_empty() { &["Name", "Number"] } else { &["Name", "Number", "Proto"] };
    spelt.iter().map(|spelt| format!("{spelt}{}", way.how)).collect()
}

const HEAD: &str = "PerlLib lib\nPerlModule Taker\nSetHandler perl-script\nPerlHandler Taker\n";

#[test]
fn each_argument_style_passes_its_arguments() {
    let (mut lines, mut expected) = (String::new(), String::new());
    for way in &WAYS {
        for name in names(way) {
            for (args, calls) in way.good {
                lines += &format!("{name} {args}\n");
                expected += calls;
            }
        }
    }
    let server = site().file("lib/Taker.pm", &module()).serve(&format!("{HEAD}{lines}"));
    assert_eq!(server.text("/"), expected);
}

#[test]
fn a_wrong_number_of_arguments_is_reported_with_file_and_line() {
    let site = site().file("lib/Taker.pm", &module());
    for way in &WAYS {
        for args in way.bad {
            // All three names use the same code. The last one is the directive with a prototype, if it exists.
            let name = names(way).pop().expect("two at least");
            site.configure(&format!("\n{HEAD}{name} {args}"));
            let count = args.split_whitespace().count();
            let what = if *args == "yes" { "expected On or Off, got \"yes\"".into() } else { format!("got {count}") };
            let output = site.cameleer(["check", "-f", "site.conf"]).failed(78, &format!("site.conf:6: {name}: "));
            assert!(output.err.contains(&what), "{name} {args}: {output:?}");
        }
    }
}

#[test]
fn a_section_can_be_read_from_a_handle() {
    let reader = r#"package Reader;
use Apache::ExtUtils qw(command_table);
use Apache::ModuleConfig ();
command_table( [ '<Read', '<ReadChars' ] );
sub Read ($$$;*) { my ( $c, $parms, $args, $fh ) = @_; $c->{read} .= "$args|"; while ( my $line = <$fh> ) { last if $line =~ m{^</}; $c->{read} .= $line } }
sub ReadChars ($$$;*) { my ( $c, $parms, $args, $fh ) = @_; while ( defined( my $char = getc $fh ) ) { last if $char eq '<'; $c->{read} .= "($char)" } }
sub handler { my $r = shift; $r->print( Apache::ModuleConfig->get($r)->{read} ); return 0 }
1;
"#;
    let server = site().file("lib/Reader.pm", reader).serve(
        "PerlLib lib\nPerlModule Reader\nSetHandler perl-script\nPerlHandler Reader\n\
         <Read some \"thing\">\nfirst $line\n  second\n</Read>\n<ReadChars>\nab\n</ReadChars>",
    );
    assert_eq!(server.text("/"), "some \"thing\">|first $line\n  second\n(a)(b)(\n)");
}

#[test]
fn a_table_in_a_file_beside_the_module_is_read_at_bootstrap() {
    let side = "package Side;\nuse Apache::ModuleConfig ();\nuse DynaLoader ();\nour @ISA = 'DynaLoader';\n\
        __PACKAGE__->bootstrap;\nsub one { $_[0]{one} = $_[1]->info . $_[2] }\nsub Two ($$$$) { $_[0]{two} = \"$_[2]+$_[3]\" }\n\
        sub NotThere ($$$) { die }\n\
        sub handler { my $r = shift; my $c = Apache::ModuleConfig->get($r); $r->print(\"$c->{one} $c->{two}\"); 0 }\n1;\n";
    let table = "( { name => 'SideOne', func => 'one', args_how => 'TAKE1', cmd_data => 'data:' }, 'Two' )";
    let site = site().file("lib/Side.pm", side).file("lib/Side.directives", table);
    site.configure("\nPerlLib lib\nPerlModule Side\nNotThere x");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "site.conf:4: NotThere: is not a directive");
    let server =
        site.serve("PerlLib lib\nPerlModule Side\nSetHandler perl-script\nPerlHandler Side\nSideOne x\nTwo y z");
    assert_eq!(server.text("/"), "data:x y+z");
}

#[test]
fn the_table_of_a_directive_sets_its_contexts() {
    let placed = "package Placed;\nuse Apache::Constants qw(:override);\nuse Apache::ExtUtils qw(command_table);\n\
        command_table([ { name => 'Outside', req_override => RSRC_CONF }, { name => 'Inside', req_override => ACCESS_CONF },\n\
        { name => 'Both', req_override => RSRC_CONF | ACCESS_CONF }, { name => 'Everywhere', req_override => OR_ALL } ]);\n\
        sub Outside ($$$) {} sub Inside ($$$) {} sub Both ($$$) {} sub Everywhere ($$$) {}\n1;\n";
    let site = site().file("lib/Placed.pm", placed);
    let check = |line: &str| {
        site.configure(&format!("\nPerlLib lib\nPerlModule Placed\n{line}"));
        site.cameleer(["check", "-f", "site.conf"])
    };
    for line in [
        "Outside x\n<VirtualHost *>\nOutside y\n</VirtualHost>",
        "<Location /x>\nInside x\n</Location>\n<VirtualHost *>\n<Directory />\nInside x\n</Directory>\n</VirtualHost>",
        "Both x\n<Location /x>\nBoth x\n</Location>",
        "Everywhere x\n<Location /x>\nEverywhere x\n</Location>",
    ] {
        check(line).succeeded();
    }
    check("<Location /x>\nOutside x\n</Location>")
        .failed(78, "site.conf:5: Outside: is not allowed in a section; write it outside of all but <VirtualHost>");
    check("Inside x")
        .failed(78, "site.conf:4: Inside: is not allowed outside of sections; write it in a <Directory> or <Location>");
}

#[test]
fn objects_of_servers_and_of_folders_are_made_and_merged_by_the_module() {
    let merging = r#"package Merging;
use strict;
use Apache::ModuleConfig ();
use Apache::ExtUtils qw(command_table);
command_table( [ 'Names', 'Site' ] );
sub SERVER_CREATE { my ( $class, $parms ) = @_; return bless { site => ['created'], by => ref $parms }, $class }
sub SERVER_MERGE { my ( $base, $new ) = @_; return bless { site => [ @{ $base->{site} }, 'merged', @{ $new->{site} } ] }, ref $base }
sub DIR_CREATE { my ( $class, $parms ) = @_; return bless { names => [], path => $parms->path }, $class }
sub DIR_MERGE { my ( $base, $new ) = @_; return bless { names => [ @{ $base->{names} }, @{ $new->{names} } ], path => $new->{path} }, ref $base }
sub Names ($$@) { my ( $c, $parms, $name ) = @_; push @{ $c->{names} }, $name }
sub Site ($$$) { my ( $c, $parms, $name ) = @_; push @{ Apache::ModuleConfig->get( $parms->server )->{site} }, $name }
sub handler {
    my $r = shift;
    my ( $c, $s ) = ( Apache::ModuleConfig->get($r), Apache::ModuleConfig->get( $r->server ) );
    $r->print( "@{ $c->{names} } $c->{path}|@{ $s->{site} }" );
    return 0;
}
1;
"#;
    let server = site().file("lib/Merging.pm", merging).serve(
        "PerlLib lib\nPerlModule Merging\nSetHandler perl-script\nPerlHandler Merging\nNames main\nSite main\n\
         <Location /a>\nNames a A\n</Location>\n\
         <VirtualHost *>\nServerName own.example\nSite own\nNames own\n<Location /a/b>\nNames b\n</Location>\n</VirtualHost>\n\
         <VirtualHost *>\nServerName silent.example\n</VirtualHost>\n",
    );
    let ask = |host: &str, target: &str| server.send(crate::support::Request::get(target).header("Host", host)).text();
    assert_eq!(ask("own.example", "/"), "main own |created main merged created own");
    assert_eq!(ask("own.example", "/a/b"), "main own a A b /a/b|created main merged created own");
    assert_eq!(ask("silent.example", "/a"), "main a A /a|created main");
}
