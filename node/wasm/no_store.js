// Where nothing can be stored or locked. Only a lease makes worker ids differ there.

import { Unrecorded, newFile } from './record.js'

export const noStore = settings => ({
  sync: true,
  place: '',
  forgets: true,
  key: 'none',
  others: 'another one',
  path: workerId => `the lease of worker id ${workerId}`,
  peek: () => null,
  lock: workerId => ({ lost: null, file: new Unrecorded(newFile(settings, workerId)), release() {} }),
})
