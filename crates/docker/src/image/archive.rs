//! Archives that tasks bring along (`load`): their own list of names is read before an engine sees them, because loading
//! moves tags, and one job could replace another's image.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use longshore_model::ImageRef;
use nix::fcntl::{OFlag, openat};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

/// Why an archive is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum BadArchive {
    #[error("config.load: {path:?} leads out of the task's local folder")]
    Path { path: String },
    #[error("config.load: {path:?} in the task's local folder could not be opened (links are not followed)")]
    Open {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("config.load: {path:?} is no image archive")]
    Form {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("config.load: {path:?} holds no list of images (manifest.json)")]
    NoManifest { path: String },
    #[error(
        "config.load: {path:?} carries {found}, and the task's image is {wanted}: an archive may carry the task's image only"
    )]
    Names { path: String, found: String, wanted: String },
    #[error("config.load: {what} in {path:?} is larger than the limit \"{limit_name}\" of {limit} bytes")]
    TooLarge { path: String, what: &'static str, limit_name: &'static str, limit: u64 },
}

const MANIFEST: &str = "manifest.json";
const MANIFEST_BYTES_MAX: u64 = 1 << 20;
/// What may come out of a compressed archive: it is read to its end once.
const UNPACKED_BYTES_MAX: u64 = 64 << 30;

/// An archive that may be loaded: open, so that nobody can put another in its place.
pub(crate) struct CheckedArchive {
    file: File,
    /// sha256 of the file, in hex.
    pub(crate) digest: String,
    pub(crate) path: String,
}

impl CheckedArchive {
    /// One that the driver has made itself. `path` stands for it in words.
    pub(crate) fn of_bytes(bytes: &[u8], path: &str) -> io::Result<Self> {
        let mut file = File::from(memfd_create("archive", MFdFlags::MFD_CLOEXEC)?);
        file.write_all(bytes)?;
        let digest = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { file, digest, path: path.to_owned() })
    }

    /// A further handle at the archive's beginning.
    pub(crate) fn reader(&self) -> io::Result<File> {
        let mut file = File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.file)))?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}

#[derive(Deserialize)]
struct ManifestEntry {
    #[serde(default, rename = "RepoTags")]
    repo_tags: Option<Vec<String>>,
}

/// A file that is read until nobody wants it any more: archives are large.
struct Wanted<'a> {
    file: &'a mut File,
    cancelled: &'a CancellationToken,
}

impl Read for Wanted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.is_cancelled() {
            return Err(io::Error::other("called off"));
        }
        self.file.read(buffer)
    }
}

/// Opens `path` beneath `folder` and checks that it carries `image` and nothing else. Blocks, for as long as it is not
/// `cancelled`.
pub(crate) fn check(
    folder: &Path,
    path: &str,
    image: &ImageRef,
    cancelled: &CancellationToken,
) -> Result<CheckedArchive, BadArchive> {
    let mut file = open_beneath(folder, path)?;
    let found = names(Wanted { file: &mut file, cancelled }, path)?;
    let wanted = image.familiar().to_owned();
    let parsed: Option<Vec<ImageRef>> = found.iter().map(|name| name.parse().ok()).collect();
    if parsed.as_deref() != Some(std::slice::from_ref(image)) {
        let found = if found.is_empty() { "no name".to_owned() } else { found.join(", ") };
        return Err(BadArchive::Names { path: path.to_owned(), found, wanted });
    }
    let form = |source| BadArchive::Form { path: path.to_owned(), source };
    file.seek(SeekFrom::Start(0)).map_err(form)?;
    let mut hasher = Sha256::new();
    io::copy(&mut Wanted { file: &mut file, cancelled }, &mut hasher).map_err(form)?;
    let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(CheckedArchive { file, digest, path: path.to_owned() })
}

/// Opens a plain file below `folder`, each part of the path without following links.
fn open_beneath(folder: &Path, path: &str) -> Result<File, BadArchive> {
    let parts: Option<Vec<PathBuf>> = Path::new(path)
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| match part {
            Component::Normal(name) => Some(PathBuf::from(name)),
            _ => None,
        })
        .collect();
    let Some((last, parents)) = parts.as_ref().and_then(|parts| parts.split_last()) else {
        return Err(BadArchive::Path { path: path.to_owned() });
    };
    let open = || -> io::Result<File> {
        let mut at: OwnedFd = File::open(folder)?.into();
        let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        for parent in parents {
            at = openat(&at, parent, flags | OFlag::O_DIRECTORY | OFlag::O_RDONLY, Mode::empty())?;
        }
        let file = File::from(openat(&at, last, flags | OFlag::O_NONBLOCK | OFlag::O_RDONLY, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a plain file"));
        }
        Ok(file)
    };
    open().map_err(|source| BadArchive::Open { path: path.to_owned(), source })
}

/// The names that the archive's manifest lists, of all its images.
fn names(wanted: Wanted<'_>, path: &str) -> Result<Vec<String>, BadArchive> {
    let form = |source| BadArchive::Form { path: path.to_owned(), source };
    let mut magic = [0; 2];
    let read = wanted.file.read(&mut magic).map_err(form)?;
    wanted.file.seek(SeekFrom::Start(0)).map_err(form)?;
    let unpacked: Box<dyn Read + '_> = if read == 2 && magic == [0x1f, 0x8b] {
        Box::new(flate2::read::MultiGzDecoder::new(wanted))
    } else {
        Box::new(wanted)
    };
    let mut archive = tar::Archive::new(unpacked.take(UNPACKED_BYTES_MAX));
    let mut found = None;
    for entry in archive.entries().map_err(form)? {
        let entry = entry.map_err(form)?;
        let name = entry.path().map_err(form)?;
        let is_manifest = name
            .components()
            .filter(|part| !matches!(part, Component::CurDir))
            .eq([Component::Normal(MANIFEST.as_ref())]);
        if !is_manifest {
            continue;
        }
        if entry.size() > MANIFEST_BYTES_MAX {
            return Err(BadArchive::TooLarge {
                path: path.to_owned(),
                what: MANIFEST,
                limit_name: "image archive manifest",
                limit: MANIFEST_BYTES_MAX,
            });
        }
        // A second one would replace the first when it is unpacked: the last one counts.
        found =
            Some(serde_json::from_reader::<_, Vec<ManifestEntry>>(entry).map_err(|why| form(io::Error::from(why)))?);
    }
    let images = found.ok_or_else(|| BadArchive::NoManifest { path: path.to_owned() })?;
    if images.len() > 1 {
        let all = images.into_iter().flat_map(|image| image.repo_tags.unwrap_or_else(|| vec!["<none>".to_owned()]));
        return Ok(all.collect());
    }
    Ok(images.into_iter().flat_map(|image| image.repo_tags.unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn archive(manifest: &str) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content) in [("c.json", "{}"), (MANIFEST, manifest)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append_data(&mut header, name, content.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[track_caller]
    fn check_bytes(bytes: &[u8], expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("image.tar"), bytes).unwrap();
        let image = "acme/web:1".parse().unwrap();
        let unwanted = CancellationToken::new();
        unwanted.cancel();
        assert!(check(folder.path(), "./image.tar", &image, &unwanted).is_err(), "it is read although nobody wants it");
        let got = match check(folder.path(), "./image.tar", &image, &CancellationToken::new()) {
            Ok(archive) => {
                let mut again = Vec::new();
                archive.reader().unwrap().read_to_end(&mut again).unwrap();
                assert_eq!(again, bytes);
                "good".to_owned()
            }
            Err(why) => why.to_string(),
        };
        assert!(got.contains(expected), "{got} has no {expected}");
    }

    #[test]
    fn an_archive_carries_the_task_s_image_and_nothing_else() {
        let good = archive(r#"[{"Config":"c.json","RepoTags":["acme/web:1"],"Layers":[]}]"#);
        check_bytes(&good, "good");
        check_bytes(&gzip(&good), "good");
        check_bytes(&archive(r#"[{"RepoTags":["docker.io/acme/web:1"]}]"#), "good");
        check_bytes(&archive(r#"[{"RepoTags":["acme/web:1","redis:7"]}]"#), "carries acme/web:1, redis:7");
        check_bytes(&archive(r#"[{"RepoTags":["acme/web:1"]},{"RepoTags":null}]"#), "carries acme/web:1, <none>");
        check_bytes(&archive(r#"[{"RepoTags":["redis:7"]}]"#), "carries redis:7");
        check_bytes(&archive(r#"[{"RepoTags":null}]"#), "carries no name");
        check_bytes(&archive("[]"), "carries no name");
        check_bytes(&archive("{"), "is no image archive");
        check_bytes(b"nonsense", "image.tar");
        check_bytes(&tar::Builder::new(Vec::new()).into_inner().unwrap(), "holds no list of images");
    }

    #[test]
    fn paths_stay_in_the_folder_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let local = folder.path().join("local");
        std::fs::create_dir_all(local.join("sub")).unwrap();
        let good = archive(r#"[{"RepoTags":["acme/web:1"]}]"#);
        std::fs::write(folder.path().join("outside.tar"), &good).unwrap();
        std::fs::write(local.join("sub/in.tar"), &good).unwrap();
        std::os::unix::fs::symlink("../outside.tar", local.join("link.tar")).unwrap();
        std::os::unix::fs::symlink("..", local.join("up")).unwrap();
        let image = "acme/web:1".parse().unwrap();
        assert!(check(&local, "sub/in.tar", &image, &CancellationToken::new()).is_ok());
        for path in ["../outside.tar", "sub/../../outside.tar", "/etc/passwd", "", "."] {
            assert!(
                matches!(check(&local, path, &image, &CancellationToken::new()), Err(BadArchive::Path { .. })),
                "{path}"
            );
        }
        for path in ["link.tar", "up/outside.tar", "sub", "none.tar"] {
            assert!(
                matches!(check(&local, path, &image, &CancellationToken::new()), Err(BadArchive::Open { .. })),
                "{path}"
            );
        }
    }
}
