use std::io::Read;
use std::path::{Path, PathBuf};

use crate::commands::{Context, Outcome};
use crate::failure::Failure;

/// The longest file that is formatted, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// How many files one call looks at.
const FILES_MAX: usize = 10_000;

pub(super) fn run(context: &mut Context) -> Outcome {
    let arguments = context.given.arguments.clone();
    let check = context.given.switch("check");
    if let [only] = arguments.as_slice()
        && only == "-"
    {
        return standard_input(context, check);
    }
    let mut paths = Vec::new();
    let given = if arguments.is_empty() { vec![".".to_owned()] } else { arguments };
    for path in &given {
        let path = Path::new(path);
        let failed = |why: std::io::Error| Failure::told(format!("Error formatting {}: {why}", path.display()));
        if path.metadata().map_err(failed)?.is_dir() {
            collect(path, context.given.switch("recursive"), &mut paths).map_err(failed)?;
        } else {
            paths.push(path.to_owned());
        }
    }
    let (list, write) = (context.given.switch_or("list", true), context.given.switch_or("write", true) && !check);
    let (mut changed, mut failed) = (false, false);
    for path in paths {
        let name = path.display().to_string();
        match one(&path, &name, write) {
            Ok(true) => {
                changed = true;
                if list {
                    context.ui.line(&name);
                }
            }
            Ok(false) => {}
            // The others are formatted all the same.
            Err(failure) => {
                failed = true;
                context.ui.error(&failure.message());
            }
        }
    }
    Ok(u8::from(failed || check && changed))
}

/// Whether the file was not in its form; then it is written, if it is to be.
fn one(path: &Path, name: &str, write: bool) -> Result<bool, Failure> {
    let failed = |why: std::io::Error| Failure::told(format!("Error formatting {name}: {why}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(Failure::told(format!("Error formatting {name}: it has more than {FILE_BYTES_MAX} bytes")));
    }
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    let formatted = formatted(name, &text)?;
    if formatted == text {
        return Ok(false);
    }
    if write {
        replace(path, &formatted).map_err(failed)?;
    }
    Ok(true)
}

fn formatted(name: &str, text: &str) -> Result<String, Failure> {
    longshore_jobspec::format(name, text).map_err(|why| Failure::Diagnosed {
        message: format!("Error formatting {name}:"),
        diagnostics: why.diagnostics,
    })
}

/// The whole new text or the whole old one, whatever happens meanwhile; a link stays a link.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    let mut beside = path.clone().into_os_string();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::write(&beside, text)
        .and_then(|()| std::fs::set_permissions(&beside, path.metadata()?.permissions()))
        .and_then(|()| std::fs::rename(&beside, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn standard_input(context: &mut Context, check: bool) -> Outcome {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|why| Failure::told(format!("Error formatting standard input: {why}")))?;
    if u64::try_from(text.len()).is_ok_and(|length| length > FILE_BYTES_MAX) {
        return Err(Failure::told(format!("Error formatting standard input: it has more than {FILE_BYTES_MAX} bytes")));
    }
    let formatted = formatted("<stdin>", &text)?;
    if check {
        return Ok(u8::from(formatted != text));
    }
    context.ui.line(formatted.trim_end_matches('\n'));
    Ok(0)
}

/// Files that hold HCL, in the order of their names.
fn collect(folder: &Path, recursive: bool, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for path in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() && recursive && !hidden {
            collect(&path, recursive, found)?;
        } else if path.is_file() && path.extension().is_some_and(|end| end == "hcl" || end == "nomad") {
            found.push(path);
        }
        if found.len() > FILES_MAX {
            return Err(std::io::Error::other(format!("more than {FILES_MAX} files")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched_for_files_of_hcl() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.hcl", "a.nomad", "c.txt", "d/e.nomad.hcl", ".git/f.hcl"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "a=1\n").unwrap();
        }
        let names = |recursive| {
            let mut found = Vec::new();
            collect(folder.path(), recursive, &mut found).unwrap();
            let within = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().display().to_string();
            found.iter().map(within).collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["a.nomad", "b.hcl"]);
        assert_eq!(names(true), ["a.nomad", "b.hcl", "d/e.nomad.hcl"]);
    }

    #[test]
    fn files_are_written_only_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.hcl");
        std::fs::write(&path, "a=1\n").unwrap();
        assert!(one(&path, "a.hcl", false).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a=1\n");
        assert!(one(&path, "a.hcl", true).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a = 1\n");
        assert!(!one(&path, "a.hcl", true).unwrap());
        std::fs::write(&path, "a = \n").unwrap();
        let told = one(&path, "a.hcl", true).unwrap_err().message();
        assert!(told.starts_with("Error formatting a.hcl:\na.hcl:1:"), "{told}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
