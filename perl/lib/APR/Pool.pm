package APR::Pool;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# By name or by reference. Nothing leaves it: apr is in the middle of ending the pool.
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

APR::Pool - what belongs together and ends together

=head1 SYNOPSIS

    my $pool = APR::Pool->new;
    my $sub  = $pool->new;
    $pool->is_ancestor($sub) or die;
    $pool->cleanup_register( sub ($file) { unlink $file }, '/tmp/scratch' );
    my $parent = $sub->parent_get;
    $pool->clear;
    $pool->destroy;

=head1 DESCRIPTION

C<new> makes a pool of the process, or one below the pool that it is called on. It is destroyed with its last object: an
object that lives in it (a table, a URI) keeps it. C<destroy> and C<clear> run the cleanups, the last registered first, and end
the pools below it; what lived there says so when it is used. Pools of the server (C<< $r->pool >>) are ended by the server, and
both do nothing to them.

C<cleanup_register(CODE, ARGUMENT)> takes a sub or a name. A cleanup that dies becomes a warning. C<tag> names a pool for debuggers.

Objects of C<APR::> belong to the thread that made them; in another one they are undef.

=cut
