//! Paths and methods, and what answers them: axum's handlers, but not its router, which keeps the tag of a path in five
//! pieces of memory of its own. For a request that asks for one id they cost more than the id.

use super::counts::Api;
use super::spelling;
use axum::body::Body;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::header::{ALLOW, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

static GET: [Method; 2] = [Method::GET, Method::HEAD];
static POST: [Method; 1] = [Method::POST];
/// Those of a handler of Spring that names none.
static SPRINGS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
static OPTIONS: [Method; 1] = [Method::OPTIONS];

/// What a handler returns.
pub(super) type Answered = BoxFuture<'static, Response>;

type Answers<S> = Box<dyn Fn(Request, S) -> Answered + Send + Sync>;

/// What answers the methods of a path.
pub(super) struct Methods<S>(Vec<(&'static [Method], Answers<S>)>);

/// A path. Its last part may be a name, such as `{tag}`: then any part that is not empty is of it.
pub(super) struct Route<S> {
    pub(super) path: &'static str,
    /// The path before that name.
    start: Option<&'static str>,
    pub(super) api: Api,
    methods: Methods<S>,
}

/// The paths of a listener. They are few, and the first that fits is taken: a fixed path stands before one with a name.
pub(super) struct Routes<S> {
    routes: Vec<Route<S>>,
    /// All other paths.
    others: Answers<S>,
}

fn answers<T: 'static, S: 'static>(handler: impl Handler<T, S, Future = Answered>) -> Answers<S> {
    Box::new(move |request, state| handler.clone().call(request, state))
}

pub(super) fn get<T: 'static, S: 'static>(handler: impl Handler<T, S, Future = Answered>) -> Methods<S> {
    Methods(vec![(&GET, answers(handler))])
}

pub(super) fn post<T: 'static, S: 'static>(handler: impl Handler<T, S, Future = Answered>) -> Methods<S> {
    Methods(vec![(&POST, answers(handler))])
}

/// A handler of Spring that names no method takes all of them, and Spring answers OPTIONS itself.
pub(super) fn any_method<T: 'static, O: 'static, S: 'static>(
    handler: impl Handler<T, S, Future = Answered>,
    options: impl Handler<O, S, Future = Answered>,
) -> Methods<S> {
    Methods(vec![(&SPRINGS, answers(handler)), (&OPTIONS, answers(options))])
}

impl<S> Methods<S> {
    fn answer(&self, request: Request, state: S) -> Answered {
        match self.0.iter().find(|(methods, _)| methods.contains(request.method())) {
            Some((_, answers)) => answers(request, state),
            None => ready(self.refusal()).boxed(),
        }
    }

    fn refusal(&self) -> Response {
        let names: Vec<&str> = self.0.iter().flat_map(|(methods, _)| *methods).map(Method::as_str).collect();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        if let Ok(names) = HeaderValue::from_str(&names.join(",")) {
            response.headers_mut().insert(ALLOW, names);
        }
        response
    }
}

impl<S> Route<S> {
    fn is_of(&self, path: &str) -> bool {
        match self.start {
            None => path == self.path,
            Some(start) => {
                path.strip_prefix(start).is_some_and(|name| !name.is_empty() && !name.contains('/'))
            }
        }
    }
}

impl<S> Routes<S> {
    pub(super) fn new<T: 'static>(others: impl Handler<T, S, Future = Answered>) -> Routes<S>
    where
        S: 'static,
    {
        Routes { routes: Vec::new(), others: answers(others) }
    }

    pub(super) fn with<const N: usize>(mut self, routes: [(&'static str, Methods<S>); N]) -> Routes<S> {
        self.routes.extend(routes.into_iter().map(|(path, methods)| {
            let start = path.split_once('{').map(|(start, _)| start);
            Route { path, start, api: Api::of(path), methods }
        }));
        self
    }

    /// The route of a request. Where there is none of its path as it is, the request gets the path as a Leaf reads it.
    pub(super) fn find(&self, request: &mut Request) -> Option<&Route<S>> {
        let of = |path: &str| self.routes.iter().find(|route| route.is_of(path));
        of(request.uri().path()).or_else(|| {
            *request.uri_mut() = plain(request.uri())?;
            of(request.uri().path())
        })
    }

    /// `route`: that of the request.
    pub(super) fn answer(&self, route: Option<&Route<S>>, request: Request, state: S) -> Answered {
        match route {
            Some(route) => route.methods.answer(request, state),
            None => (self.others)(request, state),
        }
    }
}

fn plain(uri: &Uri) -> Option<Uri> {
    let (mut parts, mut path) = (uri.clone().into_parts(), spelling::plain(uri.path())?);
    if let Some(query) = uri.query() {
        path = path + "?" + query;
    }
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn none() {}

    #[test]
    fn a_path_has_the_route_of_its_parts() {
        let routes = Routes::<()>::new(none)
            .with([("/health", get(none)), ("/api/segment/get/{tag}", any_method(none, none))]);
        for (uri, route, path) in [
            ("/health", Some("/health"), "/health"),
            ("/api/segment/get/order?n=2", Some("/api/segment/get/{tag}"), "/api/segment/get/order"),
            ("//api/./segment/get/a%20b/?n=2", Some("/api/segment/get/{tag}"), "/api/segment/get/a%20b"),
            ("/api/segment/get/", None, "/api/segment/get"),
            ("/api/segment/get/a/b", None, "/api/segment/get/a/b"),
            ("/healthy", None, "/healthy"),
            ("/../health", None, "/../health"),
            ("*", None, "/*"),
        ] {
            let mut request = Request::builder().uri(uri).body(Body::empty()).unwrap();
            assert_eq!(routes.find(&mut request).map(|route| route.path), route, "{uri}");
            assert_eq!(request.uri().path(), path, "{uri}");
            assert_eq!(request.uri().query().is_some(), uri.contains('?'), "{uri}");
        }
    }
}
