//! Builds `perl-xs/auto/Cameleer/APR/APR.so`, beside the server's binary, from perl/lib/APR.xs and
//! perl/lib/APR/: with the flags of the perl that will load it, against Debian's libapr1 and libaprutil1.

use std::path::{Path, PathBuf};

use perl_build::output;

const LIBRARY: &str = "../../perl/lib";

fn apr(words: &[&str]) -> String {
    output("apr-1-config", words, "install libapr1-dev")
        + " "
        + &output("apu-1-config", words, "install libaprutil1-dev")
}

/// The files of perl/lib/APR with that extension, and perl/lib/APR.xs.
fn sources(extension: &str) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(format!("{LIBRARY}/APR")).expect("perl/lib/APR");
    let files = folder.flatten().map(|entry| entry.path()).chain([PathBuf::from(format!("{LIBRARY}/APR.xs"))]);
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

/// Translates an .xs file; returns the path of the C file.
fn translate(xs: &Path, into: &Path) -> PathBuf {
    let c = into.join(xs.with_extension("c").file_name().expect("a file"));
    perl_build::translate(xs, &Path::new(LIBRARY).join("APR/typemap"), &c);
    c
}

fn compiler(out: &Path) -> cc::Build {
    let mut build = perl_build::compiler();
    build.cargo_metadata(false).pic(true).flag("-Wno-unused").flag("-fvisibility=hidden");
    build.define("VERSION", "\"0\"").define("XS_VERSION", "\"0\"").include(LIBRARY).include(format!("{LIBRARY}/APR"));
    for flag in (apr(&["--includes"]) + " " + &output("apr-1-config", &["--cppflags"], "")).split_whitespace() {
        build.flag(flag);
    }
    build.out_dir(out);
    build
}

fn modified(file: &Path) -> std::time::SystemTime {
    file.metadata().and_then(|data| data.modified()).expect("a source")
}

fn main() {
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut build = compiler(&out);
    for xs in sources("xs") {
        build.file(translate(&xs, &out));
    }
    build.files(sources("c"));
    let objects = build.compile_intermediates();
    // OUT_DIR is target/debug/build/apr-0123/out, three folders below the binary's.
    let folder = out.ancestors().nth(3).expect("cargo's folder").join("perl-xs/auto/Cameleer/APR");
    std::fs::create_dir_all(&folder).expect("cargo's folder is writable");
    let object = folder.join("APR.so");
    // A new file, not an overwritten one: a running server has the old one mapped.
    let made = out.join("APR.so");
    let mut link = build.get_compiler().to_command();
    link.arg("-shared").arg("-o").arg(&made).args(objects).args(apr(&["--link-ld"]).split_whitespace());
    assert!(
        link.status().expect("the C compiler").success(),
        "APR.so: linking failed; the linker's messages are above"
    );
    std::fs::copy(&made, folder.join("APR.so.new")).expect("cargo's folder is writable");
    let sources: Vec<PathBuf> = ["xs", "c", "h"].iter().flat_map(|extension| sources(extension)).collect();
    // The object's time is its newest source's: cargo reruns this script when the object is missing, and takes
    // a newer object for a change.
    let newest = sources.iter().map(|file| modified(file)).max().expect("there are sources");
    let copy = std::fs::File::options().write(true).open(folder.join("APR.so.new")).expect("just written");
    copy.set_modified(newest).expect("our own file");
    std::fs::rename(folder.join("APR.so.new"), &object).expect("cargo's folder is writable");

    println!("cargo::rerun-if-changed={}", object.display());
    println!("cargo::rerun-if-changed={LIBRARY}/APR/typemap");
    sources.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
}
