//! Apache::DProf (Cameleer's own, around Devel::DProf) and Apache::SmallProf (Debian's).

use super::{CONF, with_script};
use crate::support::{Finished, Server, Site, until};

const CODE: &str = "package Work; sub handler { my $r = shift; slow() for 1 .. 3; $r->send_http_header('text/plain'); $r->print($$); 0 }\nsub slow {\n  my $n = 0;\n  $n += $_ for 1 .. 1000;\n  return $n;\n}\n1;";

#[test]
fn dprof_writes_a_profile_for_each_worker_at_its_end() {
    let site = with_script(Site::new(), "print $$;").file("lib/Work.pm", CODE).file("logs/.keep", "");
    let mut server = site.serve(&format!("{CONF}PerlModule Apache::DProf\nPerlModule Work\n<Location /work>\nSetHandler perl-script\nPerlHandler Work\n</Location>"));
    let pid = server.text("/work");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.wait();
    let profile = format!("logs/dprof/{pid}/tmon.out");
    assert!(server.site.has(&profile), "{}", server.log());
    let report = Finished::of(std::process::Command::new("dprofpp").arg(server.site.path(&profile))).succeeded();
    let line = report.out.lines().find(|line| line.contains("Work::slow")).unwrap_or_else(|| panic!("{report:?}"));
    assert_eq!(line.split_whitespace().nth(3), Some("3"), "three calls: {line}");
}

#[test]
fn smallprof_counts_lines() {
    let site = Site::new().file("lib/Work.pm", CODE).file("logs/.keep", "");
    let server = site.serve(&format!("{CONF}PerlModule Apache::DB\nPerlEval \"Apache::DB->init\"\nPerlModule Apache::SmallProf Work\n<Location /work>\nSetHandler perl-script\nPerlHandler Apache::SmallProf Work\n</Location>"));
    server.text("/work");
    until("the profile is written", || profiles(&server).contains("$n += $_ for 1 .. 1000"));
}

/// The concatenated contents of all profiles.
fn profiles(server: &Server) -> String {
    let files = std::fs::read_dir(server.site.path("logs/smallprof")).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
}
