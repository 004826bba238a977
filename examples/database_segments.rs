//! Segments from a function of your own. Here a tag's counter is a file, TAG.counter, with the first number not yet
//! given.

use leafid::{Result, Segment, Segments};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result as IoResult, Seek, Write};

/// Takes `step` numbers, and answers the first; none of a tag that there is not. With a database it is one transaction,
/// and the steps are the same: lock, read, write, make durable.
fn take(tag: &str, step: i64, after: i64) -> IoResult<Option<i64>> {
    let mut file = match File::options().read(true).write(true).open(format!("{tag}.counter")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let counter: i64 = text.trim().parse().map_err(Error::other)?;
    let start = counter.max(after);
    file.rewind()?;
    writeln!(file, "{:020}", start + step)?;
    file.sync_data()?;
    Ok(Some(start))
}

fn main() -> Result<()> {
    let segments = Segments::builder()
        .name("counters")
        .fetch(|request| {
            let start = take(&request.tag, request.step, request.after)?;
            let segment = start.map(|start| Segment::new(start, start + request.step, 1)).transpose()?;
            Ok(segment.map(Into::into))
        })
        .open()?;
    let order = segments.tag("order")?;
    println!("order number {}, then {:?}", order.next()?, order.take(3)?);
    segments.close()
}
