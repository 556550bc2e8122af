//! Where an agent keeps what.

use std::path::{Path, PathBuf};

use longshore_settings::AgentConfig;

use crate::left_behind::PREFIX;

/// The folders of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The journal; `None` under `-dev` without a data folder: then it is in memory.
    pub(crate) journal: Option<PathBuf>,
    pub(crate) node_state: PathBuf,
    pub(crate) allocations: PathBuf,
    /// Image ledgers and log cursors. They belong to the engine, not to the run: also under `-dev` they outlive it.
    pub(crate) engine_state: PathBuf,
    /// Where the locks of image keepers lie.
    pub(crate) locks: PathBuf,
    /// What holds all that is to be removed when the agent ends.
    pub(crate) temporary: Option<PathBuf>,
}

/// Who runs the agent, as far as its folders depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub(crate) is_root: bool,
    /// `XDG_STATE_HOME`.
    pub(crate) state_home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub(crate) runtime_dir: Option<PathBuf>,
    /// `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// The system's folder for temporary files.
    pub(crate) temporary: PathBuf,
    pub(crate) process: u32,
}

impl Surroundings {
    pub(crate) fn look() -> Self {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Self {
            is_root: nix::unistd::geteuid().is_root(),
            state_home: folder("XDG_STATE_HOME"),
            runtime_dir: folder("XDG_RUNTIME_DIR"),
            home: folder("HOME"),
            temporary: std::env::temp_dir(),
            process: std::process::id(),
        }
    }

    /// The user's own folder for state that outlives a run.
    fn user_state(&self) -> PathBuf {
        if let Some(home) = &self.state_home {
            return home.join("longshore");
        }
        match &self.home {
            _ if self.is_root => PathBuf::from("/var/lib/longshore"),
            Some(home) => home.join(".local/state/longshore"),
            None => self.temporary.join("longshore-state"),
        }
    }

    fn locks(&self) -> PathBuf {
        match &self.runtime_dir {
            _ if self.is_root => PathBuf::from("/run/longshore"),
            Some(runtime) => runtime.join("longshore"),
            None => self.user_state().join("locks"),
        }
    }
}

impl Folders {
    pub(crate) fn of(config: &AgentConfig, around: &Surroundings) -> Self {
        let temporary = around.temporary.join(format!("{PREFIX}{}", around.process));
        let base = config.data_dir.as_deref();
        let under = |given: &Option<PathBuf>, name: &str| match (given, base) {
            (Some(given), _) => given.clone(),
            (None, Some(base)) => base.join(name),
            (None, None) => temporary.join(name),
        };
        let journal = config.server.data_dir.clone().or_else(|| base.map(|base| base.join("server")));
        let node_state = under(&config.client.state_dir, "client");
        let engine_state = match base {
            Some(base) if !config.dev => base.join("client").join("engines"),
            _ => around.user_state().join("engines"),
        };
        let uses_temporary = [&node_state, &under(&config.client.alloc_dir, "alloc")]
            .into_iter()
            .any(|folder| folder.starts_with(&temporary));
        Self {
            journal,
            node_state,
            allocations: under(&config.client.alloc_dir, "alloc"),
            engine_state,
            locks: around.locks(),
            temporary: uses_temporary.then_some(temporary),
        }
    }

    /// The folder that one agent at a time may use.
    pub(crate) fn locked(&self) -> &Path {
        &self.node_state
    }
}

#[cfg(test)]
mod tests {
    use longshore_settings::Inputs;

    use super::*;

    fn folders(dev: bool, text: &str, is_root: bool) -> Folders {
        let inputs = Inputs { dev, files: vec![("a.hcl".to_owned(), text.to_owned())], ..Inputs::default() };
        let around = Surroundings {
            is_root,
            state_home: None,
            runtime_dir: None,
            home: Some("/home/ann".into()),
            temporary: "/tmp".into(),
            process: 7,
        };
        Folders::of(&AgentConfig::read(&inputs).unwrap(), &around)
    }

    #[test]
    fn a_data_folder_holds_everything() {
        let folders =
            folders(false, "data_dir = \"/data\"\nserver { enabled = true }\nclient { enabled = true }", true);
        assert_eq!(folders.journal.as_deref(), Some(Path::new("/data/server")));
        assert_eq!(folders.node_state, Path::new("/data/client"));
        assert_eq!(folders.allocations, Path::new("/data/alloc"));
        assert_eq!(folders.engine_state, Path::new("/data/client/engines"));
        assert_eq!((folders.locks.as_path(), folders.temporary), (Path::new("/run/longshore"), None));
    }

    #[test]
    fn dev_forgets_all_but_its_images() {
        let folders = folders(true, "", false);
        assert_eq!(folders.journal, None);
        assert_eq!(folders.node_state, Path::new("/tmp/longshore-dev-7/client"));
        assert_eq!(folders.engine_state, Path::new("/home/ann/.local/state/longshore/engines"));
        assert_eq!(folders.locks, Path::new("/home/ann/.local/state/longshore/locks"));
        assert_eq!(folders.temporary.as_deref(), Some(Path::new("/tmp/longshore-dev-7")));
    }

    #[test]
    fn named_folders_win() {
        let folders = folders(true, "client { alloc_dir = \"/a\" state_dir = \"/s\" }", true);
        assert_eq!((folders.allocations.as_path(), folders.node_state.as_path()), (Path::new("/a"), Path::new("/s")));
        assert_eq!(folders.temporary, None);
    }
}
