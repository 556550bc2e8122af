use std::cmp::Ordering;

use hcl_edit::expr::{BinaryOperator, UnaryOperator};

use crate::number::Number;
use crate::value::Value;

pub(crate) fn unary(operator: UnaryOperator, value: &Value) -> Result<Value, String> {
    match operator {
        UnaryOperator::Neg => Ok(number(value)?.neg().into()),
        UnaryOperator::Not => Ok(Value::Bool(!boolean(value)?)),
    }
}

/// `false && x` and `true || x` need no `x`.
pub(crate) fn decided_by_left(operator: BinaryOperator, left: &Value) -> Option<Value> {
    match (operator, left.to_bool()?) {
        (BinaryOperator::And, false) => Some(Value::Bool(false)),
        (BinaryOperator::Or, true) => Some(Value::Bool(true)),
        _ => None,
    }
}

pub(crate) fn binary(operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, String> {
    let compared = |wanted: &[Ordering]| Ok(Value::Bool(wanted.contains(&number(left)?.compare(number(right)?))));
    match operator {
        BinaryOperator::Eq => Ok(Value::Bool(left == right)),
        BinaryOperator::NotEq => Ok(Value::Bool(left != right)),
        BinaryOperator::And => Ok(Value::Bool(boolean(left)? && boolean(right)?)),
        BinaryOperator::Or => Ok(Value::Bool(boolean(left)? || boolean(right)?)),
        BinaryOperator::Less => compared(&[Ordering::Less]),
        BinaryOperator::LessEq => compared(&[Ordering::Less, Ordering::Equal]),
        BinaryOperator::Greater => compared(&[Ordering::Greater]),
        BinaryOperator::GreaterEq => compared(&[Ordering::Greater, Ordering::Equal]),
        BinaryOperator::Plus => fits(number(left)?.add(number(right)?)),
        BinaryOperator::Minus => fits(number(left)?.sub(number(right)?)),
        BinaryOperator::Mul => fits(number(left)?.mul(number(right)?)),
        BinaryOperator::Div | BinaryOperator::Mod => {
            let (dividend, divisor) = (number(left)?, number(right)?);
            if divisor.is_zero() {
                return Err("division by zero".to_owned());
            }
            fits(if operator == BinaryOperator::Div { dividend.div(divisor) } else { dividend.rem(divisor) })
        }
    }
}

fn number(value: &Value) -> Result<Number, String> {
    value.to_number().ok_or_else(|| format!("{} where a number is needed", told(value)))
}

fn boolean(value: &Value) -> Result<bool, String> {
    value.to_bool().ok_or_else(|| format!("{} where true or false is needed", told(value)))
}

fn told(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("the string {text:?}"),
        other => other.kind().to_owned(),
    }
}

fn fits(number: Option<Number>) -> Result<Value, String> {
    number.map(Value::Number).ok_or_else(|| "the result has more digits than can be kept (38)".to_owned())
}
