package Apache2::Filter;

use v5.36;

use Apache2::FilterRec     ();
use Apache2::RequestRec    ();
use Cameleer::ModPerl2     ();
use Cameleer::Filters      ();
use Cameleer::XS           ();
use Hash::Util::FieldHash  ();
use Scalar::Util           ();

use constant { OK => Cameleer::Filters::OK(), DECLINED => Cameleer::Filters::DECLINED(), FAILED => Cameleer::Filters::FAILED() };

Cameleer::XS::load(__PACKAGE__);

# The attributes of subs (`sub filter : FilterRequestHandler`), by code reference; removed with the code.
Hash::Util::FieldHash::fieldhash my %ATTRIBUTES;

my $CONNECTION = "is a connection filter, which is not supported, because the front has the client's connection; use FilterRequestHandler if "
    . "it changes bodies only\n";

package Apache2::RequestRec {
    sub add_input_filter  ( $r, $handler ) { return Cameleer::Filters::add( $r, 'input',  Apache2::Filter::_named( $handler, scalar caller ) ) }
    sub add_output_filter ( $r, $handler ) { return Cameleer::Filters::add( $r, 'output', Apache2::Filter::_named( $handler, scalar caller ) ) }
}

package Apache2::Connection {
    sub add_input_filter  { return Apache2::Filter::_refuse('add_input_filter') }
    sub add_output_filter { return Apache2::Filter::_refuse('add_output_filter') }
}

sub APR::Brigade::filter_flush ( $brigade, $filter ) { return $filter->pass_brigade($brigade) }

sub _refuse ($method) { return Cameleer::ModPerl2::croak("\$c->$method: the filter $CONNECTION") }

# --- handlers

# Cache of resolved names, valid while the symbol has the same code: each request resolves its filters.
my %RESOLVED;
my $MANY = 100;

sub MODIFY_CODE_ATTRIBUTES ( $package, $code, @words ) {
    my @unknown;
    %RESOLVED = ();
    for my $word (@words) {
        if    ( $word =~ /\AFilter(?:Request|Connection|Init)Handler\z/ ) { $ATTRIBUTES{$code}{$word} = 1 }
        elsif ( $word =~ /\AFilterHasInitHandler\((.*)\)\z/s )            { $ATTRIBUTES{$code}{init} = "package $package; $1" }
        else                                                              { push @unknown, $word }
    }
    return @unknown;
}

sub FETCH_CODE_ATTRIBUTES ( $package, $code ) { return grep { /\AFilter/ } sort keys %{ $ATTRIBUTES{$code} // {} } }

# The code of a handler, and that of its FilterInitHandler. Dies if the handler is no request filter.
sub resolved ($handler) {
    return _resolve($handler) if ref $handler;
    my $symbol = _symbol($handler);
    my $known  = $RESOLVED{$handler};
    return @{ $known->{codes} } if $known && $known->{symbol} == $symbol;
    my @codes = _resolve($handler);
    %RESOLVED = () if keys %RESOLVED >= $MANY;
    # Resolving may load the module that defines the name.
    $RESOLVED{$handler} = { symbol => $symbol, codes => \@codes } if $symbol ||= _symbol($handler);
    return @codes;
}

# The address of the code of a plain name or package; 0 for other expressions.
sub _symbol ($name) {
    return 0 if $name =~ /[^\w:]/;
    no strict 'refs';
    return Scalar::Util::refaddr( defined &$name ? \&$name : $name->can('handler') ) // 0;
}

sub _resolve ($handler) {
    my $code = Apache::Phases::code( ref $handler ? $handler : $handler =~ s/\A-//r );
    my $attributes = $ATTRIBUTES{$code} // {};
    die $CONNECTION if $attributes->{FilterConnectionHandler};
    return $code unless defined $attributes->{init};
    my $init = eval $attributes->{init} // die "FilterHasInitHandler: $@";    ## no critic: it is the attribute's
    die "FilterHasInitHandler: expected a reference to code with the attribute FilterInitHandler\n"
        if ref $init ne 'CODE' || !( $ATTRIBUTES{$init} // {} )->{FilterInitHandler};
    return ( $code, $init );
}

# A bare name is a sub of the caller's package.
sub _named ( $handler, $package ) {
    return $handler if ref $handler || length $handler > Cameleer::MAX_NAME_BYTES() || $handler =~ /\W/;
    return $package->can($handler) // $handler;
}

# --- the objects

sub _new ( $number, $way, %fields ) { return bless { number => $number, way => $way, %fields }, __PACKAGE__ }

# $r->output_filters and similar methods: the first filter, or the server's end of the chain.
sub of_request ( $r, $chain, @new ) {
    my $way = $chain =~ s/\Aproto_//r;
    return Cameleer::Filters::core( $r, $way ) if $way ne $chain;
    my $before = Cameleer::Filters::first( $r, $way );
    return $before unless @new;
    Cameleer::ModPerl2::croak("\$r->$chain: expected an Apache2::Filter of this request and its $way") unless _is_of( $r, $way, $new[0] );
    Cameleer::Filters::of($r)->{$way} = $new[0] unless $new[0]{core};
    return $before;
}

# Only filters of the same request and direction, so that the chain has an end.
sub _is_of ( $r, $way, $f ) {
    return Scalar::Util::blessed($f) && $f->isa(__PACKAGE__) && $f->{way} eq $way && $f->{number} == $r->number;
}

# A connection handler gets the ends of the connection, without filters between.
sub of_connection ( $c, $chain, @ ) {
    return _refuse("${chain}_filters") if !Cameleer::ModPerl2::is_connection();
    require Cameleer::ConnectionEnd;
    return Cameleer::ConnectionEnd::of( $c, $chain );
}

sub r    ($f) { return bless \( my $number = $f->{number} ), 'Apache2::RequestRec' }
sub c    ($f) { return $f->r->connection }
sub next ($f) { return $f->{core} ? Cameleer::Filters::behind($f) : $f->{next} }    ## no critic: the name is the API's

sub ctx {
    my ( $f, @new ) = @_;
    $f->{ctx} = $new[0] if @new;
    return $f->{ctx};
}

sub frec ($f) {
    my $name = $f->{core} ? Cameleer::Filters::core_name($f) : "modperl_request_$f->{way}";
    return bless \$name, 'Apache2::FilterRec';
}

sub remove ($f) { return Cameleer::Filters::remove($f) }

# --- brigades

sub pass_brigade ( $f, $brigade ) {
    my $status = $f->{core} ? Cameleer::Filters::write_response( $f, $brigade ) : _filter_response( $f, $brigade );
    Cameleer::Filters::raise( $status, 'Apache2::Filter::pass_brigade' ) if $status != OK && !defined wantarray;
    return $status;
}

sub get_brigade ( $f, $brigade, $mode = Cameleer::Filters::MODE_READBYTES(), $block = 0, $length = 8192 ) {
    my $status =
          $f->{core}
        ? Cameleer::Filters::read_sent( $f, $brigade, $mode, $length )
        : _filter_body( $f, $brigade, $mode, $block, $length );
    Cameleer::Filters::raise( $status, 'Apache2::Filter::get_brigade' ) if $status != OK && !defined wantarray;
    return $status;
}

# In a filter: passes the brigade to the next filter, with a flush.
sub fflush ( $f, $brigade ) {
    $brigade->insert_tail( APR::Bucket::flush_create( $brigade->bucket_alloc ) );
    my $status = ( $f->{run} ? $f->{next} : $f )->pass_brigade($brigade);
    Cameleer::Filters::raise( $status, 'Apache2::Filter::fflush' ) if $status != OK && !defined wantarray;
    return $status;
}

# For body filters; Filter.xs has the method for responses. Input after an end that the filter has sent is dropped.
sub _filter_body ( $f, $brigade, @how ) {
    my ( $status, $run ) = $f->{has_ended} ? ( OK, { eos => 1, out => '' } ) : _run( $f, $brigade, @how );
    if ( $status == DECLINED ) {
        return $f->{next}->get_brigade( $brigade, @how ) if !$run->{source};
        Apache::log_error('an input filter that has called $f->read must not return DECLINED: the data that it has read would be lost');
        return FAILED;
    }
    return $status if $status != OK;
    my $alloc = $brigade->bucket_alloc;
    $brigade->insert_tail( APR::Bucket->new( $alloc, $run->{out} ) ) if length $run->{out};
    $brigade->insert_tail( APR::Bucket::flush_create($alloc) )       if $run->{flush};
    return OK unless $run->{eos};
    $f->{has_ended} = 1;
    $brigade->insert_tail( APR::Bucket::eos_create($alloc) );
    return OK;
}

# Whether the exception is perl's exit within a request, or ModPerl::EXIT.
sub _is_exit ($error) {
    return 0 unless Scalar::Util::blessed($error);
    return $error->isa('Cameleer::Exit') || $error->isa('APR::Error') && $error->{rc} == 120_000;
}

# The status of a handler that died or exited.
sub _ended ( $f, $error ) {
    return OK if _is_exit($error);
    Apache::log_error( "$error" =~ s/\s+\z//r );
    return FAILED;
}

# --- streaming

# `read` and `print` (also by `tie *STDOUT, $f`) are in Filter.xs, because a page takes many calls.

# `read` for a brigade of buckets: reads from as many buckets as necessary.
sub _read_on {
    my ( $f, undef, $wanted ) = @_;
    my $run = $f->{run};
    $wanted //= 8192;
    $run->{source} //= $f->{way} eq 'output' ? $run->{brigade} : _fetch( $f, $run );
    my $text = '';
    while ( ( my $missing = $wanted - length $text ) > 0 ) {
        if ( $run->{at} < length $run->{in} ) {
            $text .= substr $run->{in}, $run->{at}, $missing;
            $run->{at} += $missing;
        }
        else { _advance($run) or last }
    }
    $_[1] = $text;
    Apache->taint( $_[1] ) if ${^TAINT};
    return length $text;
}

sub _fetch ( $f, $run ) {
    my $source = Cameleer::Filters::new_brigade( $f->r );
    my $status = $f->{next}->get_brigade( $source, @{ $run->{how} } );
    Cameleer::Filters::raise( $status, 'Apache2::Filter::read' ) if $status != OK;
    return $source;
}

# Advances to the next bucket with bytes.
sub _advance ($run) {
    while ( !$run->{has_read} ) {
        my $bucket = $run->{bucket} = $run->{bucket} ? $run->{source}->next( $run->{bucket} ) : $run->{source}->first;
        if ( !$bucket )                     { $run->{has_read} = 1 }
        elsif ( $bucket->is_eos )           { $run->{has_read} = $run->{eos} = 1 }
        elsif ( $bucket->is_flush )         { $run->{flush} = 1 }
        elsif ( $bucket->read( my $bytes ) ) {
            @$run{qw(in at)} = ( $bytes, 0 );
            return 1;
        }
    }
    return 0;
}

sub seen_eos {
    my ( $f, @new ) = @_;
    my $run = $f->{run} // _idle('seen_eos');
    $run->{eos} = $new[0] ? 1 : 0 if @new;
    return $run->{eos};
}

# Passes printed output on before the handler returns.
sub _send_on ($f) {
    my $status = _send( $f, $f->{run}, Cameleer::Filters::NOTHING() );
    Cameleer::Filters::raise( $status, 'Apache2::Filter::print' ) if $status != OK;
    return $status;
}

# Passes printed output to the next filter, followed by the mark.
sub _send ( $f, $run, $mark ) {
    my $brigade = _text_brigade( delete $run->{out}, $mark, $f->r );
    $run->{out} = '';
    my $status = $f->{next}->pass_brigade($brigade);
    _empty_brigade($brigade);
    return $status;
}

sub _idle ($method) {
    require Carp;
    Carp::croak("\$f->$method: this filter is not running: its handler has returned");
}

# Handle methods for tie *STDOUT, $f are in a class of their own, because programs define filter methods of the
# same names.
our @ISA = ('Apache2::Filter::Tied');

sub TIEHANDLE { return $_[0] }

package Apache2::Filter::Tied {
    sub PRINTF { my ( $f, $format, @values ) = @_; return $f->print( sprintf $format, @values ) }
    sub UNTIE  { return }
}

1;

__END__

=head1 NAME

Apache2::Filter - filters of request and response bodies

=head1 SYNOPSIS

    package My::LowerCase;
    use Apache2::Filter ();
    use Apache2::Const -compile => qw(OK);

    sub handler {
        my $f = shift;
        while ( $f->read( my $buffer, 1024 ) ) { $f->print( lc $buffer ) }
        $f->print("the end\n") if $f->seen_eos;
        return Apache2::Const::OK;
    }

    # PerlOutputFilterHandler My::LowerCase

=head1 DESCRIPTION

Streaming: C<read print seen_eos>. Brigades: C<get_brigade pass_brigade fflush>, called on C<<
$f->next >>. Both: C<ctx c r frec next remove>. Packages that inherit from this one have the handler
attributes C<FilterRequestHandler>, C<FilterInitHandler> and C<FilterHasInitHandler(\&init)>.
C<add_input_filter> and C<add_output_filter> are methods of the request.

A filter that dies, or returns an error status, ends the response: with that status if nothing was
sent, otherwise visibly truncated. A Content-Length that was set before the filters ran is not sent.

=head1 DIFFERENCES

The front has the client's connection: there are no connection filters. DEFLATE and similar filters
run in the front, after all response filters and before body filters. Responses of PSGI applications
pass no filters.

=cut
