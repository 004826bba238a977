//! Writes mutants that cargo-mutants lists into one source, each behind a switch, so that all of them are one build.
//!
//! `leafid-switches LIST TREE`: LIST is what `cargo mutants --list --json` printed, TREE the copy that is rewritten.
//! Mutant K of the list is made where `leafid_core::mutant::on(K)` says so. Prints the numbers of those that cannot be
//! switched: those in constants, in conditions with `let`, and of what answers `impl Trait`.

use proc_macro2::{LineColumn, Span};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Expr, ExprBinary, ExprStruct, ExprUnary, ImplItemFn, ItemConst, ItemFn, ItemStatic};

#[derive(Deserialize, Clone)]
struct Mutant {
    #[serde(skip)]
    number: usize,
    file: String,
    genre: String,
    replacement: String,
    span: Range,
    /// Left out by an earlier build, which did not compile with it.
    #[serde(default)]
    left_out: bool,
}

#[derive(Deserialize, Clone, Copy)]
struct Range {
    start: Place,
}

/// Both count from 1, columns in characters.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: usize,
    column: usize,
}

impl From<LineColumn> for Place {
    fn from(at: LineColumn) -> Self {
        Self { line: at.line, column: at.column + 1 }
    }
}

/// A text instead of the bytes from `from` to `to`. At one place the outer expression opens first and closes last.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

struct Switches<'a> {
    source: &'a str,
    at: BTreeMap<Place, Vec<Mutant>>,
    opened: Vec<Edit>,
    closed: Vec<Edit>,
    constant: usize,
    /// In a `const fn`, where only numbers are compared, and not by reference.
    by_value: bool,
}

/// `mutant 1 else mutant 2 else what it was`.
fn choice(mutants: &[Mutant], made: impl Fn(&str) -> String, was: &str) -> String {
    let mut text = String::new();
    for each in mutants {
        text += &format!("if {} {{ {} }} else ", on(each), made(&each.replacement));
    }
    text + "{ " + was + " }"
}

fn on(mutant: &Mutant) -> String {
    format!("::leafid_core::mutant::on({})", mutant.number)
}

impl Switches<'_> {
    fn taken(&mut self, span: Span, genre: &str) -> Vec<Mutant> {
        if self.constant > 0 {
            return Vec::new();
        }
        let place = Place::from(span.start());
        let Some(mutants) = self.at.get_mut(&place) else { return Vec::new() };
        let (taken, left) = mutants.drain(..).partition(|each| each.genre == genre);
        *mutants = left;
        taken
    }

    fn open(&mut self, from: usize, to: usize, text: String) {
        self.opened.push(Edit { from, to, text });
    }

    fn close(&mut self, at: usize, text: String) {
        self.closed.push(Edit { from: at, to: at, text });
    }

    /// What answers `impl Trait` has one type only, which its mutants have not.
    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let Some(first) = block.stmts.first() else { return };
        if self.text(signature.output.span()).contains("impl ") {
            return;
        }
        let mutants = self.taken(first.span(), "FnValue");
        let text: String = mutants
            .iter()
            .map(|m| format!("/*<*/if {} {{ return {}; }}/*>*/ ", on(m), m.replacement))
            .collect();
        if !text.is_empty() {
            let at = first.span().byte_range().start;
            self.open(at, at, text);
        }
    }

    fn text(&self, span: Span) -> &str {
        &self.source[span.byte_range()]
    }
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, op: BinOp::And(_) | BinOp::Or(_), right, .. }) => {
            has_let(left) || has_let(right)
        }
        _ => false,
    }
}

impl<'a> Visit<'a> for Switches<'_> {
    fn visit_item_const(&mut self, item: &'a ItemConst) {
        self.constant += 1;
        visit::visit_item_const(self, item);
        self.constant -= 1;
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.constant += 1;
        visit::visit_impl_item_const(self, item);
        self.constant -= 1;
    }

    fn visit_item_static(&mut self, item: &'a ItemStatic) {
        self.constant += 1;
        visit::visit_item_static(self, item);
        self.constant -= 1;
    }

    fn visit_type(&mut self, _: &'a syn::Type) {}

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        self.by_value = item.sig.constness.is_some();
        self.body(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        self.by_value = item.sig.constness.is_some();
        self.body(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr_binary(&mut self, expr: &'a ExprBinary) {
        let logical = matches!(expr.op, BinOp::And(_) | BinOp::Or(_));
        if !(logical && (has_let(&expr.left) || has_let(&expr.right))) {
            let mutants = self.taken(expr.op.span(), "BinaryOperator");
            if !mutants.is_empty() {
                self.binary(expr, &mutants);
            }
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'a ExprUnary) {
        let mutants = self.taken(expr.op.span(), "UnaryOperator");
        if !mutants.is_empty() {
            let (op, whole) = (expr.op.span().byte_range(), expr.span().byte_range());
            let was = format!("{}v__", self.text(expr.op.span()));
            self.open(op.start, op.end, "({/*<*/let v__ = ".into());
            self.close(whole.end, format!("; {}/*>*/}})", choice(&mutants, |_| "v__".into(), &was)));
        }
        visit::visit_expr_unary(self, expr);
    }

    fn visit_arm(&mut self, arm: &'a Arm) {
        let deleted = self.taken(arm.span(), "MatchArm");
        let gone: String = deleted.iter().map(|m| format!("/*<*/!{} /*>*/&& ", on(m))).collect();
        if let Some((_, guard)) = &arm.guard {
            let mutants = self.taken(guard.span(), "MatchArmGuard");
            if !(has_let(guard) || mutants.is_empty() && gone.is_empty()) {
                let within = guard.span().byte_range();
                let mut text = format!("{gone}(");
                for each in &mutants {
                    let sign = if each.replacement == "true" { ("", "||") } else { ("!", "&&") };
                    text += &format!("/*<*/{}{} /*>*/{} (", sign.0, on(each), sign.1);
                }
                self.open(within.start, within.start, text);
                self.close(within.end, ")".repeat(mutants.len() + 1));
            }
        } else if !gone.is_empty() {
            let at = arm.fat_arrow_token.span().byte_range().start;
            self.open(at, at, format!("if {gone} true "));
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'a ExprStruct) {
        for field in &expr.fields {
            let mutants = self.taken(field.span(), "StructField");
            if let (Some(mutant), Some(rest), syn::Member::Named(name)) =
                (mutants.first(), &expr.rest, &field.member)
            {
                let path = self.text(expr.path.span()).to_owned();
                let (named, rest) = (matches!(**rest, Expr::Path(_)), self.text(rest.span()).to_owned());
                let other = if named {
                    format!("{rest}.{name}")
                } else {
                    format!("let v__: {path} = {rest}; v__.{name}")
                };
                let value = field.expr.span().byte_range();
                let colon = if field.colon_token.is_some() { String::new() } else { format!("{name}: ") };
                let text = format!("{colon}({{/*<*/if {} {{ {other} }} else {{ ", on(mutant));
                self.open(value.start, value.start, text);
                self.close(value.end, " }/*>*/})".into());
            }
        }
        visit::visit_expr_struct(self, expr);
    }
}

impl Switches<'_> {
    fn binary(&mut self, expr: &ExprBinary, mutants: &[Mutant]) {
        let (whole, op) = (expr.span().byte_range(), expr.op.span().byte_range());
        let (was, left) = (self.text(expr.op.span()).to_owned(), self.text(expr.left.span()).to_owned());
        match expr.op {
            BinOp::And(_) | BinOp::Or(_) => {
                let sign = if matches!(expr.op, BinOp::And(_)) { "!" } else { "" };
                self.open(whole.start, whole.start, "({/*<*/let l__: bool = ".into());
                self.open(op.start, op.end, format!("; if l__ == {sign}{} {{ ", on(&mutants[0])));
                self.close(whole.end, " } else { l__ }/*>*/})".into());
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let by = if self.by_value { "" } else { "&" };
                self.open(whole.start, whole.start, format!("({{/*<*/let (l__, r__) = ({by}("));
                self.open(op.start, op.end, format!("), {by}("));
                let chosen = choice(mutants, |op| format!("l__ {op} r__"), &format!("l__ {was} r__"));
                self.close(whole.end, format!(")); {chosen}/*>*/}})"));
            }
            _ if was.ends_with('=') => {
                self.open(whole.start, op.end, "({/*<*/let r__ = ".into());
                let chosen = choice(mutants, |op| format!("{left} {op} r__"), &format!("{left} {was} r__"));
                self.close(whole.end, format!("; {chosen}/*>*/}})"));
            }
            _ => {
                self.open(whole.start, whole.start, "({/*<*/let (l__, r__) = (".into());
                self.open(op.start, op.end, ", ".into());
                let chosen = choice(mutants, |op| format!("l__ {op} r__"), &format!("l__ {was} r__"));
                self.close(whole.end, format!("); {chosen}/*>*/}})"));
            }
        }
    }
}

/// The source with its switches, and the mutants that found no place.
fn switched(source: &str, mutants: Vec<Mutant>) -> (String, Vec<Mutant>) {
    let mut at = BTreeMap::<Place, Vec<Mutant>>::new();
    for mutant in mutants {
        at.entry(mutant.span.start).or_default().push(mutant);
    }
    let mut switches =
        Switches { source, at, opened: Vec::new(), closed: Vec::new(), constant: 0, by_value: false };
    switches.visit_file(&syn::parse_file(source).expect("cargo-mutants has parsed it"));
    let Switches { at, opened, closed, .. } = switches;
    // What closes at a place stands before what opens there, the inner first.
    let mut edits: Vec<Edit> = closed.into_iter().rev().chain(opened).collect();
    edits.sort_by_key(|edit| edit.from);
    let (mut text, mut done) = (String::new(), 0);
    for edit in edits {
        if edit.from < done {
            continue; // Within a text that is said again.
        }
        text += &source[done..edit.from];
        text += &edit.text;
        done = edit.to;
    }
    (text + &source[done..], at.into_values().flatten().collect())
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, list, tree] = &arguments[..] else { panic!("leafid-switches LIST TREE") };
    let mutants: Vec<Mutant> = serde_json::from_str(&fs::read_to_string(list).unwrap()).unwrap();
    let mut files = BTreeMap::<String, Vec<Mutant>>::new();
    for (number, mutant) in mutants.into_iter().enumerate() {
        if !mutant.left_out {
            files.entry(mutant.file.clone()).or_default().push(Mutant { number, ..mutant });
        }
    }
    for (file, mutants) in files {
        let path = Path::new(tree).join(&file);
        let (text, left) = switched(&fs::read_to_string(&path).unwrap(), mutants);
        fs::write(&path, text).unwrap();
        for mutant in left {
            println!("{}", mutant.number);
        }
    }
}
