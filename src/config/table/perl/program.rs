//! Programs of a CGI folder.

use crate::config::draft::Draft;
use crate::config::model::program::Limit;
use crate::config::table::row::{ANYWHERE, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "CgiMode",
        contexts: ANYWHERE,
        takes: Takes::Word("persistent|fork", mode),
        default: Some("persistent"),
        because: "most scripts run well in a process that stays, in a fraction of the time",
        about: "How Perl scripts of a cgi-script place run. `fork`: each request in a child of the worker, which has the script compiled; every \
            global is as it was after compiling, and goes with the request. For scripts that count on a fresh process. Programs that are not \
            Perl always have a process of their own.",
        ..ROW
    },
    Row {
        name: "RLimitCPU",
        contexts: ANYWHERE,
        takes: Takes::Words("seconds|max [seconds|max]", 1..=2, cpu),
        because: "the server's own limit holds; RequestTimeout ends what takes long",
        about: "CPU time that a program which is not Perl, and each of its children, may use in a place of CGI scripts: the limit, and how far it \
            may raise it itself. For Perl see Apache::Resource.",
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
    let forks = match word.to_ascii_lowercase().as_str() {
        "persistent" => false,
        "fork" => true,
        _ => return Err(format!("expected persistent or fork, got \"{word}\"")),
    };
    draft.said().program.forks = Some(forks);
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
