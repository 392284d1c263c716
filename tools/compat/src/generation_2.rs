//! Support of mod_perl 2's modules.

use super::rows::Support;

/// Modules that work with exceptions.
const PARTLY: &[(&str, &str)] = &[
    ("APR::Request::Hook", "apr_xml_parser dies: Perl code has no access to its result"),
    ("Apache2::Filter", "requests and responses pass filters; filters of connections are refused"),
    (
        "Apache2::Connection",
        "client_socket is the socket of the client in a PerlProcessConnectionHandler; in a request it is a socket without data",
    ),
];

/// Modules that do not work, with alternatives.
const NOT: &[(&str, &str)] = &[
    ("ModPerl::Interpreter", ONE_INTERPRETER),
    ("ModPerl::InterpPool", ONE_INTERPRETER),
    ("ModPerl::TiPool", ONE_INTERPRETER),
    ("ModPerl::TiPoolConfig", ONE_INTERPRETER),
    ("Apache2::Provider", "is not available; name the code in PerlAuthenHandler or PerlAuthzHandler"),
];

const ONE_INTERPRETER: &str = "is not available: a worker is a process with one interpreter";

/// Modules in perl/lib2 and perl/lib/APR.
const OURS: &str = "mod_perl2 APR APR::Base64 APR::Brigade APR::Bucket APR::BucketAlloc \
    APR::BucketType APR::Const APR::Date APR::Error APR::Finfo APR::IpSubnet APR::OS APR::PerlIO APR::Pool \
    APR::Request APR::Request::Apache2 APR::Request::CGI APR::Request::Cookie APR::Request::Error APR::Request::Magic \
    APR::Request::Param APR::Request::Parser APR::SockAddr APR::Socket APR::Status APR::String APR::Table \
    APR::ThreadMutex APR::ThreadRWLock APR::URI APR::UUID APR::Util Apache2::Access Apache2::CmdParms \
    Apache2::Command Apache2::ConnectionUtil Apache2::Const Apache2::Cookie Apache2::Directive Apache2::FilterRec \
    Apache2::HookRun Apache2::Log Apache2::MPM Apache2::Module Apache2::PerlSections Apache2::Process Apache2::Reload \
    Apache2::Request Apache2::RequestIO Apache2::RequestRec Apache2::RequestUtil Apache2::Resource Apache2::Response \
    Apache2::ServerRec Apache2::ServerUtil Apache2::SizeLimit Apache2::Status Apache2::SubProcess Apache2::SubRequest \
    Apache2::URI Apache2::Upload Apache2::Util Apache2::compat Apache2::porting ModPerl::Const ModPerl::Global \
    ModPerl::MethodLookup ModPerl::PerlRun ModPerl::PerlRunPrefork ModPerl::Registry ModPerl::RegistryBB \
    ModPerl::RegistryCooker ModPerl::RegistryLoader ModPerl::RegistryPrefork ModPerl::Util";

fn ours() -> impl Iterator<Item = &'static str> {
    OURS.split(' ')
}

/// Whether the name belongs to mod_perl 2's API.
pub fn is_of_it(module: &str) -> bool {
    let is_below = |top: &str| module.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    module == "mod_perl2" || ["Apache2", "APR", "ModPerl"].into_iter().any(is_below)
}

/// The support of a module, with a note; `None` for a module in no list.
pub fn support(module: &str) -> Option<(Support, &'static str)> {
    let among = |rows: &[(&str, &'static str)]| rows.iter().find(|(name, _)| *name == module).map(|(_, note)| *note);
    let is_ours = || ours().any(|name| name == module).then_some((Support::Works, ""));
    let partly = || among(PARTLY).map(|note| (Support::Partly, note));
    among(NOT).map(|note| (Support::Not, note)).or_else(partly).or_else(is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_module_of_mod_perl_2_exists() {
        let folder = |top: &str| std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../perl")).join(top);
        for name in ours().chain(PARTLY.iter().chain(NOT).map(|(name, _)| *name)) {
            let file = format!("{}.pm", name.replace("::", "/"));
            assert!(folder("lib2").join(&file).is_file() || folder("lib").join(&file).is_file(), "{name}");
            assert!(is_of_it(name) && support(name).is_some(), "{name}");
        }
    }
}
