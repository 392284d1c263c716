//! For build scripts: the perl that the program will embed, and C compiled for it.
//!
//! The environment variable `PERL` is the path of that perl. The default is `perl` in `PATH`.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

/// Runs a program and returns its output. A failure ends the build with `hint`, which says what to install.
pub fn output(program: &str, words: &[&str], hint: &str) -> String {
    let output = Command::new(program).args(words).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; {hint}"));
    assert!(output.status.success(), "{program} {words:?} failed: {}; {hint}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("flags and C are ASCII")
}

fn path() -> String {
    println!("cargo::rerun-if-env-changed=PERL");
    std::env::var("PERL").ok().filter(|path| !path.is_empty()).unwrap_or_else(|| "perl".to_owned())
}

/// The output of Perl code that may use `%Config` and ExtUtils::Embed.
pub fn perl(code: &str) -> String {
    output(&path(), &["-MConfig", "-MExtUtils::Embed", "-e", code], "install perl and libperl-dev, or set PERL")
}

/// The folder of libperl.so. Ends the build if this perl was built without one.
pub fn library_folder() -> String {
    let folder = perl("print qq{$Config{archlibexp}/CORE}");
    assert!(
        perl("print $Config{useshrplib}") == "true",
        "{} has no shared library; build that perl with -Duseshrplib, or set PERL to another one",
        perl("print $Config{perlpath}")
    );
    folder
}

/// The folder of libperl.so when the dynamic linker does not search it: that of a perl which is not the system's.
pub fn run_path() -> Option<String> {
    let flags = perl("print $Config{ccdlflags}");
    flags.split_whitespace().find_map(|flag| flag.strip_prefix("-Wl,-rpath,")).map(str::to_owned)
}

/// Translates an .xs file into C. The C has `#line`s, so messages of the compiler name the .xs file.
pub fn translate(xs: &Path, typemap: &Path, c: &Path) {
    let xsubpp = perl("print qq{$Config{privlibexp}/ExtUtils/xsubpp}");
    let typemap = typemap.canonicalize().expect("the typemap is in the source tree");
    let words =
        [&xsubpp, "-noprototypes", "-noversioncheck", "-typemap", &typemap.to_string_lossy(), &xs.to_string_lossy()];
    std::fs::write(c, output(&path(), &words, "xsubpp failed")).expect("OUT_DIR is writable");
}

/// A compiler with the flags of this perl, and with those of `CAMELEER_SANITIZE`.
pub fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    build.std("gnu11").warnings(false).extra_warnings(false).flag("-Wall");
    for flag in perl("ccopts").split_whitespace() {
        build.flag(flag);
    }
    if let Some(kind) = sanitizer() {
        build.flag(format!("-fsanitize={kind}")).flag("-fno-omit-frame-pointer");
    }
    build
}

/// The sanitizer that the C part is compiled with: `address`. See tests/sanitize/.
pub fn sanitizer() -> Option<String> {
    println!("cargo::rerun-if-env-changed=CAMELEER_SANITIZE");
    std::env::var("CAMELEER_SANITIZE").ok()
}
