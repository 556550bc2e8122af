use std::iter::Peekable;
use std::str::Chars;

use crate::value::Value;

/// Widths and precisions beyond this are refused.
const WIDTH_MAX: usize = 1024;

#[derive(Debug, Default)]
struct Verb {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    sharp: bool,
    width: usize,
    precision: Option<usize>,
}

/// Fills Go's verbs (`%s`, `%d`, `%05.2f`, `%q`, `%v`, `%#v`, `%t`, `%b`, `%o`, `%x`, `%e`, `%g`, `%%`, `%[2]s`).
pub(super) fn format(template: &str, values: &[Value]) -> Result<String, String> {
    let mut out = String::with_capacity(template.len());
    let mut next = 0;
    let mut indexed = false;
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut verb = read_flags(&mut rest);
        if rest.next_if_eq(&'[').is_some() {
            let index = read_number(&mut rest)?.unwrap_or(0);
            if rest.next() != Some(']') || index == 0 {
                return Err("`%[n]` needs the number of an argument, from 1 on".to_owned());
            }
            next = index - 1;
            indexed = true;
        }
        verb.width = verb.width.max(read_number(&mut rest)?.unwrap_or(0));
        if rest.next_if_eq(&'.').is_some() {
            verb.precision = Some(read_number(&mut rest)?.unwrap_or(0));
        }
        let Some(letter) = rest.next() else { return Err("the format ends within a verb".to_owned()) };
        let Some(value) = values.get(next) else {
            return Err(format!("there is no argument for verb {} of the format", next + 1));
        };
        next += 1;
        out.push_str(&verb.render(letter, value)?);
    }
    if next < values.len() && !indexed {
        return Err(format!("{} arguments, but the format takes {next}", values.len()));
    }
    Ok(out)
}

fn read_flags(rest: &mut Peekable<Chars<'_>>) -> Verb {
    let mut verb = Verb::default();
    while let Some(flag) = rest.next_if(|c| "-+ 0#".contains(*c)) {
        match flag {
            '-' => verb.left = true,
            '+' => verb.plus = true,
            ' ' => verb.space = true,
            '0' => verb.zero = true,
            _ => verb.sharp = true,
        }
    }
    verb
}

fn read_number(rest: &mut Peekable<Chars<'_>>) -> Result<Option<usize>, String> {
    let mut digits = String::new();
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    match digits.parse::<usize>() {
        Ok(number) if number > WIDTH_MAX => Err(format!("a width of {digits} is more than {WIDTH_MAX}")),
        Ok(number) => Ok(Some(number)),
        Err(_) if digits.is_empty() => Ok(None),
        Err(_) => Err(format!("a width of {digits} is more than {WIDTH_MAX}")),
    }
}

impl Verb {
    fn render(&self, letter: char, value: &Value) -> Result<String, String> {
        let bad = |needed: &str| format!("%{letter} needs {needed}, not {}", value.kind());
        let number = || value.to_number().ok_or_else(|| bad("a number"));
        let whole = || number()?.to_i64().ok_or_else(|| bad("a whole number"));
        let text = match letter {
            's' => self.cut(&value.to_text().ok_or_else(|| bad("a string, number or bool"))?),
            'q' => quote(&self.cut(&value.to_text().ok_or_else(|| bad("a string, number or bool"))?)),
            'v' => match value {
                Value::Text(text) if self.sharp => quote(text),
                Value::List(_) | Value::Object(_) | Value::Null => super::encoding::json_text(value)?,
                plain => plain.to_text().unwrap_or_else(|| "null".into()).to_string(),
            },
            't' => value.to_bool().ok_or_else(|| bad("true or false"))?.to_string(),
            'd' => self.sign(whole()?.to_string()),
            'b' => format!("{:b}", whole()?),
            'o' => format!("{:o}", whole()?),
            'x' | 'X' => {
                let hex = match value {
                    Value::Text(text) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
                    _ => format!("{:x}", whole()?),
                };
                if letter == 'X' { hex.to_uppercase() } else { hex }
            }
            'f' | 'F' => self.sign(format!("{:.*}", self.precision.unwrap_or(6), number()?.to_f64())),
            'e' | 'E' => {
                let text = exponent_form(&format!("{:.*e}", self.precision.unwrap_or(6), number()?.to_f64()));
                self.sign(if letter == 'E' { text.to_uppercase() } else { text })
            }
            'g' | 'G' => self.sign(number()?.to_string()),
            other => return Err(format!("there is no verb %{other}")),
        };
        Ok(self.pad(text, "dbofFeEgGxX".contains(letter)))
    }

    fn cut(&self, text: &str) -> String {
        text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
    }

    fn sign(&self, text: String) -> String {
        match (text.starts_with('-'), self.plus, self.space) {
            (false, true, _) => format!("+{text}"),
            (false, false, true) => format!(" {text}"),
            _ => text,
        }
    }

    fn pad(&self, text: String, is_number: bool) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        match (missing, self.left, self.zero && is_number) {
            (0, _, _) => text,
            (_, true, _) => text + &" ".repeat(missing),
            (_, false, true) => {
                let digits = text.trim_start_matches(['-', '+', ' ']);
                let (sign, digits) = text.split_at(text.len() - digits.len());
                format!("{sign}{}{digits}", "0".repeat(missing))
            }
            (_, false, false) => " ".repeat(missing) + &text,
        }
    }
}

fn quote(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Go writes at least two digits and a sign in an exponent.
fn exponent_form(text: &str) -> String {
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}
