//! mod_perl 1's API and mod_perl 2's in the same server.

use super::{BOTH, mold_of, site, who, workers_of};

#[test]
fn each_api_has_its_workers_its_request_and_its_modules() {
    let server = site().serve(BOTH);
    let (old, facts) = who(&server, "/old/who");
    assert_eq!(facts, "Apache|mod_perl/1.31||1|0");
    let (new, facts) = who(&server, "/new/who");
    assert_eq!(facts, "Apache2::RequestRec|mod_perl/2.0.12|2|0|1");
    assert_eq!(workers_of(&server, "old").into_iter().collect::<Vec<_>>(), [old]);
    assert!(workers_of(&server, "default").contains(&new), "{new}");
    assert_eq!(mold_of(&server, "old")["perl_generation"], 1);
    assert_eq!(mold_of(&server, "default")["perl_generation"], 2);
    assert_ne!(mold_of(&server, "old")["pid"], mold_of(&server, "default")["pid"]);
}

#[test]
fn the_old_api_may_be_the_servers_own() {
    let conf = "PerlGeneration 1\n<WorkerPool new>\nPerlModule Apache2::RequestRec Apache2::RequestIO\n</WorkerPool>\n\
        <Location /new>\nPerlPool new\nSetHandler modperl\nPerlResponseHandler 'sub { $_[0]->print(ref $_[0]); 0 }'\n</Location>\n\
        <Location /old>\nSetHandler perl-script\nPerlHandler 'sub { $_[0]->print(ref $_[0]); 0 }'\n</Location>";
    let server = site().serve(conf);
    assert_eq!(server.text("/new"), "Apache2::RequestRec");
    assert_eq!(server.text("/old"), "Apache");
}

#[test]
fn a_folder_and_a_virtual_host_choose_a_pool_too() {
    let conf = format!(
        "{BOTH}\n<Directory @DIR@/htdocs/below>\nPerlPool old\nSetHandler perl-script\nPerlHandler Apache::Registry\nPerlSendHeader On\n\
         Options +ExecCGI\n</Directory>"
    );
    let site = site().script("htdocs/below/who", super::WHO);
    let server = site.serve(&conf);
    assert_eq!(who(&server, "/below/who").1, "Apache|mod_perl/1.31||1|0");
    assert_eq!(who(&server, "/new/who").1, "Apache2::RequestRec|mod_perl/2.0.12|2|0|1");
}

#[test]
fn an_inner_place_goes_back_to_the_servers_own_pool() {
    let conf = format!(
        "{BOTH}\n<Location /old/new>\nPerlPool default\nPerlSendHeader Off\nSetHandler modperl\nPerlResponseHandler My\n</Location>"
    );
    let site = site().file("lib/My.pm", "package My;\nuse Apache2::RequestRec (); use Apache2::RequestIO ();\nsub handler { $_[0]->print(ref $_[0]); 0 }\n1;\n");
    let server = site.serve(&conf);
    assert_eq!(server.text("/old/new"), "Apache2::RequestRec");
}

#[test]
fn a_program_that_sends_a_request_on_stays_in_its_pool() {
    // The address belongs to another pool, but `run` answers in the same process.
    let code = "package My;\nuse Apache2::RequestRec (); use Apache2::RequestIO (); use Apache2::SubRequest ();\n\
        sub handler { my $r = shift; $r->print(\"$$ \"); $r->lookup_uri('/both')->run; 0 }\n1;\n";
    let both = "sub { $_[0]->print($$); 0 }";
    let conf = format!(
        "{BOTH}\n<Location /from>\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n\
         <Location /both>\nPerlPool old\nSetHandler perl-script\nPerlHandler '{both}'\n</Location>"
    );
    let server = site().file("lib/My.pm", code).serve(&conf);
    let text = server.text("/from");
    let (outer, inner) = text.split_once(' ').unwrap_or_else(|| panic!("{text}"));
    assert_eq!(outer, inner);
    assert_ne!(server.text("/both"), outer);
}

#[test]
fn output_without_pools_does_not_mention_them() {
    let server = site().serve(
        "<Location />\nPsgiApp \"@DIR@/app.psgi\"\n</Location>"
            .replace("PsgiApp \"@DIR@/app.psgi\"", "SetHandler server-status")
            .as_str(),
    );
    let status = server.status();
    assert_eq!(status["front"]["pools"], serde_json::Value::Null, "{status}");
    assert_eq!(status["generations"][0]["molds"], serde_json::Value::Null, "{status}");
    assert_eq!(status["front"]["workers"][0]["pool"], serde_json::Value::Null, "{status}");
    assert!(!server.log().contains("pool="), "{}", server.log());
}
