package Apache::Table;

use v5.36;
use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

sub TIEHASH ( $class, $table ) { return $table }
sub SCALAR  ($table) { return defined $table->FIRSTKEY }

1;

__END__

=head1 NAME

Apache::Table - names and values; names ignore case and may repeat

=head1 SYNOPSIS

    my $out = $r->headers_out;
    $out->set( 'X-Name' => 'value' );
    $out->add( 'Set-Cookie' => [ @cookies ] );
    $out->merge( Vary => 'Cookie' );
    $out->unset('X-Name');
    my $first = $out->get('Set-Cookie');
    my @all   = $out->get('Set-Cookie');
    $out->do( sub { my ( $name, $value ) = @_; print "$name: $value\n"; 1 } );

    $out->{'X-Name'} = 'value';                        # also a hash
    my $mine = Apache::Table->new($r);
    my $also = $out->apr;                              # the same as an APR::Table

=head1 DESCRIPTION

C<get set add merge unset clear do new>, and C<apr> for code that needs an L<APR::Table>. C<do>
stops when its code returns false or dies; further arguments limit it to those names, and entries
that its code adds are not visited. A table belongs to its request.

=cut
