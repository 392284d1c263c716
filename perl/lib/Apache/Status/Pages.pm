package Apache::Status::Pages;

use v5.36;

use Cameleer::HTML qw(escape);
use mod_perl_hooks ();

# The items of the menu, in order.
sub items {
    return (
        [ script   => "PerlRequire'd Files",       \&script ],
        [ inc      => 'Loaded Modules',            \&inc ],
        [ rgysubs  => 'Compiled Registry Scripts', \&rgysubs ],
        [ symdump  => 'Symbol Table Dump',         \&symdump ],
        [ inh_tree => 'Inheritance Tree',          \&inh_tree ],
        [ isa_tree => 'ISA Tree',                  \&isa_tree ],
        [ hooks    => 'Enabled mod_perl Hooks',    sub { list( mod_perl_hooks::hooks() ) } ],
        [
            env => 'Environment',
            sub {
                table( [ 'Name', 'Value' ], map { [ escape($_), escape( $ENV{$_} ) ] } sort keys %ENV );
            }
        ],
        [
            sig => 'Signal Handlers',
            sub {
                table( [ 'Signal', 'Handler' ], map { [ escape($_), escape( $SIG{$_} ) ] } sort keys %SIG );
            }
        ],
        [ myconfig => 'Perl Configuration', \&myconfig ],
        ( $Apache::Server::SaveConfig ? [ section_config => 'Perl Section Configuration', \&section_config ] : () ),
    );
}

# Needs an option of its own, because it walks through all packages.
sub main_summary {
    require Apache::Status::Memory;
    return [ main_size => 'Memory Usage', \&Apache::Status::Memory::all_packages ];
}

# Files that were loaded by file name.
sub script ( $r, $q ) {
    my @names = sort grep { !/\.(?:pm|al|ix)\z/ && !ref $INC{$_} } keys %INC;
    return table( [ 'PerlRequire', 'Location' ], map { [ escape($_), escape( $INC{$_} ) ] } @names );
}

sub section_config ( $r, $q ) {
    require Apache::PerlSections;
    return [ '<pre>' . escape( Apache::PerlSections->dump ) . '</pre>' ];
}

sub list (@text) {
    return [ map { escape($_) . "<br>\n" } @text ];
}

# Makes an HTML table; cells are HTML.
sub table ( $head, @rows ) {
    my $line = sub ( $tag, @cells ) {
        '<tr>' . join( '', map { "<$tag>$_</$tag>" } @cells ) . "</tr>\n";
    };
    return [ qq{<table border="1">\n}, $line->( 'th', @$head ), ( map { $line->( 'td', @$_ ) } @rows ), "</table>\n" ];
}

sub link_to ( $r, $package ) {
    my $shown = escape($package);
    return '<a href="' . Apache::Status::base($r) . "/$shown\">$shown</a>";
}

sub inc ( $r, $q ) {
    my @rows = map { module_row( $r, $_ ) } sort grep { !ref $INC{$_} && defined $INC{$_} } keys %INC;
    return table( [qw(Package Version Modified File)], @rows );
}

sub module_row ( $r, $name ) {
    my $package = $name =~ s{/}{::}gr =~ s/\.pm\z//r;
    my $version = $name =~ /\.pm\z/ ? eval { $package->VERSION } // '' : '';
    my $mtime   = ( stat $INC{$name} )[9];
    return [
        $name =~ /\.pm\z/ ? link_to( $r, $package ) : escape($name),
        escape($version),
        defined $mtime ? scalar localtime $mtime : '',
        escape( $INC{$name} )
    ];
}

# The packages of scripts: below Apache::ROOT, in mod_perl 2 below ModPerl::ROOT.
sub rgysubs ( $r, $q ) {
    my @found = sort( map { scripts($_) } qw(Apache::ROOT ModPerl::ROOT) );
    return ['<p>No script was compiled in this process.</p>'] if !@found;
    return [ "<b>Click on a package name to see its symbol table</b><br>\n",
        map { link_to( $r, $_ ) . "<br>\n" } @found ];
}

sub scripts ($package) {
    no strict 'refs';
    my @inner = map { "${package}::" . s/::\z//r } grep { /::\z/ } keys %{"${package}::"};
    return ( ( defined &{"${package}::handler"} ? $package : () ), map { scripts($_) } @inner );
}

sub symdump ( $r, $q ) {
    return with_symdump( sub { '<pre>' . escape( Devel::Symdump->rnew('main')->as_string ) . '</pre>' } );
}

sub inh_tree ( $r, $q ) {
    return with_symdump( sub { '<pre>' . escape( Devel::Symdump->inh_tree ) . '</pre>' } );
}

sub isa_tree ( $r, $q ) {
    return with_symdump( sub { '<pre>' . escape( Devel::Symdump->isa_tree ) . '</pre>' } );
}

sub with_symdump ($page) {
    return [ $page->() ] if eval { require Devel::Symdump; 1 };
    return ['<p>Needs Devel::Symdump (libdevel-symdump-perl).</p>'];
}

sub myconfig ( $r, $q ) {
    require Config;
    return [ '<pre>' . escape( Config::myconfig() ) . '</pre>' ];
}

1;

__END__

=head1 NAME

Apache::Status::Pages - the pages in the menu of Apache::Status

=head1 SYNOPSIS

    my $html = Apache::Status::Pages::table( [ 'Name', 'Value' ], [ escape($name), escape($value) ] );

=cut
