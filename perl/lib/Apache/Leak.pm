package Apache::Leak;

use v5.36;
use Exporter 'import';
use Cameleer::XS ();

use Apache ();

our @EXPORT    = qw(leak_test);
our @EXPORT_OK = qw(leak_test NoteSV CheckSV);

Cameleer::XS::load(__PACKAGE__);

# Runs `$code` once to fill its caches, then again: values that are more after the second run have leaked.
sub leak_test : prototype(&) ($code) {
    $code->();
    my ( $before, $leaked ) = ( 0, 0 );
    NoteSV($before);
    $code->();
    $leaked = CheckSV($before);
    return $leaked;
}

# Returns and logs how many more values there are than at NoteSV.
sub CheckSV ($before) {
    my $more = count() - $before;
    my ( undef, $file, $line ) = caller 1;
    Apache::warn(
        "Apache::Leak: $more values were made and not freed at " . ( $file // '?' ) . ' line ' . ( $line // '?' ) )
      if $more > 0;
    return $more > 0 ? $more : 0;
}

1;

__END__

=head1 NAME

Apache::Leak - finds code that loses memory

=head1 SYNOPSIS

    use Apache::Leak;
    my $leaked = leak_test { My::Module->new->work };

    use Apache::Leak qw(NoteSV CheckSV);
    NoteSV( my $before );
    work();
    CheckSV($before);

=head1 DESCRIPTION

Counts perl's values before and after. C<leak_test> runs the code twice and measures the second run.
It returns the number of values that were not freed, and logs it. C<NoteSV(COUNT)> sets COUNT to the
number of values, C<CheckSV(COUNT)> returns how many more there are now.

C<Apache::Leak::arenas> is the number of memory areas from which perl takes its values. It never
shrinks, and stays constant in a program without leaks.

=head1 DIFFERENCES

Values are counted, not dumped: use L<Apache::Peek> or Devel::Leak for that.

=cut
