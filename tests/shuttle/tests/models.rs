//! The models, each in many schedules.

use leafid_shuttle::models;
use leafid_shuttle::run::{Time, holds};

macro_rules! models {
    ($time:expr, $($model:ident: $schedules:expr;)*) => { $(
        #[test]
        fn $model() {
            holds($schedules, $time, models::$model);
        }
    )* };
}

models!(
    Time::WhenAllWait,
    threads_share_a_tag: 10_000;
    a_refusal_is_told_to_all: 10_000;
    what_failed_is_tried_again: 5_000;
    closed_while_they_wait: 10_000;
    closed_while_they_take: 10_000;
    a_source_that_hangs: 5_000;
    what_is_put_back_wakes_who_waits: 10_000;
    one_that_waits_for_long: 5_000;
    answers_that_come_later: 5_000;
    four_at_work: 1_000;
    one_source_hangs: 2_000;
    threads_go_as_a_job_comes: 10_000;
    forks_in_the_midst: 10_000;
    one_closes_as_another_opens: 10_000;
);

/// Threads may be slow: what takes how long is not judged.
mod slow {
    use super::*;

    models!(
        Time::Always,
        threads_share_a_tag: 5_000;
        closed_while_they_wait: 5_000;
        closed_while_they_take: 5_000;
        a_source_that_hangs: 5_000;
        one_that_waits_for_long: 5_000;
        threads_go_as_a_job_comes: 5_000;
        forks_in_the_midst: 5_000;
        one_closes_as_another_opens: 5_000;
    );
}
