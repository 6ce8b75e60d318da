import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readNetworks } from '../../../ipkeeper-server/conf-dir/read-conf-dir.ts'
import { leasesForCache } from '../../../ipkeeper-server/leases/queries/cache-records.ts'
import { attachmentKey } from '../../../ipkeeper-server/ipam/records/records.ts'
import { CacheKeeper, type CacheTerms } from '../../../ipkeeper-server/result-cache/cache-keeper.ts'
import { Quarantine } from '../../../ipkeeper-server/result-cache/quarantine.ts'
import type { RuntimeAnswer } from '../../../ipkeeper-server/runtime/sandboxes.ts'
import { until } from '../../rigs/poll.ts'
import { TestService } from '../leases/test-service.ts'

const conflist = {
  cniVersion: '1.0.0',
  name: 'net',
  plugins: [{ type: 'bridge', ipam: { type: 'ipkeeper' } }],
}

interface SiteOptions {
  readonly terms?: Partial<CacheTerms>
  readonly conflists?: Readonly<Record<string, string>>
  readonly answers?: () => readonly RuntimeAnswer[]
}

/** A keeper on real folders, with a real ledger; its clock is 10 s ahead, so that files are at rest at once. */
async function startKeeper(t: Test, { terms, conflists, answers = () => [] }: SiteOptions = {}) {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', container: 'c1' })
  const root = t.testdir({
    'net.d': conflists ?? { '10-net.conflist': JSON.stringify(conflist) },
    results: {},
    state: {},
  })
  const results = join(root, 'results')
  const found: string[] = []
  const repaired: string[] = []
  const stateDir = join(root, 'state')
  const now = () => Date.now() + 10_000
  const quarantine = new Quarantine({ stateDir, bootId: 'boot', now })
  const keeper = new CacheKeeper({
    terms: { mode: 'repair', others: 'report', interval: 50, orphanAge: 300_000, ...terms },
    ...{ folders: [{ kind: 'results', path: results }], stateDir },
    networks: () => readNetworks(join(root, 'net.d')),
    ...{ boot: { id: 'boot', at: 1_000_000 }, records: leasesForCache(story.service), quarantine },
    sandboxes: () => Promise.resolve(answers()),
    macOf: () => Promise.resolve(undefined),
    ...{ now, monotonic: () => performance.now() },
    onFound: ({ path, reason, plan }) => found.push(`${path.replace(/.*\//, '')} ${reason} ${plan}`),
    onRepaired: ({ path }, { done }) => repaired.push(`${path.replace(/.*\//, '')} ${done}`),
    onMore: files => found.push(`${files} more`),
    onError: error => {
      throw error
    },
  })
  t.teardown(() => keeper.stop())
  const file = (name: string): string => join(results, name)
  return {
    ...{ story, keeper, found, repaired, quarantine, results, file },
    put: (name: string, text = '') => {
      writeFileSync(file(name), text)
    },
    scanned: async () => {
      const before = (await keeper.state()).scannedAt
      await until('a scan', async () => (await keeper.state()).scannedAt !== before)
    },
  }
}

t.test('what is there at the start: written anew, moved aside, or reported', async t => {
  const s = await startKeeper(t)
  s.put('net-c1-eth0')
  s.put('net-c9-eth0')
  s.put('their-c1-eth0', '{')
  s.keeper.start()
  await until('repairs', () => s.repaired.length === 2)
  await s.scanned()
  t.strictSame(s.found.sort(), [
    'net-c1-eth0 zero-byte rewrite',
    'net-c9-eth0 zero-byte quarantine',
    'their-c1-eth0 truncated report',
  ])
  t.strictSame(s.repaired.sort(), ['net-c1-eth0 rewritten', 'net-c9-eth0 quarantined'])
  t.match(JSON.parse(readFileSync(s.file('net-c1-eth0'), 'utf8')), {
    kind: 'cniCacheV1',
    containerId: 'c1',
    networkName: 'net',
    config: Buffer.from(JSON.stringify(conflist)).toString('base64'),
    result: { cniVersion: '1.0.0', ips: [{ address: '10.22.0.2/24' }] },
  })
  t.match(await s.keeper.state(), {
    mode: 'repair',
    files: [{ path: s.file('their-c1-eth0'), reason: 'truncated', own: false, plan: 'report' }],
    quarantined: [{ path: s.file('net-c9-eth0') }],
  })
  await s.scanned()
  t.equal(s.found.length, 3, 'each is told of once')
  rmSync(s.file('their-c1-eth0'))
  await until('it is no longer told of', () => s.keeper.current().length === 0)
  s.put('their-c1-eth0', '{')
  await until('and is told of again when it is back', () => s.found.length === 4)
})

t.test('what is done in each mode', async t => {
  const cases: readonly (readonly [Partial<CacheTerms>, readonly string[]])[] = [
    [{ mode: 'report', others: 'quarantine' }, []],
    [{ mode: 'repair', others: 'report' }, ['net-c1-eth0 rewritten']],
    [{ mode: 'repair', others: 'quarantine' }, ['net-c1-eth0 rewritten', 'their-c1-eth0 quarantined']],
  ]
  for (const [terms, repaired] of cases) {
    await t.test(JSON.stringify(terms), async t => {
      const s = await startKeeper(t, { terms })
      s.put('net-c1-eth0')
      s.put('their-c1-eth0')
      s.keeper.start()
      await s.scanned()
      await s.scanned()
      t.strictSame(s.repaired.sort(), repaired)
    })
  }
  await t.test('off', async t => {
    const s = await startKeeper(t, { terms: { mode: 'off' } })
    s.put('net-c1-eth0')
    s.keeper.start()
    t.match(await s.keeper.state(), { mode: 'off', scannedAt: null, files: [] })
  })
})

t.test('without a conflist, or with one of a version nobody knows, the file is moved aside', async t => {
  const odd = JSON.stringify({ ...conflist, cniVersion: '7.0.0' })
  const cases: readonly Readonly<Record<string, string>>[] = [
    {},
    { '10-net.conflist': '{' },
    { '10-net.conflist': odd },
    { '05-first.conflist': odd, '10-net.conflist': JSON.stringify(conflist) },
  ]
  for (const conflists of cases) {
    const s = await startKeeper(t, { conflists })
    s.put('net-c1-eth0')
    s.keeper.start()
    await until('the repair', () => s.repaired.length > 0)
    t.strictSame(s.repaired, ['net-c1-eth0 quarantined'], Object.keys(conflists).join())
    await s.keeper.stop()
  }
})

t.test('no file is touched while an ADD or DEL of its attachment runs', async t => {
  const s = await startKeeper(t)
  const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  const work = Promise.withResolvers<undefined>()
  const running = s.story.service.serial.run(attachmentKey(key), () => work.promise)
  s.put('net-c1-eth0')
  s.keeper.start()
  await s.scanned()
  await s.scanned()
  t.strictSame([s.found, s.repaired], [[], []])
  work.resolve(undefined)
  await running
  await until('the repair', () => s.repaired.length > 0)
  t.strictSame(s.repaired, ['net-c1-eth0 rewritten'])
})

t.test('what the runtime says decides on orphans', async t => {
  const id = 'ab'.repeat(32)
  const answer = (...ids: readonly string[]): RuntimeAnswer => ({
    ...{ socket: '/s', state: 'listed' },
    sandboxes: ids.map(each => ({
      ...{ id: each, namespace: 'ns', name: 'n', uid: 'u', ready: true, createdAt: 0 },
    })),
  })
  const failed: RuntimeAnswer = { socket: '/t', state: 'failed', reason: 'x' }
  const cases: readonly (readonly [what: string, answers: readonly RuntimeAnswer[], orphan: boolean])[] = [
    ['no runtime', [], false],
    ['it knows the sandbox', [answer(id)], false],
    ['it knows others', [answer('cd')], true],
    ['it knows none', [answer()], false],
    ['one of two failed', [answer('cd'), failed], false],
    ['one of two knows it', [answer('cd'), answer(id)], false],
  ]
  for (const [what, answers, orphan] of cases) {
    const s = await startKeeper(t, { answers: () => answers, terms: { mode: 'report' } })
    const name = `their-${id}-eth0`
    s.put(name, JSON.stringify({ kind: 'cniCacheV1', containerId: id }))
    const old = Date.now() / 1000 - 600
    utimesSync(s.file(name), old, old)
    s.keeper.start()
    await s.scanned()
    t.strictSame(s.found, orphan ? [`${name} orphan report`] : [], what)
    await s.keeper.stop()
  }
})

t.test('a change is seen without the timer, also in a folder that was made anew', async t => {
  const s = await startKeeper(t, { terms: { interval: 3_600_000 } })
  s.keeper.start()
  await s.scanned()
  s.put('net-c1-eth0')
  await until('the repair', () => s.repaired.length === 1)
  t.ok(readFileSync(s.file('net-c1-eth0'), 'utf8').length > 0)
  // The watch of the old folder ends; a scan finds the new one.
  renameSync(s.results, `${s.results}-old`)
  mkdirSync(s.results)
  await s.scanned()
  s.put('net-c1-eth0')
  await until('the repair in the new folder', () => s.repaired.length === 2)
})

t.test('many bad files are told of in few lines', async t => {
  const s = await startKeeper(t, { terms: { mode: 'report' } })
  for (let n = 0; n < 130; n++) s.put(`their-c${n}-eth0`)
  s.keeper.start()
  await s.scanned()
  t.equal(s.found.length, 101)
  t.equal(s.found.at(-1), '30 more')
  t.equal(s.keeper.current().length, 130)
})

t.test('the file of an attachment, for those who write it themselves', async t => {
  const s = await startKeeper(t)
  const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
  t.match(JSON.parse((await s.keeper.cachedResult(key)) ?? ''), { containerId: 'c1' })
  t.equal(await s.keeper.cachedResult({ ...key, ifname: 'eth1' }), undefined)
  await s.story.del('c1')
  t.equal(await s.keeper.cachedResult(key), undefined)
  t.strictSame(readdirSync(s.results), [])
})
