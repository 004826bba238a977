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
    as_many_as_connections: 500;
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
    wakes_one: a_refusal_is_told_to_all, "a wake-up was lost";
    wakes_before_the_change: threads_share_a_tag, "a wake-up was lost";
    looks_for_waiters_first: threads_share_a_tag, "a wake-up was lost";
    counts_itself_after_a_look: threads_share_a_tag, "a wake-up was lost";
    subscribes_after_a_look: threads_share_a_tag, "a wake-up was lost";
    tells_of_nothing_put_back: what_is_put_back_wakes_who_waits, "a wake-up was lost";
    tells_of_no_close: closed_while_they_wait, "deadlock!";
    reads_the_version_last: threads_share_a_tag, "a wake-up was lost";
    loses_what_it_was_given: one_that_waits_for_long, "ids were lost";
    tells_before_it_is_there: threads_share_a_tag, "a wake-up was lost";
    // What two fetches at once bring may come in any order.
    asks_twice: threads_share_a_tag, "asked twice at once";
    counts_itself_once_it_runs: four_at_work, "threads";
    is_idle_until_it_is_gone: threads_go_as_a_job_comes, "subtract with overflow";
    is_busy_too_late: four_at_work, "at work";
    wakes_no_thread: threads_share_a_tag, "a call failed";
    wakes_no_timer: what_failed_is_tried_again, "a wake-up was lost";
    is_due_after_the_close: closed_while_they_wait, "threads outlive the close";
    leaves_jobs_after_a_close: one_closes_as_another_opens, "deadlock!";
    leaves_jobs_after_a_fork: forks_in_the_midst, "deadlock!";
    has_no_thread_for_others: one_source_hangs, "a wake-up was lost";
    waits_for_those_held_up: one_source_hangs, "a call failed";
);

mutants!(
    Time::Always,
    looks_at_the_time_first: a_source_that_hangs, "deadlock!";
);
