// Where nothing is stored. `lock(id)` locks a worker id, or returns null if it is held; without it only a lease makes
// worker ids differ.

import { Unrecorded, newFile } from './record.js'

const unlocked = () => ({ release() {} })

export const noStore = (settings, lock = unlocked, others = 'another one') => ({
  sync: true,
  place: '',
  forgets: true,
  key: 'none',
  others,
  path: workerId => `worker id ${workerId} of "${settings.name}"`,
  peek: () => null,
  lock(workerId) {
    const held = lock(workerId)
    return held && { lost: null, file: new Unrecorded(newFile(settings, workerId)), release: held.release }
  },
})
