//! A run of a worker id: its settings, and its table of states. What it does is in the scenarios.

mod options;
mod state_table;
