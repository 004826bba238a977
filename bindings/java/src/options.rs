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
        let mut row = texts(env, &array)?;
        let values = row.split_off(row.len().min(1));
        let name = row.pop().flatten().unwrap_or_else(|| "null".into());
        let known = rows(of).find(|row| Named(row.name).to_string() == name);
        let Some(row) = known else {
            let names: Vec<String> = rows(of).map(|row| Named(row.name).to_string()).collect();
            return Err(leafid::unknown_option(&name, &names.join(", ")).into());
        };
        set(row.name, value(row, without_null(row, values)?)?)?;
    }
    Ok(())
}

/// Errors: `invalid_argument` for a null, which no value may take the place of. No other value is shown: it may be secret.
fn without_null(row: &OptionRow, values: Vec<Option<String>>) -> leafid::Result<Vec<String>> {
    let count = values.len();
    let texts = values.into_iter().enumerate().map(|(at, text)| {
        let null = || format!("null at place {} of {count}", at + 1);
        text.ok_or_else(|| Error::invalid(row.name, null(), row.allowed))
    });
    texts.collect()
}

fn value(row: &OptionRow, values: Vec<String>) -> leafid::Result<OptionValue> {
    let number = |text: &str| {
        let wrong = || Error::invalid(row.name, format!("{text:?}"), row.allowed);
        text.parse::<i64>().map_err(|_| wrong())
    };
    let one = |values: Vec<String>| match <[String; 1]>::try_from(values) {
        Ok([value]) => Ok(value),
        Err(values) => Err(Error::invalid(row.name, format!("{} values", values.len()), row.allowed)),
    };
    Ok(match row.kind {
        OptionKind::Int | OptionKind::Id => OptionValue::Int(number(&one(values)?)?),
        OptionKind::Flag => match one(values)?.as_str() {
            "true" => OptionValue::Flag(true),
            "false" => OptionValue::Flag(false),
            other => return Err(Error::invalid(row.name, format!("{other:?}"), row.allowed)),
        },
        OptionKind::Headers => OptionValue::Headers(pairs(row, &values)?),
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
        | OptionKind::Prewarm => OptionValue::Text(one(values)?),
        // An argument of its own.
        OptionKind::Callback => OptionValue::Other(one(values)?),
    })
}

/// Names and texts in turn. No error shows them: a text may be secret.
fn pairs(row: &OptionRow, values: &[String]) -> leafid::Result<Vec<(String, String)>> {
    let odd = || Error::invalid(row.name, format!("an odd number of values, {}", values.len()), row.allowed);
    let pairs = values.chunks(2).map(|pair| match pair {
        [name, text] => Ok((name.clone(), text.clone())),
        _ => Err(odd()),
    });
    pairs.collect()
}
