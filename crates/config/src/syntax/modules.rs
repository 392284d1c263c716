//! Modules of httpd that are built in: `<IfModule>` finds them, and `LoadModule` ignores them.

/// Source files. The identifier of `mod_name.c` is `name_module`, unless it is written here.
const EMBODIED: &str = "core.c http_core.c=http_module prefork.c=mpm_prefork_module mod_access.c mod_access_compat.c mod_actions.c \
    mod_alias.c mod_allowmethods.c mod_apreq2.c=apreq_module mod_asis.c mod_auth.c mod_auth_basic.c \
    mod_auth_digest.c mod_authn_core.c mod_authn_dbd.c mod_authn_dbm.c mod_authn_file.c mod_authn_socache.c mod_authnz_ldap.c \
    mod_authz_core.c mod_authz_dbd.c mod_authz_dbm.c mod_authz_groupfile.c mod_authz_host.c mod_authz_owner.c \
    mod_authz_user.c mod_autoindex.c mod_brotli.c mod_cache.c mod_cache_disk.c mod_cache_socache.c mod_cgi.c \
    mod_dbd.c mod_deflate.c mod_dir.c mod_env.c mod_expires.c mod_fastcgi.c mod_fcgid.c mod_filter.c mod_headers.c mod_http2.c \
    mod_ident.c mod_imagemap.c mod_imap.c mod_include.c mod_info.c mod_ldap.c mod_lbmethod_bybusyness.c mod_lbmethod_byrequests.c mod_lbmethod_bytraffic.c \
    mod_log_config.c mod_logio.c mod_macro.c mod_md.c mod_mime.c mod_negotiation.c mod_perl.c mod_proxy.c \
    mod_proxy_balancer.c mod_proxy_connect.c mod_proxy_fcgi.c mod_proxy_hcheck.c mod_proxy_http.c mod_proxy_http2.c \
    mod_proxy_wstunnel.c mod_remoteip.c \
    mod_reqtimeout.c mod_request.c mod_rewrite.c mod_setenvif.c mod_slotmem_shm.c mod_so.c mod_socache_shmcb.c mod_speling.c \
    mod_ssl.c mod_status.c mod_substitute.c mod_throttle_access.c mod_unique_id.c mod_unixd.c mod_userdir.c mod_usertrack.c \
    mod_version.c mod_vhost_alias.c mod_watchdog.c mod_zstd.c cameleer.c";

/// Source file and identifier of each module; configurations use either.
pub fn modules() -> impl Iterator<Item = (&'static str, String)> {
    EMBODIED.split(' ').map(|word| match word.split_once('=') {
        Some((file, identifier)) => (file, identifier.to_owned()),
        None => (word, format!("{}_module", word.trim_start_matches("mod_").trim_end_matches(".c"))),
    })
}

/// Modules of httpd that are not built in, by name. Each of their directives is reported by itself, so that loading
/// such a module has no effect of its own.
const OF_HTTPD: &str = "auth_form authn_anon authnz_fcgi bucketeer case_filter case_filter_in cern_meta cgid charset_lite \
    data dav dav_fs dav_lock dialup dumpio echo ext_filter file_cache heartbeat heartmonitor \
    lbmethod_heartbeat log_debug log_forensic lua md mime_magic mpm_event mpm_itk mpm_prefork mpm_worker optional_fn_export \
    optional_fn_import optional_hook_export optional_hook_import privileges proxy_ajp proxy_express \
    proxy_fdpass proxy_ftp proxy_html proxy_scgi proxy_uwsgi ratelimit reflector sed session session_cookie \
    session_crypto session_dbd slotmem_plain socache_dbm socache_memcache socache_redis suexec systemd tls xml2enc";

/// Whether the module belongs to httpd and is not built in.
pub fn is_of_httpd(identifier: &str) -> bool {
    let name = identifier.strip_suffix("_module");
    name.is_some_and(|name| OF_HTTPD.split_ascii_whitespace().any(|known| known == name))
}

/// Whether the module is built in.
pub fn is_embodied(name: &str) -> bool {
    name == "core" || modules().any(|(file, identifier)| name == file || name == identifier)
}
