package Apache2::HookRun;

use v5.36;

use Cameleer::ModPerl2 ();

package Apache2::RequestRec {
    for my $hook (
        qw(post_read_request translate_name map_to_storage header_parser access_checker check_user_id auth_checker type_checker fixups handler
        log_transaction)
        )
    {
        no strict 'refs';
        *{"run_$hook"} = sub ($r) { return Apache::_run_hook( $r, $hook ) };
    }

    sub invoke_handler ($r) { return Apache::_run_hook( $r, 'invoke' ) }

    sub die ( $r, $status ) { Apache::_die( $r, $status ); return }    ## no critic: the name is the API's
}

1;

__END__

=head1 NAME

Apache2::HookRun - runs phases of a request from a handler

=head1 SYNOPSIS

    use Apache2::HookRun ();

    sub post_read_request {
        my $r = shift;
        my $status = $r->run_translate_name;
        return $status unless $status == Apache2::Const::OK || $status == Apache2::Const::DECLINED;
        ...
        $r->invoke_handler;
        return Apache2::Const::DONE;    # the server runs no further phases
    }

=head1 DESCRIPTION

C<run_post_read_request run_translate_name run_map_to_storage run_header_parser run_access_checker
run_check_user_id run_auth_checker run_type_checker run_fixups run_handler run_log_transaction> run
the handlers of one phase, and the server's own part of it, with the configuration of the request's
location; they return the status. C<invoke_handler> also serves the file if the handlers decline.
C<< $r->die($status) >> responds with the error page. Nesting of more than ten runs is an error: a
loop.

=cut
