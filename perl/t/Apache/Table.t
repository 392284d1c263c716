# Apache::Table: names in order, a name several times, their case ignored; object and hash alike.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    hash      => sub ($t) { $t->{A} = 1; $t->{b} = 2; join ',', map { "$_=$t->{$_}" } keys %$t },
    same_name => sub ($t) { $t->set( A => 1 ); $t->set( a => 2 ); join ',', %$t },
    several   => sub ($t) { $t->add( A => $_ ) for 1 .. 3; join ',', scalar $t->get('a'), $t->get('A') },
    array     => sub ($t) { $t->set( A => [ 1, 2 ] ); $t->add( A => [3] ); join ',', $t->get('A') },
    merge     => sub ($t) { $t->merge( A => 1 ); $t->merge( a => 2 ); $t->{A} },
    unset     => sub ($t) { $t->add( A => 1 ); $t->add( a => 2 ); $t->unset('A'); exists $t->{a} ? 'there' : 'gone' },
    delete    => sub ($t) { $t->{A} = 1; ( delete $t->{A} ) . ( defined $t->{A} ? 'there' : 'gone' ) },
    undef     => sub ($t) { $t->{A} = 1; $t->{A} = undef; exists $t->{A} ? 'there' : 'gone' },
    clear     => sub ($t) { $t->{A} = 1; %$t = (); scalar keys %$t },
    do        => sub ($t) { $t->add( A => $_ ) for 1 .. 3; my $s = ''; $t->do( sub { $s .= "@_;"; $_[1] < 2 } ); $s },
    do_some   => sub ($t) { $t->{$_} = 1 for qw(A B C); my $s = ''; $t->do( sub { $s .= $_[0] }, 'c', 'a' ); $s },
    change    => sub ($t) { $t->{$_} = 1 for qw(A B); $t->do( sub { $t->clear; 1 } ); scalar keys %$t },
    bytes     => sub ($t) { $t->{A} = "\x{e9}\0x"; utf8::upgrade( my $v = "\x{e9}\0x" ); $t->{A} eq $v ? 'same' : 'other' },
);

package My::Tables {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->( Apache::Table->new($r) ) ); 0 }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END');
<Location /t>
    SetHandler perl-script
    PerlHandler My::Tables
</Location>
END

my %expected = (
    hash => 'A=1,b=2', same_name => 'a,2', several => '1,1,2,3', array => '1,2,3', merge => '1, 2', unset => 'gone',
    delete => '1gone', undef => 'gone', clear => '0', do => 'A 1;A 2;', do_some => 'AC', change => '0', bytes => 'same',
);
is $server->get("/t/$_")->{content}, $expected{$_}, $_ for sort keys %expected;

done_testing;
