//! httpd's modules whose work we do ourselves: `<IfModule>` finds them, `LoadModule` has nothing to load.

/// Source file and identifier; with either the module can be asked for.
pub const EMBODIED: &[(&str, &str)] = &[
    ("core.c", "core_module"),
    ("http_core.c", "http_module"),
    ("prefork.c", "mpm_prefork_module"),
    ("mod_access.c", "access_module"),
    ("mod_access_compat.c", "access_compat_module"),
    ("mod_actions.c", "actions_module"),
    ("mod_alias.c", "alias_module"),
    ("mod_allowmethods.c", "allowmethods_module"),
    ("mod_apreq2.c", "apreq_module"),
    ("mod_asis.c", "asis_module"),
    ("mod_auth.c", "auth_module"),
    ("mod_auth_basic.c", "auth_basic_module"),
    ("mod_authn_core.c", "authn_core_module"),
    ("mod_authn_file.c", "authn_file_module"),
    ("mod_authz_core.c", "authz_core_module"),
    ("mod_authz_groupfile.c", "authz_groupfile_module"),
    ("mod_authz_host.c", "authz_host_module"),
    ("mod_authz_user.c", "authz_user_module"),
    ("mod_autoindex.c", "autoindex_module"),
    ("mod_brotli.c", "brotli_module"),
    ("mod_cache.c", "cache_module"),
    ("mod_cache_disk.c", "cache_disk_module"),
    ("mod_cache_socache.c", "cache_socache_module"),
    ("mod_cgi.c", "cgi_module"),
    ("mod_deflate.c", "deflate_module"),
    ("mod_dir.c", "dir_module"),
    ("mod_env.c", "env_module"),
    ("mod_expires.c", "expires_module"),
    ("mod_filter.c", "filter_module"),
    ("mod_headers.c", "headers_module"),
    ("mod_http2.c", "http2_module"),
    ("mod_info.c", "info_module"),
    ("mod_log_config.c", "log_config_module"),
    ("mod_mime.c", "mime_module"),
    ("mod_perl.c", "perl_module"),
    ("mod_setenvif.c", "setenvif_module"),
    ("mod_so.c", "so_module"),
    ("mod_socache_shmcb.c", "socache_shmcb_module"),
    ("mod_ssl.c", "ssl_module"),
    ("mod_status.c", "status_module"),
    ("mod_throttle_access.c", "throttle_access_module"),
    ("mod_unixd.c", "unixd_module"),
    ("mod_zstd.c", "zstd_module"),
    ("cameleer.c", "cameleer_module"),
];

/// Whether we do this module's work.
pub fn is_embodied(name: &str) -> bool {
    name == "core" || EMBODIED.iter().any(|&(file, identifier)| name == file || name == identifier)
}
