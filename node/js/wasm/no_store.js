// Where nothing is stored. `lock(name, id)` locks a worker id, or returns null if it is held; without it only a lease
// makes worker ids differ.

const unlocked = () => ({ release() {} })

export const noStore = (lock = unlocked, others = 'another one') => {
  return { kind: 0, sync: true, place: '', key: 'none', others, lock }
}
