# Apache::Util, inside the server because its escapes are XS.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    html      => sub { escape_html(q{<a href="x">&'é}) },
    html_wide => sub { my $t = escape_html("<\x{263a}>"); length($t) . ( utf8::is_utf8($t) ? ' characters' : ' bytes' ) },
    uri       => sub { escape_uri("/a b/%?#;\"\x00-_.~") },
    uri_wide  => sub { escape_uri("\x{e9}\x{263a}") },
    unescape  => sub { join '|', unescape_uri('a%20b+c%4'), unescape_uri_info('a%20b+c') },
    time      => sub { ht_time(784111777) },
    format    => sub { ht_time( 784111777, '%d.%m.%y %b' ) },
    dates     => sub { join ' ', map { parsedate($_) } 'Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT',
            'Sun Nov  6 08:49:37 1994', 'yesterday', 'Sun, 66 Nov 1994 08:49:37 GMT' },
    sizes => sub { join '|', map { size_string($_) } -1, 0, 1, 1023, 1024, 10_000, 1_500_000, 200_000_000 },
    passwords => sub {
        join '', map { validate_password( 'secret', $_ ) } '$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/',
            '$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ0', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfR=',
            crypt( 'secret', 'ab' ), crypt( 'Secret', 'ab' ), crypt( 'secret', '$6$salt' ), 'secret', '';
    },
);

if ( TestServer::in_server() ) {
    require Apache::Util;
    Apache::Util->import(':all');
    return TestServer::serve_cases( \%CASES );
}

use Test::More;

my %expected = (
    html      => q{&lt;a href=&quot;x&quot;&gt;&amp;'} . "\xc3\xa9",
    html_wide => '9 characters',
    uri       => '/a%20b/%25%3f%23%3b%22%00-_.~',
    uri_wide  => '%c3%a9%e2%98%ba',
    unescape  => 'a b+c%4|a b c',
    time      => 'Sun, 06 Nov 1994 08:49:37 GMT',
    format    => '06.11.94 Nov',
    dates     => '784111777 784111777 784111777 0 0',
    sizes     => '    -|   0k|   1k|   1k|   1k|  10k| 1.4M| 191M',
    passwords => '101010100',
);
TestServer->check_cases( \%expected );

done_testing;
