package Cameleer::ProcessLimit;

use v5.36;

use Apache ();
use GTop   ();

my $born = time;

sub new ( $class, %self ) {
    return bless { requests => 0, for_request => {}, watching => 0, %self }, $class;
}

# Checks the process after the request, at every `$every`th request.
sub watch ( $self, $r, $every ) {
    return if !$r->is_initial_req;
    $self->{requests}++;
    $self->look_later($r) if $self->{requests} % ( $every || 1 ) == 0;
    return;
}

# Sets a limit for this request only.
sub for_this_request ( $self, $name, $kb ) {
    $self->{for_request}{$name} = $kb;
    $self->look_later( Apache->request );
    return;
}

sub look_later ( $self, $r ) {
    return $self->look($r) if ( $r->current_callback // '' ) eq 'PerlCleanupHandler';
    return if $self->{watching}++;
    $r->register_cleanup( sub { $self->look($r) } );
    return;
}

sub look ( $self, $r ) {
    $self->{watching} = 0;
    my %limit = ( $self->{limits}->(), %{ $self->{for_request} } );
    $self->{for_request} = {};
    my $memory = GTop->new->proc_mem($$);
    my %kb     = ( size => $memory->size / 1024, share => $memory->share / 1024 );
    $kb{unshared} = $kb{size} - $kb{share};
    my $is     = sprintf 'size=%dk share=%dk unshared=%dk', @kb{qw(size share unshared)};
    my $reason = exceeded( \%limit, \%kb );
    $r->warn("$self->{name}: pid=$$ $is") if $self->{debug}->();
    return                                if !$reason;
    my $age = time - $born;
    $r->log_error(
        "$self->{name}: pid=$$ exits after this request: $reason; $is requests=$self->{requests} age=${age}s");
    $r->child_terminate;
    return;
}

sub exceeded ( $limit, $kb ) {
    my ( $size, $share, $unshared ) = @$limit{qw(size share unshared)};
    return "the size of the process is over ${size}k" if $size     && $kb->{size} > $size;
    return "the process shares less than ${share}k"   if $share    && $kb->{share} < $share;
    return "the unshared part is over ${unshared}k"   if $unshared && $kb->{unshared} > $unshared;
    return;
}

# Defines methods that get and set package variables, as later versions have: (name => \$variable).
sub install_setters ( $package, %variables ) {
    for my $name ( keys %variables ) {
        no strict 'refs';
        *{"${package}::$name"} = sub { ${ $variables{$name} } = $_[-1] };
    }
    return;
}

1;

__END__

=head1 NAME

Cameleer::ProcessLimit - ends workers that have grown too large

=head1 DESCRIPTION

Common code of L<Apache::SizeLimit> and L<Apache::GTopLimit>, which differ in names only. Limits are
kilobytes, as measured by L<GTop>; undef or 0 means no limit.

=cut
