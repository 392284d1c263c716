//! Sections to [`Settings`]: each says something over what came before.

use crate::config::model::config::Config;
use crate::config::model::handler::Handler;
use crate::config::model::settings::Settings;
use crate::config::resolve::htaccess::Applied;

impl Config {
    /// What these sections say, in this order, over the defaults. Below a `ScriptAlias` everything is a CGI script, where nothing else
    /// is said.
    pub fn settings(&self, sections: &[u16], script_alias: bool) -> Settings {
        self.settings_of(&Applied { sections: sections.to_vec(), files: Vec::new() }, script_alias)
    }

    /// The same with `.htaccess` files.
    pub fn settings_of(&self, applied: &Applied, script_alias: bool) -> Settings {
        let mut settings = Settings::default();
        for number in [0].iter().chain(&applied.sections) {
            if let Some(section) = self.section(&applied.files, *number) {
                settings.merge_at(&section.said, &section.scope);
                // What the table's defaults say is not said by anybody.
                settings.handler_is_set |= *number != 0 && section.said.handler.is_some();
            }
        }
        // httpd: ScriptAlias names the handler while paths are translated, SetHandler later, so it wins.
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
