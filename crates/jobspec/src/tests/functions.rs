//! Every function and operator, with what the language's public documentation says it gives.
//!
//! A row is an expression, `⇒` and its value as JSON, or `!` and a part of the error. Values are those of the examples of
//! Terraform's and Nomad's function pages and of the HCL specification, or follow from what they say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{config, file};
use crate::{Files, Input, functions, parse};

/// A small tree of files, with a home folder.
struct Tree;

impl Files for Tree {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "hello.txt" => Ok(b"Hello World".to_vec()),
            "sub/a.txt" => Ok(b"a".to_vec()),
            "bytes.bin" => Ok(vec![0xff, 0x00]),
            _ => Err(format!("{path} does not exist")),
        }
    }
    fn exists(&self, path: &str) -> Result<bool, String> {
        if path == "sub" { Err("sub is not a regular file".to_owned()) } else { Ok(self.read(path).is_ok()) }
    }
    fn absolute(&self, path: &str) -> Result<String, String> {
        Ok(if path.starts_with('/') { path.to_owned() } else { format!("/home/steve/{path}") })
    }
    fn expand_home(&self, path: &str) -> Result<String, String> {
        Ok(path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("/home/steve{rest}")))
    }
    fn matching(&self, folder: &str, glob: &str) -> Result<Vec<String>, String> {
        Ok(match (folder, glob) {
            (".", "*.txt") => vec!["hello.txt".to_owned()],
            (".", "**/*.txt") => vec!["hello.txt".to_owned(), "sub/a.txt".to_owned()],
            _ => Vec::new(),
        })
    }
}

fn evaluate(expression: &str) -> Result<Value, String> {
    let text = file("", &format!("x = {expression}"));
    let input = Input { files: Some(&Tree), seed: Some([7; 32]), ..Input::new("job.hcl", &text) };
    match parse(&input) {
        Ok(parsed) => Ok(config(parsed)["x"].clone()),
        Err(why) => Err(why.diagnostics.iter().map(|one| one.summary.as_str()).collect::<Vec<_>>().join("; ")),
    }
}

#[test]
fn functions_and_operators_give_what_the_documentation_says() {
    let mut wrong = Vec::new();
    let rows = ROWS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for row in rows {
        if let Some((expression, expected)) = row.split_once(" ⇒ ") {
            let expected: Value = serde_json::from_str(expected).unwrap_or_else(|why| panic!("{row}: {why}"));
            let got = evaluate(expression);
            if got.as_ref() != Ok(&expected) {
                wrong.push(format!("{expression}\n  expected {expected}\n  got      {got:?}"));
            }
        } else if let Some((expression, expected)) = row.split_once(" ! ") {
            let got = evaluate(expression);
            if !got.as_ref().is_err_and(|why| why.contains(expected)) {
                wrong.push(format!("{expression}\n  expected the error {expected}\n  got {got:?}"));
            }
        } else {
            panic!("{row} is no row");
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_function_and_operator_has_three_rows() {
    let mut counts: BTreeMap<String, usize> = functions::names().map(|name| (format!("{name}("), 0)).collect();
    for operator in [" + ", " - ", " * ", " / ", " % ", " == ", " != ", " < ", " <= ", " > ", " >= ", " && ", " || "] {
        counts.insert(operator.to_owned(), 0);
    }
    for operator in ["!", "-", " ? ", "[*]", ".*.", "[for ", "{ for ", "%{ if", "%{ for", "${", "..."] {
        counts.insert(operator.to_owned(), 0);
    }
    for row in ROWS.lines().filter(|line| !line.starts_with('#')) {
        for (name, count) in &mut counts {
            let is_function = name.ends_with('(') && name.len() > 1;
            let mut found = row.match_indices(name.as_str());
            let before = |at: usize| row.get(..at).and_then(|text| text.chars().next_back());
            let whole = |at: usize| !is_function || !before(at).is_some_and(|c| c.is_alphanumeric() || c == '_');
            *count += usize::from(found.any(|(at, _)| whole(at)));
        }
    }
    let few: Vec<_> = counts.iter().filter(|(_, count)| **count < 3).collect();
    assert!(few.is_empty(), "{few:?}");
}

#[test]
fn chance_needs_a_seed_and_is_new_at_each_call() {
    let text = file("", "x = [uuidv4(), uuidv4(), bcrypt(\"a\", 4)]");
    let told = parse(&Input::new("job.hcl", &text)).unwrap_err().to_string();
    assert!(told.contains("uuidv4: whoever reads this file brings no chance"), "{told}");
    let drawn =
        |seed: u8| config(parse(&Input { seed: Some([seed; 32]), ..Input::new("j", &text) }).unwrap())["x"].clone();
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1)[0], drawn(1)[1]);
    assert_ne!(drawn(1)[2], drawn(2)[2]);
}

/// Arguments of `try` and `can` are evaluated one after the other, and only as far as they are needed.
#[test]
fn what_try_skips_is_not_worked_for() {
    let endless = "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : 1]]]";
    assert_eq!(evaluate(&format!("try(1, {endless})")), Ok(1.into()));
    assert!(evaluate(&format!("try({endless}, 1)")).is_err(), "work that is used up stays used up");
}

const ROWS: &str = r##"
# Operators
1 + 2 ⇒ 3
1 + "2" ⇒ 3
0.1 + 0.2 ⇒ 0.3
1 + null ! null where a number is needed
5 - 3 ⇒ 2
3 - 5 ⇒ -2
"7" - "2" ⇒ 5
2 * 3 ⇒ 6
"5" * 2 ⇒ 10
0.5 * 4 ⇒ 2
7 / 2 ⇒ 3.5
10 / 5 ⇒ 2
"9" / 3 ⇒ 3
1 / 0 ! division by zero
7 % 4 ⇒ 3
8 % 4 ⇒ 0
5 % 3.5 ⇒ 1.5
1 % 0 ! division by zero
1 == 1 ⇒ true
1 == "1" ⇒ false
[1, 2] == [1, 2] ⇒ true
null == null ⇒ true
1 != 2 ⇒ true
"a" != "a" ⇒ false
true != "true" ⇒ true
1 < 2 ⇒ true
2 < 1 ⇒ false
"3" < 10 ⇒ true
1 <= 1 ⇒ true
2 <= 1 ⇒ false
1.5 <= 2 ⇒ true
2 > 1 ⇒ true
1 > 1 ⇒ false
"10" > 9 ⇒ true
"a" > "b" ! the string "a" where a number is needed
1 >= 1 ⇒ true
1 >= 2 ⇒ false
2.5 >= 2 ⇒ true
true && true ⇒ true
true && false ⇒ false
"true" && true ⇒ true
1 && true ! a number where true or false is needed
false || true ⇒ true
false || false ⇒ false
"false" || "true" ⇒ true
!true ⇒ false
!false ⇒ true
!"false" ⇒ true
-5 ⇒ -5
-"5" ⇒ -5
-(-5) ⇒ 5
1 + 2 * 3 ⇒ 7
(1 + 2) * 3 ⇒ 9
1 + 1 == 2 && !false ⇒ true
true ? "a" : "b" ⇒ "a"
1 > 2 ? "a" : "b" ⇒ "b"
"true" ? 1 : (1 / 0) ⇒ 1
5 ? 1 : 2 ! the condition must be true or false
# Collections and traversal
[1, 2, 3][1] ⇒ 2
{ a = 1, "b c" = 2, (upper("d")) : 3 } ⇒ {"a": 1, "b c": 2, "D": 3}
{ a = { b = [5] } }.a.b[0] ⇒ 5
{ a = 1 }["a"] ⇒ 1
[1][7] ! has no element 7
[{ n = 1 }, { n = 2 }][*].n ⇒ [1, 2]
{ n = 1 }[*].n ⇒ [1]
null[*] ⇒ []
[[1, 2], [3]][*][0] ⇒ [1, 3]
[{ n = 1 }, { n = 2 }].*.n ⇒ [1, 2]
[{ n = { m = 1 } }].*.n.m ⇒ [1]
{ n = 3 }.*.n ⇒ [3]
# For
[for x in ["a", "b"] : upper(x)] ⇒ ["A", "B"]
[for i, x in ["a", "b"] : "${i}${x}"] ⇒ ["0a", "1b"]
[for k, v in { b = 2, a = 1 } : "${k}${v}" if v > 1] ⇒ ["b2"]
[for x in 5 : x] ! cannot be walked over
{ for x in ["a", "b"] : x => upper(x) } ⇒ {"a": "A", "b": "B"}
{ for k, v in { a = 1, b = 2 } : v => k } ⇒ {"1": "a", "2": "b"}
{ for x in ["ab", "ac", "b"] : substr(x, 0, 1) => x... } ⇒ {"a": ["ab", "ac"], "b": ["b"]}
{ for x in [1, 1] : x => x } ! two elements make the key "1"
# Templates
"Hello, ${"World"}!" ⇒ "Hello, World!"
"${1 + 1}" ⇒ 2
"n${1 + 1}" ⇒ "n2"
"$${literal} %%{also}" ⇒ "${literal} %{also}"
"a ${~ 1 ~} b" ⇒ "a1b"
"${[1]}x" ! a list cannot stand in a text
"%{ if true }yes%{ else }no%{ endif }" ⇒ "yes"
"%{ if false }yes%{ endif }" ⇒ ""
"%{ if 1 > 2 }a%{ else }b%{ endif }" ⇒ "b"
"%{ for x in ["a", "b"] }<${x}>%{ endfor }" ⇒ "<a><b>"
"%{ for i, x in ["a", "b"] }${i}${x} %{ endfor }" ⇒ "0a 1b "
"%{ for x in [] }x%{ endfor }" ⇒ ""
# Numbers
abs(23) ⇒ 23
abs(0) ⇒ 0
abs(-12.4) ⇒ 12.4
ceil(5) ⇒ 5
ceil(5.1) ⇒ 6
ceil(-1.5) ⇒ -1
floor(5) ⇒ 5
floor(4.9) ⇒ 4
floor(-1.5) ⇒ -2
log(50, 10) ⇒ 1.6989700043360185
log(16, 2) ⇒ 4
log(1, 10) ⇒ 0
log(0, 10) ! no number that can be kept
max(12, 54, 3) ⇒ 54
max([12, 54, 3]...) ⇒ 54
max(-1, -2) ⇒ -1
max() ! takes at least 1 arguments
min(12, 54, 3) ⇒ 3
min([12, 54, 3]...) ⇒ 3
min("2", 1.5) ⇒ 1.5
concat([[1], [2]]...) ⇒ [1, 2]
parseint("100", 10) ⇒ 100
parseint("FF", 16) ⇒ 255
parseint("-10", 16) ⇒ -16
parseint("1011111011101111", 2) ⇒ 48879
parseint("aA", 62) ⇒ 656
parseint("12", 2) ! is no number of base 2
pow(3, 2) ⇒ 9
pow(4, 0) ⇒ 1
pow(2, -1) ⇒ 0.5
signum(-13) ⇒ -1
signum(0) ⇒ 0
signum(344) ⇒ 1
# Texts
chomp("hello\n") ⇒ "hello"
chomp("hello\r\n") ⇒ "hello"
chomp("hello\n\n") ⇒ "hello"
format("Hello, %s!", "Ander") ⇒ "Hello, Ander!"
format("There are %d lights", 4) ⇒ "There are 4 lights"
format("%05d|%-4d|%+d", 42, 7, 3) ⇒ "00042|7   |+3"
format("%#v", "hello") ⇒ "\"hello\""
format("%v", [1, "a", true]) ⇒ "[1,\"a\",true]"
format("%5.2f|%e|%t|%%|%q", 3.14159, 12345.678, true, "a b") ⇒ " 3.14|1.234568e+04|true|%|\"a b\""
format("%b %o %x %X", 5, 8, 255, 255) ⇒ "101 10 ff FF"
format("%[2]s %[1]s", "a", "b") ⇒ "b a"
format("%s") ! no argument for verb 1
format("%d", "x") ! needs a number
formatlist("Hello, %s!", ["Valentina", "Ander", "Olivia", "Sam"]) ⇒ ["Hello, Valentina!", "Hello, Ander!", "Hello, Olivia!", "Hello, Sam!"]
formatlist("%s, %s!", "Salutations", ["Valentina", "Ander"]) ⇒ ["Salutations, Valentina!", "Salutations, Ander!"]
formatlist("%s-%d", ["a", "b"], [1, 2]) ⇒ ["a-1", "b-2"]
formatlist("%s-%d", ["a", "b"], [1]) ! must be of one length
indent(2, "[\n  foo,\n]\n") ⇒ "[\n    foo,\n  ]\n  "
indent(4, "a") ⇒ "a"
indent(0, "a\nb") ⇒ "a\nb"
join(", ", ["foo", "bar", "baz"]) ⇒ "foo, bar, baz"
join(", ", ["foo"]) ⇒ "foo"
join("-", ["a"], ["b", 1]) ⇒ "a-b-1"
lower("HELLO") ⇒ "hello"
lower("АЛЛО!") ⇒ "алло!"
lower("a1") ⇒ "a1"
upper("hello") ⇒ "HELLO"
upper("алло!") ⇒ "АЛЛО!"
upper("a1") ⇒ "A1"
regex_replace("hello world", "w.*d", "everybody") ⇒ "hello everybody"
regex_replace("ab12", "([a-z]+)([0-9]+)", "$2$1") ⇒ "12ab"
regex_replace("aaa", "b", "c") ⇒ "aaa"
regex_replace("a", "(", "") ! is no regular expression
replace("1 + 2 + 3", "+", "-") ⇒ "1 - 2 - 3"
replace("hello", "l", "") ⇒ "heo"
replace("abc", "x", "y") ⇒ "abc"
split(",", "foo,bar,baz") ⇒ ["foo", "bar", "baz"]
split(",", "foo") ⇒ ["foo"]
split(",", "") ⇒ [""]
split("", "abc") ⇒ ["a", "b", "c"]
strlen("hello") ⇒ 5
strlen("") ⇒ 0
strlen("👾🕹️") ⇒ 2
strrev("hello") ⇒ "olleh"
strrev("a") ⇒ "a"
strrev("☃ab") ⇒ "ba☃"
substr("hello world", 1, 4) ⇒ "ello"
substr("hello world", -5, -1) ⇒ "world"
substr("hello world", 6, 10) ⇒ "world"
title("hello world") ⇒ "Hello World"
title("a-b c_d") ⇒ "A-B C_d"
title("") ⇒ ""
trim("?!hello?!", "!?") ⇒ "hello"
trim("foobar", "far") ⇒ "oob"
trim("   hello! world.!  ", "! ") ⇒ "hello! world."
trimprefix("helloworld", "hello") ⇒ "world"
trimprefix("helloworld", "cat") ⇒ "helloworld"
trimprefix("--hello", "-") ⇒ "-hello"
trimspace("  hello\n\n") ⇒ "hello"
trimspace("hello") ⇒ "hello"
trimspace("\t a b \r\n") ⇒ "a b"
trimsuffix("helloworld", "world") ⇒ "hello"
trimsuffix("helloworld", "cat") ⇒ "helloworld"
trimsuffix("hello--", "-") ⇒ "hello-"
# Collections
chunklist(["a", "b", "c", "d", "e"], 2) ⇒ [["a", "b"], ["c", "d"], ["e"]]
chunklist(["a", "b", "c", "d", "e"], 1) ⇒ [["a"], ["b"], ["c"], ["d"], ["e"]]
chunklist([], 2) ⇒ []
coalesce("a", "b") ⇒ "a"
coalesce("", "b") ⇒ "b"
coalesce(null, 2) ⇒ 2
coalesce(null, "") ! all values are null or empty
coalescelist(["a", "b"], ["c", "d"]) ⇒ ["a", "b"]
coalescelist([], ["c", "d"]) ⇒ ["c", "d"]
coalescelist([], []) ! all lists are empty
compact(["a", "", "b", "c"]) ⇒ ["a", "b", "c"]
compact([null, "a"]) ⇒ ["a"]
compact([]) ⇒ []
concat(["a", ""], ["b", "c"]) ⇒ ["a", "", "b", "c"]
concat(["a"]) ⇒ ["a"]
concat([], [], []) ⇒ []
contains(["a", "b", "c"], "a") ⇒ true
contains(["a", "b", "c"], "d") ⇒ false
contains([1, 2], 2) ⇒ true
distinct(["a", "b", "a", "c", "d", "b"]) ⇒ ["a", "b", "c", "d"]
distinct([1, 1]) ⇒ [1]
distinct([]) ⇒ []
element(["a", "b", "c"], 1) ⇒ "b"
element(["a", "b", "c"], 3) ⇒ "a"
element([], 0) ! the list is empty
element(["a"], -1) ! must not be negative
flatten([["a", "b"], [], ["c"]]) ⇒ ["a", "b", "c"]
flatten([[["a", "b"], []], ["c"]]) ⇒ ["a", "b", "c"]
flatten([]) ⇒ []
index(["a", "b", "c"], "b") ⇒ 1
index([5, 6], 5) ⇒ 0
index(["a"], "z") ! not in the list
keys({ a = 1, c = 2, d = 3 }) ⇒ ["a", "c", "d"]
keys({ b = 1, a = 2 }) ⇒ ["a", "b"]
keys({}) ⇒ []
length([]) ⇒ 0
length(["a", "b"]) ⇒ 2
length({ "a" = "b" }) ⇒ 1
length("hello") ⇒ 5
lookup({ a = "ay", b = "bee" }, "a", "what?") ⇒ "ay"
lookup({ a = "ay", b = "bee" }, "c", "what?") ⇒ "what?"
lookup({ a = 1 }, "b") ! has no key "b"
merge({ "a" = "b", "c" = "d" }, { "e" = "f", "c" = "z" }) ⇒ {"a": "b", "c": "z", "e": "f"}
merge({ a = 1 }, null) ⇒ {"a": 1}
merge({ a = { b = 1 } }, { a = { c = 2 } }) ⇒ {"a": {"c": 2}}
range(3) ⇒ [0, 1, 2]
range(1, 4) ⇒ [1, 2, 3]
range(1, 8, 2) ⇒ [1, 3, 5, 7]
range(1, 4, 0.5) ⇒ [1, 1.5, 2, 2.5, 3, 3.5]
range(4, 1) ⇒ [4, 3, 2]
range(10, 5, -2) ⇒ [10, 8, 6]
range(5000) ! more than 1024 numbers
reverse([1, 2, 3]) ⇒ [3, 2, 1]
reverse([]) ⇒ []
reverse(["a", 1]) ⇒ [1, "a"]
setintersection(["a", "b"], ["b", "c"], ["b", "d"]) ⇒ ["b"]
setintersection([1, 2], [3]) ⇒ []
setintersection(["z", "a"], ["a", "z"]) ⇒ ["a", "z"]
setproduct(["development", "staging"], ["app1", "app2"]) ⇒ [["development", "app1"], ["development", "app2"], ["staging", "app1"], ["staging", "app2"]]
setproduct(["a"], []) ⇒ []
setproduct([1], ["a"], [true]) ⇒ [[1, "a", true]]
setunion(["a", "b"], ["b", "c"], ["d"]) ⇒ ["a", "b", "c", "d"]
setunion([2], [1, 10]) ⇒ [1, 2, 10]
setunion([]) ⇒ []
slice(["a", "b", "c", "d"], 1, 3) ⇒ ["b", "c"]
slice([1, 2], 0, 0) ⇒ []
slice([1], 0, 2) ! there is no part
sort(["e", "d", "a", "x"]) ⇒ ["a", "d", "e", "x"]
sort(["b", "B", "a"]) ⇒ ["B", "a", "b"]
sort([]) ⇒ []
values({ a = 3, c = 2, d = 1 }) ⇒ [3, 2, 1]
values({ b = "x", a = "y" }) ⇒ ["y", "x"]
values({}) ⇒ []
zipmap(["a", "b"], [1, 2]) ⇒ {"a": 1, "b": 2}
zipmap([], []) ⇒ {}
zipmap(["a"], []) ! 1 keys, but 0 values
# Encodings
base64decode("SGVsbG8gV29ybGQ=") ⇒ "Hello World"
base64decode("") ⇒ ""
base64decode("?") ! no base64
base64encode("Hello World") ⇒ "SGVsbG8gV29ybGQ="
base64encode("") ⇒ ""
base64encode("é") ⇒ "w6k="
csvdecode("a,b,c\n1,2,3\n4,5,6") ⇒ [{"a": "1", "b": "2", "c": "3"}, {"a": "4", "b": "5", "c": "6"}]
csvdecode("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n") ⇒ [{"a": "x,y", "b": "say \"hi\""}]
csvdecode("a,b\n1\n") ! has 1 fields, the header 2
jsondecode("{\"hello\": \"world\"}") ⇒ {"hello": "world"}
jsondecode("true") ⇒ true
jsondecode("[1, 2.5, null]") ⇒ [1, 2.5, null]
jsondecode("{") ! no JSON
jsonencode({ "hello" = "world" }) ⇒ "{\"hello\":\"world\"}"
jsonencode("<a & b>") ⇒ "\"\\u003ca \\u0026 b\\u003e\""
jsonencode([1, true, null]) ⇒ "[1,true,null]"
urlencode("Hello World!") ⇒ "Hello+World%21"
urlencode("☃") ⇒ "%E2%98%83"
urlencode("foo:bar@localhost?foo=bar&bar=baz") ⇒ "foo%3Abar%40localhost%3Ffoo%3Dbar%26bar%3Dbaz"
yamldecode("hello: world") ⇒ {"hello": "world"}
yamldecode("true") ⇒ true
yamldecode("{a: &foo [1, 2, 3], b: *foo}") ⇒ {"a": [1, 2, 3], "b": [1, 2, 3]}
yamldecode("- a\n- 1.5\n- 0x1F\n- ~\n- \"5\"\n- 2026-11-30\n") ⇒ ["a", 1.5, 31, null, "5", "2026-11-30"]
yamldecode("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n") ⇒ {"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 3}}
yamldecode("text: |\n  one\n  two\n") ⇒ {"text": "one\ntwo\n"}
yamldecode("{a: &foo [1, *foo, 3]}") ! from inside its own definition
yamldecode("{a: !not-supported foo}") ! is not supported
yamldecode("a: 1\n---\nb: 2\n") ! more than one document
yamlencode({ "a" : "b", "c" : "d" }) ⇒ "\"a\": \"b\"\n\"c\": \"d\"\n"
yamlencode({ "foo" : [1, 2, 3], "bar" : "baz" }) ⇒ "\"bar\": \"baz\"\n\"foo\":\n- 1\n- 2\n- 3\n"
yamlencode({ "foo" : [1, { "a" : "b", "c" : "d" }, 3], "bar" : "baz" }) ⇒ "\"bar\": \"baz\"\n\"foo\":\n- 1\n- \"a\": \"b\"\n  \"c\": \"d\"\n- 3\n"
yamlencode({ a = {}, b = [], c = null, d = { e = true } }) ⇒ "\"a\": {}\n\"b\": []\n\"c\": null\n\"d\":\n  \"e\": true\n"
yamldecode(yamlencode({ a = "x\ny\n", b = " lead\nx", c = [[1, [2]], "z\n\n"] })) ⇒ {"a": "x\ny\n", "b": " lead\nx", "c": [[1, [2]], "z\n\n"]}
# Hashes and the like
md5("hello world") ⇒ "5eb63bbbe01eeed093cb22bb8f5acdc3"
md5("") ⇒ "d41d8cd98f00b204e9800998ecf8427e"
md5("a") ⇒ "0cc175b9c0f1b6a831c399e269772661"
sha1("hello world") ⇒ "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed"
sha1("") ⇒ "da39a3ee5e6b4b0d3255bfef95601890afd80709"
sha1("abc") ⇒ "a9993e364706816aba3e25717850c26c9cd0d89d"
sha256("hello world") ⇒ "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
sha256("") ⇒ "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
sha256("abc") ⇒ "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
sha512("hello world") ⇒ "309ecc489c12d6eb4cc40f50c902f2b4d0ed77ee511a7c7a9bcd3ca86d4cd86f989dd35bc5ff499670da34255b45b0cfd830e81f605dcf7dc5542e93ae9cd76f"
sha512("") ⇒ "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
sha512("abc") ⇒ "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
uuidv5("dns", "www.terraform.io") ⇒ "a5008fae-b28c-5ba5-96cd-82b4c53552d6"
uuidv5("url", "https://www.terraform.io/") ⇒ "9db6f67c-dd95-5ea0-aa5b-e70e5c5f7cf5"
uuidv5("oid", "1.3.6.1.4") ⇒ "af9d40a5-7a36-5c07-b23a-851cd99fbfa5"
uuidv5("x500", "CN=Example,C=GB") ⇒ "84e09961-4aa4-57f8-95b7-03edb1073253"
uuidv5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.terraform.io") ⇒ "a5008fae-b28c-5ba5-96cd-82b4c53552d6"
uuidv5("nowhere", "a") ! is no namespace
strlen(uuidv4()) ⇒ 36
substr(uuidv4(), 14, 1) ⇒ "4"
regex_replace(uuidv4(), "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "well formed") ⇒ "well formed"
uuidv4(1) ! takes 0 arguments
strlen(bcrypt("hello world", 4)) ⇒ 60
substr(bcrypt("hello world", 5), 0, 7) ⇒ "$2a$05$"
bcrypt("a", 31) ! the cost must be 4 to 14
rsadecrypt("m0rnTH8vWe3PeKfjvOphItnnxfV6k7dn81qCwaBP2x7gpkKyRy+P0+04hilKlu36Kst6yLfCLOjf3x6OPFGSkjLvyteUo1sdoD3bmtDIk4s8Xl0EYpupm4+QIyRxcSrkUVbkwKq8f0S6p7MzS40iuk+XjighEOY+hG6bGck+MJg=", "-----BEGIN RSA PRIVATE KEY-----\nMIICWwIBAAKBgQC0Qgt/6TSWZYuLsO5OoDehIaPAM8ebS2vzbGcRAKoRatGrS1Y8\nHoVaqUSdIiXkkP0/4leCLSqhkRX6nmG6PtwuYVyZ3TCEuerLh5/zyc2vZLFh6ZH4\nraWykOgrk8RkJjzFQVvV0NHvezLehYTsQg+5ffC/wJPjPrt7aAOrg8nHWQIDAQAB\nAoGADvIy9eYmQBonWevPtqE+O5QIedVRRaUZTFO+sAA4Gb2bqPJUMiPttri2Qbkl\nHzCObw+bZeXM1Rysj902CTVRGDu8R7RK3ZjQWQM+gzanTO1vgwF/mCO8x0HPF54y\n4uA1+rHwLLtBuaTnew9EZox6ccctWv1ipdaMR5n95w8aDgECQQDhYlRlTWAuERto\nnhWfqhtropnAo41eo/rqvRzLZdItkxg9tne83MbQM3TBwKDdau79uNqh8u2xNpbf\no65nUMe5AkEAzL53kTS+bNqja6G9gk5f1WvaG85moQfLgI6tS/kjHXaQqE3l+OUB\nKNMhdidUfcELoDNFMNShEu5p8ArDTluMoQJAa2lSMUkT2kB64HvecE5AbSZ7wevw\nFrdtgGuKCoFHDkM43UhVfiN1eIndTe1AfOVWaoKrZ1z/3GHYu1IlbsV3uQJAe2rg\nxk3l79YHpmyzwKWfzRWbPyG26aC6Qf8/ZUmDqlH7Nwjl9JeOkF5ckE169+bzLBlb\nvuidQ70lbMYAHu6+oQJAZkmYkPbUaMX78s5xZAd41Sv15m4tStmSjddo1Z4R6zSh\nz3BXB6eyRh3NYT9BPwA08MkXKb0ITfqZO60BHp2uRg==\n-----END RSA PRIVATE KEY-----\n") ⇒ "message"
rsadecrypt("AAAA", "no key") ! the key must be an RSA private key
rsadecrypt("?", "no key") ! no base64
# Networks
cidrhost("10.12.112.0/20", 16) ⇒ "10.12.112.16"
cidrhost("10.12.112.0/20", 268) ⇒ "10.12.113.12"
cidrhost("fd00:fd12:3456:7890:00a2::/72", 34) ⇒ "fd00:fd12:3456:7890::22"
cidrhost("10.0.0.0/30", 4) ! has no host 4
cidrnetmask("172.16.0.0/12") ⇒ "255.240.0.0"
cidrnetmask("10.0.0.0/8") ⇒ "255.0.0.0"
cidrnetmask("::/0") ! only IPv4 networks have a mask
cidrsubnet("172.16.0.0/12", 4, 2) ⇒ "172.18.0.0/16"
cidrsubnet("10.1.2.0/24", 4, 15) ⇒ "10.1.2.240/28"
cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162) ⇒ "fd00:fd12:3456:7800:a200::/72"
cidrsubnet("10.0.0.0/30", 4, 0) ! cannot be made 4 bits longer
cidrsubnets("10.1.0.0/16", 4, 4, 8, 4) ⇒ ["10.1.0.0/20", "10.1.16.0/20", "10.1.32.0/24", "10.1.48.0/20"]
cidrsubnets("fd00:fd12:3456:7890::/56", 16, 16, 16, 32) ⇒ ["fd00:fd12:3456:7800::/72", "fd00:fd12:3456:7800:100::/72", "fd00:fd12:3456:7800:200::/72", "fd00:fd12:3456:7800:300::/88"]
cidrsubnets("10.0.0.0/31", 1, 1, 1) ! has no room for network 3
# Times
formatdate("DD MMM YYYY hh:mm ZZZ", "2018-01-02T23:12:01Z") ⇒ "02 Jan 2018 23:12 UTC"
formatdate("EEEE, DD-MMM-YY hh:mm:ss ZZZ", "2018-01-02T23:12:01Z") ⇒ "Tuesday, 02-Jan-18 23:12:01 UTC"
formatdate("EEE, DD MMM YYYY hh:mm:ss ZZZ", "2018-01-02T23:12:01-08:00") ⇒ "Tue, 02 Jan 2018 23:12:01 -0800"
formatdate("MMM DD, YYYY", "2018-01-02T23:12:01Z") ⇒ "Jan 02, 2018"
formatdate("HH:mmaa", "2018-01-02T23:12:01Z") ⇒ "11:12pm"
formatdate("YYYY-MM-DD'T'hh:mm:ssZ 'o''clock'", "2018-01-02T23:12:01Z") ⇒ "2018-01-02T23:12:01Z o'clock"
formatdate("M/D/YY H:m:s AA ZZZZ ZZZZZ MMMM", "2018-01-02T03:04:05+01:00") ⇒ "1/2/18 3:4:5 AM +0100 +01:00 January"
formatdate("Q", "2018-01-02T23:12:01Z") ! there is no part "Q"
timeadd("2017-11-22T00:00:00Z", "10m") ⇒ "2017-11-22T00:10:00Z"
timeadd("2017-11-22T00:00:00Z", "-24h") ⇒ "2017-11-21T00:00:00Z"
timeadd("2020-02-28T23:59:59+02:00", "1s") ⇒ "2020-02-29T00:00:00+02:00"
timeadd("yesterday", "1s") ! is no RFC 3339 time
# Files
abspath("foo.txt") ⇒ "/home/steve/foo.txt"
abspath("/etc/x") ⇒ "/etc/x"
abspath(basename("/a/b")) ⇒ "/home/steve/b"
basename("foo/bar/baz.txt") ⇒ "baz.txt"
basename("") ⇒ "."
basename("/") ⇒ "/"
dirname("foo/bar/baz.txt") ⇒ "foo/bar"
dirname("baz.txt") ⇒ "."
dirname("/a") ⇒ "/"
file("hello.txt") ⇒ "Hello World"
file("sub/a.txt") ⇒ "a"
file("none") ! none does not exist
file("bytes.bin") ! is no UTF-8 text
filebase64("hello.txt") ⇒ "SGVsbG8gV29ybGQ="
filebase64("bytes.bin") ⇒ "/wA="
filebase64("none") ! does not exist
fileexists("hello.txt") ⇒ true
fileexists("none") ⇒ false
fileexists("sub") ! is not a regular file
fileset(".", "*.txt") ⇒ ["hello.txt"]
fileset(".", "**/*.txt") ⇒ ["hello.txt", "sub/a.txt"]
fileset(".", "*.md") ⇒ []
pathexpand("~/.ssh/id_rsa") ⇒ "/home/steve/.ssh/id_rsa"
pathexpand("/etc/resolv.conf") ⇒ "/etc/resolv.conf"
pathexpand("~") ⇒ "/home/steve"
# Types and attempts
convert("true", bool) ⇒ true
convert([1, "2"], list(string)) ⇒ ["1", "2"]
convert(["b", "a", "b"], set(string)) ⇒ ["a", "b"]
convert({ a = "1" }, object({ a = number })) ⇒ {"a": 1}
convert({ a = "1", b = 2 }, map(number)) ⇒ {"a": 1, "b": 2}
convert(["1", true], tuple([number, string])) ⇒ [1, "true"]
convert("x", number) ! a number is needed, not a string
can(1 / 0) ⇒ false
can({ a = 1 }.a) ⇒ true
can({ a = 1 }.b) ⇒ false
can(no_such_function()) ⇒ false
try({ a = 1 }.b, "fallback") ⇒ "fallback"
try({ a = 1 }.a, "fallback") ⇒ 1
try(1 / 0, [][0], "last") ⇒ "last"
try(1 / 0) ! division by zero
uper("a") ! there is no function "uper"
"##;
