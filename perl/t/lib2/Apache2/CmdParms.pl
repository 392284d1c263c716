# Apache2::CmdParms: the methods of a directive's parameters; run by packages.t

use v5.36;

return {
    classes => [ sub ($r) { join ' ', map { Apache2::CmdParms->can($_) ? $_ : () } qw(cmd directive context pool info path server temp_pool) },
        qr/\Acmd directive context pool/ ],
};
