//! The functions of the job language, as Nomad's documentation lists them. All are pure, but for the file functions,
//! which read through [`crate::Files`] and only where the caller hands one in.

mod about;
mod collections;
mod encoding;
mod files;
mod format;
mod network;
mod numbers;
mod secrets;
mod text;
mod time;
mod yaml;

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_values::nearest;

use crate::Files;
use crate::evaluate::Budget;
use crate::number::Number;
use crate::reference;
use crate::value::Value;

/// What functions may use beside their arguments.
pub(crate) struct Context<'a> {
    pub(crate) budget: &'a Budget,
    pub(crate) files: Option<&'a dyn Files>,
}

/// Why a call has no result.
pub(crate) enum Problem {
    Unknown { hint: String },
    Failed(String),
}

type Run = fn(&Context<'_>, &Arguments<'_>) -> Result<Value, String>;

/// A function with the least and the most arguments that it takes.
struct Function {
    name: &'static str,
    least: usize,
    most: usize,
    run: Run,
}

const MANY: usize = usize::MAX;

const fn function(name: &'static str, least: usize, most: usize, run: Run) -> Function {
    Function { name, least, most, run }
}

static TABLES: [&[Function]; 9] = [
    collections::FUNCTIONS,
    encoding::FUNCTIONS,
    files::FUNCTIONS,
    network::FUNCTIONS,
    numbers::FUNCTIONS,
    secrets::FUNCTIONS,
    text::FUNCTIONS,
    time::FUNCTIONS,
    yaml::FUNCTIONS,
];

/// What is called as functions are, but sees its arguments before they are evaluated.
const LAZY: [&str; 3] = ["can", "convert", "try"];

/// All names that can be called, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&str> = TABLES.iter().copied().flatten().map(|function| function.name).chain(LAZY).collect();
    names.sort_unstable();
    names.into_iter()
}

/// What people read about a function.
pub(crate) fn about(name: &str) -> Option<reference::Function> {
    about::ABOUT.iter().find(|about| about.name == name).copied()
}

pub(crate) fn call(name: &str, context: &Context<'_>, arguments: &[Value]) -> Result<Value, Problem> {
    let Some(found) = TABLES.iter().copied().flatten().find(|function| function.name == name) else {
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => String::new(),
        };
        return Err(Problem::Unknown { hint });
    };
    let given = arguments.len();
    if given < found.least || given > found.most {
        let needed = match (found.least, found.most) {
            (least, most) if least == most => least.to_string(),
            (least, MANY) => format!("at least {least}"),
            (least, most) => format!("{least} to {most}"),
        };
        return Err(Problem::Failed(format!("takes {needed} arguments, {given} given")));
    }
    (found.run)(context, &Arguments(arguments)).map_err(Problem::Failed)
}

/// The arguments of a call, read by place and converted as HCL2 does.
struct Arguments<'a>(&'a [Value]);

impl Arguments<'_> {
    fn all(&self) -> &[Value] {
        self.0
    }

    fn has(&self, at: usize) -> bool {
        self.0.len() > at
    }

    fn any(&self, at: usize) -> &Value {
        self.0.get(at).unwrap_or(&Value::Null)
    }

    fn bad<T>(&self, at: usize, needed: &str) -> Result<T, String> {
        Err(format!("argument {} must be {needed}, not {}", at + 1, self.any(at).kind()))
    }

    fn text(&self, at: usize) -> Result<Arc<str>, String> {
        self.any(at).to_text().map_or_else(|| self.bad(at, "a string"), Ok)
    }

    fn number(&self, at: usize) -> Result<Number, String> {
        self.any(at).to_number().map_or_else(|| self.bad(at, "a number"), Ok)
    }

    fn whole(&self, at: usize) -> Result<i64, String> {
        self.number(at)?.to_i64().map_or_else(|| Err(format!("argument {} must be a whole number", at + 1)), Ok)
    }

    /// A whole number from 0 on.
    fn count(&self, at: usize) -> Result<usize, String> {
        usize::try_from(self.whole(at)?).map_err(|_| format!("argument {} must not be negative", at + 1))
    }

    fn list(&self, at: usize) -> Result<&[Value], String> {
        match self.any(at) {
            Value::List(items) => Ok(items),
            _ => self.bad(at, "a list"),
        }
    }

    fn texts(&self, at: usize) -> Result<Vec<Arc<str>>, String> {
        let items = self.list(at)?.iter().map(Value::to_text).collect::<Option<Vec<_>>>();
        items.map_or_else(|| Err(format!("argument {} must be a list of strings", at + 1)), Ok)
    }

    fn object(&self, at: usize) -> Result<&BTreeMap<String, Value>, String> {
        match self.any(at) {
            Value::Object(items) => Ok(items),
            _ => self.bad(at, "an object"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let names: Vec<&str> = TABLES.iter().copied().flatten().map(|function| function.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn every_function_is_told_about_once() {
        let told: Vec<&str> = about::ABOUT.iter().map(|about| about.name).collect();
        assert_eq!(told, super::names().collect::<Vec<_>>());
    }
}
