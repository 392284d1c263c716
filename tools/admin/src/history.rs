//! `cameleer history`: the server's activity at a past time, from the file that the monitor writes.

use std::fmt::Write;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use chrono::{DateTime, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone};
use clap::Args;

use config::duration;
use master::sockets::control_socket::Command;
use status::history::{HistoryPoint, HistoryRing, points};
use toolkit::Misuse;
use toolkit::client::ServerChoice;
use toolkit::print;
use toolkit::units::size;

const HINT: &str = "\
TIME is  03:12, 03:12:30          the last occurrence of this time
         \"2026-11-23 03:12\"       that time on that day
         90m, 2h, 72h             this long ago
         1790000000               seconds since 1970

Rates are per second. Times and queue lengths are those of the worst second of the interval.";

/// Seconds shown before and after the time of `--at`.
const AROUND: u32 = 120;
const HOUR: u32 = 3600;
/// Maximum number of lines for an automatic step.
const LINES: u32 = 60;
/// Preferred steps between lines, in seconds.
const STEPS: [u32; 11] = [1, 2, 5, 10, 30, 60, 300, 900, 1800, HOUR, 6 * HOUR];

/// Show what a server did, second by second, in the last seven days
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct History {
    /// Show two minutes before and after this time
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to"])]
    at: Option<String>,
    /// Start of the interval [default: an hour ago]
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// End of the interval [default: now]
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Length of the interval of each line
    #[arg(long, value_name = "DURATION")]
    step: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Read this file rather than the HistoryFile of a server
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    which: ServerChoice,
}

impl History {
    /// Prints the history of a server, from its file.
    pub fn run(self) -> anyhow::Result<()> {
        let (times, step) = self.range_and_step(Local::now())?;
        let path = match &self.file {
            Some(path) => path.clone(),
            None => self.file_of_server()?,
        };
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        let ring = HistoryRing::read(file).map_err(|damage| anyhow!("{} {damage}", path.display()))?;
        let points = points(&ring, times, step).with_context(|| path.display().to_string())?;
        match self.json {
            true => print(&(serde_json::to_string_pretty(&points)? + "\n")),
            false => print(&table(&points, step)),
        }
    }

    fn file_of_server(&self) -> anyhow::Result<PathBuf> {
        let status =
            self.which.connect()?.request(Command::Status)?.status.context("the server sent an invalid answer")?;
        let file = status.history_file.context("the server records no history; set HistoryFile")?;
        Ok(file.into())
    }

    fn range_and_step(&self, now: DateTime<Local>) -> anyhow::Result<(RangeInclusive<u32>, u32)> {
        let read = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
        let present = seconds(now);
        let (from, to) = match read(&self.at)? {
            Some(at) => (at.saturating_sub(AROUND), at.saturating_add(AROUND)),
            None => {
                let to = read(&self.to)?.unwrap_or(present);
                (read(&self.from)?.unwrap_or(to.saturating_sub(HOUR)), to)
            }
        };
        if from > to {
            return Err(Misuse("--from comes after --to".to_owned()).into());
        }
        let step = match &self.step {
            Some(text) => whole_seconds(text).ok_or_else(|| Misuse(format!("--step {text}: expected 1s, 5m, 1h")))?,
            None => step_for(to - from),
        };
        Ok((from..=to, step))
    }
}

fn step_for(seconds: u32) -> u32 {
    let fits = |step: &&u32| seconds / **step <= LINES;
    STEPS.iter().find(fits).copied().unwrap_or(24 * HOUR)
}

fn whole_seconds(text: &str) -> Option<u32> {
    let seconds = duration(text).ok()?.as_secs();
    u32::try_from(seconds).ok().filter(|seconds| *seconds > 0)
}

fn seconds(time: DateTime<Local>) -> u32 {
    u32::try_from(time.timestamp()).unwrap_or(u32::MAX)
}

/// Parses a time in one of the formats of the hint.
fn moment(text: &str, now: DateTime<Local>) -> anyhow::Result<u32> {
    let wrong = || Misuse(format!("{text}: expected 03:12, \"2026-11-23 03:12\", 90m or seconds since 1970"));
    if let Ok(since_1970) = text.parse::<u32>() {
        return Ok(since_1970);
    }
    if let Some(ago) = whole_seconds(text) {
        return Ok(seconds(now).saturating_sub(ago));
    }
    if let Some(clock) = clock(text) {
        let today = at(now.date_naive(), clock);
        let last = today.filter(|time| *time <= now);
        let yesterday = || at(now.date_naive().pred_opt()?, clock);
        return Ok(last.or_else(yesterday).map(seconds).ok_or_else(wrong)?);
    }
    let (day, rest) = text.split_once([' ', 'T']).ok_or_else(wrong)?;
    let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").map_err(|_| wrong())?;
    let time = clock(rest).and_then(|clock| at(day, clock)).ok_or_else(wrong)?;
    Ok(seconds(time))
}

fn clock(text: &str) -> Option<NaiveTime> {
    ["%H:%M:%S", "%H:%M"].iter().find_map(|form| NaiveTime::parse_from_str(text, form).ok())
}

fn at(day: NaiveDate, clock: NaiveTime) -> Option<DateTime<Local>> {
    Local.from_local_datetime(&NaiveDateTime::new(day, clock)).earliest()
}

fn table(points: &[HistoryPoint], step: u32) -> String {
    let mut text = String::new();
    if points.is_empty() {
        return "no records of that time: the server did not run, or it is more than seven days ago\n".to_owned();
    }
    let _ = writeln!(
        text,
        "{:<19} {:>7} {:>7} {:>6} {:>6} {:>6} {:>8} {:>8} {:>5} {:>5} {:>6} {:>6} {:>8} {:>5}",
        "time",
        "req/s",
        "2xx",
        "3xx",
        "4xx",
        "5xx",
        "p50",
        "p99",
        "busy",
        "idle",
        "queued",
        "shed/s",
        "memory",
        "ended"
    );
    let mut next = None;
    for point in points {
        if next.is_some_and(|next| point.time > next) {
            text.push_str("…\n");
        }
        next = Some(point.time.saturating_add(step));
        let _ = writeln!(text, "{}", line(point).trim_end());
    }
    text
}

fn line(point: &HistoryPoint) -> String {
    let time = Local.timestamp_opt(i64::from(point.time), 0).earliest();
    let time = time.map_or_else(String::new, |time| time.format("%Y-%m-%d %H:%M:%S").to_string());
    format!(
        "{time:<19} {:>7} {:>7} {:>6} {:>6} {:>6} {:>8} {:>8} {:>5} {:>5} {:>6} {:>6} {:>8} {:>5}  {}",
        rate(point.requests()),
        rate(point.ok),
        rate(point.redirects),
        rate(point.client_errors),
        rate(point.server_errors),
        took(point.p50_us),
        took(point.p99_us),
        rate(point.busy),
        rate(point.idle),
        point.queued,
        rate(point.shed),
        size((point.pss_kb * 1024.0) as u64),
        point.exits,
        events(point)
    )
}

/// Other events of the interval, as text.
fn events(point: &HistoryPoint) -> String {
    let events = [
        (point.faults, "fault"),
        (point.reloads, "reload"),
        (point.failed_reloads, "failed reload"),
        (point.reforks, "refork"),
        (point.front_is_missing, "s without a front"),
    ];
    let counts = events.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Formats a rate: `0`, `0.3`, `1234`.
fn rate(value: f64) -> String {
    if value == 0.0 || value >= 10.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Formats a time: `-` for 0, `850 µs`, `12.3 ms`, `2.50 s`.
fn took(us: u32) -> String {
    match us {
        0 => "-".to_owned(),
        1..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", f64::from(us) / 1e3),
        _ => format!("{:.2} s", f64::from(us) / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_a_clock_time_a_date_or_an_age() {
        let now =
            at(NaiveDate::from_ymd_opt(2026, 11, 23).expect("a day"), clock("09:00").expect("a time")).expect("now");
        let at = |text: &str| moment(text, now).map(|moment| i64::from(moment) - now.timestamp());
        for (text, expected) in [
            ("08:59", -60),
            ("08:59:30", -30),
            ("90m", -5400),
            ("2026-11-23 08:00", -3600),
            ("2026-11-22T09:00", -86_400),
        ] {
            assert_eq!(at(text).expect(text), expected, "{text}");
        }
        assert!(at("10:00").expect("yesterday") < -80_000);
        assert_eq!(moment("1790000000", now).expect("a number"), 1_790_000_000);
        for wrong in ["", "noon", "25:00", "2026-13-01 00:00", "-1"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_table_fits_a_screen() {
        assert_eq!([0, 60, 240, HOUR, 24 * HOUR, 7 * 24 * HOUR].map(step_for), [1, 1, 5, 60, 1800, 6 * HOUR]);
    }

    #[test]
    fn a_gap_is_seen() {
        let point = |time| HistoryPoint { time, ok: 2.5, p99_us: 2_500_000, p50_us: 850, ..HistoryPoint::default() };
        let table = table(&[point(60), point(120), point(600)], 60);
        assert_eq!(table.lines().count(), 5);
        assert!(table.lines().nth(3) == Some("…") && table.contains("850 µs   2.50 s"), "{table}");
    }
}
