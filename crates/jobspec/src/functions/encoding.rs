use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{Arguments, Context, Function, function};
use crate::value::Value;

/// The longest JSON text that `jsonencode` and comparisons of values make, in bytes.
const JSON_BYTES_MAX: usize = 4 << 20;

pub(super) const FUNCTIONS: &[Function] = &[
    function("base64decode", 1, 1, |_, a| {
        let bytes = STANDARD.decode(a.text(0)?.as_bytes()).map_err(|why| format!("no base64: {why}"))?;
        String::from_utf8(bytes).map(Value::from).map_err(|_| "the decoded bytes are no UTF-8 text".to_owned())
    }),
    function("base64encode", 1, 1, |_, a| Ok(STANDARD.encode(a.text(0)?.as_bytes()).into())),
    function("csvdecode", 1, 1, csv_decode),
    function("jsondecode", 1, 1, |context, a| {
        let text = a.text(0)?;
        context.budget.charge(text.len())?;
        let json: serde_json::Value = serde_json::from_str(&text).map_err(|why| format!("no JSON: {why}"))?;
        Ok(Value::from_json(&json))
    }),
    function("jsonencode", 1, 1, |context, a| {
        let text = json_text(a.any(0))?;
        context.budget.charge(text.len())?;
        Ok(text.into())
    }),
    function("md5", 1, 1, |_, a| Ok(hex(&md5::Md5::digest(a.text(0)?.as_bytes())).into())),
    function("sha1", 1, 1, |_, a| Ok(hex(&Sha1::digest(a.text(0)?.as_bytes())).into())),
    function("sha256", 1, 1, |_, a| Ok(hex(&Sha256::digest(a.text(0)?.as_bytes())).into())),
    function("sha512", 1, 1, |_, a| Ok(hex(&Sha512::digest(a.text(0)?.as_bytes())).into())),
    function("urlencode", 1, 1, |_, a| {
        let mut out = String::new();
        for byte in a.text(0)?.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
                b' ' => out.push('+'),
                other => out.push_str(&format!("%{other:02X}")),
            }
        }
        Ok(out.into())
    }),
    function("uuidv5", 2, 2, |_, a| {
        let namespace = match a.text(0)?.as_ref() {
            "dns" => 0x6ba7_b810_9dad_11d1_80b4_00c0_4fd4_30c8,
            "url" => 0x6ba7_b811_9dad_11d1_80b4_00c0_4fd4_30c8,
            "oid" => 0x6ba7_b812_9dad_11d1_80b4_00c0_4fd4_30c8,
            "x500" => 0x6ba7_b814_9dad_11d1_80b4_00c0_4fd4_30c8,
            other => u128::from_str_radix(&other.replace('-', ""), 16)
                .map_err(|_| format!("{other:?} is no namespace: give dns, url, oid, x500 or a UUID"))?,
        };
        let digest = Sha1::new().chain_update(u128::to_be_bytes(namespace)).chain_update(a.text(1)?.as_bytes());
        let digits = hex(&digest.finalize());
        let variant = match u8::from_str_radix(digits.get(16..18).unwrap_or("0"), 16) {
            Ok(byte) => format!("{:02x}", byte & 0x3f | 0x80),
            Err(_) => String::new(),
        };
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or("");
        Ok(format!("{}-{}-5{}-{variant}{}-{}", part(0, 8), part(8, 12), part(13, 16), part(18, 20), part(20, 32))
            .into())
    }),
];

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as compact JSON, keys in order; an error when that is longer than [`JSON_BYTES_MAX`].
pub(super) fn json_text(value: &Value) -> Result<String, String> {
    let mut out = String::new();
    write_json(value, &mut out)?;
    Ok(out)
}

fn write_json(value: &Value, out: &mut String) -> Result<(), String> {
    if out.len() > JSON_BYTES_MAX {
        return Err(format!("the value is longer than {JSON_BYTES_MAX} bytes of JSON"));
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::Text(text) => write_json_text(text, out),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(item, out)?;
            }
            out.push(']');
        }
        Value::Object(items) => {
            out.push('{');
            for (at, (key, item)) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json_text(key, out);
                out.push(':');
                write_json(item, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// As the language's documentation says, `<`, `>`, `&`, U+2028 and U+2029 are written as escapes.
fn write_json_text(text: &str, out: &mut String) {
    for c in serde_json::Value::String(text.to_owned()).to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            other => out.push(other),
        }
    }
}

fn csv_decode(context: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let text = arguments.text(0)?;
    context.budget.charge(text.len())?;
    let mut rows = csv_rows(&text)?.into_iter();
    let header = rows.next().ok_or("there is no header line")?;
    let mut out = Vec::new();
    for (at, row) in rows.enumerate() {
        if row.len() != header.len() {
            return Err(format!("line {} has {} fields, the header {}", at + 2, row.len(), header.len()));
        }
        out.push(Value::object(header.iter().cloned().zip(row.into_iter().map(Value::from)).collect()));
    }
    Ok(Value::list(out))
}

/// Rows of RFC 4180: fields in quotes may hold commas, line ends and doubled quotes.
fn csv_rows(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    let mut row: Vec<String> = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted => {
                if rest.next_if_eq(&'"').is_some() {
                    field.push('"');
                } else {
                    quoted = false;
                }
            }
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted && rest.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    if quoted {
        return Err("a quoted field does not end".to_owned());
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows.retain(|row| row.iter().any(|field| !field.is_empty()) || row.len() > 1);
    Ok(rows)
}
