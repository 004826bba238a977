//! The lease servers of a world: one table, as docs/LEASES.md wants it. It may forget who holds an id, but never the end
//! of a span that it gave.

/// A worker id at the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Row {
    from_ms: i64,
    until_ms: i64,
    holder: Option<Holder>,
    /// The number of its tokens.
    tokens: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Holder {
    ends_ms: i64,
    token: String,
    /// The claim that got it, as long as it was not renewed.
    instance: Option<String>,
}

/// What the server says to a claim or a renewal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Given {
    pub(crate) worker_id: i64,
    pub(crate) from_ms: i64,
    pub(crate) until_ms: i64,
    pub(crate) token: String,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeaseServer {
    rows: Vec<Row>,
    /// How long a lease lasts without a renewal.
    lease_ms: i64,
    /// How far a span may end after its lease.
    threshold_ms: i64,
    /// Whether it gives as much as it may, and not only what was asked for.
    gives_more: bool,
}

impl LeaseServer {
    pub(crate) fn new(ids: usize, lease_ms: i64, threshold_ms: i64, gives_more: bool) -> LeaseServer {
        LeaseServer { rows: vec![Row::default(); ids], lease_ms, threshold_ms, gives_more }
    }

    fn token(&mut self, id: usize) -> String {
        self.rows[id].tokens += 1;
        format!("{id}-{}", self.rows[id].tokens)
    }

    /// The end of a span for which this one was asked.
    fn until_ms(&self, until_ms: i64, now_ms: i64) -> i64 {
        let latest_ms = now_ms + self.lease_ms + self.threshold_ms;
        if self.gives_more { latest_ms } else { until_ms.min(latest_ms) }
    }

    /// `None`: no id is free. `now_ms` is the server's clock.
    pub(crate) fn claim(&mut self, instance: &str, until_ms: i64, now_ms: i64) -> Option<Given> {
        let known = |row: &Row| {
            row.holder.as_ref().is_some_and(|holder| holder.instance.as_deref() == Some(instance))
        };
        let found = self.rows.iter().position(known);
        let free = |row: &Row| {
            row.holder.as_ref().is_none_or(|holder| holder.ends_ms <= now_ms) && row.until_ms <= now_ms
        };
        let id = found.or_else(|| self.rows.iter().position(free))?;
        if found.is_none() {
            let (token, until_ms) = (self.token(id), self.until_ms(until_ms, now_ms));
            let row = &mut self.rows[id];
            row.from_ms = row.until_ms;
            row.until_ms = until_ms.max(row.from_ms + 1);
            row.holder =
                Some(Holder { ends_ms: now_ms + self.lease_ms, token, instance: Some(instance.into()) });
        }
        self.given(id)
    }

    fn given(&self, id: usize) -> Option<Given> {
        let Row { from_ms, until_ms, holder, .. } = &self.rows[id];
        let token = holder.as_ref()?.token.clone();
        Some(Given { worker_id: id as i64, from_ms: *from_ms, until_ms: *until_ms, token })
    }

    fn holds(&self, worker_id: i64, token: &str) -> bool {
        self.rows[worker_id as usize].holder.as_ref().is_some_and(|holder| holder.token == token)
    }

    /// `None`: the token does not hold the id.
    pub(crate) fn renew(&mut self, worker_id: i64, token: &str, until_ms: i64, now_ms: i64) -> Option<Given> {
        if !self.holds(worker_id, token) {
            return None;
        }
        let (token, until_ms) = (self.token(worker_id as usize), self.until_ms(until_ms, now_ms));
        let row = &mut self.rows[worker_id as usize];
        row.until_ms = until_ms.max(row.until_ms);
        row.holder = Some(Holder { ends_ms: now_ms + self.lease_ms, token, instance: None });
        self.given(worker_id as usize)
    }

    pub(crate) fn release(&mut self, worker_id: i64, token: &str, until_ms: i64) {
        if self.holds(worker_id, token) {
            let row = &mut self.rows[worker_id as usize];
            row.until_ms = until_ms.max(row.from_ms).min(row.until_ms);
            row.holder = None;
        }
    }

    /// A commit is lost, but for the ends of spans.
    pub(crate) fn forget(&mut self, worker_id: usize) {
        self.rows[worker_id].holder = None;
    }

    /// A commit is lost, with the end of the last span.
    pub(crate) fn lose_span(&mut self, worker_id: usize) {
        self.forget(worker_id);
        self.rows[worker_id].until_ms = self.rows[worker_id].from_ms;
    }

    /// A lease that somebody holds.
    pub(crate) fn held(&self) -> Option<Given> {
        (0..self.rows.len()).find_map(|id| self.given(id))
    }

    pub(crate) fn lease_ms(&self) -> i64 {
        self.lease_ms
    }
}
