package Apache2::Request;

use v5.36;

use APR::Request::Apache2 ();
use APR::Request::Param   ();
use Apache2::RequestRec   ();
use Cameleer::ModPerl2    ();

our @ISA     = qw(Apache2::RequestRec APR::Request::Apache2);
our $VERSION = '2.17';

my %METHOD = map { ( $_ => $_ ) } qw(disable_uploads temp_dir upload_hook read_limit brigade_limit);
@METHOD{qw(post_max max_body)} = ('read_limit') x 2;

sub new ( $class, $r, %options ) {
    my $self = $class->APR::Request::Apache2::handle($r);
    %options = map { ( lc s/\A-//r => $options{$_} ) } keys %options;
    my @data = delete $options{hook_data} // ();
    for my $name ( sort keys %options ) {
        my $method = $METHOD{$name} // Cameleer::ModPerl2::croak("Apache2::Request: unknown option $name");
        $self->$method( $options{$name}, $method eq 'upload_hook' ? @data : () );
    }
    return $self;
}

{
    no warnings 'once';
    *instance = \&new;
    *params = *parms = \&APR::Request::param;
}

sub disable_uploads ( $self, $is_wanted = 1 ) { return $is_wanted ? $self->APR::Request::disable_uploads : undef }

1;

__END__

=head1 NAME

Apache2::Request - parameters of a request of mod_perl 2 (libapreq 2)

=head1 SYNOPSIS

    use Apache2::Request ();
    use Apache2::Upload  ();

    my $req = Apache2::Request->new( $r, POST_MAX => '10M', TEMP_DIR => '/srv/spool' );
    my $name  = $req->param('name');
    my @boxes = $req->param('box');
    my @names = $req->param;

    eval { $req->body; 1 } or return Apache2::Const::HTTP_BAD_REQUEST;    # an APR::Request::Error
    if ( my $upload = $req->upload('picture') ) {
        $upload->link('/srv/pictures/new.png') or die $!;
    }
    $req->content_type('text/plain');                                     # isa Apache2::RequestRec

=head1 DESCRIPTION

The methods are those of L<APR::Request> and of L<Apache2::RequestRec>. C<instance> is an alias of
C<new>, C<parms> and C<params> are aliases of C<param>.

Options: C<POST_MAX>, C<MAX_BODY> and C<READ_LIMIT> limit the body's length (with C<K>, C<M> or
C<G>), C<BRIGADE_LIMIT> limits the part of an upload that stays in memory, C<TEMP_DIR> is the folder
for the rest; C<DISABLE_UPLOADS>; C<UPLOAD_HOOK> is called with (upload, bytes, their number,
C<HOOK_DATA>) before bytes are stored, and with undef at the end. The options apply to the request,
not to the object: a limit that another object has set can only be lowered, and a folder be set only
once; violations throw. The site's own limits are the directives C<APREQ2_ReadLimit>,
C<APREQ2_BrigadeLimit> and C<APREQ2_TempDir>.

A hash-based subclass stores an object in C<{r}> or C<{_r}>.

=cut
