# Apache::Registry::Package: makes package names of paths, and empties packages; run by packages.t

use v5.36;

sub My::Names::of ($uri) { return Apache::Registry::Package::name_of($uri) }

return {
    a_path_becomes_a_package              => [ sub ($r) { My::Names::of('/perl/news.pl') },   'Apache::ROOT::perl::news_2epl' ],
    a_host_is_part_of_the_package         => [ sub ($r) { My::Names::of('www.example.org/a') }, 'Apache::ROOTwww_2eexample_2eorg::a' ],
    a_folder_becomes_an_index             => [ sub ($r) { My::Names::of('/a/') },             'Apache::ROOT::a::__INDEX__' ],
    a_leading_digit_is_escaped            => [ sub ($r) { My::Names::of('/a/9.pl') },         'Apache::ROOT::a::_39_2epl' ],
    slashes_are_merged                    => [ sub ($r) { My::Names::of('/a///b') },          'Apache::ROOT::a::b' ],
    code_in_a_path_becomes_words          => [ sub ($r) { My::Names::of("/x; system('y');\n") =~ /\A[\w:]+\z/ ? 'words' : 'code' }, 'words' ],
    high_bytes_are_escaped                => [ sub ($r) { My::Names::of("/\xe9") },           'Apache::ROOT::_e9' ],
    forget_subs_removes_own_subs_only     => [
        sub ($r) {
            eval 'package My::Own; use List::Util "sum"; our $kept = 5; sub gone { 1 } sub sum2 { 2 } 1' or die $@;    ## no critic: a package at run time
            Apache::Registry::Package::forget_subs('My::Own');
            join '|', ( map { My::Own->can($_) ? 'there' : 'gone' } qw(gone sum2 sum) ), do { no warnings 'once'; $My::Own::kept };
        },
        'gone|gone|there|5',
    ],
    flush_removes_the_subs_of_one_package => [
        sub ($r) {
            eval 'package My::Flushed; our $own = 5; sub one { 1 } package My::Flushed::Inner; sub two { 2 } 1' or die $@;    ## no critic: likewise
            Apache::Registry::Package::flush('My::Flushed');
            join '|', map { defined &$_ ? 'there' : 'gone' } qw(My::Flushed::one My::Flushed::Inner::two);
        },
        'gone|there',
    ],
    a_missing_package_is_ignored          => [ sub ($r) { Apache::Registry::Package::forget_subs('No::Such::Package'); 'quiet' }, 'quiet' ],
};
