//! Compiles the shim with the flags of the perl that it embeds.

use std::path::Path;
use std::process::Command;

const FILES: [&str; 33] = [
    "boot.c",
    "census.c",
    "spans.c",
    "fork.c",
    "guard.c",
    "call.c",
    "psgi.c",
    "psgi_objects.c",
    "handles/io.c",
    "handles/standard.c",
    "handles/copies.c",
    "handles/closed.c",
    "handles/print.c",
    "handles/unheard.c",
    "handles/descriptors.c",
    "env.c",
    "env_tie.c",
    "operators.c",
    "state/state.c",
    "state/children.c",
    "state/files.c",
    "state/inc.c",
    "state/handlers.c",
    "state/objects.c",
    "state/signals.c",
    "state/globals.c",
    "watch.c",
    "birth.c",
    "leave.c",
    "deadline.c",
    "observe/activity.c",
    "observe/stack.c",
    "observe/statements.c",
];

fn perl(code: &str) -> String {
    let output = Command::new("perl").args(["-MConfig", "-MExtUtils::Embed", "-e", code]).output();
    let output = output.expect("perl not found: install perl and libperl-dev");
    assert!(output.status.success(), "perl -e '{code}' failed: is libperl-dev installed?");
    String::from_utf8(output.stdout).expect("Config values are ASCII")
}

/// The folders of perl's own C modules, as C strings: Debian has two.
fn folders() -> String {
    perl(
        "require List::Util; my $base = $INC{'List/Util.pm'} =~ s{/List/Util[.]pm$}{}r; \
         print join ',', map { qq{\"$_/auto/\"} } $Config{archlibexp}, $base",
    )
}

/// `CAMELEER_SANITIZE=address`: see tests/sanitize/.
fn sanitize(build: &mut cc::Build) {
    println!("cargo::rerun-if-env-changed=CAMELEER_SANITIZE");
    let Ok(kind) = std::env::var("CAMELEER_SANITIZE") else { return };
    build.flag(format!("-fsanitize={kind}")).flag("-fno-omit-frame-pointer");
    // libasan must come before perl and libc, whose functions it replaces.
    let library = Command::new("cc").arg("-print-file-name=libasan.so").output().expect("cc not found").stdout;
    let library = String::from_utf8(library).expect("a path");
    let folder = Path::new(library.trim()).parent().expect("a folder");
    println!("cargo::rustc-link-search={}", folder.display());
    println!("cargo::rustc-link-lib=asan");
}

fn main() {
    let mut build = cc::Build::new();
    build.std("gnu11").define("CML_PERL_PATH", Some(format!("\"{}\"", perl("print $Config{perlpath}")).as_str()));
    build.define("CML_PERL_FOLDERS", Some(folders().as_str()));
    build.warnings(false).extra_warnings(false).flag("-Wall");
    for flag in perl("ccopts").split_whitespace() {
        build.flag(flag);
    }
    sanitize(&mut build);
    for file in FILES {
        build.file(format!("src/{file}"));
    }
    build.compile("cameleer_shim");
    println!("cargo::rustc-link-search={}/CORE", perl("print $Config{archlibexp}"));
    println!("cargo::rustc-link-lib=perl");
    println!("cargo::rerun-if-changed=src");
}
