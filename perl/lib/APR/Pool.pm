package APR::Pool;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# Calls a cleanup, given by name or by reference. Exceptions must not leave this sub: apr is ending the pool.
sub _run_cleanup ( $code, @argument ) {
    no strict 'refs';
    return if eval { &$code(@argument); 1 };
    my $why = $@;
    eval { warn "APR::Pool: cleanup died: $why" };
    return;
}

1;

__END__

=head1 NAME

APR::Pool - objects that share a lifetime

=head1 SYNOPSIS

    my $pool = APR::Pool->new;
    my $sub  = $pool->new;
    $pool->is_ancestor($sub) or die;
    $pool->cleanup_register( sub ($file) { unlink $file }, '/tmp/scratch' );
    my $parent = $sub->parent_get;
    $pool->clear;
    $pool->destroy;

=head1 DESCRIPTION

C<new> makes a pool of the process, or one below the pool that it is called on. A pool is destroyed
with its last object; an object that lives in it (a table, a URI) counts as one. C<destroy> and
C<clear> run the cleanups, last registered first, and end the pools below; objects that lived there
throw when they are used. The server ends its own pools (C<< $r->pool >>): C<destroy> and C<clear>
have no effect on them.

C<cleanup_register(CODE, ARGUMENT)> takes a code reference or a sub's name. A cleanup that dies
causes a warning. C<tag> names a pool for debuggers.

Objects of C<APR::> belong to the thread that made them; in another one they are undef.

=cut
