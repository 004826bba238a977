/// An error whose text is a defect.
#[derive(Debug)]
pub(crate) struct Untold;

impl std::fmt::Display for Untold {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("as asked")
    }
}

impl std::error::Error for Untold {}
