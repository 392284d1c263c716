package APR::Table;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }
sub TIEHASH ( $class, $table ) { return $table }

1;

__END__

=head1 NAME

APR::Table - names and values, a name perhaps more than once, its case ignored

=head1 SYNOPSIS

    use APR::Const -compile => ':table';

    my $table = APR::Table::make( $pool, 10 );
    $table->set( Accept => 'text/html' );
    $table->add( Accept => 'text/plain' );
    $table->merge( Vary => 'Cookie' );
    my $first = $table->get('accept');
    my @all   = $table->get('accept');
    $table->do( sub { my ( $name, $value ) = @_; print "$name: $value\n"; 1 }, 'Accept' );
    $table->unset('Accept');

    $table->{Accept} = 'text/html';                 # also a hash
    my $copy = $table->copy($pool);
    my $both = $copy->overlay( $table, $pool );     # $table's, then $copy's
    $both->compress(APR::Const::OVERLAP_TABLES_MERGE);
    $copy->overlap( $table, APR::Const::OVERLAP_TABLES_SET );

=head1 DESCRIPTION

What C<make> makes lives in its pool, and texts end at a NUL there; those of a request (C<< $r->headers_out >> and its kin) live as long as
the request. C<do> stops when its code returns false, and takes names to limit it to. While C<each> goes through a table, the value
of a name is that of the entry it has come to, and what is deleted is not missed. Values are bytes: characters become bytes where
they fit, UTF-8 where they do not.

=cut
