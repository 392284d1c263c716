//! `cameleer migrate`: makes a site for Cameleer from the configuration of Apache httpd, in a new folder.
//!
//! ```text
//!   read (old files) ─▶ judge (a verdict for each line) ─▶ write (copies) ─▶ check ─▶ report
//!                              ▲                               │
//!                              └── messages about the copies ──┘
//! ```
//!
//! The parser and the table of directives are those of the crate `config`. The old server's files are only read.

#![forbid(unsafe_code)]

mod judge;
mod naming;
mod read;
mod report;
mod write;

use std::path::{Path, PathBuf};

use clap::Args;

use base::printable;
use compat::programs::Programs;
use config::ConfigError;
use master::configuration::{ConfigOrigin, Mistakes, Survey, trial};
use toolkit::conf::Conf;
use toolkit::{Misuse, print, print_error};

use judge::{Ledger, LineVerdict};
use naming::{can_be_named, unnamable};
use read::{OldSite, main_file};
use report::MigrateReport;
use write::{
    Copies, FOLDER_NAME, HTACCESS_PATCH, HtaccessCopy, Layout, MODE_OF_SECRETS, NewFolder, OWN_FILES, fresh, mode_of,
    patch, unit,
};

/// Maximum number of times that the copies are written: each time may show errors that others had hidden.
const MAX_ROUNDS: usize = 10;

const HINT: &str = "\
The old server is not touched. report.txt in the folder lists what was taken over, what was
changed, and what is left to decide. Exit code 1: the new configuration does not pass cameleer
check yet. docs/guide/migrate.md explains each step";

/// Make a site for Cameleer from the configuration of Apache httpd
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Migrate {
    /// Folder of the configuration (/etc/apache2, /etc/httpd), or its main file
    source: PathBuf,
    /// New folder for configuration, unit and report
    #[arg(long, value_name = "FOLDER", default_value = "cameleer-site")]
    to: PathBuf,
    /// Define a name for <IfDefine>, as the old server was started; repeatable
    #[allow(rustdoc::invalid_html_tags, reason = "the text of --help")]
    #[arg(short = 'D', value_name = "NAME")]
    defines: Vec<String>,
}

/// Decisions are left that stop the new server; the report has been printed. Exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("the new configuration does not pass cameleer check yet; {0} says what is left to decide")]
pub struct Undecided(String);

impl Migrate {
    /// Makes the new site.
    pub fn run(self) -> anyhow::Result<()> {
        let main = main_file::find(&self.source)?;
        let site = OldSite::read(&origin(&main, &self.defines)?, &main)?;
        if let Some(path) = [&main, &site.server_root].into_iter().find(|path| !can_be_named(path)) {
            return Err(Misuse(unnamable(path)).into());
        }
        let mut folder = fresh(&self.to, &[&site.base, &site.server_root, &self.source])?;
        let layout = Layout::new(&site.base, folder.path());
        let mut copies = Copies::of(&site.files, &layout, judge::restricts);
        write_envvars(&site, &copies, &mut folder)?;
        let mut ledger = Ledger::default();
        judge::before(&site, &layout, &copies, &mut ledger);
        let mut head = head(&site, folder.path());
        let survey = self.settle(&head, &mut copies, &mut ledger, &mut folder)?;
        let beside = judge::beside(&survey, &copies, &site.modules, &mut ledger);
        if !beside.closed.is_empty() {
            head.extend(beside.closed);
            copies.write(&mut folder, &head, &ledger.edits())?;
        }
        write_htaccess(&beside.changed, &mut ledger, &mut folder)?;
        self.finish(&survey, &copies, ledger, &mut folder)
    }

    /// Writes the copies until they have no messages that a change of lines can mend.
    fn settle(
        &self,
        head: &[String],
        copies: &mut Copies,
        ledger: &mut Ledger,
        folder: &mut NewFolder,
    ) -> anyhow::Result<Survey> {
        let mut round = 0;
        loop {
            copies.write(folder, head, &ledger.edits())?;
            let survey = Survey::of(&origin(copies.main(), &self.defines)?);
            round += 1;
            let known = ledger.verdicts.len();
            let changes = judge::messages(&survey, copies, ledger);
            if ledger.verdicts.len() == known {
                return Ok(survey);
            }
            if !changes || round == MAX_ROUNDS {
                // The last messages have added comments.
                copies.write(folder, head, &ledger.edits())?;
                return Ok(Survey::of(&origin(copies.main(), &self.defines)?));
            }
        }
    }

    /// Checks the copies, and writes unit and report.
    fn finish(
        &self,
        survey: &Survey,
        copies: &Copies,
        mut ledger: Ledger,
        folder: &mut NewFolder,
    ) -> anyhow::Result<()> {
        let checked = check(&origin(copies.main(), &self.defines)?, copies, &mut ledger);
        let mut report =
            MigrateReport { check: checked.lines, passes: checked.passes, ..MigrateReport::of(copies, &ledger) };
        report.taken.push(programs(survey));
        let program = std::env::current_exe()?;
        let [unit, text, html, _] = OWN_FILES.map(|name| folder.path().join(name));
        folder.write(&unit, &unit::unit(&program, copies.main(), &self.defines, &survey.config))?;
        folder.write(&text, &report::text(&report))?;
        folder.write(&html, &report::html(&report))?;
        print(&summary(&report, &text))?;
        match report.passes {
            true => Ok(()),
            false => Err(Undecided(text.display().to_string()).into()),
        }
    }
}

fn origin(main: &Path, defines: &[String]) -> anyhow::Result<ConfigOrigin> {
    Ok(ConfigOrigin { defines: defines.to_vec(), ..Conf::of(main).origin()? })
}

/// The first lines of the main file: the new folder, and the old ServerRoot, from which relative paths of documents and
/// logs start.
fn head(site: &OldSite, to: &Path) -> Vec<String> {
    let quoted = |path: &Path| naming::quoted(&path.to_string_lossy());
    let mut head = vec![
        format!(
            "# Made by cameleer migrate from {}. report.txt has the changed lines.",
            printable::line(&site.main.to_string_lossy())
        ),
        format!("Define {FOLDER_NAME} {}", quoted(to)),
    ];
    if !site.names_its_root() {
        head.push(format!("ServerRoot {}", quoted(&site.server_root)));
    }
    head
}

/// Debian's `envvars` lies beside the main file. The name of a second server, `/etc/apache2-NAME`, is part of its
/// values.
fn write_envvars(site: &OldSite, copies: &Copies, folder: &mut NewFolder) -> anyhow::Result<()> {
    let old = site.main.with_file_name("envvars");
    let Ok((_, bytes)) = config::regular::read(&old, 64 << 10) else { return Ok(()) };
    let instance = old.parent().and_then(Path::to_str).and_then(|folder| folder.strip_prefix("/etc/apache2-"));
    let suffix = instance.map(|name| format!("SUFFIX=-{name}\n")).unwrap_or_default();
    let text = suffix + &String::from_utf8_lossy(&bytes);
    folder.write_as(&copies.main().with_file_name("envvars"), &text, mode_of(&old))
}

/// The changes of `.htaccess` files. The files stay as they are: the old server reads them, too.
fn write_htaccess(changed: &[HtaccessCopy], ledger: &mut Ledger, folder: &mut NewFolder) -> anyhow::Result<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let to = folder.path().join(HTACCESS_PATCH);
    let count = match changed.len() {
        1 => "a .htaccess file needs".to_owned(),
        count => format!("{count} .htaccess files need"),
    };
    let to_run = printable::line(&to.to_string_lossy());
    ledger.add(LineVerdict::of_site(format!(
        "{count} changes; read {HTACCESS_PATCH}; when the old server has stopped, run patch -d / -p1 < {to_run}"
    )));
    // The lines of the files may be secrets.
    folder.write_as(&to, &patch(changed), MODE_OF_SECRETS)
}

/// Result of `cameleer check`.
struct Checked {
    passes: bool,
    lines: Vec<String>,
}

fn check(origin: &ConfigOrigin, copies: &Copies, ledger: &mut Ledger) -> Checked {
    match trial::compile(origin) {
        Ok(compiled) => {
            let lines = compiled.warnings.iter().map(|warning| printable::lines(&warning.as_warning()));
            let done = format!("{}: Syntax OK", printable::line(&origin.name()));
            Checked { passes: true, lines: lines.chain([done]).collect() }
        }
        Err(error) => {
            let mistakes = error.downcast_ref::<Mistakes>().map_or(&[][..], |mistakes| &mistakes.0);
            mistakes.iter().for_each(|mistake| undecided(mistake, copies, ledger));
            if mistakes.is_empty() {
                ledger.add(LineVerdict::of_site(format!("{error:#}").trim_end()));
            }
            let text = printable::lines(format!("{error:#}").trim_end());
            text.lines().for_each(print_error);
            Checked { passes: false, lines: text.lines().map(str::to_owned).collect() }
        }
    }
}

/// An error that is left, unless the report has its line already.
fn undecided(mistake: &ConfigError, copies: &Copies, ledger: &mut Ledger) {
    let at = mistake.at.as_ref().map(|at| copies.origin(at).unwrap_or_else(|| at.clone()));
    match at {
        Some(at) if ledger.knows(&at) => {}
        Some(at) => ledger.add(LineVerdict::open(&at, &mistake.message, None)),
        None => ledger.add(LineVerdict::of_site(&mistake.message)),
    }
}

/// The row about CGI programs, which stay where they are.
fn programs(survey: &Survey) -> report::ReportRow {
    let programs = Programs::of(&survey.config);
    let perl = programs.all.iter().filter(|program| program.is_perl).count();
    let sentence = format!("{} CGI programs stay where they are, {perl} of them in Perl", programs.all.len());
    report::ReportRow { at: String::new(), sentence }
}

fn summary(report: &MigrateReport, text: &Path) -> String {
    let unchanged = report.taken.len() - 1;
    format!(
        "{}\n{unchanged} files taken over, {} changes, {} decisions left: {}\n",
        printable::line(&report.new.display().to_string()),
        report.changed.len(),
        report.open.len(),
        printable::line(&text.display().to_string())
    )
}
