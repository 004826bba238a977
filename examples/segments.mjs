import { Segments } from 'leafid'

const segments = new Segments('file:numbers', { create: true, tags: { order: { start: 1, step: 1000 } } })
const order = segments.tag('order')
console.log(`order number ${await order.next()}`)

const numbers = await order.take(1000)
console.log(`${numbers.length} more, ${numbers[0]} to ${numbers[999]}`)
segments.close()
