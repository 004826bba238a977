'use strict'

// The ids of a tick that this thread has taken and not issued: a run, so that most ids cross no border. They are issued
// only while the clock is in their tick and no id of the generator was taken elsewhere since: then they are above all
// others, as if each had been taken now. Otherwise the rest is dropped. The addon decides the length: one, as long as few
// ids of the tick were issued, or while others take ids, too.

const { GENERATION, generation } = require('./generation.js')
const { Date } = require('./time.js')

/** The numbers behind the next id: see the addon's `NextRuns`. */
const [COUNT, FROM_MS, UNTIL_MS, LOW, HIGH, DROPPED] = [1, 2, 3, 4, 5, 6]

class TickRun {
  #handle
  /** Where the addon writes the next id, and the run. */
  #id
  #numbers
  #ids = null
  /** The next id, and the end. */
  #at = 0
  #end = 0
  /** The run's tick. */
  #fromMs = 0
  #untilMs = 0
  /** The generator's position: two halves of a number in its own memory; and where it is while no id is taken. */
  #position = null
  #low = 0
  #high = 0
  /** The process that took it. */
  #generation = 0

  /** Runs of the addon's handle. */
  constructor(handle) {
    this.#handle = handle
    this.#id = handle.id
    if (handle.id) this.#numbers = new Float64Array(handle.id.buffer)
  }

  /** The next id. */
  next() {
    return this.#at < this.#end && this.#isValid() ? this.#ids[this.#at++] : this.#take()
  }

  /** Issues no more ids of the run. */
  drop() {
    this.#at = this.#end = 0
  }

  /** The end is looked at again, because a replaced clock may have taken ids. */
  #isValid() {
    const now = Date.now()
    return (
      now >= this.#fromMs &&
      now < this.#untilMs &&
      this.#position[0] === this.#low &&
      this.#position[1] === this.#high &&
      GENERATION[0] === this.#generation &&
      this.#at < this.#end
    )
  }

  #take() {
    const numbers = this.#numbers
    if (!numbers) return this.#handle.next()
    const current = generation()
    numbers[DROPPED] = this.#end - this.#at
    this.drop()
    const id = this.#handle.next()
    // An addon that shares no memory returns the id itself.
    if (id !== undefined) return id
    if (numbers[COUNT] > 1) {
      this.#ids = this.#handle.ids
      this.#at = 1
      this.#end = numbers[COUNT]
      this.#fromMs = numbers[FROM_MS]
      this.#untilMs = numbers[UNTIL_MS]
      this.#position = this.#handle.position
      this.#low = numbers[LOW]
      this.#high = numbers[HIGH]
      this.#generation = current
    }
    return this.#id[0]
  }
}

module.exports = { TickRun }
