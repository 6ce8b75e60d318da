import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { HostLinkRemoval, removeSeenLink } from '../../../../ipkeeper-server/network/node/link-removal.ts'
import type { ToolEnd } from '../../../../ipkeeper-server/network/run-tool.ts'
import { startPrivateHost } from '../../../rigs/private-host.ts'
import { missing } from '../../../rigs/requirements.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'
import { listLinks } from '../../../../ipkeeper-server/network/ip-show.ts'
import { makeSpot } from '../../../rigs/spot.ts'

const product = (file: string): string =>
  join(import.meta.dirname, '../../../../ipkeeper-server/network', file)

/** A link that every namespace has, and one that none has. */
const [present, absent] = ['lo', 'ipk0123456789ab']

/** A removal whose `ip` ends when the test says so. */
function pendingRemoval(): {
  readonly removal: HostLinkRemoval
  readonly runs: readonly unknown[]
  readonly end: (how: Partial<ToolEnd>) => void
} {
  const { promise, resolve } = Promise.withResolvers<Partial<ToolEnd>>()
  const { run, runs } = toolDouble(() => ({}))
  const removal = new HostLinkRemoval(async asked => ({ ...(await run(asked)), ...(await promise) }))
  return { removal, runs, end: resolve }
}

const refused = { exit: 1, stderr: 'RTNETLINK answers: Operation not permitted\nCommand failed -:1\n' }
const gone = { exit: 1, stderr: 'Cannot find device "lo"\nCommand failed -:1\n' }

t.test('a link that is listed is waited for', async t => {
  const { removal, runs, end } = pendingRemoval()
  let isDone = false
  const removed = removal.remove(present).then(() => (isDone = true))
  await new Promise(resolve => setTimeout(resolve, 50))
  t.notOk(isDone)
  t.strictSame(runs, [{ tool: 'ip', args: ['-batch', '-'], input: 'link delete dev lo\n' }])
  end({})
  await removed
  await removal.idle()
})

t.test('one that is not listed starts nothing that could meet a later link of its name', async t => {
  const { removal, runs } = pendingRemoval()
  await removal.remove(absent)
  await removal.idle()
  t.strictSame(runs, [])
})

t.test('a removal under way is shared, and can be waited for by name', async t => {
  const { removal, runs, end } = pendingRemoval()
  const outcomes: string[] = []
  const note = (what: string) => () => void outcomes.push(what)
  const removals = [removal.remove(present), removal.remove(present)].map(one => one.catch(note('refused')))
  await turn()
  const settled = removal.settled(present).then(note('settled'))
  const later = removal.remove(present).catch(note('later'))
  await removal.settled(absent)
  t.equal(runs.length, 1)
  t.strictSame(outcomes, [], 'of another name nothing is under way')
  end(refused)
  await Promise.all([...removals, settled])
  t.strictSame(outcomes.toSorted(), ['refused', 'refused', 'settled'], 'who waits is not told of the refusal')
  await later
  t.equal(runs.length, 2, 'one that is there after it is removed anew')
  await removal.settled(present)
})

t.test('how it ends', async t => {
  for (const [what, name, end, code] of [
    ['it is gone already', present, gone, undefined],
    ['the kernel refuses', present, refused, 'IPK_WIRING_FAILED'],
  ] as const) {
    const { removal, end: finish } = pendingRemoval()
    finish(end)
    if (code === undefined) await t.resolves(removal.remove(name), what)
    else t.equal((await thrownProblem(() => removal.remove(name))).code, code, what)
    await t.resolves(removal.idle(), 'what was told is not told again')
  }
})

const names = [1, 2, 3, 4].map(nth => `ipk00000000000${nth}`)

/** Removes four links at once; argument: what to say to a batch that names a group, in place of running it. */
const burst = `
import { HostLinkRemoval } from ${JSON.stringify(product('node/link-removal.ts'))}
import { runTool } from ${JSON.stringify(product('run-tool.ts'))}
import { existsSync } from 'node:fs'
const names = ${JSON.stringify(names)}
const [answer] = process.argv.slice(1)
for (const [at, name] of names.entries())
  await runTool({ tool: 'ip', args: ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'other' + at] })
const runs = []
const removal = new HostLinkRemoval(async asked => {
  runs.push(asked.input.trimEnd().split('\\n'))
  await new Promise(setImmediate)
  return answer && asked.input.includes('group') ? { exit: 2, stdout: '', stderr: answer } : await runTool(asked)
})
await Promise.all(names.map(name => removal.remove(name)))
await removal.idle()
const left = names.filter(name => existsSync('/proc/sys/net/ipv4/conf/' + name))
console.log(JSON.stringify({ runs, left }))
`

t.test('links that are to go while two removals are at work', { skip: missing('namespaces') }, async t => {
  const alone = names.map(name => [`link delete dev ${name}`])
  const group = 'group 6910059'
  const together = [...names.slice(2).map(name => `link set dev ${name} ${group}`), `link delete ${group}`]
  const refusal = 'RTNETLINK answers: Operation not supported\nCommand failed -:3\n'
  for (const [what, answer, runs] of [
    ['go together', '', [...alone.slice(0, 2), together]],
    ['go one by one where that is refused', refusal, [...alone.slice(0, 2), together, ...alone.slice(2)]],
  ] as const) {
    const host = await startPrivateHost()
    t.teardown(() => host.close())
    const said = await host.must(process.execPath, ['--input-type=module', '-e', burst, answer])
    t.strictSame(JSON.parse(said), { runs, left: [] }, what)
  }
})

const program = `
import { HostLinkRemoval } from ${JSON.stringify(product('node/link-removal.ts'))}
import { runTool } from ${JSON.stringify(product('run-tool.ts'))}
import { existsSync } from 'node:fs'
process.on('unhandledRejection', () => console.log('unhandled'))
const { promise, resolve } = Promise.withResolvers()
let runs = 0
const removal = new HostLinkRemoval(async asked => {
  runs++
  await runTool(asked)
  await promise
  return { exit: 1, stdout: '', stderr: 'RTNETLINK answers: Operation not permitted' }
})
const made = { tool: 'ip', args: ['link', 'add', '${absent}', 'type', 'veth', 'peer', 'name', 'other'] }
const { exit } = await runTool(made)
await removal.remove('${absent}')
const again = await runTool(made)
const said = []
const settled = removal.settled('${absent}').then(() => said.push('settled'))
const idle = removal.idle().then(() => said.push('idle'))
await new Promise(done => setTimeout(done, 20))
const early = said.length
resolve()
await Promise.all([settled, idle])
await new Promise(setImmediate)
console.log(JSON.stringify({ exit, again: again.exit, runs, early, said: said.sort() }))
`

t.test('one that is listed no more is not waited for', { skip: missing('namespaces') }, async t => {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const said = await host.must(process.execPath, ['--input-type=module', '-e', program])
  t.strictSame(
    JSON.parse(said),
    // A refusal that nobody waits for any more is no unhandled one.
    { exit: 0, again: 0, runs: 1, early: 0, said: ['idle', 'settled'] },
    'its name is free, and the process that is at work can still be waited for',
  )
})

const name = 'ipk000000000001'
const make = `link add ${name} index 50 type veth peer name x0 index 51`

t.test('the link that was seen, and no other', { skip: missing('namespaces') }, async t => {
  const spot = await makeSpot(t)
  const links = async (): Promise<readonly string[]> =>
    (await listLinks(spot.run, ['type', 'veth'])).map(link => `${link.index} ${link.name}`).toSorted()

  await spot.ip(make)
  t.ok(await removeSeenLink(spot.run, { index: 50, name }))
  t.same(await links(), [])
  t.notOk(await removeSeenLink(spot.run, { index: 50, name }), 'gone')

  await spot.ip(make)
  t.notOk(await removeSeenLink(spot.run, { index: 49, name }), 'another one of its name')
  t.notOk(await removeSeenLink(spot.run, { index: 51, name }), 'another one of its index')
  await spot.ip('link set x0 name if50')
  t.notOk(await removeSeenLink(spot.run, { index: 50, name }), 'one that is called like the index')
  t.same(await links(), [`50 ${name}`, '51 if50'])
})

t.test('how a veth tells that its pod uses it', { skip: missing('namespaces') }, async t => {
  const [spot, pod] = await Promise.all([makeSpot(t), makeSpot(t)])
  const carrier = async (): Promise<unknown> =>
    (await listLinks(spot.run, ['type', 'veth'])).map(link => link.carrier)
  await spot.ip(`link add ${name} type veth peer name eth0 netns ${pod.pid}`)
  t.same(await carrier(), [false])
  await spot.ip(`link set ${name} up`)
  t.same(await carrier(), [false], 'as a program leaves it that made the host’s side alone')
  await pod.ip('link set eth0 up')
  t.same(await carrier(), [true])
})
