// The worker ids: a map of all, and a list of those that are held.

import { Pages, count, duration, find, label, make, process, tell } from './text.js'

const ROWS = 10
/** A clock that is off by as much is marked. */
const OFF_MS = 1000
/** With more, the list alone is shown. */
const MOST_CELLS = 4096

export class Workers {
  #cells = new Map()
  #leases = { held: [] }
  #chosen = null
  #page = 0

  constructor() {
    this.map = find('map')
    this.pages = new Pages(find('worker-pages'), page => {
      this.#page = page
      this.#list()
    })
    this.rows = []
    this.map.onclick = this.map.onpointerover = ({ target }) => this.#choose(this.#held(Number(target.dataset.worker)))
    this.map.onfocus = () => this.#choose(this.#held(this.#chosen) ?? this.#leases.held[0])
    this.map.onkeydown = event => this.#key(event)
  }

  show(leases) {
    this.#leases = leases
    const first = leases.first_worker_id
    const length = leases.last_worker_id - first + 1
    const range = `${leases.name} ${first} ${length}`
    if (this.range !== range) this.#draw(first, length)
    this.range = range
    const held = new Map(leases.held.map(lease => [lease.worker_id, lease]))
    for (const [id, cell] of this.#cells) this.#paint(cell, held.get(id))
    this.map.classList.toggle('none', leases.held.length === 0)
    this.#choose(held.get(this.#chosen))
    this.#list()
  }

  #held(id) {
    return this.#leases.held.find(lease => lease.worker_id === id)
  }

  #draw(first, length) {
    const few = length > MOST_CELLS ? 0 : length
    this.map.classList.toggle('few', few <= 256)
    this.#page = 0
    this.#chosen = null
    this.#cells = new Map()
    for (let id = first; id < first + few; id++) {
      const cell = make('i')
      cell.dataset.worker = id
      cell.id = `worker-${id}`
      this.#cells.set(id, cell)
    }
    this.map.replaceChildren(...this.#cells.values())
  }

  #paint(cell, lease) {
    cell.classList.toggle('held', Boolean(lease))
    cell.classList.toggle('off', Boolean(lease) && isOff(lease))
    cell.classList.toggle('own', Boolean(lease) && lease.worker_id === this.#leases.own_worker_id)
    cell.setAttribute('role', lease ? 'option' : 'presentation')
    if (!lease) return void cell.removeAttribute('aria-label')
    cell.style.setProperty('--left', share(lease, this.#leases.lease_ms))
    label(cell, `worker id ${lease.worker_id}, holder ${lease.holder}`)
  }

  #choose(lease) {
    const before = this.#cells.get(this.#chosen)
    const now = lease && this.#cells.get(lease.worker_id)
    if (before !== now) {
      before?.removeAttribute('aria-selected')
      now?.setAttribute('aria-selected', 'true')
    }
    this.#chosen = lease?.worker_id ?? null
    if (now) this.map.setAttribute('aria-activedescendant', now.id)
    else this.map.removeAttribute('aria-activedescendant')
    if (now) label(now, this.#said(lease))
    tell(find('chosen'), lease ? this.#said(lease) : '')
    for (const row of this.rows) row.node.classList.toggle('chosen-row', row.id === this.#chosen)
  }

  #said(lease) {
    const whose = lease.worker_id === this.#leases.own_worker_id ? ' (this server)' : ''
    const ends = new Date(lease.ends_ms).toLocaleTimeString()
    const clock = clockText(lease.clock_ahead_ms)
    const who = process(lease) && `, ${process(lease)}`
    return `worker id ${lease.worker_id}, holder ${lease.holder}${who}${whose}, lease ends in ${duration(lease.left_ms / 1000)} at ${ends}, clock ${clock}`
  }

  #key(event) {
    const ids = this.#leases.held.map(lease => lease.worker_id)
    const at = ids.indexOf(this.#chosen)
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: ids.length - 1,
    }[event.key]
    if (to === undefined || !ids.length) return
    event.preventDefault()
    const next = Math.min(Math.max(to, 0), ids.length - 1)
    this.#choose(this.#leases.held[next])
    this.#page = Math.floor(next / ROWS)
    this.#list()
  }

  #list() {
    const { held } = this.#leases
    const pages = Math.max(Math.ceil(held.length / ROWS), 1)
    this.#page = Math.min(this.#page, pages - 1)
    this.pages.show(this.#page, pages)
    const shown = held.slice(this.#page * ROWS, (this.#page + 1) * ROWS)
    while (this.rows.length < shown.length) this.rows.push(new WorkerRow(id => this.#choose(this.#held(id))))
    for (const row of this.rows.splice(shown.length)) row.node.remove()
    shown.forEach((lease, at) => {
      const row = this.rows[at]
      row.show(lease, this.#leases)
      row.node.classList.toggle('chosen-row', row.id === this.#chosen)
      if (!row.node.isConnected) find('workers').append(row.node)
    })
  }
}

class WorkerRow {
  constructor(choose) {
    const cell = (className, title, ...children) => {
      const cell = make('span', className, ...children)
      cell.setAttribute('role', 'cell')
      if (title) cell.dataset.title = title
      return cell
    }
    this.worker = cell('number id')
    this.name = make('code')
    this.who = make('span', 'who')
    this.own = make('span', 'badge', 'this server')
    this.bar = make('i')
    this.ends = make('span', 'number')
    this.clock = cell('number', 'clock')
    const bar = make('span', 'lease-bar', this.bar)
    bar.setAttribute('aria-hidden', 'true')
    this.node = make('div', 'row', this.worker, cell('holder', '', this.who, this.name, this.own), cell('ends-cell', 'lease ends', bar, this.ends), this.clock)
    this.node.setAttribute('role', 'row')
    this.node.onpointerenter = () => choose(this.id)
  }

  show(lease, { lease_ms, own_worker_id }) {
    // The bar of another lease does not slide.
    this.node.classList.toggle('fresh', this.id !== lease.worker_id)
    this.id = lease.worker_id
    tell(this.worker, count(lease.worker_id))
    tell(this.who, [process(lease), lease.version].filter(Boolean).join(', '))
    tell(this.name, lease.holder)
    this.own.hidden = lease.worker_id !== own_worker_id
    this.bar.style.width = share(lease, lease_ms)
    tell(this.ends, `in ${duration(lease.left_ms / 1000)}`)
    tell(this.clock, clockText(lease.clock_ahead_ms))
    this.clock.classList.toggle('soon', isOff(lease))
  }
}

const share = (lease, lease_ms) => `${Math.min((100 * lease.left_ms) / lease_ms, 100)}%`

const isOff = lease => Math.abs(lease.clock_ahead_ms) >= OFF_MS

function clockText(ahead_ms) {
  if (ahead_ms === 0) return 'exact'
  const apart = Math.abs(ahead_ms)
  const text = apart < OFF_MS ? `${apart} ms` : duration(apart / 1000)
  return `${text} ${ahead_ms > 0 ? 'ahead' : 'behind'}`
}
