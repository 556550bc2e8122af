//! The image as `POST /images/load` takes it.

use std::io;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::program::Architecture;
use super::{elf, name};

const PROGRAM: &str = "pause";

/// The image, ready to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PauseImage {
    pub(crate) archive: Vec<u8>,
    /// By this an engine's image is known to be it, whatever the engine calls images by.
    pub(crate) layer: String,
}

/// The image for engines of one kind of processor.
///
/// # Errors
/// None that can happen: writing to memory.
pub(crate) fn image(architecture: Architecture) -> io::Result<PauseImage> {
    let layer_tar = tar_of(&[(PROGRAM, 0o555, &elf::program(architecture))])?;
    let layer = format!("sha256:{}", hex(&layer_tar));
    let config = json!({
        "architecture": architecture.word(),
        "config": { "Entrypoint": [format!("/{PROGRAM}")] },
        "created": "1970-01-01T00:00:00Z",
        "os": "linux",
        "rootfs": { "diff_ids": [layer], "type": "layers" },
    });
    let manifest = json!([{ "Config": "config.json", "Layers": ["layer.tar"], "RepoTags": [name()] }]);
    let archive = tar_of(&[
        ("layer.tar", 0o444, &layer_tar),
        ("config.json", 0o444, config.to_string().as_bytes()),
        ("manifest.json", 0o444, manifest.to_string().as_bytes()),
    ])?;
    Ok(PauseImage { archive, layer })
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Files of nobody in particular and of no time.
fn tar_of(files: &[(&str, u32, &[u8])]) -> io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, mode, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(0);
        header.set_cksum();
        builder.append_data(&mut header, name, *content)?;
    }
    builder.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(architecture: Architecture, digest: &str) {
        let image = image(architecture).unwrap();
        assert_eq!(image, super::image(architecture).unwrap());
        assert_eq!(hex(&image.archive), digest, "other bytes are another version");
    }

    #[test]
    fn a_version_is_the_same_to_its_last_byte() {
        check(Architecture::X86_64, "053786f5eebb7e87299b141551301bd55d76f89f740fff0ffbd0fc3171fcb21b");
        check(Architecture::Aarch64, "8c1c7a72d9b0d45e8812a163be8b189883657cb2108f5c83d64883d386fb6ffa");
    }
}
