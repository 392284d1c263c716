package Long;

# Calls methods with very long texts. Results are ignored; only the cost must be linear in the length.

use v5.36;
no warnings;

use Apache2::Access      ();
use Apache2::Connection  ();
use Apache2::Cookie      ();
use Apache2::Filter      ();
use Apache2::Log         ();
use Apache2::Request     ();
use Apache2::RequestIO   ();
use Apache2::RequestRec  ();
use Apache2::RequestUtil ();
use Apache2::Response    ();
use Apache2::ServerRec   ();
use Apache2::ServerUtil  ();
use Apache2::SubRequest  ();
use Apache2::URI         ();
use Apache2::Util        ();
use APR::Base64          ();
use APR::Date            ();
use APR::Pool            ();
use APR::Request         ();
use APR::Request::Param  ();
use APR::Table           ();
use APR::URI             ();
use APR::Util            ();
use ModPerl::Util        ();
use Time::HiRes          ();

my @UNITS = ( 'x', '::a', q{'a}, '%41', '&a=b', '; a=b', ',a', "\n", '/..', q{"}, "\xe9" );

my @OF_REQUEST = qw(add_output_filter add_input_filter content_type content_encoding filename uri unparsed_uri args path_info handler method
    protocol the_request status_line user ap_auth_type log_error auth_name auth_type dir_config subprocess_env pnotes get_handlers
    lookup_uri lookup_file construct_url psignature internal_redirect document_root location_merge);

my @OF_URI = qw(scheme user password hostinfo hostname path query fragment port);

sub table ($r) { return APR::Table::make( $r->pool->new, 3 ) }
sub uri   ($r) { return APR::URI->parse( $r->pool->new, 'http://a:b@c:1/d?e#f' ) }
sub cookie ( $r, %more ) { return Apache2::Cookie->new( $r, -name => 'a', -value => 'b', %more ) }

my %CALLS = (
    ( map { my $method = $_; ( "r.$method"   => sub ( $r, $text ) { $r->$method($text) } ) } @OF_REQUEST ),
    ( map { my $method = $_; ( "uri.$method" => sub ( $r, $text ) { my $uri = uri($r); $uri->$method($text); $uri->unparse } ) } @OF_URI ),
    'handlers.push'    => sub ( $r, $text ) { $r->push_handlers( PerlFixupHandler => $text ) },
    'handlers.set'     => sub ( $r, $text ) { $r->set_handlers( PerlFixupHandler => $text ) },
    'handlers.phase'   => sub ( $r, $text ) { $r->push_handlers( $text => 'x' ) },
    'handlers.named'   => sub ( $r, $text ) { Apache::Phases::code($text) },
    'pool.cleanup'     => sub ( $r, $text ) { $r->pool->new->cleanup_register($text) },
    'pool.tag'         => sub ( $r, $text ) { $r->pool->new->tag($text) },
    'package'          => sub ( $r, $text ) { ModPerl::Util::unload_package($text) },
    'table.set'        => sub ( $r, $text ) { my $table = table($r); $table->set( $text => $text ); $table->merge( $text => $text ); $table->get($text) },
    'table.unset'      => sub ( $r, $text ) { my $table = table($r); $table->add( $text => $text ); $table->compress(0); $table->unset($text) },
    'table.tied'       => sub ( $r, $text ) { my $table = table($r); $table->{$text} = $text; $table->overlap( $table->copy( $r->pool->new ), 1 ) },
    'headers'          => sub ( $r, $text ) { $r->headers_out->add( $text => $text ); $r->headers_out->get($text); $r->headers_out->clear },
    'env'              => sub ( $r, $text ) { $ENV{LONG} = $text; delete $ENV{LONG} },
    'auth'             => sub ( $r, $text ) { $r->headers_in->set( Authorization => "Basic $text" ); $r->get_basic_auth_pw },
    'cgi_header'       => sub ( $r, $text ) { $r->send_cgi_header("X: $text\n\n") },
    'log'              => sub ( $r, $text ) { $r->log->error($text); $r->server->log_error($text) },
    'uri.parse'        => sub ( $r, $text ) { APR::URI->parse( $r->pool->new, $_ )->unparse for $text, "http://a/$text?$text#$text", "http://$text:$text\@$text:8/" },
    'uri.unescape'     => sub ( $r, $text ) { Apache2::URI::unescape_url($text) },
    'util.password'    => sub ( $r, $text ) { APR::Util::password_validate( $text, $text ); APR::Util::password_validate( 'x', "\$apr1\$$text" ) },
    'util.escape'      => sub ( $r, $text ) { Apache2::Util::escape_path( $text, $r->pool->new ) },
    'util.time'        => sub ( $r, $text ) { Apache2::Util::ht_time( $r->pool->new, 0, $text, 1 ) },
    'date'             => sub ( $r, $text ) { APR::Date::parse_http($text); APR::Date::parse_rfc($text) },
    'base64'           => sub ( $r, $text ) { APR::Base64::decode($_) for $text, APR::Base64::encode($text) },
    'cookie.new'       => sub ( $r, $text ) { cookie( $r, map { ( $_ => $text ) } qw(-name -value -domain -path -expires -comment) )->as_string },
    'cookie.value'     => sub ( $r, $text ) { Apache2::Cookie::thaw( cookie( $r, -value => { $text => $text, b => [$text] } ) ) },
    'cookie.jar'       => sub ( $r, $text ) { $r->headers_in->set( Cookie => "a=b$text" ); Apache2::Cookie::Jar->new($r)->cookies($text) },
    'request.param'    => sub ( $r, $text ) { $r->args("a=1$text"); Apache2::Request->new($r)->param($text) },
    'request.encode'   => sub ( $r, $text ) { APR::Request::decode($_) for $text, APR::Request::encode($text) },
    'request.make'     => sub ( $r, $text ) { APR::Request::Param->make( $r->pool->new, $text, $text )->value },
);

# Returns CPU time in microseconds. Runs in a subrequest, whose state is discarded.
sub cost ( $r, $name, $text ) {
    my $sub = $r->lookup_uri('/calls');
    $r->pnotes( tried => 1 + ( $r->pnotes('tried') // 0 ) );
    my $before = Time::HiRes::clock();
    eval { $CALLS{$name}->( $sub, $text ); 1 };
    return 1_000_000 * ( Time::HiRes::clock() - $before );
}

# Reports calls that took longer than the limit at one of the lengths, and the number of calls. The limit is ten times
# the duration of the slowest call.
sub calls ($r) {
    my @slow;
    for my $name ( sort keys %CALLS ) {
        for my $unit (@UNITS) {
            for my $length ( 16_384, 131_072 ) {
                my $took = cost( $r, $name, substr $unit x ( 1 + $length / length $unit ), 0, $length );
                next if $took < 100_000 + 20 * $length;
                push @slow, sprintf '%s(%s x %d): %d us', $name, $unit, $length, $took;
                last;
            }
        }
    }
    $r->print( join "\n", 'tried: ' . $r->pnotes('tried'), @slow );    # behind what the calls have printed
    return 0;
}

# `/names?CALL` with a sub name of 100 MB, which cannot exist: the exception, and whether it took a second per 10 MB.
sub names ($r) {
    my ( $text, @said ) = ( 'x' x 100_000_000 );
    for my $name (qw(r.add_output_filter r.add_input_filter handlers.named pool.cleanup package)) {
        my $before = Time::HiRes::clock();
        my $error = eval { $CALLS{$name}->( $r, $text ); 1 } ? 'nothing' : $@;
        push @said, Time::HiRes::clock() - $before < 10 ? "$name: " . substr( $error, 0, 200 ) =~ s/ at \S+ line .*//sr : "$name takes too long\n";
    }
    $r->print( map { s/\n*\z/\n/r } @said );
    return 0;
}

# Handlers that are looked up by name when they are called.
sub pushed ($r) {
    $r->push_handlers( PerlCleanupHandler => 'x' x 100_000_000 );
    $r->set_handlers( PerlLogHandler => 'x' x 100_000_000 );
    $r->print('pushed');
    return 0;
}

1;
