//! Special files named in the configuration: the start reports them, and does not block.

use super::put;
use crate::support::Site;

#[test]
fn the_start_names_a_file_that_is_not_regular() {
    for (line, expected) in [
        ("Include @DIR@/pipe", "Include: cannot read @DIR@/pipe: the path is a named pipe, not a file"),
        ("Include @DIR@/conf.d", "Include: cannot read @DIR@/conf.d/pipe: the path is a named pipe, not a file"),
        ("IncludeOptional @DIR@/conf.d/*", "cannot read @DIR@/conf.d/pipe: the path is a named pipe, not a file"),
        ("Include @DIR@/zero", "Include: cannot read @DIR@/zero: the path is a device, not a file"),
        ("TypesConfig @DIR@/pipe", "TypesConfig: cannot read @DIR@/pipe: the path is a named pipe, not a file"),
        ("RemoteIPTrustedProxyList @DIR@/pipe", "cannot read @DIR@/pipe: the path is a named pipe, not a file"),
        ("PerlRequire @DIR@/pipe", "@DIR@/pipe: the path is a named pipe, not a file"),
        ("<Location />\nPsgiApp @DIR@/pipe\n</Location>", "@DIR@/pipe: the path is a named pipe, not a file"),
        (
            "SSLEngine on\nSSLCertificateFile @DIR@/pipe\nSSLCertificateKeyFile @DIR@/zero",
            "SSLCertificateFile: @DIR@/pipe cannot be read: the path is a named pipe, not a file",
        ),
    ] {
        let site = Site::new().file("conf.d/a.conf", "ServerTokens Prod\n");
        put("pipe", &site.path("pipe"));
        put("zero", &site.path("zero"));
        put("pipe", &site.path("conf.d/pipe"));
        site.configure(line);
        let checked = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
        assert_ne!(checked.code, 0, "{line}");
        assert!(checked.err.contains(&site.filled(expected)), "{line}\n{}", checked.err);
    }
}

#[test]
fn a_configuration_may_come_from_a_shells_pipe() {
    let site = Site::new();
    let command = "cameleer=$1; \"$cameleer\" check -d . -f <(echo 'Listen 127.0.0.1:8080')";
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", command, "bash", env!("CARGO_BIN_EXE_cameleer")]).current_dir(site.folder());
    crate::support::Finished::of(&mut shell).succeeded();
}
