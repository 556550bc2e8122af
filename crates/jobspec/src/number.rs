use std::cmp::Ordering;
use std::fmt;

/// A decimal number, exact up to 38 digits: `mantissa × 10^exponent`, without trailing zeros in the mantissa.
///
/// HCL2 counts in decimals, so `0.1 + 0.2` is `0.3`. What does not fit is an error of the operation, never a rounding;
/// only quotients that do not come out are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    mantissa: i128,
    exponent: i32,
}

/// Exponents beyond this are refused, so that a short text cannot ask for a long one.
const EXPONENT_MAX: i32 = 400;

impl Number {
    pub(crate) const ZERO: Self = Self { mantissa: 0, exponent: 0 };

    fn new(mut mantissa: i128, mut exponent: i32) -> Option<Self> {
        if mantissa == 0 {
            return Some(Self::ZERO);
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        (exponent.abs() <= EXPONENT_MAX).then_some(Self { mantissa, exponent })
    }

    /// Reads `12`, `-0.5`, `1e6`, `2.5E-3`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || digits.ends_with('.') {
            return None;
        }
        let zeros = if fraction.is_empty() { whole.len() - whole.trim_end_matches('0').len() } else { 0 };
        let whole = &whole[..whole.len() - zeros];
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.trim_end_matches('0').bytes()) {
            if !digit.is_ascii_digit() {
                return None;
            }
            mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let places = i32::try_from(fraction.trim_end_matches('0').len()).ok()?;
        let exponent = exponent.checked_sub(places)?.checked_add(i32::try_from(zeros).ok()?)?;
        Self::new(if negative { -mantissa } else { mantissa }, exponent)
    }

    pub(crate) fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self::parse(&format!("{value:e}"))).flatten()
    }

    /// Both mantissas over the smaller exponent.
    fn align(self, other: Self) -> Option<(i128, i128, i32)> {
        let exponent = self.exponent.min(other.exponent);
        let lift = |number: Self| {
            let places = u32::try_from(number.exponent - exponent).ok()?;
            number.mantissa.checked_mul(10_i128.checked_pow(places)?)
        };
        Some((lift(self)?, lift(other)?, exponent))
    }

    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let (left, right, exponent) = self.align(other)?;
        Self::new(left.checked_add(right)?, exponent)
    }

    pub(crate) fn sub(self, other: Self) -> Option<Self> {
        self.add(other.neg())
    }

    pub(crate) fn neg(self) -> Self {
        Self { mantissa: self.mantissa.saturating_neg(), exponent: self.exponent }
    }

    pub(crate) fn mul(self, other: Self) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(other.mantissa)?, self.exponent.checked_add(other.exponent)?)
    }

    /// `None` for a divisor of zero too: callers tell it apart by `is_zero`.
    pub(crate) fn div(self, other: Self) -> Option<Self> {
        let (mut dividend, mut exponent) = (self.mantissa, self.exponent.checked_sub(other.exponent)?);
        while dividend.checked_rem(other.mantissa)? != 0 {
            let Some(longer) = dividend.checked_mul(10) else { break };
            dividend = longer;
            exponent -= 1;
        }
        Self::new(dividend.checked_div(other.mantissa)?, exponent)
    }

    pub(crate) fn rem(self, other: Self) -> Option<Self> {
        let (left, right, exponent) = self.align(other)?;
        Self::new(left.checked_rem(right)?, exponent)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    pub(crate) fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// The greatest whole number that is not above this one.
    pub(crate) fn floor(self) -> Option<Self> {
        if self.is_whole() {
            return Some(self);
        }
        match u32::try_from(-self.exponent).ok().and_then(|places| 10_i128.checked_pow(places)) {
            Some(unit) => Self::new(self.mantissa.div_euclid(unit), 0),
            None => Self::new(if self.is_negative() { -1 } else { 0 }, 0),
        }
    }

    pub(crate) fn ceil(self) -> Option<Self> {
        Some(self.neg().floor()?.neg())
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match self.align(other) {
            Some((left, right, _)) => left.cmp(&right),
            None => self.to_f64().total_cmp(&other.to_f64()),
        }
    }

    /// `None` when it is no whole number, or too large.
    pub(crate) fn to_i64(self) -> Option<i64> {
        let unit = 10_i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        i64::try_from(self.mantissa.checked_mul(unit)?).ok()
    }

    pub(crate) fn to_usize(self) -> Option<usize> {
        usize::try_from(self.to_i64()?).ok()
    }

    pub(crate) fn to_f64(self) -> f64 {
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::NAN)
    }

    pub(crate) fn to_json(self) -> serde_json::Value {
        match self.to_i64() {
            Some(whole) => whole.into(),
            None => self.to_f64().into(),
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::new(value.into(), 0).unwrap_or(Self::ZERO)
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        i128::try_from(value).ok().and_then(|value| Self::new(value, 0)).unwrap_or(Self::ZERO)
    }
}

/// All digits, without an exponent.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.unsigned_abs().to_string();
        if self.is_negative() {
            f.write_str("-")?;
        }
        match usize::try_from(self.exponent) {
            Ok(zeros) => write!(f, "{digits}{}", "0".repeat(zeros)),
            Err(_) => {
                let places = usize::try_from(self.exponent.unsigned_abs()).unwrap_or(0);
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                write!(f, "{whole}.{fraction}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[track_caller]
    fn check(got: Option<Number>, expected: &str) {
        assert_eq!(got.map_or("none".to_owned(), |number| number.to_string()), expected);
    }

    #[test]
    fn counts_in_decimals() {
        check(n("0.1").add(n("0.2")), "0.3");
        check(n("1.50").sub(n("2")), "-0.5");
        check(n("1e3").mul(n("2.5")), "2500");
        check(n("10").div(n("4")), "2.5");
        check(n("10").div(n("-4")), "-2.5");
        check(n("-9").div(n("-3")), "3");
        check(n("7").div(n("0")), "none");
        check(n("7").rem(n("0")), "none");
        check(n("-7.5").rem(n("2")), "-1.5");
        check(n("-1.5").floor(), "-2");
        check(n("-1.5").ceil(), "-1");
        check(n("0.001").ceil(), "1");
        check(Number::parse("1e401"), "none");
        check(Number::parse("1."), "none");
        check(Number::parse("0x10"), "none");
        check(Number::parse(""), "none");
        check(Number::from_f64(0.25), "0.25");
        assert!(n("10").div(n("3")).unwrap().to_string().starts_with("3.3333333333333333333333333333"));
        assert_eq!(n("9223372036854775807").to_i64(), Some(i64::MAX));
        assert_eq!(n("9223372036854775808").to_i64(), None);
        assert_eq!(n("1e400").compare(n("1e-400")), Ordering::Greater);
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(mantissa in any::<i64>(), exponent in -40_i32..40) {
            let number = Number::new(mantissa.into(), exponent).unwrap();
            prop_assert_eq!(Number::parse(&number.to_string()), Some(number));
        }

        #[test]
        fn no_operation_panics(a in any::<i128>(), b in any::<i128>(), e in -400_i32..400, f in -400_i32..400) {
            if let (Some(a), Some(b)) = (Number::new(a, e), Number::new(b, f)) {
                let _ = (a.add(b), a.sub(b), a.mul(b), a.div(b), a.rem(b), a.compare(b), a.floor(), a.ceil());
                let _ = (a.to_i64(), a.to_f64(), a.to_string());
            }
        }
    }
}
