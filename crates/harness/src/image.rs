//! Images made in memory from `busybox`: no network, no Dockerfile, no engine. Each has a random file, so two are
//! never the same content; the id is known before any engine has seen it.

use std::fs;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::Doing;
use crate::run::random_bytes;
use crate::{HarnessError, Result, program};

/// What an image is made of.
#[derive(Debug, Clone)]
pub struct ImageSetup {
    /// Bytes of random, incompressible data beside busybox.
    pub padding_bytes: usize,
    /// The command of a container that is given none.
    pub command: Vec<String>,
    /// Files to add: path without leading slash, contents.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Default for ImageSetup {
    /// Sleeps until it is told to end, and then ends at once.
    fn default() -> Self {
        let script = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done";
        Self { padding_bytes: 64, command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(), files: Vec::new() }
    }
}

/// An image of one layer.
#[derive(Debug, Clone)]
pub struct Image {
    layer: Vec<u8>,
    config: Vec<u8>,
}

impl Image {
    /// An image whose containers sleep.
    ///
    /// # Errors
    /// When there is no busybox.
    pub fn sleeper() -> Result<Self> {
        Self::build(&ImageSetup::default())
    }

    /// Builds an image.
    ///
    /// # Errors
    /// When there is no busybox.
    pub fn build(setup: &ImageSetup) -> Result<Self> {
        let layer = layer(setup)?;
        let config = json!({
            "architecture": architecture(),
            "os": "linux",
            "config": {
                "Cmd": setup.command,
                "Env": ["PATH=/bin:/usr/bin:/sbin:/usr/sbin"],
                "WorkingDir": "/",
            },
            "rootfs": { "type": "layers", "diff_ids": [digest(&layer)] },
            "history": [{ "created": "2026-01-01T00:00:00Z", "created_by": "longshore-harness" }],
            "created": "2026-01-01T00:00:00Z",
        });
        Ok(Self { layer, config: config.to_string().into_bytes() })
    }

    /// The id that an engine will give it.
    pub fn id(&self) -> String {
        digest(&self.config)
    }

    /// The only layer, as it is pushed.
    pub(crate) fn layer(&self) -> &[u8] {
        &self.layer
    }

    /// The image's configuration, as it is pushed.
    pub(crate) fn config(&self) -> &[u8] {
        &self.config
    }

    /// The manifest that a registry keeps of it.
    pub(crate) fn manifest(&self) -> Value {
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {
                "mediaType": "application/vnd.docker.container.image.v1+json",
                "size": self.config.len(),
                "digest": digest(&self.config),
            },
            "layers": [{
                "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
                "size": self.layer.len(),
                "digest": digest(&self.layer),
            }],
        })
    }

    /// An archive as `docker save` makes it, with these names: for `docker load` and the task option `load`.
    ///
    /// # Errors
    /// When the archive cannot be put together.
    pub fn archive(&self, names: &[&str]) -> Result<Vec<u8>> {
        let manifest = json!([{ "Config": "config.json", "RepoTags": names, "Layers": ["layer.tar"] }]).to_string();
        let mut archive = tar::Builder::new(Vec::new());
        for (name, contents) in
            [("layer.tar", &self.layer[..]), ("config.json", &self.config), ("manifest.json", manifest.as_bytes())]
        {
            add_file(&mut archive, name, 0o644, contents)?;
        }
        archive.into_inner().doing(|| "put an image archive together".to_owned())
    }
}

/// `sha256:` and the hex digits of the digest.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

fn layer(setup: &ImageSetup) -> Result<Vec<u8>> {
    let busybox_path = program("busybox", "busybox-static")?;
    let busybox = fs::read(&busybox_path).doing(|| format!("read `{}`", busybox_path.display()))?;
    if wants_a_loader(&busybox) {
        let doing = format!("use `{}` in an image", busybox_path.display());
        return Err(HarnessError::refused(doing, "it is linked dynamically; hint: `apt-get install busybox-static`"));
    }
    let mut archive = tar::Builder::new(Vec::new());
    let doing = || "put the layer of an image together".to_owned();
    for folder in ["bin", "tmp", "etc", "local", "alloc", "secrets"] {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_mode(if folder == "tmp" { 0o1777 } else { 0o755 });
        header.set_size(0);
        archive.append_data(&mut header, format!("{folder}/"), std::io::empty()).doing(doing)?;
    }
    add_file(&mut archive, "bin/busybox", 0o755, &busybox)?;
    for applet in ["sh", "sleep", "echo", "cat", "ls", "httpd", "wget", "true", "false", "env", "head", "dd", "nc"] {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        archive.append_link(&mut header, format!("bin/{applet}"), "busybox").doing(doing)?;
    }
    add_file(
        &mut archive,
        "etc/passwd",
        0o644,
        b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    )?;
    for (path, contents) in &setup.files {
        add_file(&mut archive, path, 0o644, contents)?;
    }
    add_file(&mut archive, "etc/longshore-padding", 0o644, &random_bytes(setup.padding_bytes.max(32))?)?;
    archive.into_inner().doing(doing)
}

/// Whether a 64-bit ELF program names an interpreter: then it would not run in an image without libraries.
fn wants_a_loader(program: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, size: usize| {
        let bytes = program.get(at..at + size).unwrap_or_default();
        bytes.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let (table, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count).any(|row| number(table + row * size, 4) == INTERPRETER as usize)
}

fn add_file(archive: &mut tar::Builder<Vec<u8>>, path: &str, mode: u32, contents: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_mode(mode);
    header.set_size(contents.len() as u64);
    archive.append_data(&mut header, path, contents).doing(|| format!("add `{path}` to an image"))
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_needs_libraries_is_told_from_one_that_does_not() {
        let ours = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(wants_a_loader(&ours));
        assert!(!wants_a_loader(&fs::read(program("busybox", "busybox-static").unwrap()).unwrap()));
    }

    #[test]
    fn two_images_are_two_contents_and_one_is_one() {
        let (one, two) = (Image::sleeper().unwrap(), Image::sleeper().unwrap());
        assert_ne!(one.id(), two.id());
        assert_eq!(one.id(), one.clone().id());
    }
}
