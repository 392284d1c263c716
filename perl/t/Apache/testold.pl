# Apache::testold: the old names are those of Apache::test; run by packages.t

use v5.36;

return {
    the_subs_are_those_of_apache_test => [ sub ($r) { join '', map { Apache::testold->can($_) == Apache::test->can($_) } qw(test fetch simple_fetch have_module skip_test) }, '11111' ],
    test_prints_its_result            => [ sub ($r) { Apache::testold->test( 1, 1 ); '' }, "ok 1\n" ],
    import_offers_the_subs            => [ sub ($r) { package My::Older; Apache::testold->import; My::Older->can('fetch') ? 'there' : 'none' }, 'there' ],
};
