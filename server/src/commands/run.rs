//! The server.

use super::exposure::exposure;
use super::opening::open;
use super::settings;
use crate::access::Tokens;
use crate::clock::unix_ms;
use crate::holder::Holder;
use crate::http::{App, Entrance, RateLimits, Starting, Tls, admin_api, public_api, serve};
use crate::leases::Leases;
use crate::options::{Options, said_of_leaf};
use crate::snowflake::OwnSnowflake;
use crate::store::Store;
use crate::traces;
use leafid_core::{BackOff, Code, Error, Result};
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// How often a server looks whether the store answers.
const LOOK: Duration = Duration::from_secs(1);
/// A store that takes longer does not answer, unless callers wait longer for their ids.
const LATE: Duration = Duration::from_secs(2);

/// How often it says that it lives.
const ANNOUNCE: Duration = Duration::from_secs(20);

/// Said of a pooler.
pub(super) const POOLED: &str =
    "the database is behind a pooler that shares connections between transactions: nothing here needs more";

/// Serves until a signal. Errors: `invalid_argument`; `segment_unavailable` if the store does not answer at the start.
pub(super) async fn run(options: Options) -> Result<()> {
    let (stopper, stop) = watch::channel(false);
    // Without it a hangup would end this process until its store answers, and no service manager starts it again.
    let hangup = handler(SignalKind::hangup())?;
    let tls = Tls::load(&options)?.map(Arc::new);
    start_traces(&options)?;
    let tokens = Tokens::load(&options)?;
    let store = open(&options)?;
    let (starting, rate_limits) = (Starting::new(&store), RateLimits::of(&options));
    let open_at = async |option, address| {
        let listener = bind(option, address).await?;
        // Where it is bound the system knows it.
        let listens = listener.local_addr().unwrap_or(address);
        let entrance = Entrance::new(&options, &starting, rate_limits.clone());
        let served = tokio::spawn(serve(entrance.clone(), listener, tls.clone(), stop.clone()));
        Ok::<_, Error>((listens, entrance, served))
    };
    let (address, entrance, served) = open_at("listen", options.listen).await?;
    let who = Holder::own(address, tls.is_some());
    let administration = match options.admin_listen {
        Some(address) => Some((address, open_at("admin-listen", address).await?)),
        None => None,
    };
    said_of_leaf(&options).into_iter().for_each(|line| log::info!("{line}"));
    exposure(&options, !tokens.is_empty()).into_iter().for_each(|line| log::warn!("{line}"));
    stop_at_signals(stopper)?;
    let leases = Leases::new(store.clone(), options.pool());
    let begin = async || {
        prepare(&store, &options).await?;
        let warnings: Vec<String> =
            store.dangers().await?.into_iter().chain(store.elsewhere().await?).collect();
        let schema = store.schema().await?.map_or(String::new(), |schema| format!(", schema {schema}"));
        let own = match options.no_snowflake {
            true => None,
            false => Some(Arc::new(OwnSnowflake::open(&options, &leases, &who).await?)),
        };
        Ok::<_, Error>((warnings, schema, own))
    };
    let Some((warnings, schema, own)) = wait_for(begin, &starting, &options, stop.clone()).await? else {
        return Ok(());
    };
    warnings.into_iter().for_each(|warning| log::warn!("{warning}"));
    let app = Arc::new(App::new(options, tokens, store.clone(), leases, own.clone(), rate_limits, who));
    let (own_stopper, own_stop) = watch::channel(false);
    let holder = own.map(|own| tokio::spawn(async move { own.run(own_stop).await }));
    tokio::spawn(look_at_store(app.clone()));
    tokio::spawn(warm(app.clone()));
    tokio::spawn(look_at_dots(app.clone()));
    reload_at_hangups(hangup, app.clone(), tls);
    let version = env!("CARGO_PKG_VERSION");
    entrance.opens(public_api(&app));
    let mut all_served = vec![served];
    if let Some((listens, (address, entrance, served))) = administration {
        entrance.opens(admin_api(&app, listens));
        all_served.push(served);
        log::info!("the admin API listens on {address}");
    }
    log::info!("leafid-server {version} listens on {address}, store {}{schema}", store.shown());
    let mut stopped = stop.clone();
    let stopping = app.clone();
    tokio::spawn(async move {
        let _ = stopped.wait_for(|stops| *stops).await;
        stopping.is_stopping.store(true, Relaxed);
        log::info!("leafid-server stops");
    });
    for served in all_served {
        let _ = served.await;
    }
    // Until now requests had ids of its worker id.
    own_stopper.send_replace(true);
    if let Some(holder) = holder {
        let _ = holder.await;
    }
    if let Some(own) = &app.snowflake {
        own.close().await;
    }
    if app.options.give_back {
        give_back(&app).await;
    }
    let is_up = app.store_error.lock().is_none();
    if is_up && let Err(error) = store.announce(&app.who, true).await {
        log::debug!("other servers of the store see this one for a while: {error}");
    }
    store.close().await;
    traces::stop().await;
    log::info!("leafid-server has stopped");
    Ok(())
}

/// Fetches ids of the tags that were used within a day, before somebody asks for them.
async fn warm(app: Arc<App>) {
    let most = app.options.warm_tags as usize;
    if most == 0 || app.options.no_segment {
        return;
    }
    let mut names = match app.store.tags_of_a_day(most).await {
        Ok(names) => names,
        Err(error) => return log::warn!("no ids are fetched in advance: {error}"),
    };
    // Of others the row is never used, and its counter stays where it is.
    names.retain(|name| app.dots().tag(name) == name);
    let (count, names) = (names.len(), Arc::new(Mutex::new(names.into_iter())));
    // The other half of the connections serves requests.
    let tasks = (0..app.options.store_connections.div_ceil(2)).map(|_| {
        let (app, names) = (app.clone(), names.clone());
        tokio::spawn(async move {
            while !app.is_stopping.load(Relaxed) {
                let Some(name) = names.lock().next() else { break };
                if let Err(error) = app.tags.warm(&name).await {
                    log::debug!("no ids of {name:?} in advance: {error}");
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        let _ = task.await;
    }
    log::info!("ids were fetched for {count} tags that were used within a day");
}

/// Says which tags are refused, or have a row that is never used.
async fn look_at_dots(app: Arc<App>) {
    match app.dots().clashes(&app.store).await {
        Ok(lines) => lines.into_iter().for_each(|(_, line)| log::warn!("{line}")),
        Err(error) => log::warn!("the tags with dots were not looked at: {error}"),
    }
}

async fn give_back(app: &App) {
    match app.tags.close().await {
        Ok(()) => log::info!("the unused ids were given back, where no later range was taken"),
        Err(error) => log::warn!("not all unused ids were given back, the others are a gap: {error}"),
    }
}

/// The variable is that of all programs: with a wrong one this program starts, without traces.
fn start_traces(options: &Options) -> Result<()> {
    if let Some(endpoint) = &options.otlp_endpoint {
        return traces::start(endpoint);
    }
    let everybodys =
        std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok().filter(|endpoint| !endpoint.is_empty());
    if let Some(Err(error)) = everybodys.map(|endpoint| traces::start(&endpoint)) {
        log::warn!("no traces: {error}");
    }
    Ok(())
}

async fn bind(option: &str, address: SocketAddr) -> Result<TcpListener> {
    let wrong = |error| Error::invalid(option, format!("{address}: {error}"), "a free address and port");
    TcpListener::bind(address).await.map_err(wrong)
}

fn handler(kind: SignalKind) -> Result<Signal> {
    signal(kind).map_err(|error| Error::new(Code::Internal, format!("no signals: {error}")))
}

fn stop_at_signals(stopper: watch::Sender<bool>) -> Result<()> {
    let (mut interrupt, mut terminate) =
        (handler(SignalKind::interrupt())?, handler(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stopper.send_replace(true);
        // The second signal ends it at once.
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        std::process::exit(130);
    });
    Ok(())
}

/// SIGHUP reads the certificate and the tokens again. What is wrong is logged, and what was read before stays.
fn reload_at_hangups(mut hangup: Signal, app: Arc<App>, tls: Option<Arc<Tls>>) {
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            let certificate = tls.as_ref().map_or(Ok(()), |tls| tls.reload());
            for (what, done) in [("tokens", app.access.reload()), ("certificate", certificate)] {
                match done {
                    Ok(()) => log::info!("{what}: read again"),
                    Err(error) => log::error!("{what}: not read again, all stays as it was: {error}"),
                }
            }
        }
    });
}

/// What `begin` finds, which is tried again while the store does not answer; `None` if this server shall stop.
async fn wait_for<T>(
    begin: impl AsyncFn() -> Result<T>,
    starting: &Starting,
    options: &Options,
    mut stop: watch::Receiver<bool>,
) -> Result<Option<T>> {
    let deadline = Instant::now() + Duration::from_millis(options.start_timeout_ms);
    let mut back_off = BackOff::new();
    loop {
        let error = match begin().await {
            Ok(found) => return Ok(Some(found)),
            Err(error) if error.code() != Code::SegmentUnavailable => return Err(error),
            Err(error) => error,
        };
        back_off.failed(0, crate::clock::seed());
        let pause = back_off.duration(false);
        if Instant::now() + pause > deadline {
            return Err(error.context("the store does not answer, and this server does not start"));
        }
        log::warn!("the store does not answer, it is tried again in {} ms: {error}", pause.as_millis());
        starting.failed(error);
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => return Ok(None),
        }
    }
}

/// Errors: `invalid_argument` for a store that cannot be used; `segment_unavailable` if it does not answer.
async fn prepare(store: &Store, options: &Options) -> Result<()> {
    let is_pooled = store.is_pooled().await?;
    store.make_tables().await?;
    // A database may end one of several that store the same at one moment.
    settings::agree(store, options).await?;
    if is_pooled {
        log::info!("{POOLED}");
    }
    Ok(())
}

async fn look_at_store(app: Arc<App>) {
    let (outage, late) = (app.tags.outage(), LATE.max(app.options.timeout()));
    let mut announced: Option<Instant> = None;
    loop {
        let (begun, before_ms) = (Instant::now(), unix_ms());
        let looked = outage.look(late, || app.store.now_ms()).await;
        *app.store_time.lock() = Some(begun.elapsed());
        if let Some(store_ms) = looked {
            // It was read in the middle of the look.
            app.store_ahead_ms.store(store_ms - (before_ms + unix_ms()) / 2, Relaxed);
        }
        if outage.is_over()
            && announced.is_none_or(|at| at.elapsed() >= ANNOUNCE)
            && !app.is_stopping.load(Relaxed)
        {
            match timeout(LATE, app.store.announce(&app.who, false)).await {
                Ok(Ok(())) => announced = Some(Instant::now()),
                Ok(Err(error)) => log::debug!("other servers of the store do not see this one: {error}"),
                Err(_) => log::debug!("other servers of the store do not see this one: no answer in time"),
            }
        }
        // Nothing else asks a store that is away, and its return is to be seen soon.
        sleep(if outage.is_over() { LOOK } else { LOOK / 10 }).await;
    }
}
