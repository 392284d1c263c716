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
    dies      => sub ($t) { $t->{A} = 1; my $line = __LINE__; eval { $t->do( sub { die 'stopped' } ) }; $@ =~ /\Astopped at \S+Table\.t line $line\.\n\z/ ? 'file and line' : $@ },
    dies_late => sub ($t) { $t->{$_} = 1 for 'a' .. 'c'; my $s = ''; eval { $t->do( sub { die { seen => $s } if $_[0] eq 'c'; $s .= $_[0] } ) }; $@->{seen} },
    usable    => sub ($t) { $t->{A} = 1; eval { $t->do( sub { die } ) }; $t->{B} = 2; my $s = ''; $t->do( sub { $s .= "@_;" } ); $s . join ',', keys %$t },
    dies_deep => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { my $n = $_[0]; eval { $t->do( sub { die "$n$_[0]\n" } ) }; $s .= $@ =~ tr/\n//dr } ); $s },
    through   => sub ($t) { $t->{A} = 1; eval { $t->do( sub { $t->do( sub { die "inner\n" } ) } ) }; $@ },
    unhandled => sub ($t) { $t->{A} = 1; $t->do( sub { die "unhandled\n" } ); 'never' },
    dies_again => sub ($t) { $t->{A} = 1; TestServer::growth( sub { eval { $t->do( sub { die "stop\n" } ) } } ) },
    frees     => sub ($t) { $t->{A} = 1; my $freed = 0; { my $own = bless [ \$freed ], 'My::Freed'; my $code = sub { die $own if $own }; eval { $t->do($code) }; undef $@ } $freed },
    grows     => sub ($t) { $t->{A} = 1; TestServer::growth( sub { $t->do( sub { 1 }, 'A', 'B' ) } ) },
    nested    => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { my $n = $_[0]; $t->do( sub { $s .= "$n$_[0] " } ); 1 } ); $s },
    adds      => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { $s .= $_[0]; $t->add( "X$_[0]" => 1 ) if length $s < 9; 1 } ); $s . scalar( () = keys %$t ) },
    unsets    => sub ($t) { $t->{$_} = 1 for qw(A B C); my $s = ''; $t->do( sub { $s .= $_[0]; $t->unset('C'); 1 } ); $s },
    sets      => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { $s .= "@_;"; $t->{B} = 2; 1 } ); $s },
    own_code  => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; my $code; $code = sub { undef $code; $s .= $_[0] }; $t->do($code); $s },
    exits     => sub ($t) { $t->{A} = 1; $t->do( sub { print 'before'; exit } ); 'never' },
    no_code   => sub ($t) { $t->{A} = 1; join '', map { my $code = $_; eval { $t->do($code); 1 } ? 'called' : 'died ' } undef, {}, 'No::Such::sub', '' },
    in_names  => sub ($t) { $t->{A} = 1; my $name = bless [], 'My::DyingName'; eval { $t->do( sub { 1 }, $name ) }; $@ },
    large_names => sub ($t) { $t->{$_} = 1 for qw(A B C); my $s = ''; $t->do( sub { $s .= $_[0] }, map { bless [$_], 'My::LargeName' } qw(A C) ); $s . join ',', $t->get( bless ['B'], 'My::LargeName' ), scalar $t->get( bless ['B'], 'My::LargeName' ) },
    modifies  => sub ($t) { $t->{A} = 1; $t->do( sub { $_[1] = 2; 1 } ); $t->{A} },
    context   => sub ($t) { $t->{A} = 1; my $s; $t->do( sub { $s = wantarray ? 'list' : defined wantarray ? 'scalar' : 'void'; 1 } ); $s },
);

sub My::Freed::DESTROY ($own) { ${ $own->[0] }++ }

# A name whose conversion needs much of perl's stack.
package My::LargeName {
    use overload '""' => sub ( $name, @ ) { my @all = sort { $a <=> $b } 1 .. 200_000; return $name->[0] };
}

package My::DyingName {
    use overload '""' => sub { die "no name\n" };
}

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
    dies   => 'file and line', dies_late => 'ab', usable => 'A 1;B 2;A,B', dies_deep => 'AABA', through => "inner\n", dies_again => 'steady',
    frees  => 1, grows => 'steady', nested => 'AA AB BA BB ', adds => 'AB4', unsets => 'AB', sets => 'A 1;B 2;', own_code => 'AB', exits => 'before',
    no_code => 'died ' x 4, in_names => "no name\n", large_names => 'AC1,1', modifies => 1, context => 'scalar',
);
my @cases   = sort keys %expected;
my @answers = $server->get_each( map {"/t/$_"} @cases );
is shift(@answers)->{content}, $expected{$_}, $_ for @cases;

is $server->get('/t/unhandled')->{status}, 500, 'an error that no eval catches ends the request';
like $server->log, qr/unhandled$/m, 'the error log has its text';

done_testing;
