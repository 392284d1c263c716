//! What places say about TLS: `SSLOptions`, `SSLRequireSSL`.

use super::super::draft::Draft;

/// `None`: nothing, keep what was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ssl {
    /// `SSLOptions +StdEnvVars`: programs are told about the connection; default off.
    pub std_env_vars: Option<bool>,
    /// `SSLRequireSSL`
    pub required: Option<bool>,
}

impl Ssl {
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Ssl) {
        self.std_env_vars = inner.std_env_vars.or(self.std_env_vars);
        self.required = inner.required.or(self.required);
    }
}

/// `SSLOptions [+|-]option…`
pub fn options(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let mut ignored = Vec::new();
    for arg in args {
        let name = arg.trim_start_matches(['+', '-']);
        let on = !arg.starts_with('-');
        match name.to_ascii_lowercase().as_str() {
            "stdenvvars" => draft.said().rules.ssl.std_env_vars = Some(on),
            // About certificates of clients and how they are asked for: there are none.
            "strictrequire" | "optrenegotiate" | "legacydnstringformat" => {}
            "exportcertdata" => ignored.push(name),
            "fakebasicauth" if !on => {}
            "fakebasicauth" => return Err("FakeBasicAuth: certificates of clients are not asked for here".to_owned()),
            _ => return Err(format!("expected StdEnvVars, with + or - before, got \"{arg}\"")),
        }
    }
    // Options without a sign are all that there are.
    let absolute = args.iter().any(|arg| !arg.starts_with(['+', '-']));
    if absolute && draft.said().rules.ssl.std_env_vars.is_none() {
        draft.said().rules.ssl.std_env_vars = Some(false);
    }
    if !ignored.is_empty() {
        draft.warn(&format!("not supported and ignored: {}", ignored.join(" ")));
    }
    Ok(())
}
