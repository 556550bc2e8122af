use longshore_values::GoDuration;

use super::row::{Effect, Kind, Row, Table};
use super::table;
use crate::decode::{Block, size_bytes};

/// Reads what of the block's table nobody has taken yet: checked, listed with its default, and named as without effect
/// where it was given.
pub(crate) fn take_rest(block: &mut Block<'_>, path: &str) {
    let Some(table) = table(path) else { return };
    take_rows(block, table, true);
}

/// `named`: whether each setting is named by itself; within a block that is named as a whole none is.
fn take_rows(block: &mut Block<'_>, table: &Table, named: bool) {
    for row in table.rows {
        let Effect::Nothing(why) = row.effect else { continue };
        if let Some(beginning) = row.key.strip_suffix('*') {
            for key in block.given_keys().iter().filter(|key| key.starts_with(beginning)) {
                block.accept_unused(key);
            }
            continue;
        }
        if block.has_taken(row.key) {
            continue;
        }
        match row.kind {
            _ if !named => {}
            Kind::NamedBlocks => block.note_unused_blocks(row.key, why),
            _ => block.note_unused(row.key, why),
        }
        take(block, table, row);
    }
}

fn take(block: &mut Block<'_>, table: &Table, row: &Row) {
    let (key, default) = (row.key, row.default);
    let given = match row.kind {
        Kind::Text => block.take_string(key).is_some(),
        Kind::Secret => block.take_secret(key).is_some(),
        Kind::Bool => block.take_bool(key).is_some(),
        Kind::Whole(low, high) => block.take_integer(key, low..=high).is_some(),
        Kind::Number => block.take_float(key).is_some(),
        Kind::Duration => match default.parse::<GoDuration>() {
            // It says itself that the default holds where an empty text was given.
            Ok(span) => {
                block.take_duration_or(key, span);
                true
            }
            Err(_) => block.take_duration(key).is_some(),
        },
        Kind::Size => block.take_parsed(key, size_bytes).is_some(),
        Kind::Texts => match default {
            "" => block.take_strings(key).is_some(),
            _ => {
                block.take_strings_or(key, &default.split(", ").collect::<Vec<_>>());
                true
            }
        },
        Kind::Map => {
            block.take_map(key);
            true
        }
        Kind::Block => {
            if let Some(inner) = inner_table(table, key) {
                block.take_block(key, |block| take_rows(block, inner, false));
            }
            true
        }
        Kind::NamedBlocks => {
            if let Some(inner) = inner_table(table, key) {
                block.take_named_blocks(key, |_, block| take_rows(block, inner, false));
            }
            true
        }
        Kind::Any => {
            block.accept(key);
            true
        }
    };
    if !given && !default.is_empty() {
        block.default_text(key, default);
    }
}

fn inner_table(outer: &Table, key: &str) -> Option<&'static Table> {
    match outer.path {
        "" => table(key),
        path => table(&format!("{path}.{key}")),
    }
}
