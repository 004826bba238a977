//! A header that C89 takes, from one of cbindgen, which needs C99.

const NEWEST: &str = "__STDC_VERSION__ >= 202311L";
const DEFINED: &str = "(defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)";

/// With comments of C89, without a comma behind the last name of an enum, and for compilers that define no version.
pub(crate) fn c89(header: &str) -> String {
    let header = header.replace(",\n}", "\n}");
    let lines = header.lines().map(|line| match line.split_once(" // ") {
        Some((directive, comment)) if directive.starts_with('#') => format!("{directive} /* {comment} */\n"),
        _ if line.starts_with("#if ") => format!("{}\n", line.replace(NEWEST, DEFINED)),
        _ => format!("{line}\n"),
    });
    lines.collect()
}
