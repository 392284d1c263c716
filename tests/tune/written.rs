//! From a measurement to directives in a file, and back by removing the file.

use super::{FEW, change, report, site_of, tune};
use crate::support::{Site, colours, look_alike};

#[test]
#[ignore = "measures time: `make timing`"]
fn requests_that_wait_get_more_workers_than_the_machine_has_processors() {
    let site = site_of("sub { select undef, undef, undef, 0.1; [200, [], ['ok']] }");
    let found = report(&site, "--visitors 12 -t 20");
    let chosen = found["chosen"].as_u64().expect("a number");
    assert!(chosen >= 6, "twelve visitors that each wait for 0.1 s: {found}");
    assert_eq!((change(&found, "MaxClients"), &found["kind"]), (Some(chosen.to_string().as_str()), &"waiting".into()));
    let points = found["points"].as_array().expect("a list");
    assert!(points.iter().any(|point| point["workers"] == chosen), "{found}");
}

#[test]
fn no_more_workers_are_tried_than_the_memory_holds() {
    let site = site_of("my $own; sub { $own //= 'x' x 8e6; select undef, undef, undef, 0.05; [200, [], ['ok']] }");
    let free = report(&site, FEW);
    let (base, one) = (free["memory"]["base"].as_u64(), free["memory"]["one_more"].as_u64());
    let (base, one) = (base.expect("a number"), one.expect("a number"));
    assert!(one > 7 << 20, "what it has for itself: {free}");
    let found = report(&site, &format!("{FEW} --memory {}K", (base + 3 * one + one / 2) >> 10));
    assert!(found["memory"]["fit"].as_u64().is_some_and(|fit| (2..=4).contains(&fit)), "{found}");
    let points = found["points"].as_array().expect("a list");
    assert!(points.iter().all(|point| point["workers"].as_u64() <= found["memory"]["fit"].as_u64()), "{found}");
}

#[test]
fn the_new_directives_are_a_file_that_is_deleted_to_undo_them() {
    let conf = "<Location />\nPsgiApp app.psgi\n</Location>\nIncludeOptional tuned*.conf\n";
    let site = Site::new().file("app.psgi", "sub { select undef, undef, undef, 0.05; [200, [], ['ok']] }");
    site.configure(conf);
    let output = tune(&site, &format!("{FEW} --write tuned.conf --svg sweep.svg")).succeeded();
    assert!(output.out.contains("IncludeOptional") && output.out.contains("+ MaxClients"), "{output:?}");
    let written = site.read("tuned.conf");
    let wanted = written.lines().find_map(|line| line.strip_prefix("MaxClients ")).expect("what is to be changed");
    let wanted: u64 = wanted.parse().expect("a number");
    assert!(written.starts_with("# cameleer tune") && written.contains("# was 2 ("), "{written}");
    assert!(site.read("sweep.svg").starts_with("<svg xmlns"), "{}", site.read("sweep.svg"));
    let drawn = colours(&site, "sweep.svg");
    assert_eq!(drawn[0].0, "ffffff", "the paper: {drawn:?}");
    for line in ["0f766e", "b91c1c"] {
        assert!(drawn.iter().any(|(colour, _)| look_alike(colour, line)), "{line}: {drawn:?}");
    }
    let server = site.serve(conf);
    assert_eq!(server.status()["max_clients"], wanted);
    std::fs::remove_file(server.site.path("tuned.conf")).expect("our own file");
    server.reload().succeeded();
    assert_eq!(server.status()["max_clients"], 2);
}

#[test]
fn a_file_that_is_not_its_own_is_not_written_over() {
    let site = site_of("die 'it was loaded'").file("precious.conf", "MaxClients 7\n");
    tune(&site, "--write precious.conf").failed(1, "the file exists and was not written by cameleer tune");
    assert_eq!(site.read("precious.conf"), "MaxClients 7\n");
    tune(&site, "--write /dev/null").failed(1, "the file exists and was not written by cameleer tune");
}

#[test]
fn a_setting_that_changes_answers_is_measured_and_not_proposed() {
    let site =
        Site::new().file("htdocs/index.html", "hello").file("htdocs/.htaccess", "Header set X-Long \"a long line\"");
    site.configure(
        "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n".replace("@DIR@", &site.filled("@DIR@")).as_str(),
    );
    let found = report(&site, "/index.html --visitors 4 -t 20");
    let [compared] = &found["compared"].as_array().expect("a list")[..] else { panic!("{found}") };
    assert_eq!((&compared["name"], &compared["same_answers"]), (&"AllowOverride".into(), &false.into()));
    assert_eq!(change(&found, "AllowOverride"), None);
}
