//! The lines of a run: one JSON object for each subject and measure. `report.py` knows the goals.

use crate::harness::Check;

/// A subject: who makes ids, how, and the way that it was measured.
pub struct Subject<'a> {
    pub peer: &'a str,
    pub what: &'a str,
    pub kind: &'a str,
    pub threads: usize,
}

/// What was seen of a subject, besides the time.
#[derive(Default)]
pub struct Seen {
    pub cpu: Vec<f64>,
    pub check: Option<Check>,
    pub notes: String,
}

pub fn subject(subject: &Subject, mut ns: Vec<f64>, mut seen: Seen) {
    let Subject { peer, what, kind, threads } = *subject;
    let (ns, cpu) = (sorted(&mut ns), sorted(&mut seen.cpu));
    let check = seen.check.map_or(String::new(), |check| {
        let descents = check.descents.map_or(String::new(), |descents| format!(r#","descents":{descents}"#));
        format!(r#","dups":{}{descents},"checked":{}"#, check.dups, check.of)
    });
    println!(
        r#"{{"lang":"rust","peer":"{peer}","version":"{}","what":"{what}","kind":"{kind}","threads":{threads},"ns_min":{},"ns_median":{},"cpu_ns":{}{check},"notes":"{}"}}"#,
        version(peer),
        number(ns.first()),
        number(ns.get(ns.len() / 2)),
        number(cpu.get(cpu.len() / 2)),
        seen.notes,
    );
}

/// A figure that a goal is set for, beside its floor.
pub fn measured(what: &str, figure: f64, floor: f64) {
    println!(r#"{{"lang":"rust","measure":"{what}","figure":{figure:.3},"floor":{floor:.3}}}"#);
}

/// Medians and minima of this many windows of each, in turn, after one of each that warms up: what the machine does
/// meanwhile falls on both. The ratio is the median of the pairs' ratios.
pub fn compared(what: &str, windows: usize, mut floor: impl FnMut() -> f64, mut figure: impl FnMut() -> f64) {
    floor();
    figure();
    let pairs: Vec<(f64, f64)> = (0..windows).map(|_| (floor(), figure())).collect();
    pairs_measured(what, &pairs);
}

/// The line for pairs of a floor and a figure.
pub fn pairs_measured(what: &str, pairs: &[(f64, f64)]) {
    let mut floors: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    let mut figures: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let mut ratios: Vec<f64> = pairs.iter().map(|(floor, figure)| figure / floor).collect();
    let middle = pairs.len() / 2;
    let (floors, figures, ratios) = (sorted(&mut floors), sorted(&mut figures), sorted(&mut ratios));
    println!(
        r#"{{"lang":"rust","measure":"{what}","figure":{:.4},"floor":{:.4},"ratio":{:.4},"figure_min":{:.4},"floor_min":{:.4},"repeats":{}}}"#,
        figures[middle],
        floors[middle],
        ratios[middle],
        figures[0],
        floors[0],
        pairs.len(),
    );
}

fn sorted(values: &mut [f64]) -> &[f64] {
    values.sort_by(f64::total_cmp);
    values
}

fn number(value: Option<&f64>) -> String {
    value.map_or("null".into(), |value| format!("{value:.2}"))
}

fn version(peer: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let at = lock.find(&format!("name = \"{peer}\"\n")).map_or("", |i| &lock[i..]);
    at.split('"').nth(3).unwrap_or("")
}
