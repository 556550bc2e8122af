//! Where the parts of a job stand in its file, and what servers say about them.

use std::collections::BTreeMap;
use std::ops::Range;

use longshore_values::{Diagnostic, Place};

use crate::source::Source;

/// Stands between the parts of a path.
const SEPARATOR: &str = " → ";

/// How a block is named in a path: `task "web"`, `artifact`.
pub(crate) fn segment(name: &str, label: Option<&str>) -> String {
    label.map_or_else(|| name.to_owned(), |label| format!("{name} {label:?}"))
}

/// The same for one of several blocks without label; the first one has no number.
pub(crate) fn numbered(name: &str, at: usize) -> String {
    if at == 0 { name.to_owned() } else { format!("{name}[{at}]") }
}

pub(crate) fn join(path: &str, next: &str) -> String {
    if path.is_empty() { next.to_owned() } else { format!("{path}{SEPARATOR}{next}") }
}

/// The places of a job's blocks and attributes by path, such as `group "web" → task "server" → config → args`.
///
/// Of several blocks without label the second is `artifact[1]`; elements of lists have such numbers, too.
#[derive(Debug, Clone)]
pub struct Places {
    source: Source,
    spans: BTreeMap<String, Range<usize>>,
}

impl Places {
    pub(crate) fn new(source: Source, spans: BTreeMap<String, Range<usize>>) -> Self {
        Self { source, spans }
    }

    /// Every part that has a place.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.spans.keys().map(String::as_str)
    }

    /// The place of a part.
    pub fn get(&self, path: &str) -> Option<Place> {
        self.spans.get(&path.replace("[0]", "")).map(|span| self.source.place(span.clone()))
    }

    /// The place of a part; where it is not in the file itself (a default, say), that of the nearest block around it.
    pub fn nearest(&self, path: &str) -> Option<Place> {
        let segments = segments(path);
        // Policies of the job are told as those of its groups.
        let starts = if segments.len() > 1 { 2 } else { 1 };
        let exact = (0..starts).find_map(|start| self.get(&segments.get(start..)?.join(SEPARATOR)));
        exact.or_else(|| (1..segments.len()).rev().find_map(|end| self.get(&segments.get(..end)?.join(SEPARATOR))))
    }

    /// The place of what a line of a message is about: it begins with a path and a colon.
    fn of_line(&self, line: &str) -> Option<Place> {
        self.nearest(beginning(line)?)
    }
}

/// The parts of a path; labels may hold anything.
fn segments(path: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let mut rest = path;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|tail| tail.find(SEPARATOR)).map(|at| from + at) {
        let (before, after) = rest.split_at(at);
        if is_quoted(before) {
            from = at + SEPARATOR.len();
            continue;
        }
        segments.push(before);
        (rest, from) = (after.get(SEPARATOR.len()..).unwrap_or(""), 0);
    }
    segments.push(rest);
    segments
}

/// Whether a text ends within quotes.
fn is_quoted(text: &str) -> bool {
    let mut quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => drop(chars.next()),
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    quoted
}

/// What stands before the first colon outside of quotes.
fn beginning(line: &str) -> Option<&str> {
    let line = unmarked(line);
    let colons = line.match_indices(':').map(|(at, _)| line.get(..at).unwrap_or(""));
    colons.into_iter().find(|before| !is_quoted(before))
}

/// A line of a list without its mark.
fn unmarked(line: &str) -> &str {
    line.trim_start_matches(['*', ' ', '\t']).trim_end()
}

/// One thing that a server finds wrong with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The part that it is about; empty for the whole job.
    pub path: &'a str,
    /// As the message tells it.
    pub message: &'a str,
}

/// A message about a job, line by line, with the places of the parts that its lines are about.
///
/// `findings` say what those parts are, in the order of the message. A line that none of them is told in is about a part
/// when it begins with the part's path and a colon.
pub fn locate(places: &Places, message: &str, findings: &[Finding<'_>]) -> String {
    let mut out = Vec::new();
    for (line, place) in with_places(places, message, findings) {
        out.push(line.to_owned());
        if let Some(place) = place {
            out.push(format!("    {place}"));
            if place.line_text.is_empty() {
                continue;
            }
            let number = place.line.to_string();
            let before: String =
                place.line_text.chars().take(place.column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
            out.push(format!("    {number} | {}", place.line_text));
            out.push(format!("    {} | {before}{}", " ".repeat(number.len()), "^".repeat(place.width)));
        }
    }
    out.join("\n")
}

/// A server's message about a job as diagnostics, one for each line that says something, with the places that
/// [`locate`] would show.
pub fn diagnose(places: &Places, message: &str, findings: &[Finding<'_>]) -> Vec<Diagnostic> {
    let says = |line: &str| !line.is_empty() && !line.ends_with(" occurred:");
    let lines = with_places(places, message, findings).into_iter().map(|(line, place)| (unmarked(line), place));
    lines.filter(|(line, _)| says(line)).map(|(line, place)| Diagnostic { place, ..Diagnostic::error(line) }).collect()
}

fn with_places<'m>(places: &Places, message: &'m str, findings: &[Finding<'_>]) -> Vec<(&'m str, Option<Place>)> {
    let mut findings = findings.iter().filter(|finding| !finding.message.trim().is_empty()).peekable();
    let mut lines = Vec::new();
    for line in message.lines() {
        // A finding of several lines is shown at its last one.
        let tells = |finding: &&&Finding<'_>| {
            finding.message.trim_end().lines().last().is_some_and(|last| unmarked(line).ends_with(unmarked(last)))
        };
        let place = match findings.next_if(|finding| tells(&finding)) {
            Some(finding) if !finding.path.is_empty() => places.nearest(finding.path).or_else(|| places.get("job")),
            Some(_) => None,
            None => places.of_line(line),
        };
        lines.push((line, place));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(paths: &[&str]) -> Places {
        let text: String = paths.iter().map(|_| "x\n").collect();
        let spans = paths.iter().enumerate().map(|(at, path)| ((*path).to_owned(), 2 * at..2 * at + 1)).collect();
        Places::new(Source::new("a.hcl", &text), spans)
    }

    #[test]
    fn the_nearest_part_is_shown() {
        #[track_caller]
        fn check(path: &str, expected: Option<usize>) {
            let known = ["group \"a → b\"", "group \"a → b\" → update", "update", "artifact", "artifact[1]", "c: d"];
            assert_eq!(places(&known).nearest(path).map(|place| place.line), expected, "{path}");
        }
        check("group \"a → b\"", Some(1));
        check("group \"a → b\" → count", Some(1));
        check("group \"a → b\" → update → canary", Some(2));
        check("group \"x\" → update", Some(3));
        check("artifact[0]", Some(4));
        check("artifact[1] → source", Some(5));
        check("artifact[2]", None);
        check("", None);
    }

    #[test]
    fn lines_are_about_what_findings_say() {
        let known = places(&["priority", "group \"g\"", "group \"g\" → count"]);
        let message = "3 errors occurred:\n\t* bad priority\n\t* Task group g validation failed: 2 errors occurred:\n\t* \
                       two lines\n  of it\n\t* unknown: it\n\n\n\t* group \"g\": no\n\n";
        let findings = [
            Finding { path: "priority", message: "bad priority" },
            Finding { path: "group \"g\" → count", message: "two lines\n  of it" },
            Finding { path: "", message: "unknown: it" },
        ];
        insta::assert_snapshot!(locate(&known, message, &findings), @r#"
        3 errors occurred:
        	* bad priority
            a.hcl:1:1
            1 | x
              | ^
        	* Task group g validation failed: 2 errors occurred:
        	* two lines
          of it
            a.hcl:3:1
            3 | x
              | ^
        	* unknown: it


        	* group "g": no
            a.hcl:2:1
            2 | x
              | ^
        "#);
        let told = diagnose(&known, message, &findings);
        let lines: Vec<_> =
            told.iter().map(|one| (one.place.as_ref().map(|place| place.line), &*one.summary)).collect();
        let expected = [
            (Some(1), "bad priority"),
            (None, "two lines"),
            (Some(3), "of it"),
            (None, "unknown: it"),
            (Some(2), "group \"g\": no"),
        ];
        assert_eq!(lines, expected);
    }
}
