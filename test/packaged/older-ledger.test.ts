/** A ledger that is older than the node: of pods that were made since, only the runtime's results tell. */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { keepResult } from '../rigs/kept-result.ts'
import { logs } from '../rigs/logs.ts'
import { makeMachine, type Machine, type MachinePod } from '../rigs/machine.ts'
import { toOldLayout } from '../rigs/old-layout.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'executables')
// They wait for daemons most of the time.
t.jobs = 3

interface Site {
  readonly machine: Machine
  readonly folder: TempFolder
  readonly results: string
  /** Names another store, from the next start on; undefined: that of the state folder. */
  readonly use: (store: string | undefined) => void
  /** ADD, as a runtime does it: what it said is kept until the DEL. */
  readonly add: (pod: MachinePod) => Promise<string>
}

function makeSite(t: Test): Site {
  const folder = tempFolder(t)
  const results = folder.file('results')
  mkdirSync(results)
  let store: string | undefined
  const machine = makeMachine(t, {
    ...{ folder, store: () => store },
    config: {
      kubernetes: { mode: 'off' },
      cooldown: '1s',
      resultCache: { folders: { results: [results] } },
      reconcile: { interval: '1s', minAge: '1s' },
    },
  })
  const add = async (pod: MachinePod): Promise<string> => {
    const address = await pod.add()
    keepResult(results, machine.stateDir, pod, address)
    return address
  }
  const use = (named: string | undefined): void => {
    store = named
  }
  return { machine, folder, results, use, add }
}

/** What the state folder is now is what it will be again. */
async function setAside({ machine, folder }: Site): Promise<() => Promise<void>> {
  await machine.stop()
  const copy = folder.file('yesterday')
  cpSync(machine.stateDir, copy, { recursive: true })
  await machine.start('n1')
  return async () => {
    await machine.stop('SIGKILL')
    rmSync(machine.stateDir, { recursive: true })
    cpSync(copy, machine.stateDir, { recursive: true })
    await machine.start('n1')
  }
}

/** It has its address, also when many want one, and gives it back with its DEL. */
async function keeps(t: Test, { machine }: Site, pod: MachinePod, address: string): Promise<void> {
  t.equal((await machine.leases())[address], 'bound n1', `${address} is on record`)
  t.equal(await pod.check(), '')
  t.match(await (await machine.pod('greedy', address)).add(), /IPK_ADDRESS_HELD/)
  const next = await machine.pod('next')
  t.not(await next.add(), address)
  t.equal(await pod.del(), '')
  await next.del()
  await until('its DEL gives it back', async () => (await machine.leases())[address] !== 'bound n1')
}

/** Some words of the line about it. */
const taken = (pod: MachinePod, address: string): RegExp =>
  new RegExp(`${address.replaceAll('.', '\\.')} of shop/${pod.name}, which is running, was recorded again`)

t.test('a state folder of yesterday', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t)
  const { machine, add } = site
  await machine.start('n1')
  const early = await machine.pod('early')
  t.equal(await add(early), '10.22.0.2')
  const restore = await setAside(site)
  const later = await machine.pod('later')
  t.equal(await add(later), '10.22.0.3')
  const gone = await machine.pod('gone')
  t.equal(await add(gone), '10.22.0.4')
  await gone.die()
  await restore()
  await logs(t, machine.daemon(), taken(later, '10.22.0.3'))
  t.equal((await machine.leases())['10.22.0.4'], undefined, 'of the dead nothing is taken up')
  await keeps(t, site, later, '10.22.0.3')
  t.equal(await early.check(), '')
})

t.test('who had the address yesterday has died since', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t)
  const { machine, add } = site
  await machine.start('n1')
  const early = await machine.pod('early')
  t.equal(await add(early), '10.22.0.2')
  const restore = await setAside(site)
  await early.del()
  await early.die()
  const later = await machine.pod('later', '10.22.0.2')
  t.equal(await add(later), '10.22.0.2')
  await restore()
  await logs(t, machine.daemon(), taken(later, '10.22.0.2'))
  await keeps(t, site, later, '10.22.0.2')
})

t.test('a pod was restarted since', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t)
  const { machine, add } = site
  await machine.start('n1')
  const early = await machine.pod('web-0', '10.22.0.50', 'forever')
  t.equal(await add(early), '10.22.0.50')
  const restore = await setAside(site)
  await early.del()
  await early.die()
  const again = await early.again()
  t.equal(await add(again), '10.22.0.50')
  await restore()
  await logs(t, machine.daemon(), taken(again, '10.22.0.50'))
  await keeps(t, site, again, '10.22.0.50')
})

t.test('another store was in use in between', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t)
  const { machine, folder, add, use } = site
  await machine.start('n1')
  const early = await machine.pod('early')
  t.equal(await add(early), '10.22.0.2')
  await machine.stop()
  const other = folder.file('other.db')
  cpSync(join(machine.stateDir, 'leases.db'), other)
  use(`sqlite:${other}`)
  await machine.start('n1')
  const later = await machine.pod('later')
  t.equal(await add(later), '10.22.0.3')
  await machine.stop()
  use(undefined)
  await machine.start('n1')
  await logs(t, machine.daemon(), taken(later, '10.22.0.3'))
  await keeps(t, site, later, '10.22.0.3')
})

t.test('what was released by force stays so over a restart', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t)
  const { machine, add } = site
  await machine.start('n1')
  const pod = await machine.pod('web')
  t.equal(await add(pod), '10.22.0.2')
  t.match(await machine.daemon().control('release', '10.22.0.2', '--force', '--yes'), { exit: 0 })
  await machine.stop()
  await machine.start('n1')
  t.not((await machine.leases())['10.22.0.2'], 'bound n1', 'though its pod lives, and its result is kept')
})

t.test('somebody else has it by the older ledger, and lives', { skip, timeout: 120_000 }, async t => {
  const { machine, results, add } = makeSite(t)
  await machine.start('n1')
  const early = await machine.pod('early')
  t.equal(await add(early), '10.22.0.2')
  const later = await machine.pod('later')
  keepResult(results, machine.stateDir, later, '10.22.0.2')
  await machine.stop()
  await machine.start('n1')
  await logs(
    t,
    machine.daemon(),
    /10\.22\.0\.2 of shop\/later, which is running, has no record and cannot get one: it is bound to shop\/early/,
  )
  t.equal(await early.check(), '')
  await early.del()
  await early.die()
  await logs(t, machine.daemon(), taken(later, '10.22.0.2'), 'as soon as it comes free')
})

for (const layout of [1, 2, 3] as const)
  t.test(
    `a ledger of layout ${layout}, which had no checksums, has lost a lease`,
    { skip, timeout: 120_000 },
    async t => {
      const site = makeSite(t)
      const { machine, add } = site
      await machine.start('n1')
      const pods = [await machine.pod('a'), await machine.pod('lost'), await machine.pod('c')]
      for (const pod of pods) await add(pod)
      await machine.stop()
      const file = join(machine.stateDir, 'leases.db')
      toOldLayout(file, layout)
      const old = new DatabaseSync(file)
      const { changes } = old
        .prepare(`DELETE FROM record WHERE kind = 'lease' AND key LIKE '%10.22.0.3"%'`)
        .run()
      t.equal(changes, 1)
      old.close()
      await machine.start('n1')
      t.equal((await machine.leases())['10.22.0.3'], 'bound n1')
      for (const pod of pods) t.equal(await pod.check(), '')
      await keeps(t, site, pods[1]!, '10.22.0.3')
    },
  )
