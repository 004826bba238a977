//! How many cases of a property are tried, and which.
//!
//! They are the same ones each time. LEAFID_CASES=50 tries fifty times as many, LEAFID_SEED=7 others. What fails is
//! made as small as it can be, and printed.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::string::String;

/// Holds a property to `cases` cases.
pub(crate) fn holds<S: Strategy>(
    cases: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let variable = |name| std::env::var(name).ok().map(|text: String| text.parse::<u32>());
    let number = |name, default| match variable(name) {
        None => default,
        Some(Ok(number)) => number,
        Some(Err(error)) => panic!("{name}: {error}"),
    };
    let seed = number("LEAFID_SEED", 1);
    let config = Config {
        cases: cases.saturating_mul(number("LEAFID_CASES", 1)),
        rng_seed: RngSeed::Fixed(u64::from(seed)),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    match TestRunner::new(config).run(&strategy, property) {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => panic!("{why}\nof {case:#?}\nfound with LEAFID_SEED={seed}"),
        Err(abort) => panic!("{abort}"),
    }
}
