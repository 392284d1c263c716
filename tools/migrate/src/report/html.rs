//! The report as one HTML page, without other files.

use std::fmt::Write;

use super::text::name;
use super::{MigrateReport, ReportRow, parts};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}\
    h2{margin-top:2em}td{padding:.3em 1em .3em 0;vertical-align:top;border-bottom:1px solid #ddd}\
    td:first-child{font-family:monospace;white-space:nowrap}pre{background:#f4f4f4;padding:1em;white-space:pre-wrap}";

pub fn html(report: &MigrateReport) -> String {
    let (old, new) = (escape(&name(&report.old)), escape(&name(&report.new)));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cameleer migrate: {old}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{old} is now {new}</h1>\n"
    );
    for (heading, rows) in parts(report) {
        let _ = writeln!(page, "<h2>{heading}: {}</h2>", rows.len());
        page.push_str(&table(rows));
    }
    let _ = writeln!(page, "<h2>Check</h2>\n<pre>{}</pre>\n</body></html>", escape(&report.check.join("\n")));
    page
}

fn table(rows: &[ReportRow]) -> String {
    let row = |row: &ReportRow| format!("<tr><td>{}</td><td>{}</td></tr>\n", escape(&row.at), escape(&row.sentence));
    let rows: String = rows.iter().map(row).collect();
    format!("<table>\n{rows}</table>\n")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
