//! The options of the driver as people read of them. The reference page is made from these tables, and tests hold the
//! tables to what is decoded.

mod agent;
mod task;

use std::fmt::Write as _;

pub use agent::AGENT_OPTIONS;
pub use task::TASK_OPTIONS;

/// One option: in a task's `config`, or in the agent's `plugin "docker" { config { … } }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionRow {
    /// With the blocks around it: `gc.image_delay`.
    pub key: &'static str,
    pub kind: &'static str,
    /// Empty when there is none.
    pub default: &'static str,
    pub meaning: &'static str,
}

const fn row(key: &'static str, kind: &'static str, default: &'static str, meaning: &'static str) -> OptionRow {
    OptionRow { key, kind, default, meaning }
}

const HEAD: &str = "\
# The Docker driver

Every option of the driver, for jobs and for agents. Names, defaults and meanings are Nomad's, but where the text says
that Longshore goes further. This page is made from the driver's own tables: change those, not the page.

An option that is not in these tables is refused by name, and so is a value that cannot be right, before anything is made.
What depends on the node is checked at the start of the task; the task then fails with the reason among its events.
";

const TASK: &str = "
## In a task: `config { … }`

Texts may hold `${…}`: they are filled in on the node, just before the start. Blocks that may be given several times may
also be given as a list of blocks.
";

const AGENT: &str = "
## In an agent file: `plugin \"docker\" { config { … } }`

A setting means the same whether its block is absent, empty or half given. Globs: `*` stands for any run of characters.
";

/// The whole page, in Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for (head, rows) in [(TASK, TASK_OPTIONS), (AGENT, AGENT_OPTIONS)] {
        page.push_str(head);
        page.push_str("\n| option | takes | default | meaning |\n|---|---|---|---|\n");
        for row in rows {
            let default = if row.default.is_empty() { String::new() } else { format!("`{}`", row.default) };
            // Writing to a text cannot fail.
            let _ = writeln!(page, "| `{}` | {} | {default} | {} |", row.key, row.kind, row.meaning);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/docker.md");
    const UPDATE: &str = "LONGSHORE_UPDATE_REFERENCE";

    #[test]
    fn the_page_is_the_tables() {
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(PAGE, reference()).unwrap();
        }
        let page = std::fs::read_to_string(PAGE).unwrap_or_default();
        assert!(page == reference(), "docs/reference/docker.md is stale: run this test with {UPDATE}=1");
    }

    #[test]
    fn rows_are_fit_for_a_table() {
        for rows in [TASK_OPTIONS, AGENT_OPTIONS] {
            for row in rows {
                let texts = [row.key, row.kind, row.default, row.meaning];
                assert!(texts.iter().all(|text| !text.contains(['|', '\n'])), "{}", row.key);
                assert!(row.meaning.ends_with('.'), "{}", row.key);
            }
            let mut keys: Vec<_> = rows.iter().map(|row| row.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), rows.len());
        }
    }
}
