//! `leafid check --against`: whether other hosts have this host's worker ids.

use super::holder;
use super::report::{Report, Status};
use super::scrape::{self, Sample};
use crate::os::env::Env;
use crate::shown_url;
use crate::storage::state_file;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::Result;
use leafid_core::options::{ChosenBy, WorkerRange};
use std::collections::BTreeSet;
use std::io;

const WHAT: &str = "other hosts";
/// How many worker ids a line names.
const MOST_SHOWN: usize = 5;

/// This host's worker ids: those that it was given, and those that its processes hold.
struct Own<'a> {
    name: &'a str,
    layout: String,
    ids: BTreeSet<u32>,
    /// Whether it was given ids, rather than that it leases them.
    is_given: bool,
}

/// Prints a line for each URL.
pub(super) fn check_against(
    report: &mut Report<'_>,
    env: &Env,
    settings: &SnowflakeSettings,
    given: Option<&WorkerRange>,
    urls: &[String],
) -> io::Result<()> {
    if urls.is_empty() {
        return Ok(());
    }
    let own = match own(env, settings, given) {
        Ok(own) => own,
        Err(error) => return report.line(Status::Failed, WHAT, error),
    };
    if own.ids.is_empty() {
        let about = "nothing to compare: name this host's worker ids by --worker; no process here holds one";
        return report.line(Status::Failed, WHAT, about);
    }
    for url in urls {
        let (status, about) = match scrape::get(url) {
            Ok(page) => own.compare(&scrape::samples(&page)),
            Err(error) => (Status::Failed, format!("no answer: {error}")),
        };
        report.line(status, WHAT, format!("{}: {about}", shown_url(url)))?;
    }
    Ok(())
}

fn own<'a>(env: &Env, settings: &'a SnowflakeSettings, given: Option<&WorkerRange>) -> Result<Own<'a>> {
    let (directory, space) = (&settings.directory, &settings.options);
    // With `local`, each machine has the same ids.
    let given = given.filter(|range| range.chosen_by != ChosenBy::Local);
    let mut ids: BTreeSet<u32> = given.map(|range| range.first..=range.last).into_iter().flatten().collect();
    let is_given = !ids.is_empty();
    for id in state_file::recorded(env, directory)? {
        if holder::holder_of(env, directory, &space.name, id).is_some() {
            ids.insert(id);
        }
    }
    Ok(Own { name: &space.name, layout: space.layout.to_string(), ids, is_given })
}

impl Own<'_> {
    fn compare(&self, samples: &[Sample]) -> (Status, String) {
        if samples.is_empty() {
            let about = "no metrics of leafid are there: it is the page that leafid.metrics() makes, or /metrics of leafid-server";
            return (Status::Failed, about.into());
        }
        let of_name = |sample: &&Sample| sample.label("name") == self.name;
        let held: Vec<&Sample> = samples
            .iter()
            .filter(|sample| sample.name == "leafid_snowflake_handles" && sample.value > 0.0)
            .filter(of_name)
            .collect();
        let id_of = |sample: &Sample| sample.label("worker_id").parse::<u32>().ok();
        let common: BTreeSet<u32> = held
            .iter()
            .filter(|sample| sample.label("layout") == self.layout)
            .filter_map(|sample| id_of(sample).filter(|id| self.ids.contains(id)))
            .collect();
        if !common.is_empty() {
            return (
                Status::Failed,
                format!(
                    "worker id {} of {:?} is in use there and is this host's: their ids come twice; give each host \
                     other ids, or lease them (leafid help duplicates)",
                    shown(&common),
                    self.name
                ),
            );
        }
        if let Some(found) = self.leased_there(samples) {
            return found;
        }
        if let Some(other) = held.iter().find(|sample| sample.label("layout") != self.layout) {
            let about = format!(
                "{:?} has the layout {} there and {} here: do not write both into one column",
                self.name,
                other.label("layout"),
                self.layout
            );
            return (Status::Warning, about);
        }
        let there: BTreeSet<u32> = held.into_iter().filter_map(id_of).collect();
        let about = match there.is_empty() {
            true => format!("no worker id of {:?} is in use there", self.name),
            false => format!("worker id {} of {:?} there, none of this host's", shown(&there), self.name),
        };
        (Status::Ok, about)
    }

    /// What is wrong if a leafid-server leases ids that this host was given. It counts the claims since its own start, so
    /// none does not say that no lease of this name is held.
    fn leased_there(&self, samples: &[Sample]) -> Option<(Status, String)> {
        let claims = samples
            .iter()
            .find(|sample| sample.name == "leafid_server_claims_total" && sample.label("name") == self.name);
        let workers = samples.iter().find(|sample| sample.name == "leafid_server_workers")?;
        let end = |label: &str| workers.label(label).parse::<u32>().ok();
        let leased = end("first")?..=end("last")?;
        let common: BTreeSet<u32> = self.ids.iter().copied().filter(|id| leased.contains(id)).collect();
        if !self.is_given || common.is_empty() {
            return None;
        }
        let (status, known) = match claims {
            Some(claims) => {
                (Status::Failed, format!("it leased ids of {:?} to {} claims", self.name, claims.value))
            }
            None => (Status::Warning, format!("it knows no claim of {:?} since its start", self.name)),
        };
        Some((
            status,
            format!(
                "it leases worker ids {}-{}, {known}, and worker id {} was given to this host: it may lease the same; \
                 lease here, too, or take these ids out of its --workers",
                leased.start(),
                leased.end(),
                shown(&common)
            ),
        ))
    }
}

fn shown(ids: &BTreeSet<u32>) -> String {
    let mut text: Vec<String> = ids.iter().take(MOST_SHOWN).map(u32::to_string).collect();
    if ids.len() > MOST_SHOWN {
        text.push(format!("{} more", ids.len() - MOST_SHOWN));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(ids: impl IntoIterator<Item = u32>, is_given: bool, page: &str) -> (bool, String) {
        let own = Own { name: "orders", layout: "leaf".into(), ids: ids.into_iter().collect(), is_given };
        let (status, about) = own.compare(&scrape::samples(page));
        (status == Status::Failed, about)
    }

    fn handles(name: &str, layout: &str, id: u32, count: u32) -> String {
        format!(
            "leafid_snowflake_handles{{name=\"{name}\",worker_id=\"{id}\",state_dir=\"/s\",layout=\"{layout}\"}} {count}\n"
        )
    }

    #[test]
    fn a_worker_id_that_is_in_use_there_collides() {
        let page = handles("orders", "leaf", 3, 1) + &handles("orders", "leaf", 9, 2);
        let (failed, about) = compare(0..=3, true, &page);
        assert!(failed && about.contains("worker id 3 of \"orders\""), "{about}");
        assert!(compare([9], false, &page).0, "a held one");
        assert_eq!(
            compare(4..=8, true, &page),
            (false, "worker id 3, 9 of \"orders\" there, none of this host's".into())
        );
        let all: String = (0..8).map(|id| handles("orders", "leaf", id, 1)).collect();
        assert!(compare(0..=7, true, &all).1.contains("worker id 0, 1, 2, 3, 4, 3 more of"));
    }

    #[test]
    fn other_names_layouts_and_closed_generators_do_not() {
        let page = handles("items", "leaf", 3, 1) + &handles("orders", "leaf", 3, 0);
        assert_eq!(compare(0..=7, true, &page), (false, "no worker id of \"orders\" is in use there".into()));
        let (failed, about) = compare(0..=7, true, &handles("orders", "yitter", 3, 1));
        assert!(!failed && about.contains("the layout yitter there and leaf here"), "{about}");
    }

    #[test]
    fn ids_that_a_server_leases_of_this_name_collide_with_given_ones() {
        let server = "leafid_server_workers{first=\"0\",last=\"511\"} 1\n".to_owned();
        let page = format!("{server}leafid_server_claims_total{{name=\"orders\"}} 12\n");
        let (failed, about) = compare(510..=600, true, &page);
        assert!(failed && about.contains("worker id 510, 511 was given"), "{about}");
        assert!(!compare(512..=600, true, &page).0 && !compare([7], false, &page).0);
        // It may have leased them before it was restarted, or another server of its store.
        let others = format!("{server}leafid_server_claims_total{{name=\"items\"}} 1\n");
        let (failed, about) = compare(0..=7, true, &others);
        assert!(!failed && about.contains("knows no claim of \"orders\" since its start"), "{about}");
    }

    #[test]
    fn a_page_without_leafid_is_no_answer() {
        for page in ["", "<html>", "up 1\n"] {
            let (failed, about) = compare([7], true, page);
            assert!(failed && about.contains("no metrics of leafid"), "{about}");
        }
    }
}
