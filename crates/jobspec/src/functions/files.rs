use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Arguments, Context, Function, function};
use crate::Files;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    function("basename", 1, 1, |_, a| {
        let path = a.text(0)?;
        let trimmed = path.trim_end_matches('/');
        Ok(Value::text(match trimmed.rsplit('/').next() {
            _ if path.is_empty() => ".",
            None | Some("") => "/",
            Some(name) => name,
        }))
    }),
    function("dirname", 1, 1, |_, a| {
        let path = a.text(0)?;
        Ok(Value::text(match path.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => "/",
            Some((folder, _)) => folder.trim_end_matches('/'),
            None if path.starts_with('/') => "/",
            None => ".",
        }))
    }),
    function("abspath", 1, 1, |context, a| Ok(files(context)?.absolute(&a.text(0)?)?.into())),
    function("pathexpand", 1, 1, |context, a| Ok(files(context)?.expand_home(&a.text(0)?)?.into())),
    function("file", 1, 1, |context, a| {
        let bytes = read(context, a)?;
        String::from_utf8(bytes)
            .map(Value::from)
            .map_err(|_| format!("{} is no UTF-8 text; `filebase64` reads any file", a.text(0).unwrap_or_default()))
    }),
    function("filebase64", 1, 1, |context, a| Ok(STANDARD.encode(read(context, a)?).into())),
    function("fileexists", 1, 1, |context, a| Ok(Value::Bool(files(context)?.exists(&a.text(0)?)?))),
    function("fileset", 2, 2, |context, a| {
        let found = files(context)?.matching(&a.text(0)?, &a.text(1)?)?;
        context.budget.charge(found.iter().map(|path| path.len() + 1).fold(0, usize::saturating_add))?;
        Ok(Value::list(found.into_iter().map(Value::from).collect()))
    }),
];

fn files<'a>(context: &Context<'a>) -> Result<&'a dyn Files, String> {
    context.files.ok_or_else(|| "files can only be read by the command line, not over the API".to_owned())
}

fn read(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Vec<u8>, String> {
    let bytes = files(context)?.read(&arguments.text(0)?)?;
    context.budget.charge(bytes.len())?;
    Ok(bytes)
}
