//! The models, and those that must notice a mutant.

use leafid_shuttle::mutants::models as mutants;
use leafid_shuttle::run::{Time, breaks, holds};
use leafid_shuttle::sound::models as sound;

macro_rules! models {
    ($time:expr, $($model:ident: $schedules:expr;)*) => { $(
        #[test]
        fn $model() {
            holds($schedules, $time, sound::$model);
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

macro_rules! mutants {
    ($time:expr, $($mutant:ident: $model:ident, $claim:expr;)*) => { $(
        #[test]
        fn $mutant() {
            breaks(stringify!($mutant), $claim, 20_000, $time, mutants::$model);
        }
    )* };
}
mutants!(
    Time::WhenAllWait,
    wakes_nobody: threads_share_a_tag, "deadlock!";
    waits_without_a_waker: threads_share_a_tag, "deadlock!";
    queues_no_job: threads_share_a_tag, "a call failed";
    leaves_the_next_call: threads_share_a_tag, "a call failed";
    sets_no_timer: what_failed_is_tried_again, "deadlock!";
    loses_what_it_was_given: one_that_waits_for_long, "ids were lost";
    is_idle_until_it_is_gone: threads_go_as_a_job_comes, "a call failed";
    wakes_no_thread: threads_share_a_tag, "a call failed";
    wakes_no_timer: what_failed_is_tried_again, "a call failed";
    leaves_jobs_after_a_close: one_closes_as_another_opens, "deadlock!";
    leaves_jobs_after_a_fork: forks_in_the_midst, "deadlock!";
);
