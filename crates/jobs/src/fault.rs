use std::fmt;

/// One thing that is wrong with a job, possibly made of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Plain(String),
    /// Several faults of one part; `prefix` names the part and may be empty.
    Nested {
        prefix: String,
        faults: Vec<Fault>,
    },
}

impl Fault {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::Plain(text.into())
    }

    /// `None` when there is nothing wrong with the part.
    pub(crate) fn nested(prefix: impl Into<String>, faults: Vec<Self>) -> Option<Self> {
        (!faults.is_empty()).then(|| Self::Nested { prefix: prefix.into(), faults })
    }
}

/// As Nomad writes it: a list of several is a text of its own within its line.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Nested { prefix, faults } => {
                f.write_str(prefix)?;
                write_list(f, faults)
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, faults: &[Fault]) -> fmt::Result {
    let ending = if faults.len() == 1 { "" } else { "s" };
    write!(f, "{} error{ending} occurred:", faults.len())?;
    for fault in faults {
        write!(f, "\n\t* {fault}")?;
    }
    f.write_str("\n\n")
}

/// Why a job is not accepted: at least one fault. Prints as Nomad prints it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    pub faults: Vec<Fault>,
}

impl Invalid {
    /// The faults one by one, as `ValidationErrors` of the API lists them.
    pub fn messages(&self) -> Vec<String> {
        self.faults.iter().map(ToString::to_string).collect()
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.faults)
    }
}

/// Warnings as answers carry them; empty when there are none.
pub fn format_warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = warnings.iter().map(|warning| format!("* {warning}")).collect();
    format!("{} warning(s):\n\n{}", warnings.len(), lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_nomad_prints() {
        let inner = Fault::nested("", vec![Fault::plain("c"), Fault::plain("d")]).unwrap();
        let middle = Fault::nested("Task t validation failed: ", vec![inner]).unwrap();
        let invalid = Invalid { faults: vec![Fault::plain("a"), middle] };
        assert_eq!(
            invalid.to_string(),
            "2 errors occurred:\n\t* a\n\t* Task t validation failed: 1 error occurred:\n\t* 2 errors occurred:\n\t* \
             c\n\t* d\n\n\n\n\n\n"
        );
        assert_eq!(format_warnings(&[]), "");
        assert_eq!(format_warnings(&["a".into(), "b".into()]), "2 warning(s):\n\n* a\n* b");
    }
}
