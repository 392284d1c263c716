package Apache2::compat::Differing;

use v5.36;

use APR::Const -compile => 'FINFO_NORM';
use APR::Finfo ();
use Socket     ();

# Methods with a mod_perl 1 name and another meaning: by full name, code that makes the old method from the new
# one.
my %MAKERS = (
    # Setting a name requires an existing file, and renews finfo.
    'Apache2::RequestRec::filename' => sub ($now) {
        return sub ( $r, @new ) {
            return $r->$now if !defined $new[0];
            -e $new[0] or die "'$new[0]' doesn't exist\n";
            my $before = $r->$now( $new[0] );
            $r->finfo( APR::Finfo::stat( $new[0], APR::Const::FINFO_NORM, $r->pool ) );
            return $before;
        };
    },
    'Apache2::RequestRec::notes' => sub ($now) {
        return sub ( $r, @words ) { return Apache2::compat::of_table( scalar $r->$now, @words ) };
    },
    'Apache2::RequestRec::finfo' => sub ($now) {
        return sub ($r) { stat $r->filename; return \*main::_ };
    },
    'Apache2::Connection::local_addr'  => \&packed,
    'Apache2::Connection::remote_addr' => \&packed,
    'Apache2::Module::top_module'      => sub ($now) {
        return sub { return $now->() };
    },
    'Apache2::Module::get_config' => sub ($now) {
        return sub { shift; return $now->(@_) };
    },
    # In mod_perl 1 a URI without a scheme is HTTP's.
    'APR::URI::unparse' => sub ($now) {
        return sub ( $uri, @flags ) {
            $uri->scheme('http') if defined $uri->hostname && !defined $uri->scheme;
            return $uri->$now(@flags);
        };
    },
    'Apache2::Util::ht_time' => sub ($now) {
        return sub (@when) { return $now->( Apache2::compat::request('Apache2::Util::ht_time')->pool, @when ) };
    },
);

sub packed ($now) {
    return sub ($c) {
        my $address = $c->$now;
        return Socket::pack_sockaddr_in( $address->port, Socket::inet_aton( $address->ip_get ) );
    };
}

# By full name: the original sub, to be restored.
my %ORIGINAL;

sub override (@names) {
    for my $name (@names) {
        my $maker = maker($name);
        if ( $ORIGINAL{$name} ) { warn "Apache2::compat: $name has been already overridden\n"; next }
        require( $name =~ s/::\w+\z//r =~ s{::}{/}gr . '.pm' );
        no strict 'refs';
        no warnings 'redefine';
        $ORIGINAL{$name} = \&$name;
        *$name = $maker->( $ORIGINAL{$name} );
    }
    return;
}

sub restore (@names) {
    for my $name (@names) {
        maker($name);
        my $original = delete $ORIGINAL{$name};
        if ( !$original ) { warn "Apache2::compat: can't restore $name, as it has not been overridden\n"; next }
        no strict 'refs';
        no warnings 'redefine';
        *$name = $original;
    }
    return;
}

sub maker ($name) { return $MAKERS{$name} // die "Apache2::compat: $name is not overridable\n" }

1;

__END__

=head1 NAME

Apache2::compat::Differing - methods with another meaning in mod_perl 2: see L<Apache2::compat>

=cut
