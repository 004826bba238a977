use leafid::{FileTag, Result, Segments};

fn main() -> Result<()> {
    let tags = [("order", FileTag { start: 1, step: 1_000 })];
    let segments = Segments::builder().servers(["file:numbers"]).create(true).tags(tags).open()?;
    let order = segments.tag("order")?;
    println!("order number {}", order.next()?);

    let numbers = order.take(1000)?;
    println!("{} more, {} to {}", numbers.len(), numbers[0], numbers[999]);
    segments.close()
}
