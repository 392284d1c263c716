package Apache2::Process;

use v5.36;

# The only object: all servers share the process.
my $current = bless \( my $nothing = 0 ), __PACKAGE__;

sub current ($class) { return $current }

sub short_name ($self) { return 'cameleer' }

sub pool ($self) {
    require Cameleer::Pools;
    return Cameleer::Pools::of_process();
}

*pconf = \&pool;

1;

__END__

=head1 NAME

Apache2::Process - the process: C<pool>, C<pconf>, C<short_name>

=head1 SYNOPSIS

    my $pool = $s->process->pool;

=cut
