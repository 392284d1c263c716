# Cameleer::Inspection: writes JSON, and lists the loaded modules; run by packages.t

use v5.36;
use JSON::PP ();

sub My::Inspected::back ($text) { return JSON::PP->new->latin1->decode( Cameleer::Inspection::object( key => $text ) )->{key} eq $text ? 'same' : 'other' }

return {
    object_prints_json                  => [ sub ($r) { Cameleer::Inspection::object( a => 1, b => 'x' ) }, '{"a":"1","b":"x"}' ],
    an_empty_object_is_a_pair_of_braces => [ sub ($r) { Cameleer::Inspection::object() }, '{}' ],
    special_characters_are_escaped      => [ sub ($r) { Cameleer::Inspection::object( 'a"' => "\\\n\0" ) }, '{"a\u0022":"\u005c\u000a\u0000"}' ],
    decoding_gives_the_text_back        => [ sub ($r) { join '|', map { My::Inspected::back($_) } "a\"\\\n", join( '', map {chr} 0 .. 255 ), "\x{263a}", "\x{1f42b}" }, 'same|same|same|same' ],
    loaded_lists_modules_and_scripts    => [ sub ($r) { my $all = JSON::PP->new->decode( Cameleer::Inspection::loaded() ); join '|', ref $all->{modules}, ref $all->{scripts}, $all->{modules}{'Cameleer/Inspection.pm'} ? 'this' : 'none' }, 'HASH|HASH|this' ],
    hooks_in_inc_are_skipped            => [ sub ($r) { local $INC{'My/Hooked.pm'} = sub { 1 }; local $INC{'My/Failed.pm'}; Cameleer::Inspection::loaded() =~ /My\/(?:Hooked|Failed)/ ? 'listed' : 'skipped' }, 'skipped' ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { Cameleer::Inspection::object( a => "\x{263a}" ) } ) }, 'steady' ],
};
