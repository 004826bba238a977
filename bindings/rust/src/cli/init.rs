//! `leafid init`: what to set, for hosts of a kind.

use super::options::Bits;
use super::streams::{Outcome, Streams};
use crate::Error;
use clap::{Args, ValueEnum};
use std::io;
use std::str::FromStr;

/// Print what to set, so that no two hosts have one worker id
///
/// It asks for what no option says. Nothing is written but to the output.
#[derive(Args)]
pub(super) struct InitArguments {
    /// What runs the processes
    #[arg(long, value_enum)]
    on: Option<On>,
    /// The most hosts at a time: machines, or containers and pods
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    hosts: Option<u32>,
    /// The most processes of a host that make ids
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    processes: Option<u32>,
    /// The name of the service
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    #[command(flatten)]
    bits: Bits,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum On {
    /// This machine alone: a laptop, tests, builds
    Local,
    /// Machines, each with its environment
    Hosts,
    /// Machines with systemd
    Systemd,
    /// A StatefulSet of Kubernetes
    Statefulset,
    /// Containers without numbers: a Deployment, Compose, an autoscaling group
    Leases,
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<On, String> {
        <On as ValueEnum>::from_str(text, false)
    }
}

pub(super) fn init(arguments: &InitArguments, streams: &mut Streams<'_>) -> Outcome {
    let kinds = "What runs the processes: local, hosts, systemd, statefulset or leases?";
    let on = asked(arguments.on, kinds, "hosts", streams)?;
    if on == On::Local {
        writeln!(streams.stdout, "# On this machine alone.\nexport LEAFID_WORKER=local")?;
        return Ok(true);
    }
    let hosts = asked(arguments.hosts, "How many hosts, containers or pods at most?", "1", streams)?;
    let processes = asked(arguments.processes, "How many processes of each make ids?", "1", streams)?;
    let service = arguments.service.as_deref().unwrap_or("orders");
    let last = arguments.bits.layout()?.max_worker_id();
    // A reload starts the new processes before the old ones end.
    let each = u64::from(processes).max(1) * 2;
    let needed = each * u64::from(hosts).max(1);
    let fits = needed <= u64::from(last) + 1;
    let text = match on {
        On::Hosts if fits => {
            ranges(hosts, each, |host, range| format!("# host {host}\nLEAFID_WORKER={range}\n"))
        }
        On::Systemd if fits => ranges(hosts, each, |host, range| {
            format!(
                "# host {host}: /etc/systemd/system/{service}.service.d/leafid.conf\n\
                 [Service]\nStateDirectory=leafid\nEnvironment=LEAFID_WORKER={range}\n"
            )
        }),
        On::Statefulset if fits => stateful_set(service, each, needed - 1),
        _ => leases(on, needed, last),
    };
    write!(streams.stdout, "{text}")?;
    Ok(true)
}

/// The option, or else the answer to a question; an empty answer, or none, is the default.
fn asked<T: FromStr>(
    given: Option<T>,
    question: &str,
    default: &str,
    streams: &mut Streams<'_>,
) -> Result<T, super::streams::End>
where
    T::Err: std::fmt::Display,
{
    if let Some(given) = given {
        return Ok(given);
    }
    let mut answer = String::new();
    let _ = write!(streams.stderr, "{question} [{default}] ").and_then(|()| streams.stderr.flush());
    streams.stdin.read_line(&mut answer).map_err(refused)?;
    let answer = if answer.trim().is_empty() { default } else { answer.trim() };
    let wrong = |error: T::Err| {
        Error::invalid("the answer", format!("{answer:?}"), &format!("one of the question ({error})"))
    };
    Ok(answer.parse().map_err(wrong)?)
}

fn refused(error: io::Error) -> Error {
    Error::invalid("the answer", "not readable", &format!("a line of text ({error})"))
}

/// A text for each host, with its range.
fn ranges(hosts: u32, each: u64, text: impl Fn(u32, String) -> String) -> String {
    let about = format!(
        "# Each host has {each} worker ids of its own: two for each process, for a reload starts new processes before the \
         old ones end.\n"
    );
    let range = |host: u32| format!("{}-{}", u64::from(host) * each, u64::from(host) * each + each - 1);
    about + &(0..hosts.max(1)).map(|host| text(host + 1, range(host))).collect::<String>()
}

fn stateful_set(service: &str, each: u64, last: u64) -> String {
    format!(
        "# In the StatefulSet {service}, whose pods are {service}-0, {service}-1, …. It has the worker ids 0 to {last}: give\n\
         # another StatefulSet that writes into the same column hostname:NAME+{}*{each}.\n\
         spec:\n  template:\n    spec:\n      containers:\n      - name: {service}\n        env:\n        \
         - {{name: LEAFID_WORKER, value: \"hostname:{service}*{each}-{last}\"}}\n        \
         - {{name: LEAFID_STATE_DIR, value: /var/lib/leafid}}\n        volumeMounts:\n        \
         - {{name: leafid, mountPath: /var/lib/leafid}}\n  volumeClaimTemplates:\n  - metadata: {{name: leafid}}\n    \
         spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 64Mi}}}}}}\n",
        last + 1
    )
}

fn leases(on: On, needed: u64, last: u32) -> String {
    let why = match on {
        On::Leases => String::new(),
        _ => format!(
            "# They need {needed} worker ids, and the layout has {}: lease them.\n",
            u64::from(last) + 1
        ),
    };
    format!(
        "{why}# leafid-server leases worker ids, and stores which are held in your database: leafid help server.\n\
         # A worker id is held only while a process runs.\n\
         LEAFID_WORKER=http://ids-1:8080,http://ids-2:8080\n"
    )
}
