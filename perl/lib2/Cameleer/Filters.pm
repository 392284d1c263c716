package Cameleer::Filters;

use v5.36;

use constant {
    OK       => 0,
    DECLINED => -1,
    FAILED   => 500,
    PIECE    => 8192,

    # Marks behind the text of a brigade, as in api.h.
    NOTHING => 0,
    FLUSH   => 1,
    EOS     => 2,

    # Apache2::Const's
    MODE_READBYTES   => 0,
    MODE_GETLINE     => 1,
    MODE_EATCRLF     => 2,
    MODE_SPECULATIVE => 3,
    MODE_INIT        => 5,
};

use APR::Brigade        ();
use APR::Bucket         ();
use APR::BucketAlloc    ();
use Apache2::Connection ();
use Apache2::Filter     ();
use Apache2::RequestRec ();
use Cameleer::ModPerl2  ();

# The filters of requests. A chain is a list of Apache2::Filter objects, linked by {next}; the last one is the
# server, with {core}. The first one is next to the program: it gets the program's output, and delivers its
# input.

# --- called by the server, for the running request

# The argument is `output` or `input`, then the configured handlers: checks that they exist and are request
# filters.
sub check ($words) {
    my ( $way, @names ) = split /\0/, $words;
    for my $name ( grep { !/\A-/ } @names ) {
        my $directive = $way eq 'output' ? 'PerlOutputFilterHandler' : 'PerlInputFilterHandler';
        eval { Apache2::Filter::resolved($name); 1 } or die "$directive $name: $@";
    }
    return;
}

sub insert ($words) {
    my ( $way, @names ) = split /\0/, $words;
    my $r = Apache->request;
    add( $r, $way, $_ ) for @names;
    return;
}

# Passes a piece of the response, followed by nothing, a flush, or the end. Without signatures, to avoid a copy.
sub pass  { return _pass( $_[0], NOTHING ) }
sub flush { return _pass( $_[0], FLUSH ) }
sub end   { return _pass( $_[0], EOS ) }

sub _pass {
    my $r       = Apache->request;
    my $brigade = Apache2::Filter::_text_brigade( $_[0], $_[1], $r );
    my $status  = first( $r, 'output' )->pass_brigade($brigade);
    Apache::_filter_failed( $r, $status ) if $status != OK;
    Apache2::Filter::_empty_brigade($brigade);
    return;
}

# Puts the filtered body into STDIN, for programs that read it or start other programs.
sub spool_body ($argument) {
    my $r = Apache->request;
    require POSIX;
    open my $file, '+>', undef or die "cannot create a file for the filtered body: $!\n";
    my $length = 0;
    while ( read_body( $r, my $piece, 65536 ) ) {
        print {$file} $piece or die "cannot write the filtered body: $!\n";
        $length += length $piece;
    }
    close_gently($file);
    POSIX::dup2( fileno $file, 0 ) // die "cannot make the filtered body the standard input: $!\n";
    seek STDIN, 0, 0;
    Apache::body_length( $r, $length );
    delete @{ of($r) }{qw(input core_input unread has_ended)};
    return;
}

sub close_gently ($file) {
    $file->flush or die "cannot write the filtered body: $!\n";
    return;
}

# --- a request's chains

sub of ($r) { return Cameleer::ModPerl2::of_request($r)->{filters} //= {} }

sub first ( $r, $way ) { return of($r)->{$way} // core( $r, $way ) }

sub core ( $r, $way ) {
    my $of = of($r);
    return $of->{"core_$way"} //= Apache2::Filter::_new( $r->number, $way, core => 1, next => $of->{beyond} );
}

# httpd's names of response filters that are built into the server, in order, and those that end when the head
# is made.
my @OF_ANSWER   = qw(byterange content_length http_header http_outerror core);
my %BEFORE_HEAD = map { $_ => 1 } qw(byterange http_header);

sub core_name ($core) {
    return 'core_in'     if $core->{way} eq 'input';
    return 'subreq_core' if _is_part($core);
    return $core->{name} // ( _names_from( $core, 0 ) )[0];
}

# The server's end of a chain under the next of its names; input to this object goes to the end.
sub behind ($core) {
    return undef if $core->{way} eq 'input';    ## no critic: a list context expects one value
    return $core->{next} // core( Apache::main( $core->r ), 'output' ) if _is_part($core);
    my $name = core_name($core);
    my ($at) = grep { $OF_ANSWER[$_] eq $name } 0 .. $#OF_ANSWER;
    my ($next) = _names_from( $core, $at + 1 );
    return defined $next ? Apache2::Filter::_new( $core->{number}, 'output', core => 1, name => $next ) : undef;
}

sub _is_part ($core) { return defined Apache::main( $core->r ) }

sub _names_from ( $core, $first ) {
    my $has_head = _has_head( $core->r );
    return grep { !$has_head || !$BEFORE_HEAD{$_} } @OF_ANSWER[ $first .. $#OF_ANSWER ];
}

# Whether the head of the response is made. `sent_header` alone is also true if the program declared that it
# prints no header, which in mod_perl 2 setting content_type does.
sub _has_head ($r) {
    my $was_sent = Apache::sent_header( $r, 0 );
    my $is_made = Apache::sent_header($r);
    Apache::sent_header( $r, $was_sent );
    return $is_made;
}

# Sets the filter that a subrequest's output passes after its own filters.
sub beyond ( $r, $filter ) {
    of($r)->{beyond} = $filter;
    Apache::_filter_response($r);
    return;
}

# The pool and allocator of a brigade, if it needs buckets.
sub _home ($r) { return ( $r->pool, $r->connection->bucket_alloc ) }

sub new_brigade ($r) { return APR::Brigade->new( $r->pool, $r->connection->bucket_alloc ) }

sub add ( $r, $way, $handler ) {
    my ( $code, $init ) = Apache2::Filter::resolved($handler);
    my $filter = Apache2::Filter::_new( $r->number, $way, code => $code, next => core( $r, $way ) );
    my $of     = of($r);
    if ( my $last = $of->{$way} ) {
        $last = $last->{next} until !$last->{next} || $last->{next}{core};
        $last->{next} = $filter;
    }
    else { $of->{$way} = $filter }
    $way eq 'output' ? Apache::_filter_response($r) : Apache::_filter_body($r);
    return unless $init;
    my $status = $init->($filter) // OK;
    die "the FilterInitHandler of a filter returned $status\n" if $status ne OK;
    return;
}

sub remove ($filter) {
    my $of = of( $filter->r );
    for ( my $at = \$of->{ $filter->{way} } ; $$at && !$$at->{core} ; $at = \$$at->{next} ) {
        next if $$at != $filter;
        $$at = $filter->{next};
        delete $of->{ $filter->{way} } if $of->{ $filter->{way} }{core};
        last;
    }
    return;
}

# --- the ends of a chain

# Writes the output of the last response filter.
sub write_response ( $core, $brigade ) {
    my $r    = $core->r;
    my $next = $core->{next};
    if ( !$next && defined( my $mark = Apache2::Filter::_write_text( $core, $brigade ) ) ) {
        Apache::_flush_filtered($r) if $mark == FLUSH;
        return OK;
    }
    my $end;
    for ( my $bucket = $brigade->first ; $bucket && !$end ; $bucket = $brigade->next($bucket) ) {
        if    ( $bucket->is_eos ) { $end = $bucket }
        elsif ($next)             { next }
        elsif ( $bucket->is_flush )            { Apache::_flush_filtered($r) }
        elsif ( $bucket->read( my $bytes ) )   { Apache::_write_filtered( $r, $bytes ) }
    }
    # A subrequest's end is not the main request's.
    $end->remove if $end && $next;
    return $next->pass_brigade($brigade) if $next && !$brigade->is_empty;
    $brigade->cleanup;
    return OK;
}

# The next bytes of the body as sent (in line mode up to a line's end), and the end behind the last ones.
sub read_sent ( $core, $brigade, $mode, $length ) {
    my ( $r, $alloc ) = ( $core->r, $brigade->bucket_alloc );
    my $is_line = $mode == MODE_GETLINE;
    my $is_ahead = $mode == MODE_SPECULATIVE;
    $length = PIECE if $length <= 0 || $is_line;
    $core->{unread} //= '';
    if ( length $core->{unread} < $length && !$core->{has_ended} ) {
        my $wanted = $length - length $core->{unread};
        Apache::read_body( $r, my $bytes, $wanted );
        $core->{read} += length $bytes;
        $core->{has_ended} = length $bytes < $wanted || $core->{read} >= Apache::body_length($r);
        $core->{unread} .= $bytes;
    }
    $length = 1 + index $core->{unread}, "\n" if $is_line && $core->{unread} =~ /\n/;
    my $piece = substr $core->{unread}, 0, $length;
    substr( $core->{unread}, 0, $length ) = '' unless $is_ahead;
    $brigade->insert_tail( APR::Bucket->new( $alloc, $piece ) ) if length $piece;
    my $is_last = $core->{has_ended} && ( $is_ahead ? length $piece == length $core->{unread} : !length $core->{unread} );
    $brigade->insert_tail( APR::Bucket::eos_create($alloc) ) if $is_last;
    return OK;
}

# $r->read for a filtered body.
sub read_body {
    my ( $r, undef, $length, $offset ) = @_;
    my $of = of($r);
    $of->{unread} //= '';
    pull( $r, $of, $length ) until length $of->{unread} >= $length || $of->{has_ended};
    $_[1] //= '';
    my $have = length $_[1];
    $offset //= 0;
    $offset += $have if $offset < 0;
    Cameleer::ModPerl2::croak('Offset outside string') if $offset < 0;
    my $before = substr $_[1], 0, $offset;
    my $piece  = substr $of->{unread}, 0, $length, '';
    $_[1] = $before . "\0" x ( $offset - length $before ) . $piece;
    Apache->taint( $_[1] );
    return length $piece;
}

sub pull ( $r, $of, $length ) {
    my $brigade = $of->{body} //= new_brigade($r);
    my $wanted  = $length < PIECE ? PIECE : $length;
    my $before  = _taken($r) + length $of->{unread};
    my $status  = first( $r, 'input' )->get_brigade( $brigade, MODE_READBYTES, 0, $wanted );
    raise( $status, 'Apache2::RequestIO::read' ) if $status != OK;
    for ( my $bucket = $brigade->first ; $bucket && !$of->{has_ended} ; $bucket = $brigade->next($bucket) ) {
        if ( $bucket->is_eos ) { $of->{has_ended} = 1 }
        elsif ( $bucket->read( my $bytes ) ) { $of->{unread} .= $bytes }
    }
    $brigade->cleanup;
    # An empty result without an end would be requested again forever.
    Cameleer::ModPerl2::croak('$r->read: a filter of the body returned neither bytes nor its end, and read nothing; it must pass on what it reads')
        if !$of->{has_ended} && _taken($r) + length $of->{unread} == $before;
    return;
}

# Number of bytes of the body that the last filter has consumed.
sub _taken ($r) {
    my $core = core( $r, 'input' );
    return ( $core->{read} // 0 ) - length( $core->{unread} // '' );
}

# Throws an APR::Error at the line of the API's caller.
sub raise ( $status, $function ) {
    require APR::Error;
    my ( $file, $line ) = ( caller 1 )[ 1, 2 ];
    die bless { rc => 0 + $status, file => $file, line => $line, func => $function }, 'APR::Error';
}

1;

__END__

=head1 NAME

Cameleer::Filters - request filters between programs and the server

=head1 SYNOPSIS

    Cameleer::Filters::add( $r, 'output', \&filter );
    my $status = Cameleer::Filters::first( $r, 'output' )->pass_brigade($brigade);

=head1 DESCRIPTION

Implements L<Apache2::Filter>. The server buffers a program's output and passes it in pieces of 8
KiB or more, at flushes, and at the end; a file is passed in pieces of 1 MiB.

=cut
