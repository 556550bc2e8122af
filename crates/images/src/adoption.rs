use longshore_model::{ContentId, ImageRef};

/// A name that a person's pattern matches, and whether it can be taken back as obtained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// Nameless content by its id.
    pub name: ImageRef,
    pub content: ContentId,
    pub size_bytes: u64,
    pub standing: Standing,
}

/// Where a name stands that is to be adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Others brought it, as far as the books say: it can be adopted.
    Foreign,
    /// It is ours already.
    Ours,
    /// A pull of ours is under way, or others changed it a moment ago: what it is shows with the next look.
    Unsettled,
}
