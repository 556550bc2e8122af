use std::fmt;

/// One thing that is wrong with a job, possibly made of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong; of several faults what stands before their list, which may be empty.
    text: String,
    /// The part that it is about, as seen from the fault around this one: `task "web" → resources → cpu`. May be empty.
    path: String,
    /// What it is made of; empty for a single one.
    faults: Vec<Fault>,
}

/// A single fault with the whole path to its part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedFault {
    /// Such as `group "web" → task "server" → resources → cpu`, in the words of job files; empty for the whole job.
    pub path: String,
    /// As the message of [`Invalid`] tells it.
    pub message: String,
}

impl Fault {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), path: String::new(), faults: Vec::new() }
    }

    /// `None` when there is nothing wrong with the part.
    pub(crate) fn nested(prefix: impl Into<String>, faults: Vec<Self>) -> Option<Self> {
        (!faults.is_empty()).then(|| Self { text: prefix.into(), path: String::new(), faults })
    }

    /// The same, about this part of what it was about.
    #[must_use]
    pub fn within(self, path: &str) -> Self {
        Self { path: join(path, &self.path), ..self }
    }

    fn collect(&self, around: &str, found: &mut Vec<PlacedFault>) {
        let path = join(around, &self.path);
        if self.faults.is_empty() {
            found.push(PlacedFault { path, message: self.text.clone() });
        } else {
            self.faults.iter().for_each(|fault| fault.collect(&path, found));
        }
    }
}

fn join(path: &str, next: &str) -> String {
    match (path, next) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("{path} → {next}"),
    }
}

/// As Nomad writes it: a list of several is a text of its own within its line.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.faults.is_empty() { Ok(()) } else { write_list(f, &self.faults) }
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

    /// Every single fault, in the order of the message.
    pub fn placed(&self) -> Vec<PlacedFault> {
        let mut found = Vec::new();
        self.faults.iter().for_each(|fault| fault.collect("", &mut found));
        found
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

    #[test]
    fn single_faults_know_their_part() {
        let of_task = vec![Fault::plain("a").within("cpu").within("resources"), Fault::plain("b")];
        let task = Fault::nested("Task t: ", of_task).unwrap().within("task \"t\"").within("group \"g\"");
        let placed = Invalid { faults: vec![Fault::plain("c"), task] }.placed();
        let told: Vec<_> = placed.iter().map(|one| (one.path.as_str(), one.message.as_str())).collect();
        let task = "group \"g\" → task \"t\"";
        assert_eq!(told, [("", "c"), (&*format!("{task} → resources → cpu"), "a"), (task, "b")]);
    }
}
