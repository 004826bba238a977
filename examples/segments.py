import leafid

with leafid.Segments("file:numbers", create=True, tags={"order": {"start": 1, "step": 1000}}) as segments:
    order = segments.tag("order")
    print(f"order number {order.next()}")

    numbers = order.take(1000)
    print(f"{len(numbers)} more, {numbers[0]} to {numbers[-1]}")
