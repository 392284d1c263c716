# Objects of APR:: that are used too long, twice or in wrong ways, in a plain perl and in a worker. The process must not
# crash, and each result is text.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my $LIB     = __FILE__ =~ s{t/[^/]+\z}{lib}r;
my $OBJECTS = ( $ENV{CAMELEER} // '' ) =~ s{[^/]+\z}{perl-xs}r;

# The result of the code, or its exception without the place.
sub said ($code) { my $said = eval { $code->() } // $@; return $said =~ s/ at \S+ line \d+\.?\n?//r }

sub brigade { my $pool = shift // APR::Pool->new; return APR::Brigade->new( $pool, APR::BucketAlloc->new($pool) ) }

sub filled (@texts) {
    my $bb = brigade();
    $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, "$_" ) ) for @texts;
    return $bb;
}

# A handle of a brigade whose first scalar calls the code when it is destroyed.
sub acting ( $code, $first, $second, $pool = APR::Pool->new ) {
    my $bb = brigade($pool);
    my $io;
    {
        my $object = bless \( my $text = $first ), 'My::Acts';
        $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $_ ) ) for $$object, $second;
        $io = APR::Request::Brigade->new($bb);
    }
    $bb->destroy;
    $My::Acts::act = sub { $My::Acts::act = undef; $code->($io) };
    return $io;
}

sub flat ($bb) { $bb->flatten( my $data ); return $data }

# Objects of a pool that has ended.
sub left_by ( $end, $make ) { my $pool = APR::Pool->new; my $made = $make->($pool); $pool->$end; return $made }

my %CASES = (
    # Objects of pools.
    kept_alive   => sub { my $t = APR::Table::make( APR::Pool->new, 1 ); $t->{a} = 1; $t->{a} },
    last_first   => sub { my $s = ''; my $p = APR::Pool->new; $p->cleanup_register( sub { $s .= $_[0] }, $_ ) for 1 .. 3; undef $p; $s },
    destroyed    => sub { left_by( destroy => sub ($p) { APR::Table::make( $p, 1 ) } )->get('a') },
    cleared      => sub { left_by( clear   => sub ($p) { APR::URI->parse( $p, '/' ) } )->path },
    child        => sub { left_by( destroy => sub ($p) { $p->new } )->tag('x') },
    grandchild   => sub { left_by( destroy => sub ($p) { APR::Table::make( $p->new, 1 ) } )->get('a') },
    table_there  => sub { my $s; my $p = APR::Pool->new; my $t = APR::Table::make( $p, 1 ); $t->{a} = 'there'; $p->cleanup_register( sub { $s = $t->{a} } ); $p->destroy; $s },
    again        => sub { my $s = 0; my $p = APR::Pool->new; $p->cleanup_register( sub { $s++; $p->destroy; eval { $p->clear } } ); $p->destroy; $s },
    around       => sub { my $s = 0; my $p = APR::Pool->new; my $q = $p->new; $q->cleanup_register( sub { $s++; $p->destroy } ); $q->destroy; $p->destroy; $s },
    below_ending => sub { my $s; my $p = APR::Pool->new; $p->cleanup_register( sub { $s = main::said( sub { $p->new; 'made' } ) } ); $p->destroy; $s },
    reused       => sub { my $p = APR::Pool->new; $p->clear; my $t = APR::Table::make( $p, 1 ); $t->{a} = 'again'; $t->{a} },
    many         => sub { my $p = APR::Pool->new; my @all = map { $p->new } 1 .. 1000; $p->destroy; scalar grep { !eval { $_->tag('x'); 1 } } @all },
    warned       => sub { my $s = ''; local $SIG{__WARN__} = sub { $s .= "@_"; die 'in the handler' }; my $p = APR::Pool->new; $p->cleanup_register( sub { die "why\n" } ); $p->destroy; $s },
    forged       => sub { APR::Pool::tag( bless( \( my $number = 4711 ), 'APR::Pool' ), 'x' ) },
    overwritten  => sub { my $p = APR::Pool->new; $$p = 4711; $p->tag('x'); 'tagged' },

    # Objects of buckets and brigades.
    twice        => sub { my $bb = filled('a'); $bb->insert_tail( $bb->first ) },
    moved        => sub { my ( $bb, $b ) = ( filled( 1, 2 ) ); $b = $bb->first; $b->remove; $bb->insert_tail($b); flat($bb) },
    others       => sub { my $bb = brigade(); $bb->insert_tail( APR::Bucket->new( brigade()->bucket_alloc, 'a' ) ) },
    deleted      => sub { my $bb = filled('a'); my $b = $bb->first; my $c = $bb->first; $b->delete; $c->read( my $data ) },
    by_cleanup   => sub { my $bb = filled('a'); my $b = $bb->first; $bb->cleanup; $b->length },
    of_another   => sub { my ( $x, $y ) = ( brigade(), undef ); $y = APR::Brigade->new( $x->pool, $x->bucket_alloc ); $y->insert_tail( APR::Bucket->new( $x->bucket_alloc, 'a' ) ); $x->next( $y->first ) },
    itself       => sub { my $bb = filled('a'); $bb->concat($bb) },
    not_in_it    => sub { my $bb = filled('a'); $bb->split( filled('b')->first ) },
    beside_loose => sub { my $bb = brigade(); my $b = APR::Bucket->new( $bb->bucket_alloc, 'a' ); $b->insert_after( APR::Bucket->new( $bb->bucket_alloc, 'b' ) ) },
    of_its_own   => sub { my $bb = brigade(); my $data = 'abc' x 9; $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $data ) ) for 1, 2; $bb->flatten($data); length $data },
    shorter      => sub { my $bb = brigade(); my $data = 'abc'; $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $data ) ); $data = 'a'; flat($bb) },
    not_text     => sub { my $bb = brigade(); my $data = 'abc'; $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $data ) ); $data = []; flat($bb) },
    set_aside    => sub { my $bb = brigade(); my $data = 'abc'; $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $data ) ); $bb->first->setaside( $bb->pool ); $data = 'x'; flat($bb) },
    no_allocator => sub { my $bb = filled('a'); my $b = $bb->first; $bb->bucket_alloc->destroy; join '; ', map { said($_) } sub { $bb->first }, sub { $b->length } },
    its_pool     => sub { my $q = APR::Pool->new; my $bb = APR::Brigade->new( APR::Pool->new, APR::BucketAlloc->new($q) ); $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, 'a' ) ); $q->destroy; $bb->length },
    gigabyte     => sub { my $bb = brigade(); my $data = 'x' x 1e6; $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $data ) ) for 1 .. 1100; my $n = $bb->flatten( my $some, 10 ); $bb->length . " $n" },
    freed        => sub { my $seen = 0; my $bb = brigade(); { my $o = bless \( my $t = 'text' ), 'My::Seen'; $My::Seen::count = \$seen; $bb->insert_tail( APR::Bucket->new( $bb->bucket_alloc, $$o ) ) } my $before = $seen; $bb->cleanup; "$before$seen" },
    loose        => sub { my $seen = 0; my $ba = brigade()->bucket_alloc; { my $o = bless \( my $t = 'text' ), 'My::Seen'; $My::Seen::count = \$seen; APR::Bucket->new( $ba, $$o ) } $seen },

    # Destructors that change the brigade of their scalar, or its pool.
    taken_from   => sub { my $io = acting( sub { $_[0]->cleanup }, 'text', 'text' ); $io->READ( my $data, 6 ); $io->READ( my $rest, 6 ); "$data|$rest" },
    cleaned_up   => sub { my $pool = APR::Pool->new; my $io = acting( sub { $pool->destroy }, 'text', 'text', $pool ); $io->cleanup; $io->is_empty },

    # Objects of the other classes.
    wrong_kind   => sub { APR::URI::path( APR::Pool->new ) },
    mutex        => sub { my $m = APR::ThreadMutex->new( my $p = APR::Pool->new ); $m->lock; $p->destroy; $m->unlock },
    address      => sub { APR::SockAddr->new( APR::Pool->new, 'localhost' ) },
    subnet       => sub { my $p = APR::Pool->new; join '', map { APR::IpSubnet->new( $p, '10.0.0.0', '8' )->test( APR::SockAddr->new( $p, $_ ) ) } '10.1.2.3', '11.1.2.3', '::1' },
    path_info    => sub { my $u = APR::URI->parse( APR::Pool->new, '/a/b/c?q' ); $u->path_info('/c'); $u->rpath },
    huge_table   => sub { my $t = APR::Table::make( APR::Pool->new, 2**40 ); $t->{a} = 1; $t->{a} },
    error_number => sub { eval { APR::Finfo::stat( '/no/such', 0, APR::Pool->new ) }; join ' ', ref $@, $@ == 2, $@ != 3, $@ + 1, 0 + $@, "$@" =~ /^APR::Finfo::stat: \(2\) No such file/ },
    socket       => sub { socketpair my $x, my $y, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die $!; my $s = APR::Socket->from_fileno( my $p = APR::Pool->new, fileno $x ); $s->timeout_set(0); my $data; my @said = said( sub { $s->recv( $data, 9 ) } ); syswrite $y, 'hello'; push @said, $s->poll( $p, 1e6, 1 ), $s->recv( $data, 2**50 ), $data, $s->send('back'); sysread $y, my $back, 9; close $x; close $y; join ' ', @said, $back, $s->recv( $data, 9 ), length $data },
    closed       => sub { socketpair my $x, my $y, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die $!; my $s = APR::Socket->from_fileno( my $p = APR::Pool->new, fileno $x ); $s->close; my @said = ( $s->close, said( sub { $s->recv( my $data, 9 ) } ) ); syswrite $x, 'mine'; sysread $y, my $data, 9; join ' ', @said, $data },
    handle       => sub { my $p = APR::Pool->new; open my $out, '+>:APR', "/tmp/apr-$$", $p or die $!; $p->destroy; unlink "/tmp/apr-$$"; print {$out} "one\ntwo\n"; seek $out, 0, 0; my @lines = <$out>; close $out; scalar(@lines) . $lines[1] },
    full         => sub { open my $out, '>:APR', '/dev/full' or die $!; print {$out} 'x' x 100; close $out ? 'written' : 0 + $! },
);

package My::Acts { our $act; sub DESTROY { $act->() if $act } }
package My::Seen { our $count; sub DESTROY { $$count++ } }

sub prepare {
    require Socket;
    require "APR/$_.pm" for qw(Pool Table URI Brigade Bucket BucketAlloc ThreadMutex SockAddr IpSubnet Finfo Socket PerlIO Request/Brigade);
    return;
}

package My::Cases {
    sub handler ($r) { $r->print( main::said( $CASES{ $r->path_info =~ s{/}{}r } ) ); return 0 }
}

if ( TestServer::in_server() ) {
    prepare();
    return 1;
}

use Test::More;

my $OVER   = 'invalid %s object: the pool or allocator that it lived in was destroyed or cleared';
my $ending = 'this pool is being destroyed: it cannot have a new subpool';

my %expected = (
    kept_alive => 1, last_first => '321', destroyed => sprintf( $OVER, 'APR::Table' ), cleared => sprintf( $OVER, 'APR::URI' ),
    child      => 'invalid pool object (already destroyed?)', grandchild => sprintf( $OVER, 'APR::Table' ), table_there => 'there',
    again      => 1, around => 1, below_ending => $ending, reused => 'again', many => 1000, warned => "APR::Pool: cleanup died: why\n",
    forged     => 'pool is not of type APR::Pool', overwritten => 'tagged',

    twice    => 'this bucket is in a brigade already; remove it from there first', moved => '21',
    others   => 'this bucket is of another APR::BucketAlloc than the brigade', deleted => sprintf( $OVER, 'APR::Bucket' ),
    by_cleanup => sprintf( $OVER, 'APR::Bucket' ), of_another => 'this bucket is in another brigade',
    itself   => 'a brigade cannot be joined to itself', not_in_it => 'this bucket is not in the brigade that is to be split',
    beside_loose => 'this bucket is in no brigade: nothing can be inserted beside it', of_its_own => 54,
    shorter  => 'APR::Brigade::flatten: (20014) Internal error (specific information not available)',
    not_text => 'APR::Brigade::flatten: (20014) Internal error (specific information not available)',
    set_aside => 'abc', no_allocator => join( '; ', map { sprintf $OVER, "APR::$_" } qw(Brigade Bucket) ),
    its_pool => sprintf( $OVER, 'APR::Brigade' ), gigabyte => '1100000000 10', freed => '01', loose => 1,
    taken_from => 'textte|', cleaned_up => sprintf( $OVER, 'APR::Brigade' ),

    wrong_kind => qr/\AAPR::URI::path: Expected obj to be of type APR::URI; got APR::Pool=SCALAR\(0x[0-9a-f]+\) instead\z/,
    mutex      => sprintf( $OVER, 'APR::ThreadMutex' ), address => 'APR::SockAddr::new: (20016) The specified IP address is invalid.',
    subnet     => '100', path_info => '/a/b', huge_table => 1, error_number => 'APR::Error 1 1 3 2 1',
    socket     => 'APR::Socket::recv: (11) Resource temporarily unavailable 0 5 hello 4 back 0 0',
    closed     => '9 APR::Socket::recv: (9) Bad file descriptor mine', handle => "2two\n", full => 28,
);

unshift @INC, $LIB, $OBJECTS;
prepare();
my $server = TestServer->spawn("<Location /u>\nSetHandler perl-script\nPerlHandler My::Cases\n</Location>\n");
my @cases   = sort keys %CASES;
my @answers = $server->get_each( map {"/u/$_"} @cases );
for my $case (@cases) {
    my $expected = $expected{$case};
    my $check    = ref $expected ? \&like : \&is;
    $check->( said( $CASES{$case} ), $expected, "$case in a plain perl" );
    $check->( shift(@answers)->{content}, $expected, "$case in a worker" );
}

done_testing;
