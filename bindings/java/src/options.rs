//! The options in the form of Java, converted by the kinds that the host's table says.

use crate::call::{Done, Texts, texts};
use crate::layout::layout_of;
use jni::Env;
use jni::objects::JObjectArray;
use leafid::{Error, FileTag, Named, OPTIONS, OptionKind, OptionOf, OptionRow, OptionValue};

/// Rows of texts: the name of an option, and its values.
pub(crate) type Rows<'local> = JObjectArray<'local, Texts<'local>>;

fn rows(of: OptionOf) -> impl Iterator<Item = &'static OptionRow> {
    OPTIONS.iter().filter(move |row| row.of.includes(of))
}

/// The names and kinds of the options of a snowflake, or of segments.
pub(crate) fn known(of: OptionOf) -> Vec<Option<String>> {
    rows(of).flat_map(|row| [Some(Named(row.name).to_string()), Some(row.kind.name().into())]).collect()
}

/// Passes each option that is given to `set`. Errors: an unknown name; that of `set`.
pub(crate) fn each(
    env: &mut Env<'_>,
    of: OptionOf,
    given: &Rows<'_>,
    mut set: impl FnMut(&'static str, OptionValue) -> leafid::Result<()>,
) -> Done<()> {
    for at in 0..given.len(env)? {
        let array = given.get_element(env, at)?;
        let mut row: Vec<String> = texts(env, &array)?.into_iter().flatten().collect();
        let values = row.split_off(row.len().min(1));
        let name = row.pop().unwrap_or_default();
        let known = rows(of).find(|row| Named(row.name).to_string() == name);
        let Some(row) = known else {
            let names: Vec<String> = rows(of).map(|row| Named(row.name).to_string()).collect();
            return Err(leafid::unknown_option(&name, &names.join(", ")).into());
        };
        set(row.name, value(row, values)?)?;
    }
    Ok(())
}

fn value(row: &OptionRow, mut values: Vec<String>) -> leafid::Result<OptionValue> {
    let number = |text: &str| {
        let wrong = || Error::invalid(row.name, format!("{text:?}"), row.allowed);
        text.parse::<i64>().map_err(|_| wrong())
    };
    let one = |values: &mut Vec<String>| values.pop().unwrap_or_default();
    Ok(match row.kind {
        OptionKind::Int | OptionKind::Id => OptionValue::Int(number(&one(&mut values))?),
        OptionKind::Flag => match one(&mut values).as_str() {
            "true" => OptionValue::Flag(true),
            "false" => OptionValue::Flag(false),
            other => return Err(Error::invalid(row.name, format!("{other:?}"), row.allowed)),
        },
        OptionKind::Headers => OptionValue::Headers(pairs(values)),
        OptionKind::Layout => OptionValue::Layout(layout_of(&values)?.fields()),
        OptionKind::Urls => OptionValue::Texts(values),
        OptionKind::Worker if values.len() > 1 => OptionValue::Texts(values),
        // Counters by name, start and step.
        OptionKind::Tags => {
            let tags = values.chunks(3).map(|tag| {
                let [name, start, step] = tag else {
                    return Err(Error::invalid(row.name, format!("{tag:?}"), "a name, a start and a step"));
                };
                Ok((name.clone(), FileTag { start: number(start)?, step: number(step)? }))
            });
            OptionValue::Tags(tags.collect::<leafid::Result<_>>()?)
        }
        OptionKind::Prewarm if values != ["last-day"] => OptionValue::Texts(values),
        OptionKind::Text
        | OptionKind::Word(_)
        | OptionKind::Path
        | OptionKind::Worker
        | OptionKind::Prewarm => OptionValue::Text(one(&mut values)),
        // An argument of its own.
        OptionKind::Callback => OptionValue::Other(one(&mut values)),
    })
}

fn pairs(values: Vec<String>) -> Vec<(String, String)> {
    let mut values = values.into_iter();
    std::iter::from_fn(|| Some((values.next()?, values.next()?))).collect()
}
