use std::fmt;

use longshore_model::ImageRef;

/// Why an image stays: the first need that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// Holds on the name itself.
    Held(usize),
    /// A person's pin, by its pattern.
    Pinned(String),
    /// The `keep` setting, by its pattern.
    Kept(String),
    /// A container was made from the name.
    Container(String),
    /// A digest name of the repository would fall with it, and is needed.
    DigestName(ImageRef),
    /// It is the last name of content that holds keep.
    ContentHeld(usize),
    /// It is the last name of content that a container uses.
    ContentContainer(String),
    /// It is the last name of content that other content was built upon.
    Child,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(1) => f.write_str("1 hold"),
            Self::Held(count) => write!(f, "{count} holds"),
            Self::Pinned(pattern) => write!(f, "pinned by `{pattern}`"),
            Self::Kept(pattern) => write!(f, "gc.keep has `{pattern}`"),
            Self::Container(id) => write!(f, "container {}", short(id)),
            Self::DigestName(name) => write!(f, "{} would go with it, and is needed", name.familiar()),
            Self::ContentHeld(count) => write!(f, "last name of content with {count} holds"),
            Self::ContentContainer(id) => write!(f, "last name of content that container {} uses", short(id)),
            Self::Child => f.write_str("last name of content that another image was built upon"),
        }
    }
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
