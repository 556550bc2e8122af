use std::fmt::Write as _;

use super::row::{Effect, Kind, Row, Since};
use super::{CLIENT_OPTIONS, tables};

const HEAD: &str = "\
# Agent files

<!-- Made from the tables that agent files are read by: `LONGSHORE_UPDATE_REFERENCE=1 cargo nextest run -p longshore-settings reference`. -->

Settings of an agent, in HCL's first version or in JSON with the same names. `-config` names files and folders, of which
`*.hcl` and `*.json` count in the order of their names. Later files win over earlier ones, the variables `CONSUL_HTTP_ADDR`, `CONSUL_HTTP_TOKEN`,
`NOMAD_LICENSE_PATH`, `VAULT_NAMESPACE` and `VAULT_TOKEN` over files, and flags over all:

- single values replace, an empty text does not; blocks and maps are merged key by key;
- lists of servers to join, `client.servers`, `server.enabled_schedulers` and `consul.tags` grow, other lists are replaced;
- a later `host_volume` or `host_network` of the same name replaces the earlier one as a whole.

A setting means the same whether its block is absent, empty or half given. A key that is not in these tables stops the
start, with its line; `longshore config validate` tells all mistakes at once, and `longshore config show -origin` what
holds and where each value comes from.

- A **duration** is a text such as `\"30s\"` or `\"1h15m\"`; `\"0s\"` is none at all, and an empty text is \"not given\".
- A **size** is a whole number of bytes, or one with `K`, `M` or `G`.
- A **bool** is `true` or `false`, also as `\"true\"`, `\"1\"` and the like.

**Reload** says whether a change holds after SIGHUP; all others hold from the next start on, and SIGHUP names them.
What has no effect in this build is checked all the same, and named in one warning when it is given.
";

/// The reference page, in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for table in tables() {
        let heading =
            if table.path.is_empty() { "The top level".to_owned() } else { format!("`{}`", written(table.path)) };
        // Writing to a text cannot fail.
        let _ = write!(page, "\n## {heading}\n\n{}\n\n", table.meaning);
        page.push_str("| Name | Kind | Default | Reload | Meaning |\n| --- | --- | --- | --- | --- |\n");
        for row in table.rows {
            let default = if row.default.is_empty() { String::new() } else { format!("`{}`", row.default) };
            let reload = match row.kind {
                Kind::Block | Kind::NamedBlocks => "",
                _ if row.reloads => "yes",
                _ => "no",
            };
            let _ = writeln!(page, "| `{}` | {} | {default} | {reload} | {} |", row.key, kind(row.kind), meaning(row));
        }
    }
    page.push_str(
        "\n## `client { options }`\n\nTexts under names with dots, from before drivers had blocks of their own. Those of Docker \
         hold where `plugin \"docker\"` has no `config`, and `docker.cleanup.…` wherever that does not say the same; each use \
         is told with its new place. Others are accepted without effect, and named.\n\n| Name | Meaning |\n| --- | --- |\n",
    );
    for (name, meaning) in CLIENT_OPTIONS {
        let _ = writeln!(page, "| `{name}` | {meaning} |");
    }
    for (name, place) in crate::agent::docker_options() {
        let _ = writeln!(page, "| `{name}` | `{place}` of `plugin \"docker\"`. |");
    }
    page
}

/// `plugin.raw_exec.config` as `plugin "raw_exec" { config }`.
fn written(path: &str) -> String {
    match path.split('.').collect::<Vec<_>>().as_slice() {
        ["plugin", name, inner] => format!("plugin \"{name}\" {{ {inner} }}"),
        ["plugin"] => "plugin \"…\"".to_owned(),
        ["client", name @ ("host_volume" | "host_network" | "fingerprint")] => format!("client {{ {name} \"…\" }}"),
        [outer @ .., last] => {
            outer.iter().rev().fold((*last).to_owned(), |inner, block| format!("{block} {{ {inner} }}"))
        }
        [] => String::new(),
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Secret => "text, not shown".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Whole(low, i64::MAX) => format!("whole number, at least {low}"),
        Kind::Whole(low, high) if low == high => format!("whole number: {low}"),
        Kind::Whole(low, high) => format!("whole number, {low} to {high}"),
        Kind::Number => "number".to_owned(),
        Kind::Duration => "duration".to_owned(),
        Kind::Size => "size".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Map => "map of texts".to_owned(),
        Kind::Block => "block".to_owned(),
        Kind::NamedBlocks => "blocks with names".to_owned(),
        Kind::Any => "anything".to_owned(),
    }
}

fn meaning(row: &Row) -> String {
    let mut text = row.meaning.to_owned();
    match row.effect {
        Effect::Holds | Effect::Refused => {}
        Effect::Nothing("") => text.push_str(" *Without effect in this build.*"),
        Effect::Nothing(why) => {
            let _ = write!(text, " *Without effect in this build: {why}.*");
        }
    }
    match row.since {
        Since::Nomad => {}
        Since::LaterNomad => text.push_str(" Later than Nomad 1.6."),
        Since::Longshore => text.push_str(" Longshore's own."),
    }
    text
}
