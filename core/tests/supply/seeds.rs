//! How many seeds are played. LEAFID_CASES=50 plays fifty times as many, LEAFID_SEED=7 that one alone.

/// Plays `count` seeds, and names the one that failed.
pub(crate) fn each_seed(count: u64, play: impl Fn(u64)) {
    struct Named(u64);
    impl Drop for Named {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("failed with seed {0}; replay with LEAFID_SEED={0}", self.0);
            }
        }
    }
    let number = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    let seeds = match number("LEAFID_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..count * number("LEAFID_CASES").unwrap_or(1),
    };
    for seed in seeds {
        let named = Named(seed);
        play(seed);
        drop(named);
    }
}
