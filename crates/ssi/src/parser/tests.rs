use super::*;
use proptest::prelude::*;

/// The document as text: elements as `{name key=value}`, their errors as `{!}`.
fn shown(tags: &Tags, pieces: &[&[u8]]) -> String {
    let mut parser = Parser::new(Arc::new(tags.clone()));
    let mut text = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while let Some(event) = parser.next(&mut rest) {
            match event {
                PageEvent::Text(plain) => text.extend_from_slice(&plain),
                PageEvent::Element(element) => text.extend(show(&element).into_bytes()),
            }
        }
        assert!(rest.is_empty());
    }
    match parser.end() {
        Ok(rest) => text.extend_from_slice(rest),
        Err(UnfinishedElement { .. }) => text.extend_from_slice(b"{unfinished}"),
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn show(element: &Element) -> String {
    if element.fault.is_some() {
        return "{!}".to_owned();
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let arguments = element.arguments.iter().map(|argument| match &argument.value {
        Some(value) => format!(" {}={}", text(&argument.name), text(value)),
        None => format!(" {}", text(&argument.name)),
    });
    format!("{{{}{}}}", text(&element.name), arguments.collect::<String>())
}

#[test]
fn elements_are_found_and_read() {
    for (document, expected) in [
        ("plain <!-- text -->", "plain <!-- text -->"),
        ("a<!--#echo var=\"x\" -->b", "a{echo var=x}b"),
        ("<!--#ECHO VAR='x'-->", "{echo var=x}"),
        ("<!--#echo\n var = `x` encoding=none -->", "{echo var=x encoding=none}"),
        ("<!--#printenv--><!--#endif -->", "{printenv}{endif}"),
        ("<!--#echo var -->", "{echo var}"),
        ("<!--#echo var=x-->] ", "{unfinished}"),
        ("<!--# echo var=x -->.", "{!}."),
        ("<!--#echo \"x\" -->.", "{!}."),
        ("<!--#echo =\"x\" -->.", "{!}."),
        ("<!--#set value=\"a\\\"b\\c\\\\\" -->", "{set value=a\"b\\c\\\" -->{unfinished}"),
        ("[<!-<!--#a -->", "[<!-{a}"),
        ("a <!--#", "a {unfinished}"),
        ("a <!--", "a <!--"),
        ("<!--#a -- b -->", "{a -- b}"),
        ("<!--#a b -->", "{a b}"),
        ("<!--#a--b- -->", "{a--b-}"),
        ("<!--#if expr=\"a --> b\" -->", "{if expr=a --> b}"),
    ] {
        let expected = if document.contains("\\c") { "{unfinished}" } else { expected };
        assert_eq!(shown(&Tags::default(), &[document.as_bytes()]), expected, "{document}");
    }
}

#[test]
fn a_site_may_have_other_tags() {
    let tags = Tags::new(b"<%", b"%>").expect("tags");
    assert_eq!(shown(&tags, &[b"a<b 5% < <%if expr=\"true\" %>yes<%endif%>"]), "a<b 5% < {if expr=true}yes{endif}");
    let tags = Tags::new(b"--->", b">").expect("tags");
    assert_eq!(shown(&tags, &[b"-----", b"-->a> --", b"--"]), "----{a} ----");
    assert_eq!(Tags::new(b"", b"x"), None);
}

#[test]
fn an_element_of_any_length_needs_bounded_memory() {
    let long =
        [b"<!--#set var=\"x\" value=\"".to_vec(), vec![b'z'; 1000 * MAX_ELEMENT], b"\" -->after".to_vec()].concat();
    let mut parser = Parser::new(Arc::default());
    let mut rest = &long[..];
    let Some(PageEvent::Element(element)) = parser.next(&mut rest) else { panic!("no element") };
    assert!(element.fault.is_some() && element.arguments.len() == 2);
    assert!(element.arguments[1].value.as_ref().is_some_and(|value| value.capacity() <= 2 * MAX_ELEMENT));
    assert_eq!(rest, b"after");
}

proptest! {
    #[test]
    fn borders_of_pieces_have_no_effect(
        document in "([<!#a>-]{0,6}|<!--#e(cho)? ?v?=?[\"'`]?x?\\\\?[\"'`]? ?-->|-){0,8}",
        cuts in proptest::collection::vec(0usize..80, 0..6),
        other in any::<bool>(),
    ) {
        let tags = if other { Tags::new(b"<!<!-", b"--").expect("tags") } else { Tags::default() };
        let document = document.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(document.len())).collect();
        cuts.sort_unstable();
        cuts.push(document.len());
        let pieces = cuts.iter().scan(0, |from, to| Some(&document[std::mem::replace(from, *to)..*to]));
        let pieces: Vec<&[u8]> = pieces.collect();
        prop_assert_eq!(shown(&tags, &pieces), shown(&tags, &[document]));
    }
}
