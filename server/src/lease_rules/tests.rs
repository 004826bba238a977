use super::*;

const NOW_MS: i64 = 1_800_000_000_000;

fn pool() -> Pool {
    Pool { ids: 0..=1, lease_ms: 30_000, threshold_ms: 10_000, most_names: 100 }
}

fn space() -> Space {
    Space { floor_ms: 0, latest_ms: 0, longest_ms: 0, revision: 0 }
}

fn asks(instance: &str, now_ms: i64) -> Claim {
    Claim {
        name: "default".into(),
        instance: instance.into(),
        holder: format!("of {instance}"),
        now_ms,
        until_ms: Some(now_ms + 30_000),
        only: None,
    }
}

fn claim(workers: &[Worker], claim: &Claim, store_ms: i64, token: &str) -> Result<Worker> {
    pool().claim(&space(), workers, claim, store_ms, token.into())
}

#[test]
fn a_claim_gets_the_lowest_free_id_and_a_span_from_its_clock() -> Result<()> {
    let first = claim(&[], &asks("a", NOW_MS), NOW_MS + 5, "t1")?;
    assert_eq!((first.worker_id, first.begins_ms, first.until_ms), (0, NOW_MS, NOW_MS + 30_000));
    assert_eq!((first.ends_ms, first.token.as_str(), first.clock_ahead_ms), (NOW_MS + 30_005, "t1", -5));
    let second = claim(std::slice::from_ref(&first), &asks("b", NOW_MS), NOW_MS, "t2")?;
    assert_eq!(second.worker_id, 1);
    let renewed = pool().renew(&second, NOW_MS + 40_000, NOW_MS + 10, "t3".into())?;
    assert_eq!((renewed.holder.as_str(), renewed.release(NOW_MS).holder.as_str()), ("of b", ""));
    let error = claim(&[first, second], &asks("c", NOW_MS), NOW_MS + 5, "t3").unwrap_err();
    assert_eq!(error.code(), Code::WorkerInUse);
    assert!(error.message().contains("in 29995 ms"), "{error}");
    Ok(())
}

#[test]
fn an_id_is_free_after_both_its_lease_and_its_span() -> Result<()> {
    let held = claim(&[], &asks("a", NOW_MS), NOW_MS, "t1")?;
    // A span that is longer than the lease, and a lease that is longer than the span.
    for (until_ms, ends_ms) in [(NOW_MS + 40_000, NOW_MS + 30_000), (NOW_MS + 30_000, NOW_MS + 40_000)] {
        let rows = [Worker { until_ms, ends_ms, ..held.clone() }];
        let mut only = asks("b", NOW_MS + 39_999);
        only.only = Some(0);
        assert!(claim(&rows, &only, NOW_MS + 39_999, "t2").is_err());
        let next = claim(&rows, &only, NOW_MS + 40_000, "t2")?;
        assert!(next.begins_ms >= until_ms, "the spans do not overlap");
    }
    Ok(())
}

#[test]
fn the_next_span_begins_above_the_last_whatever_the_clocks_say() -> Result<()> {
    let mut row = claim(&[], &asks("a", NOW_MS), NOW_MS, "t0")?;
    let mut high = row.until_ms;
    let mut seed = 7_u64;
    for turn in 0..2_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let apart = (seed >> 33) as i64 % 20_000 - 10_000;
        let store_ms = row.until_ms.max(row.ends_ms) + (seed >> 50) as i64 % 3;
        let mut next = asks(&format!("i{turn}"), store_ms + apart);
        next.only = Some(0);
        let granted = claim(std::slice::from_ref(&row), &next, store_ms, &format!("t{turn}"))?;
        assert!(granted.begins_ms >= high && granted.until_ms > granted.begins_ms, "{row:?} {granted:?}");
        let renewed = pool().renew(&granted, store_ms + 45_000, store_ms + 15_000, format!("r{turn}"))?;
        assert!(renewed.until_ms >= granted.until_ms);
        let given_back = renewed.release(renewed.until_ms - (seed >> 40) as i64 % 90_000);
        assert!(given_back.until_ms >= granted.begins_ms && given_back.until_ms <= renewed.until_ms);
        row = if turn % 2 == 0 { renewed } else { given_back };
        high = row.until_ms;
    }
    Ok(())
}

#[test]
fn a_fast_clock_gets_no_more_than_lease_and_threshold() -> Result<()> {
    let year_ms = 365 * 86_400_000;
    let granted = claim(&[], &asks("a", NOW_MS + year_ms), NOW_MS, "t1")?;
    assert_eq!((granted.begins_ms, granted.until_ms), (NOW_MS, NOW_MS + 40_000));
    assert_eq!(pool().renew(&granted, i64::MAX, NOW_MS + 1, "t2".into())?.until_ms, NOW_MS + 40_001);
    Ok(())
}

#[test]
fn a_slow_clock_is_given_a_span_that_it_can_use() -> Result<()> {
    let used = claim(&[], &asks("a", NOW_MS), NOW_MS, "t1")?.release(NOW_MS + 100);
    let mut slow = asks("b", NOW_MS - 60_000);
    slow.only = Some(0);
    let granted = claim(&[used], &slow, NOW_MS + 200, "t2")?;
    assert_eq!((granted.begins_ms, granted.until_ms), (NOW_MS + 100, NOW_MS + 30_100));
    Ok(())
}

#[test]
fn a_repeated_claim_gets_the_same_until_it_was_renewed() -> Result<()> {
    let first = claim(&[], &asks("a", NOW_MS), NOW_MS, "t1")?;
    let again = claim(std::slice::from_ref(&first), &asks("a", NOW_MS + 9), NOW_MS + 9, "t2")?;
    assert_eq!((again.worker_id, again.begins_ms, again.until_ms), (0, first.begins_ms, first.until_ms));
    assert_eq!((again.token.as_str(), again.ends_ms), ("t1", NOW_MS + 30_009));
    let renewed = pool().renew(&again, NOW_MS + 40_000, NOW_MS + 10, "t3".into())?;
    let error = claim(&[renewed], &asks("a", NOW_MS + 11), NOW_MS + 11, "t4").unwrap_err();
    assert_eq!(error.code(), Code::WorkerInUse);
    Ok(())
}

#[test]
fn a_token_is_good_for_one_renewal_or_release() -> Result<()> {
    let first = claim(&[], &asks("a", NOW_MS), NOW_MS, "t1")?;
    let renewed = pool().renew(&first, NOW_MS + 50_000, NOW_MS, "t2".into())?;
    let rows = [renewed.clone()];
    assert!(held(&rows, "default", 0, "t1").is_err() && held(&rows, "default", 1, "t2").is_err());
    assert_eq!(held(&rows, "default", 0, "t2")?, &renewed);
    let rows = [renewed.release(NOW_MS + 7)];
    assert_eq!(held(&rows, "default", 0, "t2").unwrap_err().code(), Code::WorkerLost);
    // An empty token holds no free id.
    assert!(held(&rows, "default", 0, "").is_err() && !is_released(&rows, 0, ""));
    assert!(is_released(&rows, 0, "t2") && !is_released(&rows, 0, "t1"));
    Ok(())
}

#[test]
fn a_lease_that_has_ended_is_renewed_unless_it_was_granted_again() -> Result<()> {
    let first = claim(&[], &asks("a", NOW_MS), NOW_MS, "t1")?;
    let late_ms = NOW_MS + 3_600_000;
    let mut other = asks("b", late_ms);
    other.only = Some(0);
    let taken = [claim(std::slice::from_ref(&first), &other, late_ms, "t2")?];
    assert!(held(&taken, "default", 0, "t1").is_err());
    let rows = [first];
    assert_eq!(
        pool().renew(held(&rows, "default", 0, "t1")?, late_ms + 30_000, late_ms, "t3".into())?.until_ms,
        late_ms + 30_000
    );
    Ok(())
}

#[test]
fn an_id_that_left_the_pool_is_not_renewed_and_granted_again_after_its_end() -> Result<()> {
    let rows = [claim(&[], &asks("a", NOW_MS), NOW_MS, "t1")?];
    let shrunk = Pool { ids: 1..=1, ..pool() };
    let error = shrunk.renew(&rows[0], NOW_MS + 60_000, NOW_MS + 9, "t2".into()).unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost);
    assert!(error.message().contains("worker id 0 is none of 1-1"), "{error}");
    // Nor by its claim, once more.
    let again = shrunk.claim(&space(), &rows, &asks("a", NOW_MS + 9), NOW_MS + 9, "t3".into())?;
    assert_eq!(again.worker_id, 1);
    // The pool has it again.
    let other = Claim { only: Some(0), ..asks("b", NOW_MS + 9) };
    assert_eq!(claim(&rows, &other, NOW_MS + 29_999, "t4").unwrap_err().code(), Code::WorkerInUse);
    assert!(claim(&rows, &other, NOW_MS + 30_000, "t4")?.begins_ms >= rows[0].until_ms);
    Ok(())
}

#[test]
fn a_table_that_was_rewound_grants_nothing_until_all_is_over() -> Result<()> {
    let seen = Space { latest_ms: NOW_MS + 50, longest_ms: 90_000, revision: 12, ..space() };
    let doubted = pool().doubted(&Space { revision: 3, ..space() }, &seen, NOW_MS);
    assert_eq!((doubted.floor_ms, doubted.revision), (NOW_MS + 90_050, 13));
    let before = pool().claim(&doubted, &[], &asks("a", NOW_MS + 90_049), NOW_MS + 90_049, "t".into());
    assert!(before.unwrap_err().message().contains("old one"));
    let granted = pool().claim(&doubted, &[], &asks("a", NOW_MS + 90_050), NOW_MS + 90_050, "t".into())?;
    assert!(granted.begins_ms >= doubted.floor_ms);
    Ok(())
}

#[test]
fn peers_are_the_other_holders() -> Result<()> {
    let first = claim(&[], &asks("a", NOW_MS + 70), NOW_MS, "t1")?;
    let second = claim(std::slice::from_ref(&first), &asks("b", NOW_MS - 30), NOW_MS, "t2")?;
    let rows = [first, second];
    assert_eq!(peer_times_ms(&rows, 0, NOW_MS + 1_000), [NOW_MS + 970]);
    assert_eq!(peer_times_ms(&rows, 1, NOW_MS + 1_000), [NOW_MS + 1_070]);
    assert!(peer_times_ms(&rows, 1, NOW_MS + 30_000).is_empty(), "they have ended");
    Ok(())
}

const YEAR_MS: i64 = 365 * 86_400_000;

/// Claims worker id 0 for a span of a minute, and lets lease and span end.
fn used(rows: &[Worker], store_ms: i64, token: &str) -> Result<Worker> {
    claim(rows, &Claim { only: Some(0), ..asks(token, store_ms) }, store_ms, token)
}

#[test]
fn a_freed_worker_id_begins_at_the_clock_and_skips_all_that_was_granted_ahead() -> Result<()> {
    let before = used(&[], NOW_MS, "a")?;
    // The clock is a year ahead for a day: several holders, one after the other.
    let ahead_ms = NOW_MS + YEAR_MS;
    let first = used(&[before], ahead_ms, "b")?;
    let second = used(std::slice::from_ref(&first), ahead_ms + 86_400_000, "c")?;
    let now_ms = NOW_MS + 600_000;
    assert!(used(std::slice::from_ref(&second), now_ms, "d").is_err(), "blocked for a year");
    let (freed, skipped) = second.free(pool().lease_ms, space().floor_ms, now_ms)?;
    let spans = [(first.begins_ms, first.until_ms), (second.begins_ms, second.until_ms)];
    assert_eq!(skipped, spans);
    let next = used(std::slice::from_ref(&freed), now_ms, "e")?;
    assert_eq!((next.worker_id, next.begins_ms), (0, now_ms));
    // The clock gets there: a span ends where the skipped one begins, and is not renewed into it.
    let close = used(std::slice::from_ref(&next), ahead_ms - 1_000, "f")?;
    assert_eq!(close.until_ms, ahead_ms);
    assert_eq!(pool().renew(&close, ahead_ms + 9_000, ahead_ms - 1, "g".into())?.until_ms, ahead_ms);
    let lost = pool().renew(&close, ahead_ms + 9_000, ahead_ms, "g".into()).unwrap_err();
    assert_eq!(lost.code(), Code::WorkerLost);
    let rows = [Worker { token: String::new(), ..close }];
    assert!(used(&rows, first.until_ms - 1, "h").is_err(), "the clock is in a skipped span");
    let behind = Claim { only: Some(0), ..asks("i", ahead_ms - 5_000) };
    let after = pool().claim(&space(), &rows, &behind, first.until_ms, "i".into())?;
    assert_eq!(after.begins_ms, first.until_ms, "whatever the client's clock reads");
    // The second skipped span is still known.
    assert!(used(&[after], second.begins_ms + 1, "j").is_err());
    Ok(())
}

#[test]
fn nothing_is_freed_of_which_it_is_not_known_what_was_granted() -> Result<()> {
    let held = used(&[], NOW_MS, "a")?;
    let refused = |worker: &Worker, space: &Space, now_ms| {
        worker.free(pool().lease_ms, space.floor_ms, now_ms).map(drop).unwrap_err()
    };
    assert!(refused(&held, &space(), NOW_MS + 1).message().contains("is held"), "its holder may live");
    let over = Worker { ends_ms: 0, ..held.clone() };
    assert!(
        refused(&over, &space(), NOW_MS + 1).message().contains("all times up to"),
        "its span is around the clock"
    );
    assert!(refused(&over, &space(), over.until_ms).message().contains("not free already"));
    let ahead = Worker { ends_ms: 0, ..used(&[over], NOW_MS + YEAR_MS, "b")? };
    assert!(ahead.free(pool().lease_ms, space().floor_ms, NOW_MS + 60_000).is_ok());
    for unknown in [
        // A row that somebody wrote by hand, all of it or a part.
        Worker { history: String::new(), ..ahead.clone() },
        Worker { begins_ms: ahead.begins_ms + 1, ..ahead.clone() },
    ] {
        assert!(refused(&unknown, &space(), NOW_MS + 60_000).message().contains("all times up to"));
    }
    let rewound = Space { floor_ms: NOW_MS + 90_000, ..space() };
    assert!(refused(&ahead, &rewound, NOW_MS + 60_000).message().contains("all times up to"));
    Ok(())
}

#[test]
fn a_renewal_a_day_late_is_lost_so_that_no_span_crosses_a_leap() -> Result<()> {
    let held = used(&[], NOW_MS, "a")?;
    let late = |ms| pool().renew(&held, ms + 30_000, ms, "b".into());
    assert!(late(held.until_ms + 86_400_000).is_ok());
    assert_eq!(late(held.until_ms + 86_400_001).unwrap_err().code(), Code::WorkerLost);
    Ok(())
}

/// Clocks that leap and come back, claims, renewals, releases, rewound tables and hands that free: no tick twice.
#[test]
fn no_tick_is_granted_twice_whatever_clocks_and_frees_do() -> Result<()> {
    let mut freed_in_all = 0;
    for seed in 0..300_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |most: i64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as i64 % most
        };
        let (mut store_ms, mut rows, mut granted) = (NOW_MS, Vec::<Worker>::new(), Vec::new());
        for turn in 0..120 {
            store_ms += match draw(12) {
                0 => YEAR_MS / 4,
                1 => -YEAR_MS / 4,
                2 => 7_200_000,
                _ => draw(100_000),
            };
            let token = format!("{seed}-{turn}");
            let row = match (rows.first().cloned(), draw(4)) {
                (Some(row), 0) if !row.token.is_empty() => {
                    pool().renew(&row, store_ms + 30_000, store_ms, token).ok()
                }
                (Some(row), 1) if !row.token.is_empty() => Some(row.release(row.begins_ms + draw(60_000))),
                (Some(row), 2) => {
                    row.free(pool().lease_ms, space().floor_ms, store_ms).ok().map(|(freed, _)| {
                        freed_in_all += 1;
                        freed
                    })
                }
                _ => {
                    let asked = Claim { only: Some(0), ..asks(&token, store_ms + draw(9_000) - 4_500) };
                    pool().claim(&space(), &rows, &asked, store_ms, token).ok()
                }
            };
            let Some(row) = row else { continue };
            // A holder has used all of its span before another one comes, unless it said otherwise.
            if let Some(last) = rows.pop()
                && last.begins_ms < last.until_ms
                && (last.begins_ms, &last.instance) != (row.begins_ms, &row.instance)
                && (!row.token.is_empty() || row.released != last.token || last.token.is_empty())
            {
                granted.push((last.begins_ms, last.until_ms));
            }
            rows.push(row);
        }
        granted.extend(rows.iter().map(|row| (row.begins_ms, row.until_ms)).filter(|span| span.0 < span.1));
        granted.sort_unstable();
        for pair in granted.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "seed {seed}: {pair:?}");
        }
    }
    assert!(freed_in_all > 100, "{freed_in_all}");
    Ok(())
}
