use std::collections::BTreeSet;

use longshore_values::GoDuration;
use proptest::prelude::*;

use super::*;
use crate::agent::{AgentConfig, Inputs};
use crate::decode::{Decoded, size_bytes};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/agent.md");
const UPDATE: &str = "LONGSHORE_UPDATE_REFERENCE";

#[test]
fn the_reference_page_is_the_tables() {
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(PAGE, page()).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(written == page(), "docs/reference/agent.md is stale: run this test with {UPDATE}=1");
}

#[test]
fn rows_are_fit_for_a_table() {
    for table in tables() {
        for row in table.rows {
            let texts = [row.key, row.default, row.meaning];
            assert!(texts.iter().all(|text| !text.contains(['|', '\n'])), "{}.{}", table.path, row.key);
            assert!(row.meaning.ends_with('.'), "{}.{}", table.path, row.key);
        }
        let keys: BTreeSet<_> = table.rows.iter().map(|row| row.key).collect();
        assert_eq!(keys.len(), table.rows.len(), "{}", table.path);
    }
}

/// The tables whose keys agent files have; those of drivers have owners elsewhere.
fn agent_tables() -> impl Iterator<Item = &'static Table> {
    tables().filter(|table| !table.path.starts_with("plugin."))
}

fn is_named(path: &str) -> bool {
    let (block, key) = path.rsplit_once('.').unwrap_or(("", path));
    table(block).is_some_and(|table| table.rows.iter().any(|row| row.key == key && row.kind == Kind::NamedBlocks))
}

/// `inner` within the block at `path`; a block with names is called `x`.
fn within(path: &str, inner: &str) -> String {
    let mut at = path.to_owned();
    let mut text = inner.to_owned();
    while !at.is_empty() {
        let (above, name) = at.rsplit_once('.').unwrap_or(("", &at));
        let label = if is_named(&at) { " \"x\"" } else { "" };
        text = format!("{name}{label} {{\n{text}\n}}");
        at = above.to_owned();
    }
    text
}

fn key_path(table: &Table, key: &str) -> String {
    let path = if is_named(table.path) { format!("{}.x", table.path) } else { table.path.to_owned() };
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A value that a setting may have and that is not its default, as it is written.
fn sample(path: &str, row: &Row) -> String {
    let text = match (path, row.key) {
        ("ports", _) => "4700",
        ("addresses" | "advertise", _) | ("", "bind_addr") => "\"127.0.0.1\"",
        ("", "log_level") => "\"WARN\"",
        ("", "http_api_allowed_origins") => "[\"https://a.example\"]",
        ("", "data_dir" | "plugin_dir") | ("client", "alloc_dir" | "state_dir") => "\"/a\"",
        ("server", "bootstrap_expect") => "1",
        ("server", "encrypt") => "\"MDEyMzQ1Njc4OWFiY2RlZg==\"",
        ("server", "job_default_priority") => "40",
        ("server", "job_max_priority") => "90",
        ("server.default_scheduler_config", "scheduler_algorithm") => "\"spread\"",
        (_, "reserved_ports") => "\"22\"",
        _ => match row.kind {
            Kind::Text | Kind::Secret | Kind::Any => "\"a\"",
            Kind::Bool if row.default == "true" || row.effect == Effect::Refused => "false",
            Kind::Bool => "true",
            Kind::Whole(3, _) => "3",
            Kind::Whole(1, 10) => "2",
            Kind::Whole(0, 65_535) => "25000",
            Kind::Whole(..) | Kind::Number => "33",
            Kind::Duration => "\"77s\"",
            Kind::Size => "\"2M\"",
            Kind::Texts if row.effect == Effect::Refused => "[]",
            Kind::Texts => "[\"a\"]",
            Kind::Map => "{ a = \"b\" }",
            Kind::Block | Kind::NamedBlocks => "{ }",
        },
    };
    text.to_owned()
}

fn line(table: &Table, row: &Row) -> String {
    format!("{} = {}", row.key.replace('*', "a"), sample(table.path, row))
}

fn examine(text: &str) -> Decoded<AgentConfig> {
    let files = vec![("a.hcl".to_owned(), text.to_owned())];
    AgentConfig::examine(&Inputs { dev: false, files, ..Inputs::default() })
}

/// Enough for a start.
const BASE: &str = "data_dir = \"/d\"\nserver { enabled = true }\n";

fn errors(decoded: &Decoded<AgentConfig>) -> Vec<String> {
    decoded.diagnostics.iter().filter(|told| told.is_error()).map(ToString::to_string).collect()
}

/// Every block is in the file, with nothing in it that is not needed.
fn empty_blocks() -> String {
    let mut text = BASE.to_owned();
    for table in agent_tables().filter(|table| !table.path.is_empty()) {
        let needed = if table.path == "client.host_volume" { "path = \"/v\"" } else { "" };
        text.push_str(&within(table.path, needed));
        text.push('\n');
    }
    text
}

#[test]
fn the_tables_are_what_is_read() {
    let decoded = examine(&empty_blocks());
    assert_eq!(errors(&decoded), Vec::<String>::new());
    for (path, known) in &decoded.known {
        let path = path.strip_suffix(".x").unwrap_or(path);
        let table = table(path).unwrap_or_else(|| panic!("no table for {path:?}"));
        let rows: BTreeSet<String> =
            table.rows.iter().filter(|row| !row.key.ends_with('*')).map(|row| row.key.to_owned()).collect();
        assert_eq!(rows, *known, "{path}");
    }
    for table in agent_tables() {
        let path = if is_named(table.path) { format!("{}.x", table.path) } else { table.path.to_owned() };
        assert!(decoded.known.contains_key(&path), "nobody reads {path}");
    }
}

/// What two texts for one value have in common.
fn plain(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Duration => text.parse::<GoDuration>().unwrap().to_string(),
        Kind::Size => size_bytes(text).unwrap().to_string(),
        Kind::Texts => text.replace(['"', '[', ']'], ""),
        _ => text.to_owned(),
    }
}

#[test]
fn the_tables_have_the_defaults_that_hold() {
    for text in [BASE, &empty_blocks()] {
        let decoded = examine(text);
        for table in agent_tables() {
            for row in table.rows.iter().filter(|row| !row.default.is_empty()) {
                let path = key_path(table, row.key);
                if is_named(table.path) && text == BASE || ["data_dir", "server.enabled"].contains(&path.as_str()) {
                    continue;
                }
                let found = decoded.effective.iter().find(|it| it.path == path);
                let found = found.unwrap_or_else(|| panic!("{path} is not listed"));
                assert_eq!(plain(row.kind, &found.value), plain(row.kind, row.default), "{path}");
                assert_eq!(found.origin, crate::Origin::Default, "{path}");
            }
        }
    }
}

/// Each setting by itself: taken, and named as without effect just when the table says so.
#[test]
fn the_tables_say_what_has_effect() {
    for table in agent_tables() {
        for row in table.rows {
            if matches!(row.kind, Kind::Block | Kind::NamedBlocks) || row.key == "keyring" || row.key == "config" {
                continue;
            }
            let needed = if table.path == "client.host_volume" && row.key != "path" { "path = \"/v\"\n" } else { "" };
            let text = within(table.path, &format!("{needed}{}", line(table, row)));
            let text = if row.key == "data_dir" && table.path.is_empty() { String::new() } else { text };
            let decoded = examine(&format!("{BASE}{text}"));
            assert_eq!(errors(&decoded), Vec::<String>::new(), "{text}");
            // An "off" asks for nothing, so it needs no word.
            let off = line(table, row).ends_with("false");
            let expected = matches!(row.effect, Effect::Nothing(_)) && !off || is_named(table.path);
            assert_eq!(!decoded.unused.is_empty(), expected, "{text}\n{:?}", decoded.unused);
        }
    }
}

#[test]
fn an_unknown_key_is_refused_in_every_block() {
    for table in agent_tables() {
        let told = errors(&examine(&format!("{BASE}{}", within(table.path, "zzzz_qqqq = 1"))));
        let shown = if table.path == "plugin" { "plugin \"x\"" } else { &key_path(table, "")[..] };
        let wanted = format!("{} unexpected keys zzzz_qqqq", shown.trim_end_matches('.'));
        assert!(told.iter().any(|it| it.contains(wanted.trim_start())), "{wanted}: {told:?}");
    }
}

/// What holds, by path, with the places left out.
fn values(decoded: &Decoded<AgentConfig>) -> Vec<(String, String)> {
    decoded.effective.iter().map(|it| (it.path.clone(), it.value.clone())).collect()
}

/// Single settings that have a default and a value to try, with the table's index.
fn settable() -> Vec<(&'static Table, &'static Row)> {
    let tables: Vec<&'static Table> = agent_tables().filter(|table| !is_named(table.path)).collect();
    let all = tables.into_iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    all.filter(|(table, row)| {
        !row.default.is_empty() && row.effect != Effect::Refused && key_path(table, row.key) != "server.enabled"
    })
    .collect()
}

#[test]
fn absent_empty_and_all_defaults_are_one() {
    let absent = values(&examine(BASE));
    for table in
        agent_tables().filter(|table| !table.path.is_empty() && table.path != "plugin" && !is_named(table.path))
    {
        let mut all = String::new();
        let rows =
            table.rows.iter().filter(|row| !row.default.is_empty() && key_path(table, row.key) != "server.enabled");
        for row in rows {
            let value = match row.kind {
                Kind::Texts => format!("{:?}", row.default.split(", ").collect::<Vec<_>>()),
                _ => format!("{:?}", row.default),
            };
            all.push_str(&format!("{} = {value}\n", row.key));
        }
        for inner in ["", &all] {
            let decoded = examine(&format!("{BASE}{}", within(table.path, inner)));
            assert_eq!(errors(&decoded), Vec::<String>::new(), "{}", table.path);
            let mut got = values(&decoded);
            // Sizes are listed as they were written.
            got.sort();
            let mut absent = absent.clone();
            absent.sort();
            assert_eq!(got, absent, "{}: {inner}", table.path);
        }
    }
}

proptest! {
    /// Any few settings, in one file or in two: those hold, and all others keep their defaults.
    #[test]
    fn any_settings_leave_the_others_as_they_are(
        chosen in prop::collection::btree_set(0_usize..settable().len(), 0..12), split in 0_usize..12,
    ) {
        let all = settable();
        let chosen: Vec<_> = chosen.iter().map(|at| all[*at]).collect();
        let texts: Vec<String> = chosen.iter().map(|(table, row)| within(table.path, &line(table, row))).collect();
        let (first, second) = texts.split_at(split.min(texts.len()));
        let files = vec![
            ("a.hcl".to_owned(), format!("{BASE}{}", first.join("\n"))), ("b.hcl".to_owned(), second.join("\n")),
        ];
        let decoded = AgentConfig::examine(&Inputs { dev: false, files, ..Inputs::default() });
        prop_assert_eq!(errors(&decoded), Vec::<String>::new());
        let given: BTreeSet<String> = chosen.iter().map(|(table, row)| key_path(table, row.key)).collect();
        let absent = examine(BASE);
        for before in absent.effective.iter().filter(|it| it.path != "data_dir" && it.path != "server.enabled") {
            let after = decoded.effective.iter().find(|it| it.path == before.path).unwrap();
            prop_assert_eq!(after.value == before.value, !given.contains(&before.path), "{}", before.path);
        }
    }

    /// A setting in two files: the later one wins.
    #[test]
    fn later_wins_for_any_setting(at in 0_usize..settable().len()) {
        let (table, row) = settable()[at];
        let default = match row.kind {
            Kind::Texts => format!("{:?}", row.default.split(", ").collect::<Vec<_>>()),
            _ => format!("{:?}", row.default),
        };
        let earlier = within(table.path, &format!("{} = {default}", row.key));
        let later = within(table.path, &line(table, row));
        let read = |texts: [&str; 2]| {
            let files = texts.iter().enumerate().map(|(at, text)| (format!("{at}.hcl"), (*text).to_owned()));
            let files = std::iter::once(("base.hcl".to_owned(), BASE.to_owned())).chain(files).collect();
            values(&AgentConfig::examine(&Inputs { dev: false, files, ..Inputs::default() }))
        };
        prop_assert_eq!(read([&earlier, &later]), read(["", &later]));
        prop_assert_ne!(read([&earlier, &later]), read([&later, &earlier]));
    }
}
