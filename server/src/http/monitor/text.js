// Numbers and times as people read them, and the few ways in which they get into the page: always as text.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

export const find = id => document.getElementById(id)

/** An element with a class, and with children or text. */
export function make(name, className = '', ...children) {
  const node = document.createElement(name)
  if (className) node.className = className
  node.append(...children)
  return node
}

/** Sets a text, unless it is there: what stays the same is not drawn again. */
export function tell(node, text) {
  if (node.textContent !== text) node.textContent = text
}

export function label(node, text) {
  if (node.getAttribute('aria-label') !== text) node.setAttribute('aria-label', text)
}

/** A count, or an id as text: with 64 bits it is too large for a number. */
export const count = value => whole.format(typeof value === 'string' ? BigInt(value) : value)

export function rate(value) {
  if (value === null) return '–'
  return value < 10 && value > 0 ? tenths.format(value) : whole.format(value)
}

export function milliseconds(value) {
  if (value === null) return '–'
  if (value >= 1000) return `${tenths.format(value / 1000)} s`
  return value >= 10 ? `${whole.format(value)} ms` : `${value.toFixed(value < 1 ? 2 : 1)} ms`
}

/** Seconds, by the two largest units. */
export function duration(value) {
  if (value < 10) return `${tenths.format(Math.max(value, 0))} s`
  const seconds = Math.round(value)
  const [minutes, hours, days] = [60, 3600, 86_400].map(length => Math.floor(seconds / length))
  if (days >= 100) return `${whole.format(days)} d`
  if (days > 0) return `${days} d ${hours % 24} h`
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

/** A process as its host and number, which may be empty. */
export const process = ({ host, pid }) => [host, pid && `pid ${pid}`].filter(Boolean).join(' ')

export const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`

/** Buttons to the pages of a list; `go` is called with a page, from 0. */
export class Pages {
  constructor(nav, go) {
    this.nav = nav
    this.text = make('span')
    const button = (sign, name, page) => {
      const button = make('button', '', sign)
      label(button, name)
      button.onclick = () => {
        // At once: who presses twice goes on from there, whenever the first answer comes.
        this.show(page(), this.pages)
        go(this.page)
      }
      return button
    }
    this.backward = [button('«', 'first page', () => 0), button('‹', 'page before', () => this.page - 1)]
    this.forward = [button('›', 'next page', () => this.page + 1), button('»', 'last page', () => this.pages - 1)]
    nav.append(...this.backward, this.text, ...this.forward)
  }

  show(page, pages) {
    Object.assign(this, { page, pages })
    this.nav.hidden = pages < 2
    for (const button of this.backward) button.disabled = page === 0
    for (const button of this.forward) button.disabled = page + 1 >= pages
    tell(this.text, `${count(page + 1)} of ${count(pages)}`)
  }
}

/** The last values of a figure as a line. */
export class Spark {
  #values = []

  constructor(svg, length = 60) {
    this.length = length
    svg.setAttribute('viewBox', `0 0 ${length - 1} 20`)
    svg.setAttribute('preserveAspectRatio', 'none')
    const path = className => {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
      path.setAttribute('class', className)
      svg.append(path)
      return path
    }
    this.area = path('area')
    this.line = path('line')
  }

  add(value) {
    if (value === null) return
    this.#values.push(value)
    if (this.#values.length > this.length) this.#values.shift()
    const most = Math.max(...this.#values, 1e-9)
    const first = this.length - this.#values.length
    const points = this.#values.map((value, at) => `${first + at} ${(19 - 17 * (value / most)).toFixed(2)}`)
    const line = points.length > 1 ? `M${points.join('L')}` : ''
    this.line.setAttribute('d', line)
    this.area.setAttribute('d', line && `${line}V20H${first}Z`)
  }
}
