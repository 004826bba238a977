//! Which files import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

/// The strongly connected parts of more than one file (Tarjan, 1972), each in order.
pub(crate) fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut search = Search::new(imports);
    for file in imports.keys() {
        if !search.index.contains_key(file.as_str()) {
            search.visit(file);
        }
    }
    search.circles.sort();
    search.circles
}

struct Search<'a> {
    imports: &'a BTreeMap<String, BTreeSet<String>>,
    index: BTreeMap<&'a str, usize>,
    lowest: BTreeMap<&'a str, usize>,
    stack: Vec<&'a str>,
    circles: Vec<Vec<String>>,
}

impl<'a> Search<'a> {
    fn new(imports: &'a BTreeMap<String, BTreeSet<String>>) -> Search<'a> {
        let (index, lowest) = (BTreeMap::new(), BTreeMap::new());
        Search { imports, index, lowest, stack: Vec::new(), circles: Vec::new() }
    }

    fn visit(&mut self, file: &'a str) {
        let number = self.index.len();
        self.index.insert(file, number);
        self.lowest.insert(file, number);
        self.stack.push(file);
        let imports = self.imports;
        for to in imports.get(file).into_iter().flatten().filter(|to| imports.contains_key(*to)) {
            let reached = match self.index.get(to.as_str()) {
                None => {
                    self.visit(to);
                    self.lowest[to.as_str()]
                }
                Some(&number) if self.stack.contains(&to.as_str()) => number,
                Some(_) => continue,
            };
            let lowest = self.lowest[file].min(reached);
            self.lowest.insert(file, lowest);
        }
        if self.lowest[file] == number {
            let at = self.stack.iter().position(|each| *each == file).unwrap();
            let mut part: Vec<_> = self.stack.drain(at..).map(str::to_owned).collect();
            if part.len() > 1 {
                part.sort();
                self.circles.push(part);
            }
        }
    }
}
