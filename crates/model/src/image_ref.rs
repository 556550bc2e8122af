use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::{ContentId, Digest};

const DEFAULT_REGISTRY: &str = "docker.io";
const DEFAULT_REGISTRY_ALIAS: &str = "index.docker.io";
const DEFAULT_NAMESPACE: &str = "library";
const DEFAULT_TAG: &str = "latest";
const NAME_LENGTH_MAX: usize = 255;
const TAG_LENGTH_MAX: usize = 128;

/// The name of an image as Docker reads it, parsed once and in full form: `redis` equals
/// `docker.io/library/redis:latest`.
///
/// Three kinds: a tag of a repository, a digest of a repository, and the bare id of what an engine stores
/// (`sha256:` and 64 hex digits, or the digits alone). Equal when [`full`](Self::full) is equal, so a tag that is
/// written before a digest says nothing: engines look up by the digest alone. Holds no credentials: a text with any
/// is no reference.
#[derive(Clone)]
pub struct ImageRef(Arc<Parts>);

struct Parts {
    full: String,
    kind: Kind,
}

enum Kind {
    Tag { host_len: usize, repository_len: usize },
    Digest { host_len: usize, repository_len: usize, digest: Digest, written_tag: Option<String> },
    Id(ContentId),
}

/// Why a text names no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadImageRef {
    #[error("the image reference is empty")]
    Empty,
    #[error("invalid image reference `{0}`: repository names are lower case")]
    UpperCase(String),
    #[error("invalid image reference `{text}`: `{host}` is no registry host")]
    Host { text: String, host: String },
    #[error(
        "invalid image reference `{text}`: `{component}` is no part of a repository name (lower-case letters and digits, with `.`, `_`, `__` or `-` between)"
    )]
    Path { text: String, component: String },
    #[error(
        "invalid image reference `{text}`: `{tag}` is no tag (at most 128 letters, digits, `_`, `.`, `-`, the first a letter, digit or `_`)"
    )]
    Tag { text: String, tag: String },
    #[error("invalid image reference `{text}`: `{digest}` is no digest such as sha256: and 64 lower-case hex digits")]
    Digest { text: String, digest: String },
    #[error("invalid image reference `{0}`: a repository name has at most 255 characters")]
    TooLong(String),
}

impl ImageRef {
    /// Reads the `image` option of a task, where Nomad has always let `https://` stand in front.
    ///
    /// # Errors
    /// When the rest is no reference.
    pub fn from_task_option(text: &str) -> Result<Self, BadImageRef> {
        text.strip_prefix("https://").unwrap_or(text).parse()
    }

    /// The reference that names content by its id alone.
    pub fn from_id(id: ContentId) -> Self {
        Self(Arc::new(Parts { full: id.to_string(), kind: Kind::Id(id) }))
    }

    /// `docker.io/library/redis:7`, `docker.io/library/redis@sha256:…` or `sha256:…`: what equality is decided by.
    pub fn full(&self) -> &str {
        &self.0.full
    }

    /// As Docker shows it to people: `redis:7`, `acme/web@sha256:…`, `localhost:5000/web:1`. Reads back as the same name.
    pub fn familiar(&self) -> &str {
        let full = self.full();
        let Some(rest) = full.strip_prefix(DEFAULT_REGISTRY).and_then(|rest| rest.strip_prefix('/')) else {
            return full;
        };
        match rest.strip_prefix(DEFAULT_NAMESPACE).and_then(|rest| rest.strip_prefix('/')) {
            Some(name) if !name.contains('/') => name,
            _ if split_host(rest).0 == DEFAULT_REGISTRY => rest,
            _ => full,
        }
    }

    /// The registry's host with its port, as written: `docker.io`, `localhost:5000`, `[::1]:5000`. None for a bare id.
    pub fn registry(&self) -> Option<&str> {
        match self.0.kind {
            Kind::Tag { host_len, .. } | Kind::Digest { host_len, .. } => self.full().get(..host_len),
            Kind::Id(_) => None,
        }
    }

    /// Registry and path: `docker.io/library/redis`. None for a bare id.
    pub fn repository(&self) -> Option<&str> {
        match self.0.kind {
            Kind::Tag { repository_len, .. } | Kind::Digest { repository_len, .. } => self.full().get(..repository_len),
            Kind::Id(_) => None,
        }
    }

    /// The repository without its registry: `library/redis`. None for a bare id.
    pub fn path(&self) -> Option<&str> {
        match self.0.kind {
            Kind::Tag { host_len, repository_len } | Kind::Digest { host_len, repository_len, .. } => {
                self.full().get(host_len + 1..repository_len)
            }
            Kind::Id(_) => None,
        }
    }

    /// The tag that the reference names its image by; none when a digest or an id does.
    pub fn tag(&self) -> Option<&str> {
        match self.0.kind {
            Kind::Tag { repository_len, .. } => self.full().get(repository_len + 1..),
            Kind::Digest { .. } | Kind::Id(_) => None,
        }
    }

    /// The digest that the reference names its image by.
    pub fn digest(&self) -> Option<&Digest> {
        match &self.0.kind {
            Kind::Digest { digest, .. } => Some(digest),
            Kind::Tag { .. } | Kind::Id(_) => None,
        }
    }

    /// The tag that was written before a digest, for people; it takes no part in look-ups or equality.
    pub fn written_tag(&self) -> Option<&str> {
        match &self.0.kind {
            Kind::Digest { written_tag, .. } => written_tag.as_deref(),
            Kind::Tag { .. } | Kind::Id(_) => None,
        }
    }

    /// The content id, when the reference is nothing but one.
    pub fn id(&self) -> Option<ContentId> {
        match self.0.kind {
            Kind::Id(id) => Some(id),
            Kind::Tag { .. } | Kind::Digest { .. } => None,
        }
    }

    /// Whether both are names of one repository.
    pub fn same_repository(&self, other: &Self) -> bool {
        self.repository().is_some() && self.repository() == other.repository()
    }

    fn tagged(host: &str, path: &str, tag: &str) -> Self {
        let full = format!("{host}/{path}:{tag}");
        let kind = Kind::Tag { host_len: host.len(), repository_len: host.len() + 1 + path.len() };
        Self(Arc::new(Parts { full, kind }))
    }

    fn digested(host: &str, path: &str, digest: Digest, written_tag: Option<String>) -> Self {
        let full = format!("{host}/{path}@{digest}");
        let repository_len = host.len() + 1 + path.len();
        let kind = Kind::Digest { host_len: host.len(), repository_len, digest, written_tag };
        Self(Arc::new(Parts { full, kind }))
    }
}

impl FromStr for ImageRef {
    type Err = BadImageRef;

    fn from_str(text: &str) -> Result<Self, BadImageRef> {
        if text.is_empty() {
            return Err(BadImageRef::Empty);
        }
        if let Ok(id) = text.parse::<ContentId>() {
            return Ok(Self::from_id(id));
        }
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => {
                let bad = || BadImageRef::Digest { text: text.to_owned(), digest: digest.to_owned() };
                (rest, Some(digest.parse::<Digest>().map_err(|_| bad())?))
            }
            None => (text, None),
        };
        let (name, tag) = split_tag(rest);
        if let Some(tag) = tag
            && !is_tag(tag)
        {
            return Err(BadImageRef::Tag { text: text.to_owned(), tag: tag.to_owned() });
        }
        let (host, path) = split_host(name);
        let host = if host == DEFAULT_REGISTRY_ALIAS { DEFAULT_REGISTRY } else { host };
        check_name(text, host, path)?;
        let whole_path;
        let path = if host == DEFAULT_REGISTRY && !path.contains('/') {
            whole_path = format!("{DEFAULT_NAMESPACE}/{path}");
            whole_path.as_str()
        } else {
            path
        };
        if host.len() + 1 + path.len() > NAME_LENGTH_MAX {
            return Err(BadImageRef::TooLong(text.to_owned()));
        }
        Ok(match digest {
            Some(digest) => Self::digested(host, path, digest, tag.map(str::to_owned)),
            None => Self::tagged(host, path, tag.unwrap_or(DEFAULT_TAG)),
        })
    }
}

/// The tag is what follows a colon after the last slash; a colon before it belongs to a port.
fn split_tag(text: &str) -> (&str, Option<&str>) {
    let path_at = text.rfind('/').map_or(0, |at| at + 1);
    match text.get(path_at..).and_then(|last| last.find(':')) {
        Some(at) => {
            let (name, tag) = text.split_at(path_at + at);
            (name, tag.get(1..))
        }
        None => (text, None),
    }
}

/// The first part is a registry when it could be nothing else: it has a dot or a colon, is `localhost`, or has upper
/// case, which no repository has.
fn split_host(name: &str) -> (&str, &str) {
    match name.split_once('/') {
        Some((host, path))
            if host.contains(['.', ':']) || host == "localhost" || host.chars().any(|c| c.is_ascii_uppercase()) =>
        {
            (host, path)
        }
        _ => (DEFAULT_REGISTRY, name),
    }
}

fn check_name(text: &str, host: &str, path: &str) -> Result<(), BadImageRef> {
    if !is_host(host) {
        return Err(BadImageRef::Host { text: text.to_owned(), host: host.to_owned() });
    }
    for component in path.split('/') {
        if !is_path_component(component) {
            let lower = component.to_ascii_lowercase();
            return Err(if lower != component && is_path_component(&lower) {
                BadImageRef::UpperCase(text.to_owned())
            } else {
                BadImageRef::Path { text: text.to_owned(), component: component.to_owned() }
            });
        }
    }
    Ok(())
}

fn is_host(host: &str) -> bool {
    let (name, port) = if host.starts_with('[') {
        let Some((address, after)) = host.split_once(']') else { return false };
        let digits = address.get(1..).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b':') {
            return false;
        }
        if after.is_empty() {
            return true;
        }
        ("x", after.strip_prefix(':'))
    } else {
        match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, Some("0")),
        }
    };
    let Some(port) = port else { return false };
    !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && name.split('.').all(is_host_component)
}

fn is_host_component(part: &str) -> bool {
    let plain = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = part.as_bytes();
    plain(bytes.first()) && plain(bytes.last()) && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
}

/// Runs of lower-case letters and digits, with one `.`, one or two `_`, or any number of `-` between.
fn is_path_component(part: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut rest = part;
    loop {
        let run = rest.find(|c| !plain(c)).unwrap_or(rest.len());
        if run == 0 {
            return false;
        }
        rest = rest.get(run..).unwrap_or_default();
        if rest.is_empty() {
            return true;
        }
        let separator = rest.find(plain).unwrap_or(rest.len());
        let (between, after) = rest.split_at(separator);
        if !matches!(between, "." | "_" | "__") && !between.bytes().all(|b| b == b'-') {
            return false;
        }
        rest = after;
    }
}

fn is_tag(tag: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    tag.len() <= TAG_LENGTH_MAX
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|b| word(b) || b == b'.' || b == b'-')
}

impl fmt::Display for ImageRef {
    /// The full form, with a tag that was written before a digest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.kind, self.repository()) {
            (Kind::Digest { digest, written_tag: Some(tag), .. }, Some(repository)) => {
                write!(f, "{repository}:{tag}@{digest}")
            }
            _ => f.write_str(self.full()),
        }
    }
}

impl fmt::Debug for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PartialEq for ImageRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.full() == other.full()
    }
}

impl Eq for ImageRef {}

impl PartialOrd for ImageRef {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ImageRef {
    fn cmp(&self, other: &Self) -> Ordering {
        self.full().cmp(other.full())
    }
}

impl Hash for ImageRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.full().hash(state);
    }
}

impl Serialize for ImageRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ImageRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEX: &str = "ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34ab12cd34";

    /// `#` stands for 64 hex digits.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let (text, expected) = (text.replace('#', HEX), expected.replace('#', HEX));
        let read = text.parse::<ImageRef>();
        let shown = match &read {
            Ok(image) => image.full().to_owned(),
            Err(why) => format!("error: {why}"),
        };
        assert!(shown.starts_with(&expected), "{text:?}: {shown:?}, not {expected:?}");
        if let Ok(image) = read {
            assert_eq!(shown, expected, "{text:?}");
            assert_eq!(image.familiar().parse(), Ok(image.clone()), "{text:?}: the familiar form reads back");
        }
    }

    #[test]
    fn full_form() {
        check("redis", "docker.io/library/redis:latest");
        check("redis:7", "docker.io/library/redis:7");
        check("library/redis:7", "docker.io/library/redis:7");
        check("docker.io/redis:7", "docker.io/library/redis:7");
        check("docker.io/library/redis:7", "docker.io/library/redis:7");
        check("index.docker.io/redis:7", "docker.io/library/redis:7");
        check("registry-1.docker.io/library/redis:7", "registry-1.docker.io/library/redis:7");
        check("acme/web", "docker.io/acme/web:latest");
        check("acme/web/api:1.2-rc.1", "docker.io/acme/web/api:1.2-rc.1");
        check("localhost/web", "localhost/web:latest");
        check("localhost:5000/web", "localhost:5000/web:latest");
        check("127.0.0.1:5057/y", "127.0.0.1:5057/y:latest");
        check("reg.example.test:5000/paper/ng:2", "reg.example.test:5000/paper/ng:2");
        check("[::1]:5000/web:1", "[::1]:5000/web:1");
        check("[2001:db8::1]/web:1", "[2001:db8::1]/web:1");
        check("Registry/web:1", "Registry/web:1");
        check("acme/web@sha256:#", "docker.io/acme/web@sha256:#");
        check("acme/web:1@sha256:#", "docker.io/acme/web@sha256:#");
        check("h:5000/a/b:1@sha256:#", "h:5000/a/b@sha256:#");
        check("a__b/c-----d/e_f.g", "docker.io/a__b/c-----d/e_f.g:latest");
        check("sha256:#", "sha256:#");
        check("#", "sha256:#");
        check("longshore.invalid/due:#", "longshore.invalid/due:#");
    }

    #[test]
    fn what_is_no_reference() {
        check("", "error: the image reference is empty");
        check("Redis:7", "error: invalid image reference `Redis:7`: repository names are lower case");
        check("acme/Web:1", "error: invalid image reference `acme/Web:1`: repository names are lower case");
        check("https://acme/web", "error: invalid image reference `https://acme/web`: `https:` is no registry host");
        check("reg.test:/web", "error: invalid image reference `reg.test:/web`: `reg.test:` is no registry host");
        check("reg..test/web", "error: invalid image reference `reg..test/web`: `reg..test` is no registry host");
        check("[::1/web", "error: invalid image reference `[::1/web`: `[::1` is no registry host");
        check("me:pw@reg.test/web", "error: invalid image reference");
        check("acme//web", "error: invalid image reference `acme//web`: `` is no part");
        check("acme/-web", "error: invalid image reference `acme/-web`: `-web` is no part");
        check("acme/web-", "error: invalid image reference `acme/web-`: `web-` is no part");
        check("a___b", "error: invalid image reference `a___b`: `a___b` is no part");
        check("a..b", "error: invalid image reference `a..b`: `a..b` is no part");
        check("a b", "error: invalid image reference `a b`: `a b` is no part");
        check("wéb", "error: invalid image reference `wéb`: `wéb` is no part");
        check("redis:", "error: invalid image reference `redis:`: `` is no tag");
        check("redis:-1", "error: invalid image reference `redis:-1`: `-1` is no tag");
        check("redis:a:b", "error: invalid image reference `redis:a:b`: `a:b` is no tag");
        check(&format!("redis:{}", "x".repeat(129)), "error: invalid image reference");
        check("redis@sha256:ab", "error: invalid image reference `redis@sha256:ab`: `sha256:ab` is no digest");
        check("redis@md5:#", "error: invalid image reference");
        check(&format!("redis@sha256:{}", HEX.to_uppercase()), "error: invalid image reference");
        check("redis@", "error: invalid image reference `redis@`: `` is no digest");
        check("reg.test/#/", "error: invalid image reference");
        check(&"a/".repeat(130), "error: invalid image reference");
        check(&format!("{}b", "a/".repeat(130)), "error: invalid image reference");
    }

    #[test]
    fn parts() {
        let tag: ImageRef = "redis:7".parse().unwrap();
        assert_eq!(tag.registry(), Some("docker.io"));
        assert_eq!(tag.repository(), Some("docker.io/library/redis"));
        assert_eq!(tag.path(), Some("library/redis"));
        assert_eq!((tag.tag(), tag.digest(), tag.id()), (Some("7"), None, None));
        assert_eq!(tag.familiar(), "redis:7");

        let digest: ImageRef = format!("localhost:5000/a/b:3@sha256:{HEX}").parse().unwrap();
        assert_eq!(digest.registry(), Some("localhost:5000"));
        assert_eq!(digest.path(), Some("a/b"));
        assert_eq!((digest.tag(), digest.written_tag()), (None, Some("3")));
        assert_eq!(digest.digest().map(ToString::to_string), Some(format!("sha256:{HEX}")));
        assert_eq!(digest.to_string(), format!("localhost:5000/a/b:3@sha256:{HEX}"));
        assert_eq!(digest, format!("localhost:5000/a/b@sha256:{HEX}").parse().unwrap());

        let id: ImageRef = HEX.parse().unwrap();
        assert_eq!((id.registry(), id.repository(), id.path(), id.tag()), (None, None, None, None));
        assert_eq!(id.id().map(|id| id.to_string()), Some(format!("sha256:{HEX}")));
        assert!(!id.same_repository(&id));
        assert!(tag.same_repository(&"docker.io/redis:8".parse().unwrap()));
        assert_eq!("docker.io/acme/library".parse::<ImageRef>().unwrap().familiar(), "acme/library:latest");
        assert_eq!("docker.io/a.b/web".parse::<ImageRef>().unwrap().familiar(), "docker.io/a.b/web:latest");
    }

    #[test]
    fn only_a_task_option_may_start_with_https() {
        let image = ImageRef::from_task_option("https://reg.example.test/foo/bar:1").unwrap();
        assert_eq!(image.full(), "reg.example.test/foo/bar:1");
        assert_eq!(ImageRef::from_task_option("redis:7"), "redis:7".parse());
        assert!(ImageRef::from_task_option("http://redis").is_err());
    }

    proptest! {
        #[test]
        fn what_is_read_prints_and_reads_back_the_same(
            host in "([a-z]{1,5}\\.[a-z]{2}(:[0-9]{1,4})?/|localhost(:[0-9]{2,4})?/|\\[[0-9a-f]{1,3}::[0-9]\\](:[0-9]{2})?/|docker\\.io/|)",
            path in "[a-z0-9]{1,6}([_-][a-z0-9]{1,4}){0,2}(/[a-z0-9]{1,6}([._-][a-z0-9]{1,4}){0,2}){0,2}",
            tag in "(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,10})?",
            digest in "(@sha256:[0-9a-f]{64}|@sha512:[0-9a-f]{128}|)",
        ) {
            let text = format!("{host}{path}{tag}{digest}");
            let image: ImageRef = text.parse().unwrap();
            for form in [image.full().to_owned(), image.familiar().to_owned(), image.to_string()] {
                prop_assert_eq!(&form.parse::<ImageRef>().unwrap(), &image);
            }
            let json = serde_json::to_string(&image).unwrap();
            prop_assert_eq!(serde_json::from_str::<ImageRef>(&json).unwrap().to_string(), image.to_string());
        }

        #[test]
        fn no_text_is_read_as_something_that_does_not_read_back(text in "[a-zA-Z0-9:/@._\\[\\]-]{0,30}|\\PC{0,20}") {
            if let Ok(image) = text.parse::<ImageRef>() {
                prop_assert_eq!(&image.full().parse::<ImageRef>().unwrap(), &image);
                prop_assert_eq!(&image.familiar().parse::<ImageRef>().unwrap(), &image);
            }
        }
    }
}
