use super::{Arguments, Context, Function, MANY, function};
use crate::number::Number;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    function("abs", 1, 1, |_, a| {
        let number = a.number(0)?;
        Ok(if number.is_negative() { number.neg() } else { number }.into())
    }),
    function("ceil", 1, 1, |_, a| fits(a.number(0)?.ceil())),
    function("floor", 1, 1, |_, a| fits(a.number(0)?.floor())),
    function("signum", 1, 1, |_, a| {
        let number = a.number(0)?;
        Ok(Number::from(i64::from(!number.is_zero()) * if number.is_negative() { -1 } else { 1 }).into())
    }),
    function("max", 1, MANY, |_, a| extreme(a, std::cmp::Ordering::Greater)),
    function("min", 1, MANY, |_, a| extreme(a, std::cmp::Ordering::Less)),
    function("log", 2, 2, |_, a| fits(Number::from_f64(a.number(0)?.to_f64().log(a.number(1)?.to_f64())))),
    function("pow", 2, 2, power),
    function("parseint", 2, 2, |_, a| {
        let (text, base) = (a.text(0)?, a.whole(1)?);
        let base = u8::try_from(base).ok().filter(|base| (2..=62).contains(base)).ok_or("the base must be 2 to 62")?;
        let number = whole_of(&text, base).ok_or_else(|| format!("{text:?} is no number of base {base}"))?;
        Ok(number.into())
    }),
];

/// Digits are 0 to 9, a to z and, where the base has more than 36, A to Z; below it large letters are small ones.
fn whole_of(text: &str, base: u8) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number = Number::ZERO;
    for digit in digits.bytes() {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'z' => digit - b'a' + 10,
            b'A'..=b'Z' if base > 36 => digit - b'A' + 36,
            b'A'..=b'Z' => digit - b'A' + 10,
            _ => return None,
        };
        if value >= base {
            return None;
        }
        number = number.mul(Number::from(i64::from(base)))?.add(Number::from(i64::from(value)))?;
    }
    Some(if negative { number.neg() } else { number })
}

fn fits(number: Option<Number>) -> Result<Value, String> {
    number.map(Value::Number).ok_or_else(|| "the result is no number that can be kept".to_owned())
}

fn extreme(arguments: &Arguments<'_>, wanted: std::cmp::Ordering) -> Result<Value, String> {
    let mut best = arguments.number(0)?;
    for at in 1..arguments.all().len() {
        let number = arguments.number(at)?;
        if number.compare(best) == wanted {
            best = number;
        }
    }
    Ok(best.into())
}

fn power(_: &Context<'_>, arguments: &Arguments<'_>) -> Result<Value, String> {
    let (base, exponent) = (arguments.number(0)?, arguments.number(1)?);
    match exponent.to_usize() {
        Some(times) if times <= 1024 => {
            let product = (0..times).try_fold(Number::from(1_i64), |product, _| product.mul(base));
            fits(product)
        }
        _ => fits(Number::from_f64(base.to_f64().powf(exponent.to_f64()))),
    }
}
