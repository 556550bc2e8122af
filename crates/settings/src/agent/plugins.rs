use std::collections::BTreeMap;

use crate::decode::Block;
use crate::source::Origin;
use crate::tree::Tree;

/// `plugin "name" { args, config }`; the plugin's owner decodes `config`.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    pub args: Vec<String>,
    /// `None` when no `config` block was given: then legacy client options may speak for it.
    pub config: Option<Tree>,
    /// Where the plugin was named.
    pub origin: Origin,
}

pub(super) fn decode(block: &mut Block<'_>) -> BTreeMap<String, Plugin> {
    block.take_named_blocks("plugin", |name, plugin| {
        plugin.note_unused("args", "");
        let decoded = Plugin {
            args: plugin.take_strings("args").unwrap_or_default(),
            config: plugin.take_tree("config"),
            origin: plugin.block_origin(),
        };
        for key in plugin.given_keys() {
            let Some(at) = plugin.key_origin_of(&key) else { continue };
            let is_block = plugin.is_block(&key);
            plugin.accept(&key);
            let inner = if is_block { format!("{key} {{ … }}") } else { format!("{key} = …") };
            plugin.refuse_what_nomad_drops(
                &at,
                format!("plugin {name:?} unexpected keys {key}"),
                format!(
                    "a plugin's own settings belong in its config block: plugin {name:?} {{ config {{ {inner} }} }}"
                ),
            );
        }
        decoded
    })
}
