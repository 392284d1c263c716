//! `make install` and `make uninstall`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::commands::commands;
use crate::support::{Finished, Server, Site};

/// Runs the Makefile's target `verb` with the program under test. The prefix is `usr` in the site's folder.
fn make(site: &Site, verb: &str, also: &str) -> Finished {
    let mut make = Command::new("make");
    make.args(["-s", "-C", env!("CARGO_MANIFEST_DIR"), verb, also])
        .arg(concat!("PROGRAM=", env!("CARGO_BIN_EXE_cameleer")))
        .arg(site.filled("PREFIX=@DIR@/usr"))
        .arg(site.filled("SYSCONFDIR=@DIR@/etc"))
        .env_remove("MAKEFLAGS");
    Finished::of(&mut make)
}

/// An installation that all concurrent tests share; they only read it.
fn installed() -> Arc<Site> {
    static INSTALLED: Mutex<Weak<Site>> = Mutex::new(Weak::new());
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.upgrade().unwrap_or_else(|| {
        let site = Arc::new(Site::new());
        make(&site, "install-files", "DESTDIR=").succeeded();
        *installed = Arc::downgrade(&site);
        site
    })
}

/// Runs `line` in a shell, with HOME in the site's folder.
fn shell(site: &Site, program: &str, line: &str) -> Finished {
    Finished::of(Command::new(program).args(["-c", &site.filled(line)]).env("HOME", site.folder())).succeeded()
}

#[test]
fn an_installed_program_serves_with_its_own_perl_library() {
    let installed = installed();
    let site = Site::new().file("app.psgi", "sub { [200, [], [$INC{'Cameleer/PSGI.pm'}]] }");
    let listen = format!("127.0.0.1:{}", site.port);
    let mut command = Command::new(installed.path("usr/bin/cameleer"));
    command.args(["run", "app.psgi", "--workers", "1", "--listen", &listen]).current_dir(site.folder());
    command.env("TMPDIR", site.path("tmp")).env_remove("CAMELEER_PERL_LIB").env_remove("PERL5LIB");
    let server = Server::start(site, command);
    assert_eq!(server.text("/"), installed.filled("@DIR@/usr/share/cameleer/perl/Cameleer/PSGI.pm"));
}

#[test]
fn systemd_is_content_with_the_units_and_finds_program_and_man_page() {
    let site = installed();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "cameleer.service", "cameleer.socket"]);
    verify.args(["cameleer@apache2.service", "cameleer@apache2.socket"]);
    verify.env("SYSTEMD_UNIT_PATH", site.filled("@DIR@/usr/lib/systemd/system:"));
    verify.env("MANPATH", site.path("usr/share/man"));
    let output = Finished::of(&mut verify).succeeded();
    assert!(!output.err.contains("cameleer"), "{output:?}");
    let unit = site.read("usr/lib/systemd/system/cameleer.service");
    for path in ["ExecStart=@DIR@/usr/bin/cameleer serve -f @DIR@/etc/cameleer/", "ExecReload=@DIR@/usr/bin/cameleer "]
    {
        assert!(unit.contains(&site.filled(path)), "{path}: {unit}");
    }
}

#[test]
fn each_command_has_a_man_page_with_the_section_of_its_file() {
    let site = installed();
    let help = site.cameleer(["--help"]).succeeded().out;
    let commands = commands(&help).into_iter().map(|command| format!("cameleer-{command}.8"));
    let of_commands: BTreeSet<String> = commands.chain(["cameleer.8".to_owned()]).collect();
    for (section, expected) in [("8", of_commands), ("5", BTreeSet::from(["cameleer.conf.5".to_owned()]))] {
        let folder = format!("usr/share/man/man{section}");
        let pages = std::fs::read_dir(site.path(&folder)).expect("the folder of the section").flatten();
        let pages: BTreeSet<String> = pages.map(|page| page.file_name().into_string().expect("ASCII")).collect();
        assert_eq!(pages, expected, "pkg/install-files");
        for name in pages {
            let title = format!(".TH {} {section} ", name.trim_end_matches(&format!(".{section}")));
            let text = site.read(&format!("{folder}/{name}"));
            assert!(text.lines().any(|line| line.starts_with(&title)), "{name}: no {title}");
        }
    }
}

#[test]
fn bash_zsh_and_fish_complete_commands_and_options() {
    let site = installed();
    let bash = "source @DIR@/usr/share/bash-completion/completions/cameleer; COMP_CWORD=1; COMP_WORDS=(cameleer ''); \
                _cameleer cameleer '' cameleer; echo \"${COMPREPLY[@]}\"";
    let commands = shell(&site, "bash", bash).out;
    assert!(
        commands.contains(
            "run serve check explain status top history mem profile why advise reload refork recycle stop drain maint purge bench"
        ),
        "{commands}"
    );
    assert!(!commands.contains("mold"), "hidden roles are nobody's to type: {commands}");
    let fish = "source @DIR@/usr/share/fish/vendor_completions.d/cameleer.fish; complete -C 'cameleer run --work'";
    assert!(shell(&site, "fish", fish).out.contains("--workers"));
    shell(&site, "zsh", "fpath=(@DIR@/usr/share/zsh/site-functions $fpath); autoload -U +X _cameleer");
}

#[test]
fn no_file_is_left_after_uninstall() {
    let site = Site::new();
    let stage = site.filled("DESTDIR=@DIR@/stage");
    make(&site, "install-files", &stage).succeeded();
    let staged = |path: &str| site.path("stage").join(site.path(path).strip_prefix("/").expect("absolute"));
    assert!(staged("usr/bin/cameleer").is_file() && !site.has("usr"), "DESTDIR stands before each path");
    make(&site, "uninstall", &stage).succeeded();
    let left = Finished::of(Command::new("find").arg(site.path("stage")).args(["-not", "-type", "d"])).succeeded();
    assert_eq!(left.out, "");
    assert!(!Path::new(&staged("usr/share/cameleer")).exists(), "our own folder goes with its files");
}

#[test]
fn a_plain_perl_finds_the_modules() {
    let site = installed();
    let code = "print Apache::Util::escape_html('<'), ' ', NOT_FOUND, ' ', ref GTop->new";
    let mut perl = Command::new("perl");
    perl.arg(site.filled("-I@DIR@/usr/share/perl5")).env_remove("PERL5LIB");
    perl.args([
        "-MApache::Request",
        "-MApache::Registry",
        "-MApache::Util",
        "-MGTop",
        "-MApache::Constants=:common",
        "-e",
        code,
    ]);
    assert_eq!(Finished::of(&mut perl).succeeded().out, "&lt; 404 GTop");
}

#[test]
fn modules_are_installed_in_inc_and_files_of_other_packages_stay() {
    for prefix in ["/usr/local", "/usr"] {
        let site = Site::new();
        let folders =
            Finished::of(Command::new("perl").args(["-e", "print map qq{$_\n}, @INC"]).env_remove("PERL5LIB"));
        let folders: Vec<String> = folders.succeeded().out.lines().map(|folder| format!("stage{folder}")).collect();
        let prefix = format!("PREFIX={prefix}");
        let stage = site.filled("DESTDIR=@DIR@/stage");
        let run = |verb: &str| {
            let program = concat!("PROGRAM=", env!("CARGO_BIN_EXE_cameleer"));
            let mut make = Command::new("make");
            make.args(["-s", "-C", env!("CARGO_MANIFEST_DIR"), verb, program, &prefix, &stage]).env_remove("MAKEFLAGS");
            Finished::of(&mut make).succeeded()
        };
        run("install-files");
        let is_link = |name: &str, folder: &String| site.path(&format!("{folder}/{name}")).is_symlink();
        let found = folders.iter().find(|folder| is_link("Apache/Constants.pm", folder));
        let found = found.unwrap_or_else(|| panic!("{prefix}: in none of {folders:?}"));
        assert!(is_link("GTop.pm", found) && is_link("Cameleer/Outside.pm", found), "{found}");
        std::fs::remove_file(site.path(&format!("{found}/GTop.pm"))).expect("a link");
        site.write(&format!("{found}/GTop.pm"), "another's");
        for verb in ["install-files", "uninstall"] {
            assert!(run(verb).err.contains("GTop.pm is not a link to this installation: not changed"), "{verb}");
            assert_eq!(site.read(&format!("{found}/GTop.pm")), "another's");
        }
        assert!(!site.has(&format!("{found}/Apache")), "our links and their folders go");
    }
}

#[test]
fn a_tarball_is_unpacked_and_run_anywhere() {
    let site = Site::new().file("app.psgi", "sub { require APR::Pool; [200, [], [$INC{'Cameleer/PSGI.pm'}]] }");
    let mut make = Command::new("sh");
    make.arg("pkg/tarball").current_dir(env!("CARGO_MANIFEST_DIR"));
    make.env("PROGRAM", env!("CARGO_BIN_EXE_cameleer")).env("OUTPUT", site.path("made")).env("LEVEL", "1");
    // The perl in PATH is another one than the program's.
    let other = "#!/bin/sh\ncase $* in *Config*) printf 5.99 ;; *) exec /usr/bin/perl \"$@\" ;; esac\n";
    let site = site.script("other/perl", other);
    make.env("PATH", format!("{}:{}", site.path("other").display(), std::env::var("PATH").expect("a variable")));
    let made = Finished::of(&mut make).succeeded().out;
    let (_, name) = made.trim_end().rsplit_once('/').expect("the path of the tarball");
    let name = name.strip_suffix(".tar.gz").expect("its ending");
    let versions = site.cameleer(["--version"]).succeeded().out;
    let (_, perl) = name.rsplit_once("-perl").expect("the version of perl");
    assert!(versions.contains(&format!("\nperl {perl}.")), "{name}: {versions}");
    shell(&site, "sh", "mkdir @DIR@/anywhere && tar -xzf @DIR@/made/*.tar.gz -C @DIR@/anywhere");
    let folder = site.path(&format!("anywhere/{name}"));
    assert!(folder.join("share/doc/cameleer.cdx.json").is_file() && !folder.join("lib/systemd").exists(), "{name}");
    // The handler of plackup -s Cameleer starts the program beside it.
    let mut perl = Command::new("perl");
    perl.args(["-MPlack::Handler::Cameleer", "-e", "print Plack::Handler::Cameleer::binary()"]);
    perl.env("PERL5LIB", folder.join("share/cameleer/perl")).env_remove("CAMELEER").env("PATH", "/usr/bin:/bin");
    assert_eq!(Finished::of(&mut perl).succeeded().out, folder.join("bin/cameleer").display().to_string());
    let listen = format!("127.0.0.1:{}", site.port);
    let mut command = Command::new(folder.join("bin/cameleer"));
    command.args(["run", "app.psgi", "--workers", "1", "--listen", &listen]).current_dir(site.folder());
    command.env("TMPDIR", site.path("tmp")).env_remove("CAMELEER_PERL_LIB").env_remove("PERL5LIB");
    let server = Server::start(site, command);
    assert_eq!(server.text("/"), folder.join("share/cameleer/perl/Cameleer/PSGI.pm").display().to_string());
}
