use crate::commands::table::{COMMANDS, Command, GENERAL, GROUPS};
use crate::flags::{Flag, Kind};

/// What comes first in the list of commands.
const COMMON: [(&str, &str); 7] = [
    ("run", "Run a job, or update one that runs"),
    ("stop", "Stop jobs"),
    ("status", "List jobs, or show whatever an id belongs to"),
    ("alloc", "Interact with allocations"),
    ("job", "Interact with jobs"),
    ("node", "Interact with nodes"),
    ("agent", "Run an agent"),
];

/// The help of the program as a whole.
pub(crate) fn root(program: &str) -> String {
    let mut others: Vec<(&str, &str)> = GROUPS.iter().map(|group| (group.name, group.synopsis)).collect();
    others.extend(COMMANDS.iter().filter(|it| !it.name.contains(' ')).map(|it| (it.name, it.synopsis)));
    others.retain(|(name, _)| !COMMON.iter().any(|(common, _)| common == name));
    others.sort_unstable();
    format!(
        "Usage: {program} [-version] [-help] <command> [args]\n\nCommon commands:\n{}\n\nOther commands:\n{}",
        rows(&COMMON),
        rows(&others)
    )
}

/// The help of a word that commands stand behind.
pub(crate) fn group(program: &str, name: &str) -> String {
    let prefix = format!("{name} ");
    let commands: Vec<(&str, &str)> = COMMANDS
        .iter()
        .filter_map(|command| Some((command.name.strip_prefix(prefix.as_str())?, command.synopsis)))
        .collect();
    let synopsis = GROUPS.iter().find(|group| group.name == name).map_or("", |group| group.synopsis);
    format!(
        "Usage: {program} {name} <subcommand> [options] [args]\n\n  {synopsis}.\n\nSubcommands:\n{}",
        rows(&commands)
    )
}

/// The help of one command.
pub(crate) fn command(program: &str, command: &Command) -> String {
    let mut text = format!("Usage: {program} {} {}", command.name, command.arguments).trim_end().to_owned();
    text.push_str(&format!("\n\n  {}.", command.synopsis));
    if !command.about.is_empty() {
        text.push_str(&format!("\n  {}", command.about));
    }
    if command.general {
        text.push_str(&format!("\n\nGeneral Options:\n\n{}", flags(GENERAL)));
    }
    let own: Vec<Flag> = command.flags.iter().copied().flatten().copied().collect();
    if !own.is_empty() {
        text.push_str(&format!("\n\n{} Options:\n\n{}", title(command.name), flags(&own)));
    }
    text
}

fn rows(rows: &[(&str, &str)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, synopsis)| format!("    {name:width$}    {synopsis}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn flags(flags: &[Flag]) -> String {
    let flag = |flag: &Flag| {
        let value = match flag.kind {
            Kind::Switch => "",
            Kind::Integer => "=<number>",
            Kind::Duration => "=<duration>",
            Kind::Text | Kind::Repeated => "=<value>",
        };
        format!("  -{}{value}\n    {}", flag.name, flag.help)
    };
    flags.iter().map(flag).collect::<Vec<_>>().join("\n\n")
}

/// `Run` for `job run`, `Node Status` for `node status`.
fn title(name: &str) -> String {
    let words: Vec<&str> = match name.strip_prefix("job ") {
        Some(rest) => rest.split(' ').collect(),
        None => name.split(' ').collect(),
    };
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    words.into_iter().map(capital).collect::<Vec<_>>().join(" ")
}
