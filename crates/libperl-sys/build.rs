//! Compiles the shim with the flags of the perl that it embeds.

use std::path::{Path, PathBuf};
use std::process::Command;

use perl_build::perl;

/// The C files below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources").flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut files: Vec<PathBuf> = files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "c")).collect();
    files.extend(folders.iter().flat_map(|folder| sources(folder)));
    files.sort();
    files
}

/// The folders of perl's own C modules, as C strings: Debian has two.
fn folders() -> String {
    perl(
        "require List::Util; my $base = $INC{'List/Util.pm'} =~ s{/List/Util[.]pm$}{}r; \
         print join ',', map { qq{\"$_/auto/\"} } $Config{archlibexp}, $base",
    )
}

/// Links libasan before perl and libc, whose functions it replaces.
fn link_sanitizer() {
    let library = Command::new("cc").arg("-print-file-name=libasan.so").output().expect("cc not found").stdout;
    let library = String::from_utf8(library).expect("a path");
    let folder = Path::new(library.trim()).parent().expect("a folder");
    println!("cargo::rustc-link-search={}", folder.display());
    println!("cargo::rustc-link-lib=asan");
}

fn main() {
    let mut build = perl_build::compiler();
    build.define("CML_PERL_PATH", Some(format!("\"{}\"", perl("print $Config{perlpath}")).as_str()));
    build.define("CML_PERL_FOLDERS", Some(folders().as_str()));
    if perl_build::sanitizer().is_some() {
        link_sanitizer();
    }
    build.files(sources(Path::new("src")));
    build.compile("cameleer_shim");
    println!("cargo::rustc-link-search={}", perl_build::library_folder());
    println!("cargo::rustc-link-lib=perl");
    println!("cargo::rustc-env=CAMELEER_PERL={}", perl("print qq{$Config{version} ($Config{archname})}"));
    println!("cargo::rerun-if-changed=src");
}
