//! Turns the .xs files of perl/lib and perl/lib2 into C and compiles it with the flags of the perl that will be
//! embedded.

use std::path::{Path, PathBuf};
use std::process::Command;

const PERL: &str = "../../perl";
const FILES: [&str; 14] = [
    "lib/Apache.xs",
    "lib/Apache-body.xs",
    "lib/Apache/Connection.xs",
    "lib/Apache/Leak.xs",
    "lib/Apache/Log.xs",
    "lib/Apache/Registry.xs",
    "lib/Apache/Request.xs",
    "lib/Apache-response.xs",
    "lib/Apache/Server.xs",
    "lib/Apache/Table.xs",
    "lib/Apache/Util.xs",
    "lib/B/TerseSize.xs",
    "lib2/Apache2/Filter.xs",
    "lib2/Cameleer/ModPerl2.xs",
];

/// C that several .xs files call, or that is too long for one.
const PARTS: &[&str] =
    &["lib/Apache/xs.c", "lib/Apache/apr.c", "lib2/Apache2/filter_io.c", "lib2/Apache2/filter_run.c"];
const HEADERS: &[&str] = &["lib/Apache/xs.h", "lib/APR/api.h", "lib2/Apache2/filter.h"];

fn perl(code: &str) -> String {
    let output = Command::new("perl").args(["-MConfig", "-MExtUtils::Embed", "-e", code]).output();
    let output = output.expect("perl not found: install perl and libperl-dev");
    assert!(output.status.success(), "perl -e '{code}' failed: is libperl-dev installed?");
    String::from_utf8(output.stdout).expect("Config values are ASCII")
}

/// Translates an .xs file; returns the path of the C file. xsubpp writes `#line`s, so compiler messages name
/// the .xs.
fn translate(xs: &Path, into: &Path) -> PathBuf {
    let c = into.join(xs.with_extension("c").to_string_lossy().replace(['/', '.'], "_")).with_extension("c");
    let xsubpp = format!("{}/ExtUtils/xsubpp", perl("print $Config{privlibexp}"));
    let typemap = Path::new(PERL).join("typemap").canonicalize().expect("perl/typemap");
    let output = Command::new("perl")
        .arg(xsubpp)
        .args(["-noprototypes", "-noversioncheck", "-typemap"])
        .arg(typemap)
        .arg(xs)
        .output();
    let output = output.expect("perl not found");
    assert!(output.status.success(), "{}: {}", xs.display(), String::from_utf8_lossy(&output.stderr));
    std::fs::write(&c, output.stdout).expect("OUT_DIR is writable");
    c
}

/// `CAMELEER_SANITIZE=address`: see tests/sanitize/.
fn sanitize(build: &mut cc::Build) {
    println!("cargo::rerun-if-env-changed=CAMELEER_SANITIZE");
    let Ok(kind) = std::env::var("CAMELEER_SANITIZE") else { return };
    build.flag(format!("-fsanitize={kind}")).flag("-fno-omit-frame-pointer");
}

fn main() {
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut build = cc::Build::new();
    build.std("gnu11").warnings(false).extra_warnings(false).flag("-Wall").flag("-Wno-unused");
    build
        .define("VERSION", "\"0\"")
        .define("XS_VERSION", "\"0\"")
        .include("include")
        .include(format!("{PERL}/lib/Apache"))
        .include(format!("{PERL}/lib2/Apache2"));
    for flag in perl("ccopts").split_whitespace() {
        build.flag(flag);
    }
    sanitize(&mut build);
    for file in FILES {
        let xs = Path::new(PERL).join(file);
        build.file(translate(&xs, &out));
        println!("cargo::rerun-if-changed={}", xs.display());
    }
    for file in PARTS {
        build.file(format!("{PERL}/{file}"));
    }
    build.compile("apache_xs");
    println!("cargo::rerun-if-changed={PERL}/typemap");
    for file in PARTS.iter().chain(HEADERS) {
        println!("cargo::rerun-if-changed={PERL}/{file}");
    }
    println!("cargo::rerun-if-changed=include");
}
