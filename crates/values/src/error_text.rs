//! Errors as people read them.

use std::error::Error;
use std::io;

/// An error with what caused it, in one line.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The operating system's words as Go has them, without a capital and without the number: `connection refused`.
pub fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not read the file")]
    struct Unread(#[source] io::Error);

    #[test]
    fn texts_of_errors() {
        let refused = io::Error::from_raw_os_error(111);
        assert_eq!(system_words(&refused), "connection refused");
        assert_eq!(with_causes(&Unread(refused)), "could not read the file: Connection refused (os error 111)");
    }
}
