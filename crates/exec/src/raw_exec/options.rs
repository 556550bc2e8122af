use longshore_settings::{Block, Decoded, Tree};

/// What the agent's `plugin "raw_exec" { config { … } }` says. A value means the same whether its block is absent, empty
/// or half given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawExecOptions {
    /// Off unless the operator turns it on: tasks run with the agent's own rights. `-dev` does.
    pub enabled: bool,
    /// Tasks get no control groups of their own.
    pub no_cgroups: bool,
}

impl RawExecOptions {
    pub fn decode(tree: &Tree) -> Decoded<Self> {
        tree.decode(Self::read)
    }

    fn read(block: &mut Block<'_>) -> Self {
        let default = Self::default();
        Self {
            enabled: block.take_bool_or("enabled", default.enabled),
            no_cgroups: block.take_bool_or("no_cgroups", default.no_cgroups),
        }
    }
}
