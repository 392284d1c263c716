//! httpd's modules whose work we do ourselves: `<IfModule>` finds them, `LoadModule` has nothing to load.

/// Source file and identifier; with either the module can be asked for.
const EMBODIED: &[(&str, &str)] = &[
    ("core.c", "core_module"),
    ("http_core.c", "http_module"),
    ("prefork.c", "mpm_prefork_module"),
    ("mod_alias.c", "alias_module"),
    ("mod_cgi.c", "cgi_module"),
    ("mod_dir.c", "dir_module"),
    ("mod_env.c", "env_module"),
    ("mod_log_config.c", "log_config_module"),
    ("mod_mime.c", "mime_module"),
    ("mod_perl.c", "perl_module"),
    ("mod_so.c", "so_module"),
    ("mod_unixd.c", "unixd_module"),
    ("cameleer.c", "cameleer_module"),
];

/// Whether we do this module's work.
pub fn is_embodied(name: &str) -> bool {
    name == "core" || EMBODIED.iter().any(|&(file, identifier)| name == file || name == identifier)
}
