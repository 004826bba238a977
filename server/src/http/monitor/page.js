// The monitor page: asks for the figures, and hands them to those who show them.

import { Session } from './session.js'
import { TagRows } from './tags.js'
import { Pages, Spark, count, duration, find, make, milliseconds, plural, process, rate, tell } from './text.js'
import { Workers } from './workers.js'

const TYPING_MS = 200

const query = { search: '', order: 'busiest', page: 0 }
const tags = new TagRows(find('tags'))
const tagPages = new Pages(find('tag-pages'), page => ask({ page }))
const workers = new Workers()
const rates = new Spark(find('rate-spark'))
const latencies = new Spark(find('latency-spark'))
let seenAt = null

const session = new Session({
  given(state) {
    seenAt = new Date()
    find('figures').hidden = false
    find('ask').hidden = true
    find('failure').hidden = true
    find('forget').hidden = !session.hasToken
    live(state.server.is_stopping ? 'stopping' : 'live')
    showServer(state)
    showServers(state)
    showTags(state)
    showWorkers(state.leases)
  },
  failed(why) {
    const last = seenAt ? ` The figures are those of ${seenAt.toLocaleTimeString()}.` : ''
    tell(find('failure'), `The server cannot be reached: ${why}.${last} It is tried again.`)
    find('failure').hidden = false
    live('not reached')
  },
  denied(why) {
    find('figures').hidden = true
    find('failure').hidden = true
    find('forget').hidden = true
    find('ask').hidden = false
    tell(find('denied'), why)
    find('token').focus()
    live('no access')
  },
})

function live(text) {
  document.body.classList.toggle('stale', text !== 'live')
  tell(find('live'), text)
  document.title = text === 'live' ? 'leafid-server' : `${text} – leafid-server`
}

function ask(changed) {
  Object.assign(query, changed)
  session.ask(query)
}

function showServer({ server, store, ids_per_second, tags_held, tags_failing }) {
  const up = duration(server.uptime_ms / 1000)
  tell(find('about'), `${server.url}, ${process(server)}, version ${server.version}, up for ${up}`)
  tell(find('rate'), rate(ids_per_second))
  rates.add(ids_per_second)
  tell(find('latency'), store.is_up ? milliseconds(store.latency_ms) : 'down')
  tell(find('store'), store.is_up ? `${store.kind} answers` : `${store.kind}: ${store.error}`)
  for (const id of ['latency', 'store']) find(id).classList.toggle('bad', !store.is_up)
  latencies.add(store.is_up ? store.latency_ms : null)
  tell(find('tags-held'), count(tags_held))
  tell(find('tags-note'), tags_failing ? `${plural(tags_failing, 'fails', 'fail')} at the last fetch` : 'none fails')
  find('tags-note').classList.toggle('bad', tags_failing > 0)
}

/** The other servers of the store, each with a link to its own page. */
function showServers({ server, servers }) {
  const others = servers.filter(each => each.url !== server.url || each.pid !== server.pid)
  const known = others.map(each => `${each.url} ${process(each)} ${each.version}`).join('\n')
  const list = find('siblings')
  find('servers').hidden = others.length === 0
  if (list.dataset.known === known) return
  list.dataset.known = known
  list.replaceChildren(
    ...others.map(each => {
      // It is a text of another process.
      const name = make(/^https?:\/\//.test(each.url) ? 'a' : 'span', '', each.url)
      if (name.tagName === 'A') name.href = `${each.url}/monitor`
      return make('li', '', name, make('span', 'note', ` ${process(each)}, ${each.version}`))
    }),
  )
}

function showTags(state) {
  tags.show(state.tags)
  const isEmpty = state.tags.length === 0
  find('tags-table').hidden = isEmpty
  find('no-tags').hidden = !isEmpty
  const none = 'No tag was used yet. A tag is here after its first request.'
  tell(find('no-tags'), query.search ? `No tag has “${query.search}” in its name.` : none)
  query.page = state.page
  tagPages.show(state.page, state.pages)
}

function showWorkers(leases) {
  workers.show(leases)
  const [held, all] = [leases.held.length, leases.last_worker_id - leases.first_worker_id + 1]
  tell(find('workers-held'), count(held))
  tell(find('workers-note'), `of ${count(all)} in ${leases.name}`)
  find('workers-table').hidden = held === 0
  find('no-workers').hidden = held > 0 && leases.error === null
  tell(find('no-workers'), leases.error ?? `No worker id of ${leases.name} is held.`)
  find('no-workers').classList.toggle('bad', leases.error !== null)
  showNames(leases)
}

function showNames({ name, names }) {
  const select = find('names')
  find('names-label').hidden = names.length < 2
  const known = [...select.options].map(option => option.value)
  if (known.join('\n') !== names.map(each => each.name).join('\n')) {
    select.replaceChildren(...names.map(() => make('option')))
  }
  names.forEach((each, at) => {
    const option = select.options[at]
    option.value = each.name
    tell(option, `${each.name} (${count(each.held)})`)
  })
  select.value = name
}

let typing
find('search').oninput = ({ target }) => {
  clearTimeout(typing)
  typing = setTimeout(() => ask({ search: target.value.trim(), page: 0 }), TYPING_MS)
}
find('order').onchange = ({ target }) => ask({ order: target.value, page: 0 })
find('names').onchange = ({ target }) => ask({ name: target.value })
find('ask').onsubmit = event => {
  event.preventDefault()
  const token = find('token').value.trim()
  find('token').value = ''
  session.use(token)
}
find('forget').onclick = () => session.use(null)

// A reload may keep what was in the fields.
ask({ search: find('search').value.trim(), order: find('order').value })
