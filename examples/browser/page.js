// The page: makes ids, and shows what they are made of.

import { showBits } from './bits.js'
import { Generator } from './generator.js'
import { offline } from './offline.js'
import { Picture } from './spans.js'

const find = id => document.getElementById(id)
const BURST = 100_000
const AT_ONCE = 10_000
const STEADY_MS = 100

const picture = new Picture(find('spans'))
const generator = new Generator(picture)
let made = 0

function tell(error) {
  find('failure').hidden = !error
  find('failure').textContent = error ? `${error.code ?? error.name}: ${error.message}` : ''
}

function shown(ids) {
  made += ids.length
  const id = String(ids.at(-1))
  find('id').textContent = id
  find('count').textContent = made.toLocaleString('en')
  // A typed id stays, and what another layout makes of the last one.
  if (!find('typed').value && find('layout').value === 'leaf') decodeShown(id)
}

/** Makes ids, and says why if that fails. */
async function make(count) {
  try {
    shown(await generator.take(count))
    tell(null)
  } catch (error) {
    tell(error)
  }
}

/** Measures the calls alone: after each the page may draw. */
async function burst() {
  let took = 0
  for (let left = BURST; left > 0 && generator.isOpen; left -= AT_ONCE) {
    const begun = performance.now()
    await make(AT_ONCE)
    took += performance.now() - begun
    await new Promise(requestAnimationFrame)
  }
  find('rate').textContent = `${Math.round(took)} ms`
}

function decodeShown(text) {
  const wrong = showBits(text, find('layout').value, find)
  find('wrong').hidden = !wrong
  find('wrong').textContent = wrong ?? ''
}

function state() {
  const { isOpen } = generator
  for (const name of ['next', 'many', 'steady', 'copy']) find(name).disabled = !isOpen
  find('toggle').disabled = false
  find('toggle').textContent = isOpen ? 'Close the generator' : 'Open it again'
  find('worker').textContent = isOpen ? generator.workerId : 'none: it is closed'
}

async function open() {
  try {
    await generator.open()
    await make(1)
  } catch (error) {
    tell(error)
  }
  state()
}

find('next').onclick = () => make(1)
find('many').onclick = burst
find('copy').onclick = () => navigator.clipboard.writeText(find('id').textContent)
find('typed').oninput = ({ target }) => {
  if (!target.value) find('layout').value = 'leaf'
  decodeShown(target.value.trim() || find('id').textContent)
}
find('layout').onchange = () => decodeShown(find('typed').value.trim() || find('id').textContent)
find('toggle').onclick = async () => {
  if (!generator.isOpen) return open()
  await generator.close()
  state()
}
picture.onStory = text => (find('story').textContent = text)
setInterval(() => {
  if (generator.isOpen && find('steady').checked && !document.hidden) make(1)
}, STEADY_MS)

await open()
picture.run()
offline(() => (find('offline').hidden = false))
