use crate::tree::Value;

pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::List(_) | Value::Object(_) => None,
    }
}

pub(super) fn is_off(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        // "0" may be a name, such as that of a processor.
        Value::Text(text) => text.is_empty() || text == "false",
        Value::Number(number) => number == "0",
        Value::List(items) => items.is_empty(),
        Value::Object(object) => object.entries.values().all(|entry| is_off(&entry.node.value)),
    }
}

/// The bytes of `1M`: a whole number, alone or with B, K, M or G.
pub(crate) fn size_bytes(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..).unwrap_or("").to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err("a size is a number with B, K, M or G, as in \"1M\"".to_owned()),
    };
    let number: i64 = digits.trim().parse().map_err(|_| "a size begins with a whole number".to_owned())?;
    number.checked_mul(factor).filter(|size| *size >= 0).ok_or_else(|| "out of range".to_owned())
}

pub(super) fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

pub(super) fn go_integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None => match digits.parse::<i64>() {
            Ok(value) => value,
            // JSON writers print whole numbers as 3e9 or 3.0 too.
            Err(_) => {
                let value = digits.parse::<f64>().ok()?;
                if value.fract() != 0.0 || value.abs() > 9e15 {
                    return None;
                }
                value as i64
            }
        },
    };
    Some(if negative { -value } else { value })
}
