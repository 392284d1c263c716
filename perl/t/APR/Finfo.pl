# APR::Finfo: the values of stat, and an exception for a missing file; run by packages.t

use v5.36;

sub My::Finfo::of ($path) { require APR::Pool; require APR::Const; APR::Const->import( -compile => 'FINFO_NORM' ); return APR::Finfo::stat( $path, APR::Const::FINFO_NORM(), APR::Pool->new ) }

return {
    stat_gives_the_fields_of_the_file => [ sub ($r) { my $path = TestServer::own_file('page.txt'); my $f = My::Finfo::of($path); my @s = stat $path; ( $f->size == $s[7] ) . ( $f->inode == $s[1] ) . ( $f->user == $s[4] ) }, '111' ],
    a_missing_file_dies               => [ sub ($r) { eval { My::Finfo::of('/no/such') }; "$@" }, qr/\AAPR::Finfo::stat: \(2\) No such file or directory at / ],
    leaks_nothing                     => [ sub ($r) { TestServer::growth( sub { My::Finfo::of('/tmp')->mtime; eval { My::Finfo::of('/no/such') } } ) }, 'steady' ],
};
