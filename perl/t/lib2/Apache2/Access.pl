# Apache2::Access: access settings of the location, read and changed; run by packages.t

use v5.36;

return {
    allow_options   => [ sub ($r) { require Apache2::Const; Apache2::Const->import( -compile => 'OPT_INDEXES' ); $r->allow_options & 64 ? 'known' : 'plain' }, 'plain' ],
    auth_name       => [ sub ($r) { join '|', $r->auth_name // 'none', do { $r->auth_name('Members'); $r->auth_name } }, 'none|Members' ],
    auth_type       => [ sub ($r) { join '|', $r->auth_type // 'none', do { $r->auth_type('Basic'); $r->auth_type } }, 'none|Basic' ],
    no_password     => [ sub ($r) { $r->auth_type('Basic'); my ($status) = $r->get_basic_auth_pw; $status }, '401' ],
    nothing_required => [ sub ($r) { my $rules = $r->requires; defined $rules ? scalar @$rules : 'none' }, qr/\A(?:none|0)\z/ ],
    satisfies       => [ sub ($r) { $r->satisfies }, qr/\A\d\z/ ],
    remote_logname  => [ sub ($r) { $r->get_remote_logname // 'none' }, 'none' ],
};
