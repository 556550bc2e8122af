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
        let base = u32::try_from(base).ok().filter(|base| (2..=36).contains(base)).ok_or("the base must be 2 to 36")?;
        let number = i64::from_str_radix(&text, base).map_err(|_| format!("{text:?} is no number of base {base}"))?;
        Ok(Number::from(number).into())
    }),
];

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
