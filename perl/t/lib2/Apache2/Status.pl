# Apache2::Status: the status page and an item of its menu; run by packages.t

use v5.36;

return {
    page => [ sub ($r) { $r->args(''); Apache2::Status::handler($r); '' }, qr/<html/i ],
    item => [ sub ($r) { Apache2::Status->menu_item( own => 'My own item', sub { ['of mine'] } ); $r->args('own'); Apache2::Status::handler($r); '' }, qr/of mine/ ],
};
