package Apache::Status;

use v5.36;

use Apache                  ();
use Apache::Constants       qw(OK);
use Apache::Status::Address ();
use Apache::Status::Package ();
use Apache::Status::Pages   ();
use Cameleer::HTML          qw(escape);

our $VERSION = '2.04';

# The menu: [name, title, code] in the order of addition. Code gets ($r, $q) and returns a reference to a list
# of HTML.
my @ITEMS = Apache::Status::Pages::items();

# Apache::Status->menu_item( name => 'Title', \&code ): other modules call this to add a page.
sub menu_item ( $class, $name, $title, $code ) {
    @ITEMS = ( ( grep { $_->[0] ne $name } @ITEMS ), [ $name, $title, $code ] );
    return;
}

sub handler {
    my $r = $_[-1];
    my ( $of, $kind, $what ) = Apache::Status::Address::parts( _path($r), $r->query_string // '' );
    my ($item) = grep { $_->[0] eq $what } items($r);
    my $page =
          $item     ? $item->[2]->( $r, query($r) )
        : is_there( $r, $of ) ? Apache::Status::Package::page( $r, $of, $kind, $what )
        :             menu($r);
    $r->send_http_header('text/html');
    return OK if $r->header_only;
    $r->print( head($r), $page ? @$page : '<p>Nothing.</p>', "\n</body></html>\n" );
    return OK;
}

# The cache of Apache::Registry and similar modules, for modules that set it; the page itself reads the
# packages.
our $CACHE;

sub registry_cache ( $class, @cache ) {
    $CACHE = $cache[0] if @cache && $cache[0];
    return $CACHE // {};
}

# Whether the request names a page. A path always does; a word of the query does if such a package exists.
sub is_there ( $r, $of ) { return $of ne '' && ( _path($r) ne '' || Apache::Status::Package::exists_package($of) ) }

sub items ($r) {
    my $has_summary = $INC{'B/TerseSize.pm'} && is_on( $r, 'StatusTerseSizeMainSummary' );
    return ( @ITEMS, $has_summary ? Apache::Status::Pages::main_summary() : () );
}

# Pages of other modules need an object with `param`.
sub query ($r) {
    return Apache::Request->new($r) if eval { require Apache::Request; 1 };
    require CGI;
    return CGI->new( $r->query_string // '' );
}

# The path below the address of the pages.
sub _path ($r) {
    my ( $uri, $place ) = ( $r->uri, ( $r->location // '' ) =~ s{/+\z}{}r );
    return $place ne '' && $uri =~ s{\A\Q$place\E(?=/|\z)}{} ? $uri : $r->path_info // '';
}

# The address of the pages: the URI without the path below.
sub base ($r) {
    my $path = _path($r);
    return escape( $r->uri =~ s{\Q$path\E\z}{}r );
}

# Whether an option allows a page that is expensive or shows much.
sub is_on ( $r, $option ) {
    return ( $r->dir_config($option) // $r->dir_config('StatusOptionsAll') // 'Off' ) !~ /\A(?:off|0|no)?\z/i;
}

sub menu ($r) {
    my $base = base($r);
    return [ map { qq{<a href="$base?} . escape( $_->[0] ) . '">' . escape( $_->[1] ) . "</a><br>\n" } items($r) ];
}

sub head ($r) {
    my $perl = sprintf 'v%vd', $^V;
    my $server = escape( Apache::Server::server_software( Apache->server ) // '' );
    my $since  = localtime $^T;
    return <<"END";
<!DOCTYPE html>
<html><head><title>Apache::Status</title></head>
<body>
<p>Embedded Perl version <b>$perl</b> for <b>$server</b> process <b>$$</b>, running since $since</p>
<hr>
END
}

1;

__END__

=head1 NAME

Apache::Status - pages that show the Perl inside a worker

=head1 SYNOPSIS

    PerlModule B::TerseSize
    <Location /perl-status>
        SetHandler perl-script
        PerlHandler Apache::Status
        PerlSetVar StatusOptionsAll On
        Order deny,allow
        Deny from all
        Allow from 127.0.0.1
    </Location>

=head1 DESCRIPTION

C</perl-status> is a menu:

=over

=item C<?inc> Loaded Modules

Name, version, time of the last change and file of each, with a link to its symbol table.

=item C<?rgysubs> Compiled Registry Scripts

Each package that holds a compiled script of this worker. A script that is reached under two names,
such as by a link, appears twice.

=item C<?symdump> Symbol Table Dump, C<?inh_tree> Inheritance Tree, C<?isa_tree> ISA Tree

Need L<Devel::Symdump>.

=item C<?hooks> Enabled mod_perl Hooks, C<?env> Environment, C<?sig> Signal Handlers, C<?myconfig> Perl Configuration

=item C<?main_size> Memory Usage

Memory of all packages; only with C<StatusTerseSizeMainSummary> and L<B::TerseSize>.

=item C<?script> PerlRequire'd Files, C<?section_config> Perl Section Configuration

The section configuration only with C<$Apache::Server::SaveConfig>.

=item C</Package::Name>

The variables and subs of a package; with C<StatusTerseSize> and L<B::TerseSize>, below them
I<Memory Usage>: C<Totals: 1966 bytes | 27 OPs>, and each sub.

=back

Everything shown is escaped. Everyone who can open these pages sees values of the site's variables:
restrict access.

=head2 Options, by PerlSetVar

C<StatusOptionsAll On> allows all of them: C<StatusDumper> (a variable by Data::Dumper),
C<StatusPeek> (by Devel::Peek), C<StatusDeparse> (a sub as code; C<StatusDeparseOptions> for
B::Deparse), C<StatusTerse> (its operators), C<StatusTerseSize> (with their sizes; needs
L<B::TerseSize>), C<StatusLexInfo> (its lexical variables), C<StatusTerseSizeMainSummary> (sizes of
all packages in the menu).

B::Graph and B::Fathom, which mod_perl 1 supports, are not supported.

=head2 Addresses of mod_perl 1

Bookmarks and other modules' links still work: C<?Package::Name>, C</name/SCALAR?data_dump>,
C</name/FUNCTION?cv_dump>, C</name/KIND?noh_peek>, C</name?noh_b_deparse>, C</name?noh_b_lexinfo>,
C</exec/name?noh_b_terse>, C</slow/name?noh_b_terse_size>, C</Package?noh_b_package_size> (which
C<StatusPackageSize> allows, too).

=head2 Pages of other modules

    Apache::Status->menu_item( name => 'Title', sub { my ( $r, $q ) = @_; return [ 'HTML', ... ] } )
        if $INC{'Apache/Status.pm'};

The page is C<?name>; a second item of a name replaces the first. C<registry_cache(HASH)> stores the
hash for modules that read it. C<$q> has a method C<param>. L<Apache::Resource>, Apache::DBI and
HTML::Mason add pages if they are loaded after this module.

=cut
