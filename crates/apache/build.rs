//! Turns the .xs files of perl/lib and perl/lib2 into C and compiles it with the flags of the perl that will be
//! embedded.

use std::path::{Path, PathBuf};

const PERL: &str = "../../perl";
const FILES: [&str; 17] = [
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
    "lib/Cameleer/Broadcast.xs",
    "lib/Cameleer/Event.xs",
    "lib/Cameleer/Preload.xs",
    "lib2/Apache2/Filter.xs",
    "lib2/Cameleer/ModPerl2.xs",
];

/// C that several .xs files call, or that is too long for one.
const PARTS: &[&str] =
    &["lib/Apache/xs.c", "lib/Apache/apr.c", "lib2/Apache2/filter_io.c", "lib2/Apache2/filter_run.c"];
const HEADERS: &[&str] = &["lib/Apache/xs.h", "lib/APR/api.h", "lib2/Apache2/filter.h"];

/// Translates an .xs file; returns the path of the C file.
fn translate(xs: &Path, into: &Path) -> PathBuf {
    let c = into.join(xs.with_extension("c").to_string_lossy().replace(['/', '.'], "_")).with_extension("c");
    perl_build::translate(xs, &Path::new(PERL).join("typemap"), &c);
    c
}

fn main() {
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut build = perl_build::compiler();
    build
        .flag("-Wno-unused")
        .define("VERSION", "\"0\"")
        .define("XS_VERSION", "\"0\"")
        .include("include")
        .include(format!("{PERL}/lib/Apache"))
        .include(format!("{PERL}/lib2/Apache2"));
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
