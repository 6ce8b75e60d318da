/** A change of many addresses on an etcd that two nodes share: its daemon is killed in the middle, and the same command does the rest. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { makeMachine, type Machine } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

/** Enough for it to take a while; no pool needs to have them. */
const range = '10.23.0.1-10.23.3.232'
const count = 1000

t.test(
  'a daemon is killed in the middle of a change',
  { skip: missing('namespaces', 'executables', 'etcd'), timeout: 120_000 },
  async t => {
    const folder = tempFolder(t)
    const etcd = await startEtcdCluster(t)
    const store = `etcd:${etcd.urls.join(',')}`
    const machine = (): Machine => makeMachine(t, { folder, config: { kubernetes: { mode: 'off' } }, store })
    const [one, two] = [machine(), machine()]
    await Promise.all([one.start('n1'), two.start('n2')])
    const reserved = async (): Promise<number> =>
      [...(await etcd.all('/ipkeeper/v1/reservations/')).values()].length
    const type = (line: string) => one.daemon().control(...line.split(' '))

    for (const { verb, left } of [
      { verb: `reserve ${range} shop/sts/web --yes`, left: count },
      { verb: `unreserve ${range} --yes`, left: 0 },
    ]) {
      const before = await reserved()
      const first = type(verb)
      while ((await reserved()) === before) await delay(1)
      await one.stop('SIGKILL')
      t.match(await first, { exit: 1 }, verb)
      const half = await reserved()
      t.ok(half > 0 && half < count, `${half} reservations when the daemon was killed`)
      await one.start('n1')
      const again = await type(verb)
      t.match(again, { exit: 0 }, `${verb}: ${again.stderr}`)
      t.equal(await reserved(), left, 'the same command has done the rest')
      t.match(await type(verb), { exit: 0, stdout: /nothing to (un)?reserve\n$/ })
      await until('the other node has heard of it', async () => {
        const { stdout } = await two.daemon().control('reservations', '-o', 'name')
        return stdout.split('\n').length - 1 === left
      })
      t.strictSame(
        (await one.audit()).findings.filter(({ kind }) => kind !== 'ip-differs'),
        [],
      )
    }
  },
)
