//! Compiles the shim with the flags of the perl that it will embed.

use std::process::Command;

const FILES: [&str; 7] = ["boot.c", "call.c", "psgi.c", "io.c", "child.c", "state.c", "deadline.c"];

fn perl(code: &str) -> String {
    let output = Command::new("perl").args(["-MConfig", "-MExtUtils::Embed", "-e", code]).output();
    let output = output.expect("perl not found: install perl and libperl-dev");
    assert!(output.status.success(), "perl -e '{code}' failed: is libperl-dev installed?");
    String::from_utf8(output.stdout).expect("Config values are ASCII")
}

fn main() {
    let mut build = cc::Build::new();
    build.std("gnu11").define("CML_PERL_PATH", Some(format!("\"{}\"", perl("print $Config{perlpath}")).as_str()));
    build.warnings(false).extra_warnings(false).flag("-Wall");
    for flag in perl("ccopts").split_whitespace() {
        build.flag(flag);
    }
    for file in FILES {
        build.file(format!("src/{file}"));
    }
    build.compile("cameleer_shim");
    println!("cargo::rustc-link-search={}/CORE", perl("print $Config{archlibexp}"));
    println!("cargo::rustc-link-lib=perl");
    println!("cargo::rerun-if-changed=src");
}
