//! The tables at the heads of the machines, against the states in their code.

use std::collections::BTreeSet;

/// The names in the first column of the head's table, and those in its last column.
fn told(source: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let rows =
        source.lines().take_while(|line| line.starts_with("//!")).filter(|line| line.starts_with("//! | `"));
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        from.extend(names(cells[1]));
        to.extend(names(cells[3]));
    }
    (from, to)
}

/// The variants of an enum.
fn written(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let variants = body.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    variants.map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned()).collect()
}

#[test]
fn each_state_of_a_machine_is_in_its_table() {
    for (source, name) in [
        (include_str!("../../src/run/order.rs"), "Life"),
        (include_str!("../../src/run/round.rs"), "RoundStage"),
        (include_str!("../../src/run/id_claim.rs"), "IdStage"),
        (include_str!("../../src/run/loss.rs"), "LossStage"),
        (include_str!("../../src/run/order_end.rs"), "CloseStage"),
        (include_str!("../../src/run/leaving.rs"), "LeavingStage"),
    ] {
        let (from, to) = told(source);
        let states = written(source, name);
        let named: BTreeSet<String> = from.union(&to).cloned().collect();
        assert_eq!(named, states, "{name}");
    }
}
