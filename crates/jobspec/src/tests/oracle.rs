//! Random expressions, evaluated here and by hcl-rs.
//!
//! Where hcl-rs has a value, ours is the same. It differs by design, and the expressions keep clear of it, in:
//!
//! - numbers: it counts in binary fractions and panics at `1 % 0`; HCL2 counts in decimals (`0.1 + 0.2` is `0.3`);
//! - conversions: it has none (`1 + "2"` is an error there, and 3 in HCL2);
//! - escapes in quotes within `%{ … }`: it keeps them as they are written, HCL2 resolves them there too;
//! - functions: it has none of its own, so each of ours has cases from the language's documentation instead;
//! - unknown names, `try`, `can` and `type` expressions, which it does not know as Nomad does.

use proptest::prelude::*;
use serde_json::Value;

use super::{config, file};
use crate::{Input, parse};

fn theirs(expression: &str) -> Option<Value> {
    use hcl::eval::{Context, Evaluate};
    let parsed: hcl::Expression = expression.parse().ok()?;
    let value = parsed.evaluate(&Context::new()).ok()?;
    serde_json::to_value(value).ok()
}

fn ours(expression: &str) -> Result<Value, String> {
    let text = file("", &format!("x = {expression}"));
    parse(&Input::new("job.hcl", &text)).map(|parsed| config(parsed)["x"].clone()).map_err(|why| why.to_string())
}

fn number() -> BoxedStrategy<String> {
    let leaf = (-20_i64..20).prop_map(|n| if n < 0 { format!("({n})") } else { n.to_string() });
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["+", "-", "*"]), inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            (condition(inner.clone()), inner.clone(), inner.clone())
                .prop_map(|(condition, yes, no)| format!("({condition} ? {yes} : {no})")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|items| format!("[{}][0]", items.join(", "))),
            inner.clone().prop_map(|n| format!("{{ a = {n}, b = 1 }}.a")),
            (inner.clone(), inner).prop_map(|(one, two)| format!("[for x in [{one}, {two}] : x + 1][1]")),
        ]
    })
    .boxed()
}

fn condition(number: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = String> {
    let operators = vec!["==", "!=", "<", "<=", ">", ">="];
    prop_oneof![
        (number.clone(), prop::sample::select(operators), number.clone())
            .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
        number.prop_map(|n| format!("!({n} > 0 && true || false)")),
    ]
}

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        number(),
        condition(number()),
        number().prop_map(|n| format!("\"a${{{n}}}b\"")),
        number().prop_map(|n| format!("\"%{{ if {n} > 0 }}up%{{ else }}down%{{ endif }}\"")),
        prop::collection::vec(number(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        prop::collection::vec(number(), 0..4)
            .prop_map(|items| format!("\"%{{ for x in [{}] ~}} ${{x}}, %{{ endfor }}\"", items.join(", "))),
        prop::collection::vec(number(), 0..4)
            .prop_map(|items| format!("{{ for i, x in [{}] : \"k${{i}}\" => x if x != 3 }}", items.join(", "))),
        prop::collection::vec(number(), 1..4).prop_map(|items| {
            let items: Vec<String> = items.iter().map(|item| format!("{{ n = {item} }}")).collect();
            format!("[{}][*].n", items.join(", "))
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn what_hcl_rs_evaluates_is_evaluated_alike(expression in any_value()) {
        let theirs = theirs(&expression);
        prop_assert!(theirs.is_some(), "hcl-rs does not evaluate {}", expression);
        prop_assert_eq!(ours(&expression).ok(), theirs, "{}", expression);
    }
}
