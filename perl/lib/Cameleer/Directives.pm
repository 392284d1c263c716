package Cameleer::Directives;

use v5.36;

use Apache::CmdParms ();

# Directives that Perl modules define, by name in lower case (with the `<` of a container): name, class, func,
# args_how, req_override, errmsg, info. A module may define both `<My>` and `My`.
my %OWN;

# Values of directives: by class, then by section, the object that the module's subs fill. The server numbers
# the sections. %MERGED caches merged objects by DIR_MERGE or SERVER_MERGE, then by class and sections.
my ( %DIR, %SERVER, %MERGED );

# The section number of each virtual host with such directives, by the host's number.
my %BASE;

# The class of the parameter object for the modules' subs; mod_perl 2 sets its own class.
our $PARMS = 'Apache::CmdParms';

# The server section of the directive that is being applied.
our $CURRENT;

# Numbered as in http_config.h; %COUNT is the number of arguments of each.
my @ARGS_HOW = qw(RAW_ARGS TAKE1 TAKE2 ITERATE ITERATE2 FLAG NO_ARGS TAKE12 TAKE3 TAKE23 TAKE123 TAKE13);
my %COUNT    = (
    NO_ARGS => 'none',     TAKE1  => '1',      TAKE2  => '2',      TAKE3    => '3', TAKE12 => '1 or 2', TAKE23 => '2 or 3',
    TAKE123 => '1, 2 or 3', TAKE13 => '1 or 3', FLAG   => '1',      ITERATE  => '1 or more', ITERATE2 => '2 or more',
);
my %OF_PROTOTYPE = (
    '$$'     => 'NO_ARGS', '$$$'    => 'TAKE1',   '$$$$' => 'TAKE2',   '$$$;$' => 'TAKE12',   '$$$$$'  => 'TAKE3',
    '$$$$;$' => 'TAKE23',  '$$$;$$' => 'TAKE123', '$$@'  => 'ITERATE', '$$@;@' => 'ITERATE2', '$$$;*' => 'RAW_ARGS',
);
my %NO_DIRECTIVE = map { $_ => 1 } qw(DIR_CREATE DIR_MERGE SERVER_CREATE SERVER_MERGE DESTROY AUTOLOAD BEGIN END INIT CHECK);

# From http_config.h: 128 outside of containers, 64 in containers; 31 is the union of all .htaccess classes.
my ( $IN_SERVER, $IN_CONTAINER ) = ( 128 | 2 | 4 | 16, 64 | 31 );
my %CLASSES = ( Limit => 1, Options => 2, FileInfo => 4, AuthConfig => 8, Indexes => 16 );

# The server numbers the sections of .htaccess files from here on, starting again for each place that they make.
my $OF_HTACCESS = 65_536;

# Takes the rows of Apache::ExtUtils::command_table: 'Name', ['Name', 'usage'] or { name => ..., func => ...,
# ... }.
sub register ( $class, @rows ) {
    for my $row (@rows) {
        my %row = ref $row eq 'HASH' ? %$row : ref $row eq 'ARRAY' ? ( name => $row->[0], errmsg => $row->[1] ) : ( name => $row );
        my $name = $row{name} =~ s/>\z//r;
        my $func = $row{func} // bare($name);
        $func = "${class}::$func" unless ref $func || $func =~ /::/;
        my $code = code_of($func);
        my $how  = $row{args_how} // $OF_PROTOTYPE{ $code && prototype($code) // '' } // 'TAKE123';
        $how = $ARGS_HOW[$how] // $how if $how =~ /\A\d+\z/;
        $OWN{ lc $name } = {
            name => $name, class => $class, func => $func, args_how => $how, errmsg => $row{errmsg},
            info => $row{cmd_data}, req_override => override_of( $row{req_override} // 31 | 128 | 64 ),
        };
    }
    return;
}

sub bare ($name) { return $name =~ s/\A<//r }

# The sub of a directive, defined in the module's class or inherited; undef if it does not exist yet.
sub code_of ($func) {
    return $func if ref $func;
    my ( $class, $name ) = $func =~ /\A(.*)::(.*)\z/s;
    return $class->can($name);
}

# The places that allow a directive, as http_config.h's number or its name.
sub override_of ($classes) {
    return $classes if $classes =~ /\A\d+\z/;
    require Apache::Constants;
    my $bits = 0;
    for my $name ( split /\s*\|\s*/, $classes ) {
        my $code = Apache::Constants->can($name) // die "req_override: there is no $name\n";
        $bits |= $code->();
    }
    return $bits;
}

# Registers a module without a compiled half: its table is in a file beside it, or follows from the prototypes
# of its subs.
sub register_module ($class) {
    my $file = $INC{ $class =~ s{::}{/}gr . '.pm' } // '';
    ( my $table = $file ) =~ s/\.pm\z/.directives/ or return 0;
    my @rows;
    if ( -f $table ) {
        @rows = do "./$table" if $table !~ m{\A/};
        @rows = do $table     if $table =~ m{\A/};
        die $@ if $@;
        @rows = @{ $rows[0] } if @rows == 1 && ref $rows[0] eq 'ARRAY';
    }
    else { @rows = by_prototype($class) }
    register( $class, @rows );
    return scalar @rows;
}

sub by_prototype ($class) {
    no strict 'refs';
    my @subs = grep { /\A[A-Z]/ && !$NO_DIRECTIVE{$_} && defined &{"${class}::$_"} } sort keys %{"${class}::"};
    return grep { ( prototype( \&{"${class}::$_"} ) // '' ) =~ /\A\$\$/ } @subs;
}

# The server passes the names of containers without `<`.
sub knows ($name) { return $OWN{ lc $name } || $OWN{ lc "<$name" } ? 1 : '' }

sub names () {
    my %bare = map { bare($_) => 1 } keys %OWN;
    return join "\n", sort keys %bare;
}

# The row of a directive or container; the server passes both without `<`. The rest of a container's line ends
# with `>`.
sub row_of ( $name, $rest ) {
    my ( $line, $container ) = @OWN{ lc $name, lc "<$name" };
    return $container if $container && $rest =~ />\z/;
    return $line // die $container ? "$name: is a container; write <$name ...>\n" : "$name: the module that defines it is not loaded\n";
}

# Applies a directive of the configuration. The argument has, separated by zero bytes: file, line, name, rest of
# the line, inner lines (of a section), the numbers of section, server section and server, the kind of section,
# its path, for a .htaccess file the allowed classes and Options, and the words of the line.
sub apply ($packed) {
    my ( $file, $line, $name, $rest, $inside, $section, $server, $host, $in, $path, $allowed, $options, @words ) = split /\0/, $packed, -1;
    my $row   = row_of( $name, $rest );
    my $class = $row->{class};
    local $CURRENT = $server;
    $BASE{$host} = $server if $host;
    my $parms = bless {
        cmd  => $row, info => $row->{info}, path => $path, limited => -1, lines => [ split /\n/, $inside ], said => $rest, inside => $inside,
        server => bless( \( my $number = 0 + $host ), ref Apache->server ), file => $file, line => $line, in => $in, section => $section,
        override => $allowed ne '' ? $allowed : $section == $server ? $IN_SERVER : $IN_CONTAINER,
        override_opts => $options, is_htaccess => $allowed ne '',
    }, $PARMS;
    $parms->{path} = undef if $path eq '' && $PARMS ne 'Apache::CmdParms';
    $row->{req_override} & $parms->{override} or die "$name: is not allowed " . elsewhere( $row, $parms, $section == $server ) . "\n";
    # Drops cached merges, which may lack this directive. Merged server values stay during requests: modules store
    # handles in them that they opened at the start.
    delete @MERGED{ 'DIR_MERGE', $parms->{is_htaccess} ? () : 'SERVER_MERGE' };
    $SERVER{$class}{$server} //= create( $class, 'SERVER_CREATE', $parms ) if $class->can('SERVER_CREATE') || $PARMS ne 'Apache::CmdParms';
    my $config = $DIR{$class}{$section} //= create( $class, 'DIR_CREATE', $parms );
    # The last argument of a container includes the `>`.
    push @words, ( pop(@words) // '' ) . '>' if $row->{name} =~ /\A</;
    call( $row, $config, $parms, $rest, @words );
    return;
}

sub elsewhere ( $row, $parms, $outside ) {
    if ( $parms->{is_htaccess} ) {
        my @classes = grep { $row->{req_override} & $CLASSES{$_} } sort keys %CLASSES;
        return @classes
            ? 'here: its <Directory> needs AllowOverride ' . join ' or ', @classes
            : 'in .htaccess files; write it in the main configuration';
    }
    return $outside
        ? 'outside of sections; write it in a <Directory> or <Location>'
        : 'in a section; write it outside of all but <VirtualHost>';
}

sub takes ( $how, $count ) {
    return $count >= $1 if $COUNT{$how} =~ /(\d) or more/;
    return $count == 0 if $COUNT{$how} eq 'none';
    return $COUNT{$how} =~ /\b$count\b/;
}

sub create ( $class, $method, $parms ) {
    return $class->can($method) ? $class->$method($parms) : bless {}, $class;
}

sub call ( $row, $config, $parms, $rest, @words ) {
    my $how  = $row->{args_how};
    my $code = code_of( $row->{func} ) // die "$row->{name}: there is no sub $row->{func}\n";
    if ( $how eq 'RAW_ARGS' ) {
        my $handle = do { local *HANDLE; *HANDLE };
        tie *$handle, 'Apache::CmdParms', $parms;
        push @{ $parms->{lines} }, '</' . bare( $row->{name} ) . '>' if $parms->{lines} && @{ $parms->{lines} };
        return &$code( $config, $parms, $rest, \$handle ) if prototype($code) && prototype($code) =~ /\*/;
        return &$code( $config, $parms, $rest );
    }
    my $count = $COUNT{$how} // die "$row->{name}: its module has an unknown args_how $how\n";
    takes( $how, scalar @words ) or die "$row->{name}: " . ( $row->{errmsg} // "expected arguments: $count" ) . ', got ' . @words . "\n";
    if ( $how eq 'FLAG' ) {
        $words[0] =~ /\A(?:on|off)\z/i or die "$row->{name}: expected On or Off, got \"$words[0]\"\n";
        return &$code( $config, $parms, lc $words[0] eq 'on' ? 1 : 0 );
    }
    return map { &$code( $config, $parms, $_ ) } @words if $how eq 'ITERATE';
    my $first = shift @words;
    return map { &$code( $config, $parms, $first, $_ ) } @words if $how eq 'ITERATE2';
    return &$code( $config, $parms, defined $first ? ( $first, @words ) : () );
}

# The merged object for the current request, or for the directive that is being applied.
sub config_of ( $about, $class ) {
    return value( $class, ref $about && $about->isa('Apache') ? 'place' : 'server' );
}

sub value ( $class, $of ) {
    my ( $values, $merge ) = $of eq 'place' ? ( $DIR{$class}, 'DIR_MERGE' ) : ( $SERVER{$class}, 'SERVER_MERGE' );
    return $values && $values->{$CURRENT} if defined $CURRENT && $of eq 'server';
    my @sections = Apache::Server::sections();
    @sections = 1 unless @sections;
    return merged( $class, $merge, $values, @sections );
}

# The merged object of the server with that number.
sub of_server ( $class, $host ) {
    return value( $class, 'server' ) if defined $CURRENT;
    return merged( $class, 'SERVER_MERGE', $SERVER{$class}, 1, grep { defined } $BASE{$host} );
}

# The server calls this when it has dropped the places of .htaccess files and numbers their sections again.
sub forget_htaccess {
    delete $MERGED{DIR_MERGE};
    for my $sections ( values %DIR ) { delete @$sections{ grep { $_ >= $OF_HTACCESS } keys %$sections } }
    return;
}

sub merged ( $class, $merge, $values, @sections ) {
    return $MERGED{$merge}{ join ',', $class, @sections } //= do {
        my $merged;
        for my $config ( grep { defined } map { $values->{$_} } @sections ) {
            $merged = defined $merged && $class->can($merge) ? $class->can($merge)->( $merged, $config ) : $config;
        }
        $merged;
    };
}

1;

__END__

=head1 NAME

Cameleer::Directives - directives that Perl modules define

=head1 DESCRIPTION

The server calls this module, and so do L<Apache::ModuleConfig>, L<Apache::ExtUtils> and
L<Apache::CmdParms>, which document the rules.

=cut
