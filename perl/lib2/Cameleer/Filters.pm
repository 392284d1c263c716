package Cameleer::Filters;

use v5.36;

use constant {
    OK       => 0,
    DECLINED => -1,
    FAILED   => 500,
    PIECE    => 8192,

    # What stands behind the text of a brigade: those of api.h
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

# The filters of requests. A chain is a list of Apache2::Filter objects, linked by {next}; behind the last stands the server itself, an
# Apache2::Filter that is {core}. The first one is next to the program: it gets what the program prints, and hands it what it reads.

# --- what the server calls, for the request that runs

# For Cameleer::ModPerl2: `output` or `input`, then the configured handlers. They can be had, and are filters of requests.
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

# A piece of the answer, and what stands behind it: nothing, a flush, the end. Without signatures: it is not copied.
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

# A program that reads STDIN, or starts others that do, finds there what the filters make of the body.
sub spool_body ($argument) {
    my $r = Apache->request;
    require POSIX;
    open my $file, '+>', undef or die "a file for the filtered body: $!\n";
    my $length = 0;
    while ( read_body( $r, my $piece, 65536 ) ) {
        print {$file} $piece or die "the filtered body: $!\n";
        $length += length $piece;
    }
    close_gently($file);
    POSIX::dup2( fileno $file, 0 ) // die "the filtered body: $!\n";
    seek STDIN, 0, 0;
    Apache::body_length( $r, $length );
    delete @{ of($r) }{qw(input core_input unread has_ended)};
    return;
}

sub close_gently ($file) {
    $file->flush or die "the filtered body: $!\n";
    return;
}

# --- the chains of a request

sub of ($r) { return Cameleer::ModPerl2::of_request($r)->{filters} //= {} }

sub first ( $r, $way ) { return of($r)->{$way} // core( $r, $way ) }

sub core ( $r, $way ) {
    my $of = of($r);
    return $of->{"core_$way"} //= Apache2::Filter::_new( $r->number, $way, core => 1, next => $of->{beyond} );
}

# The names of httpd's filters of answers whose work the server does, in their order, and which of them leave when the head is made.
my @OF_ANSWER   = qw(byterange content_length http_header http_outerror core);
my %BEFORE_HEAD = map { $_ => 1 } qw(byterange http_header);

sub core_name ($core) {
    return 'core_in'     if $core->{way} eq 'input';
    return 'subreq_core' if _is_part($core);
    return $core->{name} // ( _names_from( $core, 0 ) )[0];
}

# The server's end of a chain once more, under the next of its names: what such an object is given, the end gets.
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

# Whether the head of the answer is made. `sent_header` alone is true, too, when the program has said that it prints no head of its own, which
# content_type says in mod_perl 2.
sub _has_head ($r) {
    my $said = Apache::sent_header( $r, 0 );
    my $is_made = Apache::sent_header($r);
    Apache::sent_header( $r, $said );
    return $is_made;
}

# What a subrequest's answer passes behind its own filters.
sub beyond ( $r, $filter ) {
    of($r)->{beyond} = $filter;
    Apache::_filter_answer($r);
    return;
}

# Where the buckets of such a brigade live, once somebody asks for one.
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
    $way eq 'output' ? Apache::_filter_answer($r) : Apache::_filter_body($r);
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

# --- the ends of the chains

# What has come out of the last filter of an answer.
sub write_answer ( $core, $brigade ) {
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
    # The end of a subrequest is not that of the request that it is a part of.
    $end->remove if $end && $next;
    return $next->pass_brigade($brigade) if $next && !$brigade->is_empty;
    $brigade->cleanup;
    return OK;
}

# The next bytes of the body as it was sent, up to a line's end in one of the modes, and the end behind the last of them.
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

# $r->read, where the body passes filters.
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
    # It would be asked for ever.
    Cameleer::ModPerl2::croak('$r->read: a filter of the body brings neither bytes nor an end, and reads nothing')
        if !$of->{has_ended} && _taken($r) + length $of->{unread} == $before;
    return;
}

# How much of the body the last filter has got.
sub _taken ($r) {
    my $core = core( $r, 'input' );
    return ( $core->{read} // 0 ) - length( $core->{unread} // '' );
}

# An APR::Error, of the line that called the API.
sub raise ( $status, $function ) {
    require APR::Error;
    my ( $file, $line ) = ( caller 1 )[ 1, 2 ];
    die bless { rc => 0 + $status, file => $file, line => $line, func => $function }, 'APR::Error';
}

1;

__END__

=head1 NAME

Cameleer::Filters - the filters of requests, between programs and the server

=head1 SYNOPSIS

    Cameleer::Filters::add( $r, 'output', \&filter );
    my $status = Cameleer::Filters::first( $r, 'output' )->pass_brigade($brigade);

=head1 DESCRIPTION

What stands behind L<Apache2::Filter>. The server gathers what a program prints and hands it over in pieces of 8 KiB or more, where the
program flushes, and at the end; a file comes in pieces of 1 MiB.

=cut
