//! Merging of sections to [`Settings`].

use crate::model::config::Config;
use crate::model::handler::{Handler, NamedBy};
use crate::model::settings::Settings;
use crate::resolve::htaccess::Applied;

impl Config {
    /// Merges sections in this order over the defaults. Below a `ScriptAlias` every file is a CGI script unless a
    /// section sets another handler.
    pub fn settings(&self, sections: &[u16], script_alias: bool) -> Settings {
        self.settings_of(&Applied { sections: sections.to_vec(), files: Vec::new() }, script_alias)
    }

    /// As [`Config::settings`], with `.htaccess` files.
    pub fn settings_of(&self, applied: &Applied, script_alias: bool) -> Settings {
        let mut settings = Settings::default();
        for number in [0].iter().chain(&applied.sections) {
            if let Some(section) = self.section(&applied.files, *number) {
                settings.merge_at(&section.own, &section.scope);
                // A default of the table (section 0) does not count as SetHandler.
                if *number != 0 && section.own.handler.is_some() {
                    settings.named_by = if section.own.unsets_handler { NamedBy::Default } else { NamedBy::SetHandler };
                }
            }
        }
        settings.script_alias = script_alias;
        // As in httpd, where ScriptAlias sets the handler at translation, a later AddHandler or SetHandler takes
        // precedence.
        if script_alias && settings.named_by < NamedBy::ScriptAlias {
            settings.handler = Handler::CgiScript;
            settings.named_by = NamedBy::ScriptAlias;
            settings.mount.clear();
        }
        settings
    }
}
