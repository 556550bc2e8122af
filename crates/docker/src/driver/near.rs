//! Which image a person may have meant.

use longshore_images::ImageStatus;
use longshore_model::{ContentId, ImageRef};

const NEAR_MAX: usize = 5;
/// So many digits of an id are enough to name it, if no other begins with them.
const ID_DIGITS_MIN: usize = 6;

/// The content whose id begins so, when there is exactly one.
pub(crate) fn by_id_start(text: &str, images: &[ImageStatus]) -> Option<ContentId> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    if digits.len() < ID_DIGITS_MIN || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut found = images.iter().filter_map(|image| image.content).filter(|id| id.hex().starts_with(digits));
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// Names that are here and may have been meant: of the same repository, then with the same last part of their path.
pub(crate) fn near(wanted: &ImageRef, images: &[ImageStatus]) -> Vec<ImageRef> {
    let names = || images.iter().filter_map(|image| image.name.as_ref()).filter(|name| *name != wanted);
    let of_repository = names().filter(|name| name.same_repository(wanted));
    let of_path = names().filter(|name| !name.same_repository(wanted) && last_part(name) == last_part(wanted));
    of_repository.chain(of_path).take(NEAR_MAX).cloned().collect()
}

fn last_part(name: &ImageRef) -> Option<&str> {
    name.path()?.rsplit('/').next()
}

#[cfg(test)]
mod tests {
    use longshore_images::StateWord;
    use longshore_model::Provenance;

    use super::*;

    fn image(name: &str, id: &str) -> ImageStatus {
        ImageStatus {
            name: Some(name.parse().unwrap()),
            content: Some(format!("sha256:{id:0<64}").parse().unwrap()),
            size_bytes: None,
            provenance: Provenance::Foreign,
            state: StateWord::Foreign,
            holders: Vec::new(),
            containers: Vec::new(),
            holds: 0,
            content_holds: 0,
            why: String::new(),
            idle_since: None,
            due_at: None,
            retry_at: None,
            last_used_at: None,
            uses: 0,
        }
    }

    fn images() -> Vec<ImageStatus> {
        [
            ("busybox:1.36", "abcdef1"),
            ("reg.example/tools/busybox:9", "abcdef2"),
            ("redis:7", "123456"),
            ("cache:7", "123456"),
        ]
        .map(|(name, id)| image(name, id))
        .to_vec()
    }

    #[test]
    fn the_same_repository_comes_first() {
        for (wanted, expected) in [
            ("busybox", "busybox:1.36 reg.example/tools/busybox:9"),
            ("reg.example/busybox:9", "busybox:1.36 reg.example/tools/busybox:9"),
            ("reg.example/tools/busybox", "reg.example/tools/busybox:9 busybox:1.36"),
            ("redis:7", ""),
            ("nginx", ""),
        ] {
            let found = near(&wanted.parse().unwrap(), &images());
            let found: Vec<&str> = found.iter().map(ImageRef::familiar).collect();
            assert_eq!(found.join(" "), expected, "{wanted}");
        }
    }

    #[test]
    fn ids_by_their_beginning() {
        for (text, expected) in [
            ("abcdef1", Some("abcdef1")),
            ("sha256:abcdef2", Some("abcdef2")),
            ("123456", Some("123456")),
            ("abcdef", None),
            ("12345", None),
            ("redis7", None),
        ] {
            let found = by_id_start(text, &images());
            assert_eq!(found.map(|id| id.hex().trim_end_matches('0').to_owned()).as_deref(), expected, "{text}");
        }
    }
}
