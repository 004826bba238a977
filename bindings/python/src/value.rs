//! Classes with the fields of a type of the host.

/// A class whose objects are made from the host's type of this name, or from its fields, and are shown, pickled and
/// copied.
macro_rules! value_class {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$about])*
        #[pyo3::pyclass(frozen, get_all, eq, module = "leafid")]
        #[derive(Clone, PartialEq, Eq)]
        pub(crate) struct $name {
            $($(#[$doc])* $field: $kind,)*
        }

        impl $name {
            fn fields() -> String {
                [$(stringify!($field)),*].join(", ")
            }
        }

        impl From<leafid::$name> for $name {
            fn from(value: leafid::$name) -> $name {
                $name { $($field: value.$field.into(),)* }
            }
        }

        #[pyo3::pymethods]
        impl $name {
            #[new]
            #[allow(clippy::too_many_arguments)]
            fn new($($field: $kind),*) -> $name {
                $name { $($field),* }
            }

            fn __repr__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<String> {
                $crate::arguments::shown_fields(slf.as_any(), stringify!($name), &$name::fields())
            }

            /// For pickle and copy.
            fn __reduce__<'py>(
                slf: &pyo3::Bound<'py, Self>,
            ) -> pyo3::PyResult<(pyo3::Bound<'py, pyo3::types::PyType>, pyo3::Bound<'py, pyo3::types::PyTuple>)> {
                $crate::arguments::reduced(slf.as_any(), &$name::fields())
            }
        }
    };
}

pub(crate) use value_class;
