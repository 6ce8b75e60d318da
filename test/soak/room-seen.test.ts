import t from 'tap'
import { roomSeen } from './room-seen.ts'

/** That an episode does not ask for its last addresses while a daemon has yet to see that there is room, nor waits for ever. */

const full = { reason: 'the file system is full (ENOSPC)', since: '2026-11-26T21:00:00.000Z' }

/** A daemon that says so often that its disk is full. */
function daemon(times: number) {
  let asked = 0
  return {
    asked: () => asked,
    status: () => {
      const refuses = asked++ < times ? full : null
      return Promise.resolve({ disk: { folder: '/state', reserved: 7, wanted: 7, refuses } })
    },
  }
}

t.test('the last daemon is waited for', async t => {
  const [well, late] = [daemon(0), daemon(3)]
  await roomSeen([well, late, { status: () => Promise.resolve({}) }], 60_000)
  t.equal(late.asked(), 4)
})

t.test('one that never sees it is a fault', async t => {
  await t.rejects(roomSeen([daemon(Infinity)], -3_000), /not in time: pods are added/)
})
