# Apache::Constants: every tag, the numbers of httpd 1.3, name and export.

use v5.36;
use Test::More;

use Cwd ();
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{../lib}r;

require Apache::Constants;

my %first = (
    common => 'OK 0', response => 'DOCUMENT_FOLLOWS 200', http => 'HTTP_CONTINUE 100', methods => 'M_GET 0',
    options => 'OPT_NONE 0', remotehost => 'REMOTE_HOST 0', satisfy => 'SATISFY_ALL 0',
    server => 'MODULE_MAGIC_NUMBER 19990320', config => "DECLINE_CMD \a\b", types => 'DIR_MAGIC_TYPE httpd/unix-directory',
    override => 'OR_NONE 0', args_how => 'RAW_ARGS 0', response_codes => 'DOCUMENT_FOLLOWS 200',
);
for my $tag ( sort keys %first ) {
    my ( $name, $value ) = split / /, $first{$tag};
    eval "package My::$tag; Apache::Constants->import(':$tag'); 1" or fail $@;
    is "My::$tag"->can($name)->(), $value, ":$tag has $name";
}

my %numbers = (
    DECLINED => -1, DONE => -2, CONTINUE => -1, NOT_AUTHORITATIVE => -1, AUTH_REQUIRED => 401, REDIRECT => 302,
    HTTP_PRECONDITION_FAILED => 412, M_INVALID => 15, METHODS => 16, OPT_ALL => 15, OPT_EXECCGI => 8, OR_ALL => 31,
    TAKE123 => 10, RSRC_CONF => 128, SERVICE_UNAVAILABLE => 503,
);
is Apache::Constants->can($_)->(), $numbers{$_}, $_ for sort keys %numbers;

is Apache::Constants::OPT_INDEXES() | Apache::Constants::OPT_EXECCGI(), 9, 'constants are numbers: | joins their bits';

ok My::response->can('NOT_FOUND'), ':response has the names of :common';
ok !exists $Apache::Constants::EXPORT_TAGS{other}, 'names without a tag in 1.x have no tag';
is Apache::Constants->name(404), 'NOT_FOUND', 'name';
is Apache::Constants->name(412), 'HTTP_PRECONDITION_FAILED', 'name of a rare status';
is Apache::Constants->name(99999), undef, 'name of no status';

sub Apache::Constants::MINE { return 7 }
ok !eval { package My::Before; Apache::Constants->import('MINE'); 1 }, 'not importable yet';
Apache::Constants->export('MINE');
is eval { package My::After; Apache::Constants->import('MINE'); MINE() }, 7, 'export';
is Apache::Constants::OK('$r'), 0, 'a constant may be a handler';

require Apache::Constants::Exports;
ok @{ $Apache::Constants::EXPORT_TAGS{common} } >= 7, 'Exports';

done_testing;
