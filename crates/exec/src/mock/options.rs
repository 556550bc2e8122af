use longshore_settings::{Block, Decoded, Tree};

/// What the agent's `plugin "mock_driver" { config { … } }` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MockOptions {
    /// Off unless the operator turns it on, under `-dev` too: a job that was meant for another driver must not seem to run.
    pub enabled: bool,
}

impl MockOptions {
    pub fn decode(tree: &Tree) -> Decoded<Self> {
        tree.decode(Self::read)
    }

    fn read(block: &mut Block<'_>) -> Self {
        // What Nomad's has besides is for tests of Nomad's own.
        for key in ["fs_isolation", "shutdown_periodic_after", "shutdown_periodic_duration"] {
            block.accept_unused(key);
        }
        Self { enabled: block.take_bool_or("enabled", Self::default().enabled) }
    }
}
