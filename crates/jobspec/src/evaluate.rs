//! Evaluates expressions over a scope.
//!
//! - E1: a name that is no variable of the file is not an error: its text comes out as `${…}`, for the node to fill in.
//! - E2: work is bounded: an expression that asks for too much is an error, whatever it says.
//! - E3: every error has the place of the part that caused it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use hcl_edit::Span;
use hcl_edit::expr::{Conditional, Expression, ForExpr, FuncCall, Object, ObjectKey, Traversal, TraversalOperator};
use longshore_values::{Diagnostic, nearest};
use sha2::{Digest, Sha256};

use crate::functions::{self, Context};
use crate::number::Number;
use crate::source::Source;
use crate::types::Type;
use crate::value::Value;
use crate::{Files, operators};

/// How much one text may make us do, in units: one for each element and each byte of text that is made, and more for each
/// expression and block.
const WORK_MAX: u64 = 8_000_000;
/// The units of one expression.
const WORK_OF_EXPRESSION: usize = 8;
/// How many expressions may wait for each other; the parser's own limits keep one expression below it.
const DEPTH_MAX: u32 = 240;

/// Why there is no value.
#[derive(Debug)]
pub(crate) enum Trouble {
    New(Box<Diagnostic>),
    /// The cause has been told already, at another place.
    Told,
}

pub(crate) type Outcome<T> = Result<T, Trouble>;

impl From<Diagnostic> for Trouble {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::New(Box::new(diagnostic))
    }
}

/// Work and chance that are left, shared by all evaluators of one parse.
pub(crate) struct Budget {
    work: Cell<u64>,
    seed: Option<[u8; 32]>,
    drawn: Cell<u64>,
    end_is_told: Cell<bool>,
}

impl Budget {
    pub(crate) fn new(seed: Option<[u8; 32]>) -> Self {
        Self { work: Cell::new(WORK_MAX), seed, drawn: Cell::new(0), end_is_told: Cell::new(false) }
    }

    /// Bytes that nobody can foresee who does not know the seed; others at each call.
    pub(crate) fn chance(&self) -> Result<[u8; 32], String> {
        let seed = self.seed.ok_or("whoever reads this file brings no chance")?;
        let drawn = self.drawn.get();
        self.drawn.set(drawn.wrapping_add(1));
        Ok(Sha256::new().chain_update(seed).chain_update(drawn.to_be_bytes()).finalize().into())
    }

    fn is_spent(&self) -> bool {
        self.work.get() == 0
    }

    pub(crate) fn charge(&self, units: usize) -> Result<(), String> {
        match self.work.get().checked_sub(units as u64) {
            Some(left) => {
                self.work.set(left);
                Ok(())
            }
            None => {
                self.work.set(0);
                Err(format!(
                    "the file's blocks and expressions make more than {WORK_MAX} steps and bytes, the limit of a job file"
                ))
            }
        }
    }
}

/// Names that `for` and `dynamic` bring, innermost first.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    parent: Option<Rc<Scope>>,
    names: Vec<(String, Value)>,
}

impl Scope {
    pub(crate) fn within(parent: &Rc<Self>, names: Vec<(String, Value)>) -> Rc<Self> {
        Rc::new(Self { parent: Some(parent.clone()), names })
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if let Some((_, value)) = here.names.iter().find(|(known, _)| known == name) {
                return Some(value);
            }
            scope = here.parent.as_deref();
        }
        None
    }
}

/// A local value: its expression until it is asked for.
#[derive(Debug, Clone)]
enum Local<'a> {
    Waiting(&'a Expression),
    UnderWay,
    Done(Value),
    Failed,
}

/// What expressions of one text can see.
pub(crate) struct Evaluator<'a> {
    pub(crate) source: &'a Source,
    pub(crate) budget: &'a Budget,
    pub(crate) variables: BTreeMap<String, Value>,
    /// Variables that are declared but have no value, whose trouble has been told.
    pub(crate) failed_variables: Vec<String>,
    pub(crate) files: Option<&'a dyn Files>,
    pub(crate) warnings: RefCell<Vec<Diagnostic>>,
    locals: RefCell<BTreeMap<String, Local<'a>>>,
    /// What no `try` or `can` may hide, until it is told: local values that fail, and the end of the work.
    pub(crate) faults: RefCell<Vec<Diagnostic>>,
    depth: Cell<u32>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(source: &'a Source, budget: &'a Budget, files: Option<&'a dyn Files>) -> Self {
        Self {
            source,
            budget,
            variables: BTreeMap::new(),
            failed_variables: Vec::new(),
            files,
            warnings: RefCell::new(Vec::new()),
            locals: RefCell::new(BTreeMap::new()),
            faults: RefCell::new(Vec::new()),
            depth: Cell::new(0),
        }
    }

    /// Makes a local value known; `false` when there is one of this name.
    pub(crate) fn add_local(&self, name: &str, expression: &'a Expression) -> bool {
        self.locals.borrow_mut().insert(name.to_owned(), Local::Waiting(expression)).is_none()
    }

    pub(crate) fn local_names(&self) -> Vec<String> {
        self.locals.borrow().keys().cloned().collect()
    }

    pub(crate) fn at(&self, span: Option<Range<usize>>, diagnostic: Diagnostic) -> Trouble {
        match span {
            Some(span) => diagnostic.at(self.source.place(span)).into(),
            None => diagnostic.into(),
        }
    }

    pub(crate) fn fail(&self, span: Option<Range<usize>>, summary: impl Into<String>) -> Trouble {
        self.at(span, Diagnostic::error(summary))
    }

    /// That there is no work left is told once, whatever tries to go on.
    pub(crate) fn charge(&self, span: Option<Range<usize>>, units: usize) -> Outcome<()> {
        self.budget.charge(units).map_err(|why| {
            if !self.budget.end_is_told.replace(true)
                && let Trouble::New(told) = self.fail(span, why)
            {
                self.faults.borrow_mut().push(*told);
            }
            Trouble::Told
        })
    }

    pub(crate) fn evaluate(&self, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        self.charge(expression.span(), WORK_OF_EXPRESSION)?;
        let depth = self.depth.get();
        if depth >= DEPTH_MAX {
            return Err(
                self.fail(expression.span(), format!("expressions wait for each other more than {DEPTH_MAX} deep"))
            );
        }
        self.depth.set(depth + 1);
        let outcome = self.evaluate_kind(expression, scope);
        self.depth.set(depth);
        outcome
    }

    fn evaluate_kind(&self, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        match expression {
            Expression::Null(_) => Ok(Value::Null),
            Expression::Bool(value) => Ok(Value::Bool(*value.value())),
            Expression::Number(number) => {
                let text = number.as_repr().map_or_else(|| number.value().to_string(), |repr| repr.to_string());
                let read = Number::parse(text.trim());
                read.map(Value::Number)
                    .ok_or_else(|| self.fail(expression.span(), format!("{text} is too large a number")))
            }
            Expression::String(text) => Ok(Value::text(text.value().as_str())),
            Expression::Array(items) => {
                items.iter().map(|item| self.evaluate(item, scope)).collect::<Outcome<Vec<_>>>().map(Value::list)
            }
            Expression::Object(object) => self.object(object, scope),
            Expression::StringTemplate(template) => self.quoted_template(template, scope),
            Expression::HeredocTemplate(heredoc) => self.heredoc(heredoc, scope).map(Value::from),
            Expression::Parenthesis(inner) => self.evaluate(inner.inner(), scope),
            Expression::Variable(name) => Ok(self.name(name, expression, scope)),
            Expression::Conditional(conditional) => self.conditional(conditional, scope),
            Expression::FuncCall(call) => self.call(call, expression, scope),
            Expression::Traversal(traversal) => self.traversal(traversal, expression, scope),
            Expression::UnaryOp(operation) => {
                let value = self.evaluate(&operation.expr, scope)?;
                let result = operators::unary(*operation.operator.value(), &value);
                result.map_err(|why| self.fail(expression.span(), why))
            }
            Expression::BinaryOp(operation) => {
                let left = self.evaluate(&operation.lhs_expr, scope)?;
                if let Some(decided) = operators::decided_by_left(*operation.operator.value(), &left) {
                    return Ok(decided);
                }
                let right = self.evaluate(&operation.rhs_expr, scope)?;
                let result = operators::binary(*operation.operator.value(), &left, &right);
                result.map_err(|why| self.fail(expression.span(), why))
            }
            Expression::ForExpr(for_expression) => self.for_expression(for_expression, scope),
        }
    }

    /// The source text of an expression, as E1 needs it.
    fn text_of(&self, expression: &Expression) -> String {
        match expression.span().and_then(|span| self.source.slice(span)) {
            Some(text) => text.trim().to_owned(),
            None => expression.to_string().trim().to_owned(),
        }
    }

    /// E1, with a warning where a root of the file's own was probably meant.
    fn unknown(&self, root: &str, expression: &Expression) -> Value {
        let text = self.text_of(expression);
        let meant = match root {
            "vars" | "variable" | "variables" => Some("var"),
            "locals" => Some("local"),
            _ => None,
        };
        if let Some(meant) = meant {
            let told = Diagnostic::warning(format!("${{{text}}} is left as it is written, for the node to fill in"));
            let told = told.hint(format!("did you mean `{meant}.…`?"));
            if let Trouble::New(warning) = self.at(expression.span(), told) {
                self.warnings.borrow_mut().push(*warning);
            }
        }
        Value::text(format!("${{{text}}}"))
    }

    fn name(&self, name: &str, expression: &Expression, scope: &Rc<Scope>) -> Value {
        match (scope.get(name), name) {
            (Some(value), _) => value.clone(),
            (None, "var") => Value::object(self.variables.clone()),
            _ => self.unknown(name, expression),
        }
    }

    fn object(&self, object: &Object, scope: &Rc<Scope>) -> Outcome<Value> {
        let mut items = BTreeMap::new();
        for (key, value) in object {
            let name = match key {
                ObjectKey::Ident(name) => name.value().as_str().to_owned(),
                ObjectKey::Expression(key) => {
                    let told = self.evaluate(key, scope)?;
                    let text = told.to_text();
                    let text = text.ok_or_else(|| {
                        self.fail(key.span(), format!("a key of an object must be a string, not {}", told.kind()))
                    })?;
                    text.to_string()
                }
            };
            items.insert(name, self.evaluate(value.expr(), scope)?);
        }
        Ok(Value::object(items))
    }

    fn conditional(&self, conditional: &Conditional, scope: &Rc<Scope>) -> Outcome<Value> {
        let condition = self.evaluate(&conditional.cond_expr, scope)?;
        match condition.to_bool() {
            Some(true) => self.evaluate(&conditional.true_expr, scope),
            Some(false) => self.evaluate(&conditional.false_expr, scope),
            None => Err(self.fail(
                conditional.cond_expr.span(),
                format!("the condition must be true or false, not {}", condition.kind()),
            )),
        }
    }

    fn call(&self, call: &FuncCall, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        let name = call.name.name.value().as_str();
        match name {
            "try" => return self.try_each(call, expression, scope),
            "can" => {
                let worked = call.args.iter().all(|argument| self.evaluate(argument, scope).is_ok());
                return Ok(Value::Bool(worked && !call.args.is_empty()));
            }
            "convert" => return self.convert(call, expression, scope),
            _ => {}
        }
        let mut arguments = Vec::with_capacity(call.args.len());
        for argument in &call.args {
            arguments.push(self.evaluate(argument, scope)?);
        }
        if call.args.expand_final() {
            match arguments.pop() {
                Some(Value::List(items)) => arguments.extend(items.iter().cloned()),
                _ => return Err(self.fail(expression.span(), "only a list can be spread with `...`")),
            }
        }
        let context = Context { budget: self.budget, files: self.files };
        functions::call(name, &context, &arguments).map_err(|problem| match problem {
            functions::Problem::Unknown { hint } => {
                let mut told = Diagnostic::error(format!("there is no function {name:?}"));
                told.hint = hint;
                self.at(call.name.name.span().or_else(|| expression.span()), told)
            }
            functions::Problem::Failed(_) if self.budget.is_spent() => {
                // The function has used up the work: told as the end of it, not as the function's failure.
                self.charge(expression.span(), 1).err().unwrap_or(Trouble::Told)
            }
            functions::Problem::Failed(why) => self.fail(expression.span(), format!("{name}: {why}")),
        })
    }

    fn try_each(&self, call: &FuncCall, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        let mut last = self.fail(expression.span(), "try: needs at least one expression");
        for argument in &call.args {
            match self.evaluate(argument, scope) {
                Ok(value) => return Ok(value),
                Err(trouble) => last = trouble,
            }
        }
        Err(last)
    }

    fn convert(&self, call: &FuncCall, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        let (Some(value), Some(wanted), 2) = (call.args.get(0), call.args.get(1), call.args.len()) else {
            return Err(
                self.fail(expression.span(), "convert: needs a value and a type, such as `convert(x, list(string))`")
            );
        };
        let value = self.evaluate(value, scope)?;
        let wanted = Type::read(wanted).map_err(|(span, why)| self.fail(span, why))?;
        wanted.convert(&value).map_err(|why| self.fail(expression.span(), format!("convert: {why}")))
    }

    fn traversal(&self, traversal: &Traversal, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        let operators: Vec<&TraversalOperator> = traversal.operators.iter().map(|operator| operator.value()).collect();
        let Expression::Variable(root) = &traversal.expr else {
            let value = self.evaluate(&traversal.expr, scope)?;
            return self.follow(value, &operators, expression, scope);
        };
        let root = root.value().as_str();
        if let Some(value) = scope.get(root) {
            return self.follow(value.clone(), &operators, expression, scope);
        }
        let (Some(first), rest) = (operators.first(), operators.get(1..).unwrap_or(&[])) else {
            return Ok(self.name(root, expression, scope));
        };
        let key = match first {
            TraversalOperator::GetAttr(key) => key.value().as_str().to_owned(),
            TraversalOperator::Index(Expression::String(key)) => key.value().clone(),
            _ => return Ok(self.unknown(root, expression)),
        };
        let value = match root {
            "var" => self.variable(&key, expression)?,
            "local" => self.local(&key, expression)?,
            _ => return Ok(self.unknown(root, expression)),
        };
        self.follow(value, rest, expression, scope)
    }

    fn variable(&self, name: &str, expression: &Expression) -> Outcome<Value> {
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        if self.failed_variables.iter().any(|failed| failed == name) {
            return Err(Trouble::Told);
        }
        let mut told = Diagnostic::error(format!("there is no variable {name:?}"));
        told.hint = match nearest(name, self.variables.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `var.{near}`?"),
            None => format!("declare it with `variable \"{name}\" {{}}` at the top of the file"),
        };
        Err(self.at(expression.span(), told))
    }

    pub(crate) fn local(&self, name: &str, expression: &Expression) -> Outcome<Value> {
        let state = self.locals.borrow().get(name).cloned();
        match state {
            Some(Local::Done(value)) => Ok(value),
            Some(Local::Failed) => Err(Trouble::Told),
            Some(Local::UnderWay) => {
                if let Trouble::New(told) = self.fail(expression.span(), format!("local.{name} depends on itself")) {
                    self.faults.borrow_mut().push(*told);
                }
                Err(Trouble::Told)
            }
            Some(Local::Waiting(waiting)) => {
                self.locals.borrow_mut().insert(name.to_owned(), Local::UnderWay);
                let outcome = self.evaluate(waiting, &Rc::default());
                let state = outcome.as_ref().map_or(Local::Failed, |value| Local::Done(value.clone()));
                self.locals.borrow_mut().insert(name.to_owned(), state);
                outcome.map_err(|trouble| {
                    if let Trouble::New(diagnostic) = trouble {
                        self.faults.borrow_mut().push(*diagnostic);
                    }
                    Trouble::Told
                })
            }
            None => {
                let known = self.local_names();
                let mut told = Diagnostic::error(format!("there is no local value {name:?}"));
                if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
                    told.hint = format!("did you mean `local.{near}`?");
                }
                Err(self.at(expression.span(), told))
            }
        }
    }

    fn follow(
        &self,
        value: Value,
        operators: &[&TraversalOperator],
        whole: &Expression,
        scope: &Rc<Scope>,
    ) -> Outcome<Value> {
        let Some((first, rest)) = operators.split_first() else { return Ok(value) };
        match first {
            TraversalOperator::GetAttr(name) => {
                let next = self.attribute(&value, name.value().as_str(), name.span().or_else(|| whole.span()))?;
                self.follow(next, rest, whole, scope)
            }
            TraversalOperator::LegacyIndex(index) => {
                let index = usize::try_from(*index.value()).unwrap_or(usize::MAX);
                self.follow(self.element(&value, &Number::from(index).into(), whole.span())?, rest, whole, scope)
            }
            TraversalOperator::Index(index) => {
                let key = self.evaluate(index, scope)?;
                self.follow(self.element(&value, &key, index.span().or_else(|| whole.span()))?, rest, whole, scope)
            }
            TraversalOperator::FullSplat(_) => self.splat(value, rest, &[], whole, scope),
            TraversalOperator::AttrSplat(_) => {
                let attributes = rest.iter().take_while(|next| matches!(next, TraversalOperator::GetAttr(_))).count();
                let (each, after) = rest.split_at(attributes);
                self.splat(value, each, after, whole, scope)
            }
        }
    }

    fn splat(
        &self,
        value: Value,
        each: &[&TraversalOperator],
        after: &[&TraversalOperator],
        whole: &Expression,
        scope: &Rc<Scope>,
    ) -> Outcome<Value> {
        let items = match value {
            Value::List(items) => items,
            Value::Null => Arc::new(Vec::new()),
            other => Arc::new(vec![other]),
        };
        self.charge(whole.span(), items.len())?;
        let items =
            items.iter().map(|item| self.follow(item.clone(), each, whole, scope)).collect::<Outcome<Vec<_>>>()?;
        self.follow(Value::list(items), after, whole, scope)
    }

    fn attribute(&self, value: &Value, name: &str, span: Option<Range<usize>>) -> Outcome<Value> {
        let Value::Object(items) = value else {
            let told = Diagnostic::error(format!("{} has no attribute {name:?}", value.kind()));
            let hint =
                if matches!(value, Value::List(_)) { "take one element with `[0]`, or all with `[*]`" } else { "" };
            return Err(self.at(span, told.hint(hint)));
        };
        if let Some(found) = items.get(name) {
            return Ok(found.clone());
        }
        let mut told = Diagnostic::error(format!("the object has no attribute {name:?}"));
        if let Some(near) = nearest(name, items.keys().map(String::as_str)) {
            told.hint = format!("did you mean {near:?}?");
        }
        Err(self.at(span, told))
    }

    fn element(&self, value: &Value, key: &Value, span: Option<Range<usize>>) -> Outcome<Value> {
        match value {
            Value::List(items) => {
                let index = key.to_number().and_then(Number::to_usize);
                index.and_then(|index| items.get(index)).cloned().ok_or_else(|| {
                    let key = key.to_text().unwrap_or_else(|| key.kind().into());
                    self.fail(span, format!("the list of {} has no element {key}", items.len()))
                })
            }
            Value::Object(_) => match key.to_text() {
                Some(name) => self.attribute(value, &name, span),
                None => Err(self.fail(span, format!("a key of an object must be a string, not {}", key.kind()))),
            },
            other => Err(self.fail(span, format!("{} has no elements", other.kind()))),
        }
    }

    /// The keys and values that `for` and `dynamic` walk over.
    pub(crate) fn elements(&self, collection: &Value, span: Option<Range<usize>>) -> Outcome<Vec<(Value, Value)>> {
        match collection {
            Value::List(items) => {
                Ok(items.iter().enumerate().map(|(at, item)| (Number::from(at).into(), item.clone())).collect())
            }
            Value::Object(items) => {
                Ok(items.iter().map(|(key, item)| (Value::text(key.as_str()), item.clone())).collect())
            }
            other => Err(self.fail(span, format!("{} cannot be walked over; a list or an object can", other.kind()))),
        }
    }

    fn for_expression(&self, expression: &ForExpr, scope: &Rc<Scope>) -> Outcome<Value> {
        let intro = &expression.intro;
        let collection = self.evaluate(&intro.collection_expr, scope)?;
        let mut list = Vec::new();
        let mut object: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (key, value) in self.elements(&collection, intro.collection_expr.span())? {
            let mut names = vec![(intro.value_var.value().as_str().to_owned(), value)];
            if let Some(key_name) = &intro.key_var {
                names.push((key_name.value().as_str().to_owned(), key));
            }
            let inner = Scope::within(scope, names);
            if let Some(condition) = &expression.cond {
                let told = self.evaluate(&condition.expr, &inner)?;
                match told.to_bool() {
                    Some(true) => {}
                    Some(false) => continue,
                    None => {
                        return Err(self.fail(
                            condition.expr.span(),
                            format!("the condition must be true or false, not {}", told.kind()),
                        ));
                    }
                }
            }
            let value = self.evaluate(&expression.value_expr, &inner)?;
            let Some(key_expression) = &expression.key_expr else {
                list.push(value);
                continue;
            };
            let key = self.evaluate(key_expression, &inner)?;
            let Some(key) = key.to_text() else {
                return Err(self.fail(key_expression.span(), format!("a key must be a string, not {}", key.kind())));
            };
            let group = object.entry(key.to_string()).or_default();
            if !group.is_empty() && !expression.grouping {
                let told = Diagnostic::error(format!("two elements make the key {key:?}"))
                    .hint("write `...` after the value to collect them in a list");
                return Err(self.at(key_expression.span(), told));
            }
            group.push(value);
        }
        if expression.key_expr.is_none() {
            return Ok(Value::list(list));
        }
        let grouped = object.into_iter().map(|(key, mut values)| match (expression.grouping, values.pop()) {
            (false, Some(only)) => (key, only),
            (_, last) => (key, Value::list(values.into_iter().chain(last).collect())),
        });
        Ok(Value::object(grouped.collect()))
    }
}
