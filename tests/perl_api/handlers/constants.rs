//! Apache::Constants: names and numbers.

use super::{printing, site};

#[test]
fn the_common_constants_have_their_numbers() {
    let names = "OK DECLINED DONE NOT_FOUND FORBIDDEN AUTH_REQUIRED SERVER_ERROR REDIRECT";
    let server = site(&printing(&names.replace(' ', ", "))).serve(&super::conf(""));
    assert_eq!(server.text("/my"), "0|-1|-2|404|403|401|500|302");
}

#[test]
fn the_other_tags_export_theirs() {
    let server = site(&format!(
        "use Apache::Constants qw(:response :http :methods);\n{}",
        printing("DOCUMENT_FOLLOWS, MOVED, USE_LOCAL_COPY, BAD_REQUEST, HTTP_OK, HTTP_NOT_MODIFIED, HTTP_CREATED, HTTP_NO_CONTENT, HTTP_SERVICE_UNAVAILABLE, M_GET, M_POST, M_PUT, M_DELETE")
    ))
    .serve(&super::conf(""));
    assert_eq!(server.text("/my"), "200|301|304|400|200|304|201|204|503|0|2|1|3");
}

#[test]
fn a_constant_is_a_handler() {
    let server = site("sub handler { OK }").serve(
        &(super::conf("") + "\n<Location /ok>\nSetHandler perl-script\nPerlHandler Apache::Constants::OK\n</Location>"),
    );
    server.get("/ok").is(200);
}
