use crate::support::Site;

/// The copy of a configuration with these lines.
#[track_caller]
fn migrated(lines: &str) -> String {
    let site = Site::new().file(
        "old/httpd.conf",
        &format!("ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\nLoadModule dir_module mod_dir.so\n{lines}"),
    );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let text = site.read("new/httpd.conf");
    text.split_once("mod_dir.so\n").expect("the last line of the beginning").1.to_owned()
}

#[test]
fn a_line_that_only_tunes_httpd_becomes_a_comment_with_all_its_continuations() {
    let copy = migrated("Mutex \\\n  file:/x\n# own\n");
    assert!(copy.starts_with("# migrate: Mutex: is not supported: the directive tunes a part of httpd"), "{copy}");
    assert!(copy.ends_with("\n# Mutex \\\n  # file:/x\n# own\n"), "{copy}");
}

#[test]
fn a_requirement_that_cannot_stay_never_opens_its_place() {
    let copy = migrated(
        "<Location /a>\n<RequireAny>\nRequire external-group a\nRequire ip 192.0.2.1\n</RequireAny>\n</Location>\n\
         <Location /b>\n<RequireAll>\nRequire all granted\n<RequireNone>\nRequire external-group b\n</RequireNone>\n</RequireAll>\n</Location>\n\
         <Location /c>\nAuthFormProvider file\nAuthType Basic\nAuthName c\nRequire valid-user\n</Location>\n",
    );
    assert!(copy.contains("# Require external-group a\nRequire all denied\nRequire ip 192.0.2.1\n"), "{copy}");
    assert!(copy.contains("# Require external-group b\nRequire all granted\n</RequireNone>"), "{copy}");
    assert!(copy.contains("# AuthFormProvider file\nRedirectMatch 403 ^\n"), "{copy}");
}

#[test]
fn blocks_apply_by_the_modules_that_the_old_server_had() {
    let copy = migrated(
        "LoadModule qos_module mod_qos.so\n<IfModule mod_qos.c>\nServerTokens Prod\nQS_SrvMaxConnPerIP 5\n</IfModule>\n\
         <IfModule !mod_qos.c>\nServerTokens Full\n</IfModule>\n<IfModule mod_rewrite.c>\nRewriteEngine On\n</IfModule>\n\
         <IfModule mod_dir.c>\nDirectoryIndex index.html\n</IfModule>\n",
    );
    assert!(copy.contains("# <IfModule mod_qos.c>\nServerTokens Prod\n# migrate: QS_SrvMaxConnPerIP: "), "{copy}");
    assert!(copy.contains("# <IfModule !mod_qos.c>\n# ServerTokens Full\n# </IfModule>\n"), "{copy}");
    assert!(copy.contains("# <IfModule mod_rewrite.c>\n# RewriteEngine On\n# </IfModule>\n"), "{copy}");
    assert!(copy.contains("\n<IfModule mod_dir.c>\nDirectoryIndex index.html\n</IfModule>\n"), "{copy}");
}

#[test]
fn a_section_of_an_unknown_module_becomes_a_comment_as_a_whole() {
    let copy = migrated("<Camel x>\n  Hump 1\n</Camel>\nServerTokens Prod\n");
    assert!(copy.contains("\n# <Camel x>\n  # Hump 1\n# </Camel>\nServerTokens Prod\n"), "{copy}");
}

#[test]
fn types_of_php_are_refused_unless_an_action_handles_them() {
    let copy = migrated("AddType application/x-httpd-php .php\n");
    assert!(copy.contains("\n<FilesMatch \"\\.(?:php)(?:\\.|$)\">\nRequire all denied\n</FilesMatch>\n"), "{copy}");
    let handled = "AddType application/x-httpd-php .php\nAction application/x-httpd-php /cgi-bin/php\n";
    assert_eq!(migrated(handled), handled);
}

#[test]
fn a_line_of_a_macro_is_mended_in_the_macro() {
    let copy = migrated(
        "<Macro Members $at>\n    <Location $at>\n        AuthFormProvider file\n        Mutex file:/x\n        AuthType Basic\n        AuthName m\n\
         Require valid-user\n    </Location>\n</Macro>\nUse Members /a\nUse Members /b\n",
    );
    assert!(copy.contains("\n        # AuthFormProvider file\n        RedirectMatch 403 ^\n"), "{copy}");
    assert!(copy.ends_with("</Macro>\nUse Members /a\nUse Members /b\n"), "{copy}");
}

#[test]
fn a_directive_that_a_perl_module_of_the_site_defines_stays() {
    let module = "package Camel;\nuse Apache::ModuleConfig ();\nsub CamelHumps { }\n\
        Apache::ExtUtils::command_table([ { name => 'CamelHumps', args_how => 'TAKE1' } ]);\nuse Apache::ExtUtils ();\n1;\n";
    let site = Site::new().file("lib/Camel.pm", &module.replace("use Apache::ExtUtils ();\n", "")).file(
        "old/httpd.conf",
        "ErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\nPerlLib @DIR@/lib\nPerlModule Apache::ExtUtils Camel\n\
         CamelHumps 2\n",
    );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    assert!(site.read("new/httpd.conf").ends_with("PerlModule Apache::ExtUtils Camel\nCamelHumps 2\n"));
}

#[test]
fn a_server_without_rights_to_its_keys_is_told_so() {
    let site = Site::new().file(
        "old/httpd.conf",
        "ErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\nUser nobody-of-this-name\n\
         SSLEngine On\nSSLCertificateFile @DIR@/none.crt\nSSLCertificateKeyFile @DIR@/none.key\n",
    );
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "says what is left to decide");
    let copy = site.read("new/httpd.conf");
    for line in ["User nobody-of-this-name", "SSLEngine On"] {
        assert!(copy.lines().any(|found| found == line), "{line}\n{copy}");
    }
    let report = site.read("new/report.txt");
    assert!(report.contains("httpd.conf:4: User: no such user \"nobody-of-this-name\""), "{report}");
    assert!(report.contains("httpd.conf:6: SSLCertificateFile"), "{report}");
}
