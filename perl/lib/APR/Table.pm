package APR::Table;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }
sub TIEHASH ( $class, $table ) { return $table }

1;

__END__

=head1 NAME

APR::Table - names and values; names ignore case and may repeat

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

A table of C<make> lives in its pool, and its texts end at a NUL. Tables of a request (C<<
$r->headers_out >> and others) live as long as the request. C<do> stops when its code returns false
or dies; further arguments limit it to those names, and entries that its code adds are not visited.
During C<each>, the value of a name is that of the current entry, and entries may be deleted safely.
Values are bytes: characters are converted to Latin-1 where possible, else to UTF-8.

=cut
