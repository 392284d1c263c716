//! `<Macro>`, `Use`, `UndefMacro`: mod/mod_macro.html. tests/beside_httpd/mod_macro.txt has more cases.

use crate::support::Site;

#[test]
fn a_macro_makes_hosts() {
    let server = Site::new().file("one/a.txt", "one").file("two/a.txt", "two").serve(
        "<Macro Host $name $folder>\n<VirtualHost *>\nServerName $name\nDocumentRoot $folder\n</VirtualHost>\n</Macro>\n\
         Use Host one.example one\nUse Host two.example two\nUndefMacro Host",
    );
    for name in ["one", "two"] {
        let request = crate::support::Request::get("/a.txt").header("Host", &format!("{name}.example"));
        assert_eq!(server.send(request).is(200).text(), name);
    }
}

#[test]
fn mistakes_name_the_line_that_uses_the_macro() {
    for (conf, message) in [
        ("<Macro M $x>\nNoSuch $x\n</Macro>\n\nUse M a\n", ":5: NoSuch"),
        ("<Macro M $x>\n</Macro>\nUse M\n", "the macro M, defined at "),
        ("Use M\n", "there is no macro M"),
        ("<Macro M>\nUse M\n</Macro>\nUse M\n", "uses itself"),
    ] {
        let site = Site::new();
        std::fs::write(site.path("m.conf"), conf).expect("a file");
        site.configure("\nInclude m.conf\n");
        site.cameleer(["check", "-f", "site.conf"]).failed(78, message);
    }
}

/// As in httpd, a name without a value stays as it is, with a warning; in paths and access rules, it is an error.
#[test]
fn a_name_without_a_value_stays_in_texts() {
    let server = Site::new().file("htdocs/a.txt", "a").serve("Header set X \"${NOWHERE} ${}\"");
    assert_eq!(server.get("/a.txt").is(200).header("x").as_deref(), Some("${NOWHERE} ${}"));
    server.logged("Header: ${NOWHERE} has no value; write `Define NOWHERE value` above this line");
    for line in [
        "<Location ${NOWHERE}>\n</Location>",
        "<Location />\nRequire host ${NOWHERE}\n</Location>",
        "IncludeOptional ${NOWHERE}/*.conf",
    ] {
        let site = Site::new();
        site.configure(line);
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "${NOWHERE} has no value");
    }
}

#[test]
fn if_section_knows_the_sections() {
    let server = Site::new().file("htdocs/a.txt", "a").serve(
        "<IfSection VirtualHost>\nHeader set X yes\n</IfSection>\n<IfSection Header>\nNoSuch\n</IfSection>\n\
         <IfSection !NoSuch>\nHeader set Y yes\n</IfSection>",
    );
    let answer = server.get("/a.txt").is(200);
    assert_eq!((answer.header("x"), answer.header("y")), (Some("yes".to_owned()), Some("yes".to_owned())));
}
