# Cameleer::HTML: escapes characters that HTML or a terminal would interpret; run by packages.t

use v5.36;

return {
    special_characters_become_entities   => [ sub ($r) { Cameleer::HTML::escape(q{<a href="x">'&'</a>}) }, '&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;' ],
    control_characters_are_shown         => [ sub ($r) { Cameleer::HTML::escape("a\0b\x1bc\nd\te\x7f") }, "a\\x{0}b\\x{1b}c\nd\te\\x{7f}" ],
    marks_that_reverse_text_are_shown    => [ sub ($r) { Cameleer::HTML::escape("a\x{202e}b\x{feff}") }, 'a\x{202e}b\x{feff}' ],
    utf8_bytes_are_escaped_as_characters => [ sub ($r) { Cameleer::HTML::escape("\xe2\x80\xae\xe2\x98\xba") }, "\\x{202e}\xe2\x98\xba" ],
    latin_1_stays_as_it_is               => [ sub ($r) { Cameleer::HTML::escape("\xe9<") }, "\xe9&lt;" ],
    undef_is_an_empty_text               => [ sub ($r) { '[' . Cameleer::HTML::escape(undef) . ']' }, '[]' ],
    the_argument_stays_unchanged         => [ sub ($r) { my $text = '<'; Cameleer::HTML::escape($text); $text }, '<' ],
    leaks_nothing                        => [ sub ($r) { TestServer::growth( sub { Cameleer::HTML::escape("<\x{263a}>") } ) }, 'steady' ],
};
