# APR::Table in the server: tables of a pool and tables of a request, as object and as hash.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    hash      => sub ($t) { $t->{A} = 1; $t->{b} = 2; join ',', map { "$_=$t->{$_}" } keys %$t },
    same_name => sub ($t) { $t->set( A => 1 ); $t->set( a => 2 ); join ',', %$t },
    several   => sub ($t) { $t->add( A => $_ ) for 1 .. 3; join ',', scalar $t->get('a'), $t->get('A') },
    values    => sub ($t) { $t->add( A => 1 ); $t->add( B => 2 ); $t->add( A => 3 ); join ',', values %$t },
    each      => sub ($t) { $t->add( A => 1 ); $t->add( A => 2 ); my @s; while ( my ($n) = each %$t ) { push @s, $t->{a} } "@s" },
    numbers   => sub ($t) { $t->{$_} = 1 for 9 .. 11; join ',', grep { $_ > 9 } keys %$t },
    merge     => sub ($t) { $t->merge( A => 1 ); $t->merge( a => 2 ); $t->{A} },
    unset     => sub ($t) { $t->add( A => 1 ); $t->add( a => 2 ); $t->unset('A'); exists $t->{a} ? 'there' : 'gone' },
    delete    => sub ($t) { $t->{A} = 1; ( delete $t->{A} ) . ( defined $t->{A} ? 'there' : 'gone' ) },
    on_the_way => sub ($t) { $t->{$_} = 1 for 'a' .. 'f'; for my $n ( keys %$t ) { delete $t->{$n} } scalar keys %$t },
    while_each => sub ($t) { $t->{$_} = 1 for 'a' .. 'f'; while ( my ($n) = each %$t ) { delete $t->{$n} } scalar keys %$t },
    clear     => sub ($t) { $t->{A} = 1; %$t = (); scalar keys %$t },
    do        => sub ($t) { $t->add( A => $_ ) for 1 .. 3; my $s = ''; $t->do( sub { $s .= "@_;"; $_[1] < 2 } ); $s },
    do_some   => sub ($t) { $t->{$_} = 1 for qw(A B C); my $s = ''; $t->do( sub { $s .= $_[0] }, 'c', 'a' ); $s },
    do_dies   => sub ($t) { $t->{A} = 1; eval { $t->do( sub { die "stop\n" } ) }; $@ },
    change    => sub ($t) { $t->{$_} = 1 for qw(A B); $t->do( sub { $t->clear; 1 } ); scalar keys %$t },
    bytes     => sub ($t) { utf8::upgrade( my $v = "\x{e9}x" ); $t->{A} = $v; $t->{B} = "\x{263a}"; join ',', map { length } values %$t },
    overlay   => sub ($t) { $t->add( A => 1 ); $t->add( A => 2 ); my $o = $t->copy( my $p = APR::Pool->new ); $o->set( a => 3 ); join ',', %{ $t->overlay( $o, $p ) } },
    compress  => sub ($t) { $t->add( A => 1 ); $t->add( B => 2 ); $t->add( a => 3 ); $t->compress(1); join ',', %$t },
    overlap   => sub ($t) { $t->add( A => 1 ); my $o = $t->copy( APR::Pool->new ); $o->set( a => 2 ); $t->overlap( $o, 0 ); join ',', %$t },
    objects   => sub ($t) { my $o = bless [], 'My::Clearing'; $My::Clearing::table = $t; $t->{A} = $o; join ',', %$t },
    dies      => sub ($t) { $t->{A} = 1; my $line = __LINE__; eval { $t->do( sub { die 'stopped' } ) }; $@ =~ /\Astopped at \S+Table\.t line $line\.\n\z/ ? 'file and line' : $@ },
    dies_late => sub ($t) { $t->{$_} = 1 for 'a' .. 'c'; my $s = ''; eval { $t->do( sub { die { seen => $s } if $_[0] eq 'c'; $s .= $_[0] } ) }; $@->{seen} },
    usable    => sub ($t) { $t->{A} = 1; eval { $t->do( sub { die } ) }; $t->{B} = 2; my $s = ''; $t->do( sub { $s .= "@_;" } ); $s . join ',', keys %$t },
    dies_deep => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { my $n = $_[0]; eval { $t->do( sub { die "$n$_[0]\n" } ) }; $s .= $@ =~ tr/\n//dr } ); $s },
    through   => sub ($t) { $t->{A} = 1; eval { $t->do( sub { $t->do( sub { die "inner\n" } ) } ) }; $@ },
    dies_again => sub ($t) { $t->{A} = 1; TestServer::growth( sub { eval { $t->do( sub { die "stop\n" } ) } } ) },
    frees     => sub ($t) { $t->{A} = 1; my $freed = 0; { my $own = bless [ \$freed ], 'My::Freed'; my $code = sub { die $own if $own }; eval { $t->do($code) }; undef $@ } $freed },
    grows     => sub ($t) { $t->{A} = 1; TestServer::growth( sub { $t->do( sub { 1 }, 'A', 'B' ) } ) },
    nested    => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { my $n = $_[0]; $t->do( sub { $s .= "$n$_[0] " } ); 1 } ); $s },
    adds      => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { $s .= $_[0]; $t->add( "X$_[0]" => 1 ) if length $s < 9; 1 } ); $s . scalar( () = keys %$t ) },
    unsets    => sub ($t) { $t->{$_} = 1 for qw(A B C); my $s = ''; $t->do( sub { $s .= $_[0]; $t->unset('C'); 1 } ); $s },
    sets      => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; $t->do( sub { $s .= "@_;"; $t->{B} = 2; 1 } ); $s },
    own_code  => sub ($t) { $t->{$_} = 1 for qw(A B); my $s = ''; my $code; $code = sub { undef $code; $s .= $_[0] }; $t->do($code); $s },
    no_code   => sub ($t) { $t->{A} = 1; join '', map { my $code = $_; eval { $t->do($code); 1 } ? 'called' : 'died ' } undef, {}, 'No::Such::sub', '' },
    in_names  => sub ($t) { $t->{A} = 1; my $name = bless [], 'My::DyingName'; eval { $t->do( sub { 1 }, $name ) }; $@ },
    large_names => sub ($t) { $t->{$_} = 1 for qw(A B C); my $s = ''; $t->do( sub { $s .= $_[0] }, map { bless [$_], 'My::LargeName' } qw(A C) ); $s . join ',', $t->get( bless ['B'], 'My::LargeName' ), scalar $t->get( bless ['B'], 'My::LargeName' ) },
    modifies  => sub ($t) { $t->{A} = 1; $t->do( sub { $_[1] = 2; 1 } ); $t->{A} },
    context   => sub ($t) { $t->{A} = 1; my $s; $t->do( sub { $s = wantarray ? 'list' : defined wantarray ? 'scalar' : 'void'; 1 } ); $s },
    destroys  => sub ($t) { my $p = APR::Pool->new; my $o = $t->copy($p); $o->add( $_ => 1 ) for qw(A B); my $n = 0; eval { $o->do( sub { $n++; undef $p; $n < 5 } ) }; $n . ( $@ ? ' died' : '' ) },
    forgets   => sub ($t) { my $o = $t->copy( APR::Pool->new ); $o->add( $_ => 1 ) for qw(A B); my $s = ''; $o->do( sub { undef $o; $s .= $_[0]; 1 } ); $s },
);

sub My::Freed::DESTROY ($own) { ${ $own->[0] }++ }

# A name whose conversion needs much of perl's stack.
package My::LargeName {
    use overload '""' => sub ( $name, @ ) { my @all = sort { $a <=> $b } 1 .. 200_000; return $name->[0] };
}

package My::DyingName {
    use overload '""' => sub { die "no name\n" };
}

package My::Clearing {
    use overload '""' => sub { our $table->clear; 'text' }, fallback => 1;
}

package My::Tables {
    sub handler ($r) {
        require APR::Table;
        require APR::Pool;
        my ( $kind, $case ) = $r->path_info =~ m{\A/(\w+)/(\w+)\z};
        my $table = $kind eq 'made' ? APR::Table::make( APR::Pool->new, 10 ) : Apache::Table->new($r)->apr;
        $r->print( $CASES{$case}->($table) );
        return 0;
    }
}

package My::Requests {
    our $kept;

    # Two requests of the same worker, and a header that its table sets.
    sub handler ($r) {
        my $said = $kept ? eval { $kept->get('Host') } // $@ : 'first';
        $kept = $r->headers_in->apr;
        $r->headers_out->apr->{'X-Table'} = ref($kept) . ' ' . $kept->get('host') =~ s/:.*//r;
        $r->print($said);
        return 0;
    }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END');
<Location /t>
    SetHandler perl-script
    PerlHandler My::Tables
</Location>
<Location /requests>
    SetHandler perl-script
    PerlHandler My::Requests
</Location>
END

my %expected = (
    hash     => 'A=1,b=2', same_name => 'a,2', several => '1,1,2,3', values => '1,2,3', each => '1 2', numbers => '10,11',
    merge    => '1, 2', unset => 'gone', delete => '1gone', on_the_way => 0, while_each => 0, clear => 0, do => 'A 1;A 2;',
    do_some  => 'AC', do_dies => "stop\n", change => 0, bytes => '2,3', overlay => 'A,3,A,1,A,2', compress => 'A,1, 3,B,2',
    overlap  => 'A,2', objects => 'A,text',
    dies     => 'file and line', dies_late => 'ab', usable => 'A 1;B 2;A,B', dies_deep => 'AABA', through => "inner\n", dies_again => 'steady',
    frees    => 1, grows => 'steady', nested => 'AA AB BA BB ', adds => 'AB4', unsets => 'AB', sets => 'A 1;B 2;', own_code => 'AB', no_code => 'died ' x 4,
    in_names => "no name\n", large_names => 'AC1,1', modifies => 1, context => 'scalar', destroys => '2', forgets => 'AB',
);
# A repeated name has its last spelling in a request's table, its first one in a table of apr.
my %in_pool = ( same_name => 'A,2' );

my @cases   = sort keys %CASES;
my @answers = $server->get_each( map { ( "/t/request/$_", "/t/made/$_" ) } @cases );
for my $case (@cases) {
    is shift(@answers)->{content}, $expected{$case}, "$case of a request's table";
    is shift(@answers)->{content}, $in_pool{$case} // $expected{$case}, "$case of one in a pool";
}

my $first = $server->get('/requests');
is $first->{headers}{'x-table'}, 'APR::Table ' . ( $server->url('/') =~ m{//([^:/]+)} )[0], 'the request has the entry';
like $server->get('/requests')->{content}, qr/\Athis request is over: /, 'a table kept beyond its request throws';

done_testing;
