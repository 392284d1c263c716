# Apache::test: prints results, finds modules and builds URLs; run by packages.t

use v5.36;

return {
    test_prints_its_result                 => [ sub ($r) { Apache::test::test( 1, 1 ); Apache::test->test( 2, 0 ); '' }, "ok 1\nnot ok 2\n" ],
    have_module_knows_modules_and_versions => [ sub ($r) { join '|', Apache::test::have_module('Apache::Table'), Apache::test->have_module('No::Such'), Apache::test::have_module( 'Apache::test', 99 ) }, '1|0|0' ],
    skip_test_ends_the_test                => [ sub ($r) { Apache::test::skip_test(); 'never' }, "1..0\n" ],
    a_refused_connection_fetches_nothing   => [ sub ($r) { no warnings 'once'; local $net::httpserver = '127.0.0.1:1'; Apache::test::simple_fetch('/x') ? 'fetched' : 'none' }, 'none' ],
    url_adds_the_server                    => [ sub ($r) { no warnings 'once'; local $net::httpserver = 'h:1'; join '|', map { Apache::test::url($_) } '/x', 'http://other/' }, 'http://h:1/x|http://other/' ],
};
