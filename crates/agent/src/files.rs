//! Reads what `-config` names.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use longshore_settings::counts_in_folder;

/// The files that were read, with their texts, and the paths that held none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) empty: Vec<String>,
}

/// A file or folder that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("Error loading configuration from {path}: {source}")]
pub(crate) struct Unreadable {
    path: String,
    #[source]
    source: io::Error,
}

/// A text beyond this size is no agent file.
const FILE_SIZE_MAX_BYTES: u64 = 16 << 20;

pub(crate) fn read(configs: &[String]) -> Result<Files, Unreadable> {
    let mut files = Files::default();
    for config in configs {
        let unreadable = |source| Unreadable { path: config.clone(), source };
        if !fs::metadata(config).map_err(unreadable)?.is_dir() {
            files.texts.push((config.clone(), text_of(Path::new(config)).map_err(unreadable)?));
            continue;
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(config).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if counts_in_folder(&name) && !entry.path().is_dir() {
                names.push(name);
            }
        }
        names.sort();
        if names.is_empty() {
            files.empty.push(config.clone());
        }
        for name in names {
            let path = Path::new(config).join(&name);
            files.texts.push((path.display().to_string(), text_of(&path).map_err(unreadable)?));
        }
    }
    Ok(files)
}

/// Also of what is no ordinary file (a pipe, `/dev/stdin`), which has no size beforehand and need not have an end.
fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(FILE_SIZE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_SIZE_MAX_BYTES {
        let why = format!("it has more than the {FILE_SIZE_MAX_BYTES} bytes that an agent file may have");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no text: agent files are HCL or JSON in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_agent_files_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.json", "a.hcl", "c.txt", "a.hcl~", ".#a.hcl"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let path = folder.path().display().to_string();
        let files = read(&[path]).unwrap();
        let texts: Vec<_> = files.texts.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a.hcl", "b.json"]);
    }

    #[test]
    fn what_is_not_there_is_an_error_and_what_is_empty_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        assert_eq!(read(std::slice::from_ref(&path)).unwrap().empty, [path]);
        let told = read(&["no/such/file".to_owned()]).unwrap_err().to_string();
        assert!(told.starts_with("Error loading configuration from no/such/file: "), "{told}");
        let told = read(&["/dev/zero".to_owned()]).unwrap_err().to_string();
        assert!(told.ends_with("it has more than the 16777216 bytes that an agent file may have"), "{told}");
    }
}
