//! A handle for the simulation, whose processes are played.

use super::*;

impl Snowflake {
    /// A handle of this generator, for the simulation.
    pub(crate) fn of(generator: Generator) -> Snowflake {
        let flake = Snowflake {
            settings: Arc::clone(&generator.driver.settings),
            generator: PerProcess::new(),
            closed: AtomicBool::new(false),
            released: AtomicBool::new(true),
        };
        let _ = flake.generator.install(generator, os::process::generation());
        flake
    }
}
