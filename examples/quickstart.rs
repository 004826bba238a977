use leafid::{Layout, Result, Snowflake, Utc};

fn main() -> Result<()> {
    let flake = Snowflake::builder().open()?;

    let id = flake.next()?;
    let parts = Layout::LEAF.decode(id)?;
    println!("{id} made at {} by worker {}", Utc(parts.timestamp_ms), parts.worker_id);

    let ids = flake.take(1000)?;
    println!("{} more, {} to {}", ids.len(), ids[0], ids[999]);
    flake.close()
}
