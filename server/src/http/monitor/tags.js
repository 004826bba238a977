// The tags: a row for each, with its two segments as bars.

import { count, duration, label, make, milliseconds, plural, rate, tell } from './text.js'

/** The longer segment is drawn at most this many times as long as the other. */
const RATIO = 4
/** A buffer that lasts less, without a next segment, is soon empty. */
const SOON_S = 10

export class TagRows {
  #rows = new Map()

  constructor(body) {
    this.body = body
    this.still = matchMedia('(prefers-reduced-motion: reduce)')
  }

  show(tags) {
    const before = this.still.matches ? null : this.#tops()
    const rows = new Map()
    for (const tag of tags) {
      const row = this.#rows.get(tag.tag) ?? new TagRow()
      row.show(tag)
      rows.set(tag.tag, row)
    }
    for (const [tag, row] of this.#rows) if (!rows.has(tag)) row.node.remove()
    let next = this.body.firstChild
    for (const { node } of rows.values()) {
      if (node === next) next = next.nextSibling
      else this.body.insertBefore(node, next)
    }
    this.#rows = rows
    if (before) this.#move(before)
  }

  #tops() {
    return new Map([...this.#rows].map(([tag, { node }]) => [tag, node.offsetTop]))
  }

  /** Rows that changed places glide there. */
  #move(before) {
    for (const [tag, { node }] of this.#rows) {
      const apart = (before.get(tag) ?? node.offsetTop) - node.offsetTop
      if (apart) node.animate([{ transform: `translateY(${apart}px)` }, {}], { duration: 300, easing: 'ease-out' })
    }
  }
}

class TagRow {
  #from

  constructor() {
    const cell = (className, title) => {
      const cell = make('span', className)
      cell.setAttribute('role', 'cell')
      if (title) cell.dataset.title = title
      return cell
    }
    this.name = cell('name')
    this.rate = cell('number rate', 'ids a second')
    this.step = cell('number', 'step')
    this.lasts = cell('number', 'lasts')
    this.fetch = cell('number', 'last fetch')
    this.error = cell('error')
    this.current = make('span', 'segment current', make('i'))
    this.next = make('span', 'segment next')
    this.bars = make('span', 'bars', this.current, this.next)
    this.bars.setAttribute('role', 'img')
    this.position = make('b')
    this.end = make('span')
    this.nextEnd = make('span')
    this.inCurrent = make('span', 'ends', this.position, this.end)
    this.inNext = make('span', 'ends', this.nextEnd)
    const segments = cell('segments')
    segments.append(this.bars, make('span', 'bar-texts', this.inCurrent, this.inNext))
    this.node = make('div', 'row', this.name, segments, this.rate, this.step, this.lasts, this.fetch, this.error)
    this.node.setAttribute('role', 'row')
  }

  show(tag) {
    tell(this.name, tag.tag)
    const [current, next] = tag.segments.map(sizes)
    this.#bars(current, next)
    const all = tag.ids_per_second === null ? null : tag.ids_per_second + (tag.range_ids_per_second ?? 0)
    tell(this.rate, rate(all))
    tell(this.step, tag.step > 0 ? count(tag.step) : '–')
    const isSoon = !next && tag.seconds_left !== null && tag.seconds_left < SOON_S
    tell(this.lasts, lasts(tag, current))
    this.lasts.classList.toggle('soon', isSoon)
    tell(this.fetch, milliseconds(tag.fetch_ms))
    tell(this.error, tag.error ?? '')
    this.error.hidden = tag.error === null
    this.node.classList.toggle('failing', tag.error !== null)
  }

  #bars(current, next) {
    this.current.classList.toggle('none', !current)
    this.next.classList.toggle('none', !next)
    // One that is not there is drawn as long as the other.
    const length = current?.length || next?.length || 1
    const share = Math.min(Math.max((next?.length ?? length) / length, 1 / RATIO), RATIO)
    for (const node of [this.next, this.inNext]) node.style.flexGrow = share
    // A new segment begins at its own position: its bar does not slide back.
    this.current.classList.toggle('fresh', this.#from !== current?.from)
    this.#from = current?.from
    this.current.firstChild.style.width = `${current ? (100 * current.used) / current.length : 0}%`
    tell(this.position, current ? `at ${count(current.position)}` : 'empty')
    tell(this.end, current ? count(current.end) : '')
    tell(this.nextEnd, next ? count(next.end) : '')
    label(this.bars, described(current, next))
  }
}

/** Differences of ids that may be too large for numbers. */
function sizes({ from, position, end }) {
  const apart = (one, other) => Number(BigInt(other) - BigInt(one))
  return { from, position, end, used: apart(from, position), length: apart(from, end) }
}

function lasts(tag, current) {
  if (!current) return tag.range_ids_per_second > 0 && tag.error === null ? 'ranges only' : 'empty'
  if (tag.seconds_left === null) return tag.ids_per_second === null ? '–' : 'idle'
  return duration(tag.seconds_left)
}

function described(current, next) {
  const now = current
    ? `segment ${count(current.from)} to ${count(current.end)}, ${plural(current.length - current.used, 'id', 'ids')} left`
    : 'no segment'
  return `${now}; ${next ? `next segment ${count(next.from)} to ${count(next.end)}` : 'no next segment'}`
}
