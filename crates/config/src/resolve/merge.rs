//! Merging of sections to [`Settings`].

use crate::model::config::Config;
use crate::model::handler::Handler;
use crate::model::settings::Settings;
use crate::resolve::htaccess::Applied;

impl Config {
    /// Merges sections in this order over the defaults. Below a `ScriptAlias` every file is a CGI script unless a section sets
    /// another handler.
    pub fn settings(&self, sections: &[u16], script_alias: bool) -> Settings {
        self.settings_of(&Applied { sections: sections.to_vec(), files: Vec::new() }, script_alias)
    }

    /// As [`Config::settings`], with `.htaccess` files.
    pub fn settings_of(&self, applied: &Applied, script_alias: bool) -> Settings {
        let mut settings = Settings::default();
        for number in [0].iter().chain(&applied.sections) {
            if let Some(section) = self.section(&applied.files, *number) {
                settings.merge_at(&section.said, &section.scope);
                // A default of the table (section 0) does not count as SetHandler.
                settings.handler_is_set |= *number != 0 && section.said.handler.is_some();
            }
        }
        // As in httpd, where ScriptAlias sets the handler at translation, a later SetHandler takes precedence.
        if script_alias && !settings.handler_is_set {
            settings.handler = Handler::CgiScript;
            settings.handler_is_set = true;
            settings.mount.clear();
        }
        if script_alias && settings.handler == Handler::CgiScript {
            settings.options.exec_cgi = true;
        }
        settings
    }
}
