//! The platform that this process runs on.

/// The name of the platform, if it starts several containers from one description.
pub(crate) fn surroundings() -> Option<&'static str> {
    surroundings_of(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn surroundings_of(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    [
        ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
        ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"),
        ("K_SERVICE", "Cloud Run or Knative"),
    ]
    .into_iter()
    .find_map(|(variable, name)| is_set(variable).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surroundings_are_told_by_the_environment() {
        assert_eq!(surroundings_of(|_| false), None);
        assert_eq!(surroundings_of(|name| name == "KUBERNETES_SERVICE_HOST"), Some("Kubernetes"));
        assert_eq!(surroundings_of(|name| name == "AWS_LAMBDA_FUNCTION_NAME"), Some("AWS Lambda"));
    }
}
