// The picture of spans: a row for each worker id of this browser's tabs, time from left to right.

const CHANNEL = new BroadcastChannel('leafid-browser-example')
const [PAST_MS, AHEAD_MS] = [14_000, 5_000]
const [TOP, ROW, BAR, LEFT, RIGHT] = [26, 64, 26, 12, 12]
const LABEL = 48
const DRAWN_MS = 50
/** A row goes some time after the last word of its tab. */
const GONE_MS = 20_000
const SVG = 'http://www.w3.org/2000/svg'

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  if (text !== undefined) made.textContent = text
  return made
}

export class Picture {
  /** By worker id: `{ spans: [{ from, until, end }], ids: [{ at, count }], heard, isOurs }`, `end` where its ids end. */
  #rows = new Map()
  #svg
  onStory = () => {}

  constructor(svg) {
    this.#svg = svg
    CHANNEL.onmessage = ({ data: [event, ...given] }) => this.#hear(false, event, ...given)
  }

  /** A generator has its first span. */
  opened(workerId, until) {
    this.#tell('opened', workerId, Date.now(), until)
    this.onStory(`Worker id ${workerId} was free. Its first span is stored, and the first id was made of it.`)
  }

  /** It has made ids; `until` is where its spans end now. */
  issued(workerId, count, until) {
    this.#tell('issued', workerId, Date.now(), until, count)
  }

  /** It ended at a time. */
  closed(workerId, at) {
    this.#tell('closed', workerId, at)
    this.onStory(`It has ended: where its ids end is stored, and worker id ${workerId} is free again. The next tab starts there.`)
  }

  #tell(...event) {
    CHANNEL.postMessage(event)
    this.#hear(true, ...event)
  }

  #hear(isOurs, event, workerId, now, until, count) {
    const row = this.#rows.get(workerId) ?? { spans: [], ids: [], heard: now, isOurs }
    this.#rows.set(workerId, row)
    Object.assign(row, { heard: now, isOurs })
    const last = row.spans.at(-1)
    if (event === 'closed') {
      if (last) last.end = Math.min(now, last.until)
      return
    }
    if (event === 'opened' || !last || last.end) row.spans.push({ from: now, until })
    else if (until > last.until) {
      row.spans.push({ from: last.until, until })
      const length = ((until - last.until) / 1000).toFixed(1)
      if (isOurs) this.onStory(`Half of the span was used, so the next ${length} s were stored in the background.`)
    }
    if (count) row.ids.push({ at: now, count })
  }

  /** Draws until the page is gone. */
  run() {
    setInterval(() => document.hidden || this.#draw(Date.now()), DRAWN_MS)
  }

  #draw(now) {
    const width = Math.max(this.#svg.clientWidth, 280)
    const x = ms => LEFT + ((ms - now + PAST_MS) / (PAST_MS + AHEAD_MS)) * (width - LEFT - RIGHT)
    for (const [workerId, row] of this.#rows) {
      row.spans = row.spans.filter(({ until }) => until > now - PAST_MS)
      row.ids = row.ids.filter(({ at }) => at > now - PAST_MS)
      if (now - row.heard > GONE_MS) this.#rows.delete(workerId)
    }
    const rows = [...this.#rows].sort(([one], [other]) => one - other)
    const height = TOP + Math.max(rows.length, 1) * ROW + 4
    this.#svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    this.#svg.replaceChildren(
      ...grid(now, x, height),
      ...rows.flatMap(([workerId, row], at) => drawn(workerId, row, TOP + at * ROW, now, x)),
      element('line', { class: 'now', x1: x(now), x2: x(now), y1: TOP - 6, y2: height }),
      element('text', { class: 'now-text', x: x(now), y: 14, 'text-anchor': 'middle' }, 'now'),
    )
  }
}

/** Lines at whole seconds, as far apart as their labels need. */
function grid(now, x, height) {
  const drawn = []
  const step = 1000 * Math.max(2, Math.ceil(LABEL / (x(1000) - x(0))))
  for (let at = Math.ceil((now - PAST_MS) / step) * step; at < now + AHEAD_MS; at += step) {
    drawn.push(element('line', { class: 'grid', x1: x(at), x2: x(at), y1: TOP - 6, y2: height }))
    const away = Math.round((at - now) / 1000)
    const fits = Math.abs(x(at) - x(now)) > LABEL * 0.9 && x(at) > LABEL / 2
    const label = `${away > 0 ? '+' : '−'}${Math.abs(away)} s`
    if (fits) drawn.push(element('text', { x: x(at), y: 14, 'text-anchor': 'middle' }, label))
  }
  return drawn
}

function drawn(workerId, { spans, ids, isOurs }, top, now, x) {
  const bar = (from, until, kind) => {
    const [left, right] = [Math.max(x(from), 0), x(until)]
    const size = { x: left, y: top + 18, width: right - left - 1, height: BAR, rx: 4 }
    return right - left < 1 ? [] : [element('rect', { class: kind, ...size })]
  }
  const parts = spans.flatMap(({ from, until, end }) => {
    const used = Math.min(Math.max(end ?? now, from), until)
    return [...bar(from, used, 'span-used'), ...bar(used, until, end ? 'span-lost' : 'span-ahead')]
  })
  const below = top + 18 + BAR + 7
  const dots = ids.map(({ at, count }) =>
    element('circle', { class: 'ids', cx: x(at), cy: below, r: Math.min(2 + Math.log10(count), 6) }),
  )
  const name = `worker id ${workerId}${isOurs ? ', this tab' : ''}`
  return [...parts, ...dots, element('text', { class: 'name', x: LEFT, y: top + 12 }, name)]
}
