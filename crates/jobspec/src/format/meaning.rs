//! Whether two texts mean the same: their trees without blanks, comments and places are equal.

use hcl_edit::expr::{Array, FuncArgs, Object};
use hcl_edit::structure::Body;
use hcl_edit::template::{
    ElseTemplateExpr, EndforTemplateExpr, EndifTemplateExpr, ForTemplateExpr, HeredocTemplate, IfTemplateExpr,
};
use hcl_edit::visit_mut::{
    VisitMut, visit_array_mut, visit_body_mut, visit_else_template_expr_mut, visit_for_template_expr_mut,
    visit_func_args_mut, visit_heredoc_template_mut, visit_if_template_expr_mut, visit_object_mut,
};

/// The tree without what the parser compares and we do not: the blanks that it keeps beside its parts.
pub(super) fn bare(mut body: Body) -> Body {
    visit_body_mut(&mut Blanks, &mut body);
    body
}

struct Blanks;

impl VisitMut for Blanks {
    fn visit_array_mut(&mut self, node: &mut Array) {
        node.set_trailing("");
        visit_array_mut(self, node);
    }

    fn visit_object_mut(&mut self, node: &mut Object) {
        node.set_trailing("");
        visit_object_mut(self, node);
    }

    fn visit_func_args_mut(&mut self, node: &mut FuncArgs) {
        node.set_trailing("");
        visit_func_args_mut(self, node);
    }

    fn visit_heredoc_template_mut(&mut self, node: &mut HeredocTemplate) {
        node.set_trailing("");
        visit_heredoc_template_mut(self, node);
    }

    fn visit_if_template_expr_mut(&mut self, node: &mut IfTemplateExpr) {
        node.set_preamble("");
        visit_if_template_expr_mut(self, node);
    }

    fn visit_else_template_expr_mut(&mut self, node: &mut ElseTemplateExpr) {
        node.set_preamble("");
        node.set_trailing("");
        visit_else_template_expr_mut(self, node);
    }

    fn visit_for_template_expr_mut(&mut self, node: &mut ForTemplateExpr) {
        node.set_preamble("");
        visit_for_template_expr_mut(self, node);
    }

    fn visit_endif_template_expr_mut(&mut self, node: &mut EndifTemplateExpr) {
        node.set_preamble("");
        node.set_trailing("");
    }

    fn visit_endfor_template_expr_mut(&mut self, node: &mut EndforTemplateExpr) {
        node.set_preamble("");
        node.set_trailing("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use crate::syntax;

    #[track_caller]
    fn check(left: &str, right: &str, expected: bool) {
        let tree = |text: &str| bare(syntax::body(&Source::new("a.hcl", text)).unwrap());
        assert_eq!(tree(left) == tree(right), expected, "{left}\n{right}");
    }

    #[test]
    fn only_blanks_and_comments_make_no_difference() {
        check("a=[1 ,2\n]\n", "a = [1, 2]\n", true);
        check("a = f( 1 )\n", "a = f(1)\n", true);
        check("a = {\nb = 1\n}\n", "a = {\n  b = 1 # c\n}\n", true);
        check("a = \"%{ if  b }c%{  else }d%{ endif  }\"\n", "a = \"%{if b}c%{else}d%{endif}\"\n", true);
        check("a = <<E\n%{for b in c}d%{ endfor }\nE\n", "a = <<E\n%{ for b in c }d%{endfor}\nE\n", true);
        check("a = 1\n", "a = 2\n", false);
        check("a = \"x y\"\n", "a = \"x  y\"\n", false);
        check("a = \"%{ if b }c %{ endif }\"\n", "a = \"%{ if b }c%{ endif }\"\n", false);
        check("a {}\nb {}\n", "b {}\na {}\n", false);
        check("a = b -1\n", "a = b - 1\n", true);
        check("a = b-1\n", "a = b - 1\n", false);
    }
}
