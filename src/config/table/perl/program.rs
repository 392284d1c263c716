//! Programs of a CGI folder.

use crate::config::draft::Draft;
use crate::config::model::program::{CgiMode, Limit};
use crate::config::table::row::{ANYWHERE, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "CgiMode",
        contexts: ANYWHERE,
        takes: Takes::Word("program|fork|persistent", mode),
        default: Some("program"),
        because: "CGI scripts are written for a process of their own: globals, files, locks and `exit` end with it",
        about: "How Perl scripts of a cgi-script place run. `program`: the kernel executes the file by its `#!` line, as under httpd's mod_cgi. \
            `fork`: each request in a child of the worker, which has the script compiled; every global is as it was after compiling, and goes with \
            the request. `persistent`: compiled once in the worker, where globals stay, as with Apache::Registry; for scripts that were written for \
            it. Files that are not Perl are always executed.",
        ..ROW
    },
    Row {
        name: "RLimitCPU",
        contexts: ANYWHERE,
        takes: Takes::Words("seconds|max [seconds|max]", 1..=2, cpu),
        because: "the server's own limit holds; RequestTimeout ends what takes long",
        about: "CPU time that a program of a cgi-script place, and each of its children, may use: the limit, and how far it may raise it itself. \
            Scripts under `CgiMode fork` and `persistent` are not limited by it: see Apache::Resource.",
        ..ROW
    },
    Row {
        name: "RLimitMEM",
        contexts: ANYWHERE,
        takes: Takes::Words("bytes|max [bytes|max]", 1..=2, memory),
        because: "the server's own limit holds",
        about: "The same for its address space.",
        ..ROW
    },
    Row {
        name: "RLimitNPROC",
        contexts: ANYWHERE,
        takes: Takes::Words("number|max [number|max]", 1..=2, processes),
        because: "the server's own limit holds",
        about: "The same for the number of processes of its user, the server's own among them.",
        ..ROW
    },
];

fn mode(draft: &mut Draft, word: &str) -> Result<(), String> {
    let mode = CgiMode::named(word).ok_or_else(|| format!("expected program, fork or persistent, got \"{word}\""))?;
    draft.said().program.mode = Some(mode);
    Ok(())
}

fn cpu(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.said().program.cpu = Some(limit(words)?);
    Ok(())
}

fn memory(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.said().program.memory = Some(limit(words)?);
    Ok(())
}

fn processes(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.said().program.processes = Some(limit(words)?);
    Ok(())
}

/// With one number both limits are it.
fn limit(words: &[String]) -> Result<Limit, String> {
    let number = |word: &String| match word.as_str() {
        word if word.eq_ignore_ascii_case("max") => Ok(NO_LIMIT),
        word => word.parse().map_err(|_| format!("expected a number or max, got \"{word}\"")),
    };
    let soft = number(words.first().ok_or("expected a number or max")?)?;
    let hard = words.get(1).map(number).transpose()?.unwrap_or(soft);
    if soft > hard {
        Err("the first number is the limit, and not above the second".to_owned())
    } else {
        Ok((soft, hard))
    }
}

/// As the kernel writes it.
const NO_LIMIT: u64 = u64::MAX;
