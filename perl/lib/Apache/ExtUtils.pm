package Apache::ExtUtils;

use v5.36;
use Exporter 'import';

use Cameleer::Directives ();

our $VERSION   = '1.31';
our @EXPORT    = qw(command_table);
our @EXPORT_OK = @EXPORT;

sub command_table {
    my $rows  = pop;
    my $class = shift // caller;
    Cameleer::Directives::register( $class, @$rows );
    return;
}

1;

__END__

=head1 NAME

Apache::ExtUtils - declares the directives of a Perl module

=head1 SYNOPSIS

    use Apache::ExtUtils qw(command_table);
    command_table( [
        'Color',                                            # sub Color ($$$)
        [ Colors => 'names of colors' ],
        { name => '<Palette', func => 'palette', args_how => 'RAW_ARGS', req_override => Apache::Constants::OR_ALL,
          errmsg => 'a palette', cmd_data => 'anything' },
    ] );

=head1 FUNCTIONS

=head2 command_table([$class,] \@directives)

Declares the directives for the calling package or C<$class> when the module is loaded; mod_perl 1
did this in Makefile.PL. C<args_how> is a name or a constant of L<Apache::Constants>. Without it,
the sub's prototype decides: C<$$> NO_ARGS, C<$$$> TAKE1, C<$$$$> TAKE2, C<$$$;$> TAKE12, C<$$$$$>
TAKE3, C<$$$$;$> TAKE23, C<$$$;$$> TAKE123, C<$$@> ITERATE, C<$$@;@> ITERATE2, C<$$$;*> RAW_ARGS.

=cut
