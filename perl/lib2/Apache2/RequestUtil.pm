package Apache2::RequestUtil;

use v5.36;

use Apache2::RequestRec  ();
use Cameleer::ModPerl2   ();
use Cameleer::PhaseNames ();
use ModPerl::Util        ();

# Apache2::Const's OR_ALL, and the mask of all Options.
my ( $ALL_OVERRIDES, $ALL_OPTIONS ) = ( 31, 0xff );

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__, qw(child_terminate document_root get_server_name get_server_port
        is_initial_req location no_cache) );

    # An unknown phase is no error, but returns false, as in mod_perl 2.
    sub push_handlers {
        my ( $r, $name, @handlers ) = @_;
        my $phase = Cameleer::PhaseNames::directive($name) // return 0;
        @_ = ( $r, $phase, @handlers );
        goto &Apache::push_handlers;
    }

    sub set_handlers {
        my ( $r, $name, $handlers ) = @_;
        my $phase = Cameleer::PhaseNames::directive($name) // return 0;
        @_ = ( $r, $phase, $handlers );
        goto &Apache::set_handlers;
    }

    sub get_handlers ( $r, $name ) {
        my $phase = Cameleer::PhaseNames::directive($name) // return undef;    ## no critic: a list context expects one value
        return Apache::get_handlers( $r, $phase );
    }

    # Includes the content type, which is no header until the response begins.
    sub as_string ($r) {
        my $text = Apache::as_string($r);
        my $type = $r->content_type;
        return $text if !defined $type || defined $r->headers_out->get('Content-Type');
        return $text =~ s/\n\z/Content-Type: $type\n\n/r;
    }

    sub dir_config {
        my ( $r, @words ) = @_;
        return scalar $r->Apache::dir_config(@words);
    }

    sub pnotes {
        my $notes = Apache::pnotes( shift() );
        return @_ ? Cameleer::ModPerl2::note( $notes, @_ ) : $notes;
    }

    sub pnotes_kill ($r) {
        %{ $r->Apache::pnotes } = ();
        return;
    }

    sub get_status_line { return Cameleer::ModPerl2::status_line( $_[-1] ) }

    sub default_type ($r) { return 'text/plain' }

    sub get_limit_req_body ($r) { return 0 }

    sub psignature ( $r, $prefix ) { return Cameleer::ModPerl2::signature( $r, $prefix ) }

    sub slurp_filename ( $r, $tainted = 1 ) {
        require Cameleer::Regular;
        my $name   = $r->filename;
        my $handle = Cameleer::Regular::opened($name);
        if ( !$handle ) {
            Cameleer::ModPerl2::raise( 0 + $!, "slurp_filename('$name') / opening" );
        }
        local $/ = undef;
        my $text = <$handle>;
        Apache->untaint($text) unless $tainted;
        return \$text;
    }

    # Sets the Authorization header as if the client had sent it.
    sub set_basic_credentials ( $r, $user, $password ) {
        require MIME::Base64;
        $r->headers_in->set( Authorization => 'Basic ' . MIME::Base64::encode_base64( "$user:$password", '' ) );
        return;
    }

    sub is_perl_option_enabled ( $r, $name ) { return Cameleer::ModPerl2::has_option( $r, $name ) }

    # Adds configuration for the rest of this request; the masks of allowed directives are httpd's.
    sub add_config ( $r, $lines, $overrides = $ALL_OVERRIDES, $path = undef, $options = $ALL_OPTIONS ) {
        my $error = Apache::_add_config( $r, join( "\n", @$lines, '' ), $overrides & 0xffff_ffff, $options & 0xffff_ffff, $path );
        Cameleer::ModPerl2::croak($error) if defined $error;
        return;
    }

    # Merges a <Location> into this request's configuration; returns false if that section does not exist.
    sub location_merge ( $r, $location ) {
        my ( $is_there, $error ) = Apache::_merge_location( $r, $location );
        Cameleer::ModPerl2::croak($error) if defined $error;
        return $is_there;
    }
}

sub Apache2::RequestUtil::get_status_line { return Cameleer::ModPerl2::status_line( $_[-1] ) }

# Registers code for a name in `Require` or AuthBasicProvider, for the following lines. The pool, the version
# and the second code reference (for Digest) are ignored.
sub Apache2::RequestUtil::register_auth_provider ( $pool, $group, $name, $version, $code, @ ) {
    my $directive = { authn => 'PerlAddAuthnProvider', authz => 'PerlAddAuthzProvider' }->{$group}
        // Cameleer::ModPerl2::croak("register_auth_provider: expected the group authn or authz, got \"$group\"");
    Cameleer::ModPerl2::croak("register_auth_provider: the name \"$name\" cannot stand in a line") if $name !~ /\A[\w:.-]+\z/;
    my $handler = ref $code ? Cameleer::ModPerl2::named_code($code) : $code;
    require Apache2::ServerUtil;
    Apache2::ServerUtil->server->add_config( [qq{$directive "$name" "$handler"}] );
    return;
}

# The current request; with an argument, makes that request the current one.
sub Apache2::RequestUtil::request ( $class, @new ) {
    return Cameleer::ModPerl2::global_request(@new);
}

1;

__END__

=head1 NAME

Apache2::RequestUtil - further methods of requests

=head1 SYNOPSIS

    use Apache2::RequestUtil ();

    my $value = $r->dir_config('Name');
    $r->pnotes( user => $object );
    $r->push_handlers( PerlCleanupHandler => \&tidy );    # or Cleanup, or CleanupHandler
    my $text = $r->slurp_filename;
    my $r = Apache2::RequestUtil->request;    # under PerlOptions +GlobalRequest

=head1 DESCRIPTION

C<as_string child_terminate default_type dir_config document_root get_handlers get_limit_req_body get_server_name
get_server_port get_status_line is_initial_req is_perl_option_enabled location no_cache pnotes pnotes_kill
psignature push_handlers set_basic_credentials set_handlers slurp_filename>, and the class method C<request>.

C<< $r->add_config( \@lines, $overrides, $path, $options ) >> adds lines to this request's
configuration, from the next phase on. C<$overrides> (C<Apache2::Const::OR_...>, or -1) and
C<$options> (C<OPT_...>) limit the allowed directives, C<$path> becomes C<< $r->location >>. If a
line is not allowed, an exception is thrown, and no line takes effect. C<< $r->location_merge($path)
>> merges a C<< <Location> >> in the same way.

C<< $r->pnotes( name => $value ) >> stores an alias of C<$value>, not a copy: later assignments to
the variable change the note.

=cut
