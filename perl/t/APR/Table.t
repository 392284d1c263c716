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
);

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
);
# A repeated name has its last spelling in a request's table, its first one in a table of apr.
my %in_pool = ( same_name => 'A,2' );

for my $case ( sort keys %CASES ) {
    is $server->get("/t/request/$case")->{content}, $expected{$case}, "$case of a request's table";
    is $server->get("/t/made/$case")->{content}, $in_pool{$case} // $expected{$case}, "$case of one in a pool";
}

my $first = $server->get('/requests');
is $first->{headers}{'x-table'}, 'APR::Table ' . ( $server->url('/') =~ m{//([^:/]+)} )[0], 'the request has the entry';
like $server->get('/requests')->{content}, qr/\Athis request is over: /, 'a table kept beyond its request throws';

done_testing;
