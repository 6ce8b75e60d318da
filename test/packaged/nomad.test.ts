/** Allocations of Nomad: the plugin is called as Nomad calls it, with its own arguments and those of the job in CNI_ARGS. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { startDaemon } from '../rigs/daemon.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')

interface Words {
  readonly id?: string
  /** What stands in `cni { args }`, as it would be joined. */
  readonly args?: Readonly<Record<string, string>>
  readonly job?: string
  readonly group?: string
  readonly namespace?: string
}

/** Nomad writes its keys over those of the job, but for values with a semicolon, and joins them in random order. */
function argumentsOf(
  { args = {}, job = 'web', group = 'cache', namespace = 'default' }: Words,
  id: string,
): string {
  const own = {
    NOMAD_REGION: 'global',
    NOMAD_NAMESPACE: namespace,
    NOMAD_JOB_ID: job,
    NOMAD_GROUP_NAME: group,
    NOMAD_ALLOC_ID: id,
  }
  const set = Object.entries(own).filter(([, value]) => !value.includes(';'))
  const all = Object.entries({ IgnoreUnknown: 'true', ...args, ...Object.fromEntries(set) })
  const from = Math.floor(Math.random() * all.length)
  return [...all.slice(from), ...all.slice(0, from)].map(pair => pair.join('=')).join(';')
}

t.test('an address stays with a group of a job', { skip }, async t => {
  const folder = tempFolder(t)
  const [socket, stateDir, config] = [folder.file('s'), folder.file('state'), folder.file('config.yaml')]
  mkdirSync(stateDir)
  // The containers of this test have no namespace, which the sweeper would take for their death in time.
  const text = { retention: '1h', reconcile: { mode: 'report' }, kubernetes: { mode: 'off' } }
  writeFileSync(config, JSON.stringify(text))
  const network = { cniVersion: '1.0.0', name: 'fixed' }
  const bridge = {
    type: 'bridge',
    ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] },
  }
  const conflist = folder.file('fixed.conflist')
  writeFileSync(conflist, JSON.stringify({ ...network, plugins: [bridge] }))
  const serve = () => startDaemon({ socket, stateDir, config })
  let daemon = await serve()
  t.teardown(() => daemon.stop('SIGKILL'))
  const call = (command: 'ADD' | 'CHECK' | 'DEL', id: string, more: object, added: object = {}) =>
    runPlugin({
      ...{ plugin: testedPlugin, command, containerId: id, ifname: 'eth0', netns: `/var/run/netns/${id}` },
      ...{ path: '/opt/cni/bin', ...more },
      config: { ...network, ...bridge, ...added },
    })
  /** The address, or what the error says. */
  const add = async (words: Words = {}): Promise<{ readonly id: string; readonly got: string }> => {
    const id = words.id ?? randomUUID()
    const { exit, stdout } = await call('ADD', id, { args: argumentsOf(words, id) })
    const said = JSON.parse(stdout) as {
      readonly msg: string
      readonly details?: string
      readonly ips: readonly { address: string }[]
    }
    return { id, got: exit === 0 ? (said.ips[0]?.address ?? '') : `${said.msg}; ${said.details ?? ''}` }
  }
  /** As go-cni's Remove: without arguments. */
  const del = async ({ id }: { readonly id: string }): Promise<void> => {
    const { exit, stdout } = await call('DEL', id, {})
    t.equal(exit, 0, stdout)
  }
  const held = async (address: string): Promise<string> => {
    const one = (await daemon.leases()).find(lease => lease.address === address)
    return `${one?.state ?? ''} ${one?.pod?.namespace ?? ''}/${one?.pod?.name ?? ''}`
  }

  const [first, second] = [await add(), await add()]
  t.strictSame(
    [first.got, second.got],
    ['10.22.0.2/24', '10.22.0.3/24'],
    'two allocations of a group at once',
  )
  t.equal(await held('10.22.0.2'), `bound default/web.cache[${first.id}]`)
  t.match((await daemon.control('who', '10.22.0.2')).stdout, `default/web.cache[${first.id}]`)

  await t.test('the agent is started anew: CHECK, and nothing is added', async t => {
    const prevResult = { cniVersion: '1.0.0', ips: [{ address: '10.22.0.2/24' }] }
    const { exit, stdout } = await call(
      'CHECK',
      first.id,
      { args: argumentsOf({}, first.id) },
      { prevResult },
    )
    t.equal(exit, 0, stdout)
  })

  await t.test('a reschedule, with a restart of the daemon in between', async t => {
    await del(first)
    t.equal(await held('10.22.0.2'), `held default/web.cache[${first.id}]`)
    await daemon.stop()
    daemon = await serve()
    t.equal((await add({ job: 'other' })).got, '10.22.0.4/24', 'another job')
    const next = await add()
    t.equal(next.got, '10.22.0.2/24')
    t.equal(await held('10.22.0.2'), `bound default/web.cache[${next.id}]`)
    const { stdout } = await daemon.control('history', '10.22.0.2')
    for (const id of [first.id, next.id]) t.match(stdout, `default/web.cache[${id}]`)
    const owned = await daemon.control('leases', '--owner', 'nomadgroup/web.cache')
    t.match(owned.stdout, /10\.22\.0\.2[^]*10\.22\.0\.3/)
    t.notMatch(owned.stdout, '10.22.0.4')
  })

  await t.test('an address that the job asks for, by index', async t => {
    const words = { job: 'db', args: { IP: '10.22.0.50', NOMAD_ALLOC_INDEX: '0' } }
    const one = await add(words)
    t.equal(one.got, '10.22.0.50/24')
    t.match((await add(words)).got, /10\.22\.0\.50/, 'a second one with the index is refused')
    await del(one)
    t.equal(await held('10.22.0.50'), 'held default/db.cache[0]')
    t.match(
      (await add({ job: 'thief', args: { IP: '10.22.0.50' } })).got,
      /10\.22\.0\.50 .*default\/db\.cache\[0\]/,
    )
    t.equal((await add(words)).got, '10.22.0.50/24')
    const { stdout } = await daemon.control('explain', 'default/db.cache[0]', '--conflist', conflist)
    t.match(stdout, 'what the "args" of the Nomad job ask for is not known before an ADD')
    t.match(stdout, 'NomadGroup default/db.cache')
    t.match(stdout, /an ADD would fail: 10\.22\.0\.50 is still held .*nomad alloc stop/s)
  })

  await t.test('whoever writes a job gets no address of another namespace, nor of a pod', async t => {
    const victim = await add({ namespace: 'payments' })
    await del(victim)
    const address = victim.got.replace('/24', '')
    for (const args of [
      { NOMAD_NAMESPACE: 'payments' },
      { IP: address },
      { NOMAD_NAMESPACE: 'payments', IP: address },
    ])
      t.not((await add({ args })).got, victim.got, JSON.stringify(args))
    for (const [args, message] of [
      [{ FOO: 'x;NOMAD_NAMESPACE=payments', IP: address }, /^ARGS: NOMAD_NAMESPACE is given twice;/],
      [{ K8S_POD_NAMESPACE: 'shop', K8S_POD_NAME: 'web-0' }, /both given;/],
      [{ FOO: 'x;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0' }, /both given;/],
    ] as const)
      t.match((await add({ args })).got, message)
    t.match((await add({ job: 'a;b' })).got, /^ARGS: NOMAD_JOB_ID is missing/)
    t.match((await add({ job: '../../etc' })).got, /^ARGS: NOMAD_JOB_ID="\.\.\/\.\.\/etc" has characters/)
    // A Nomad before 1.9.4 passes on what the author made up, and here cannot tell the ID.
    const id = randomUUID()
    const forged = argumentsOf({ namespace: 'payments' }, randomUUID())
    const { exit, stdout } = await call('ADD', id, { args: forged })
    t.match({ exit, stdout }, { exit: 1, stdout: new RegExp(`is not the container, which is ${id}`) })
    t.equal((await call('DEL', id, { args: forged })).exit, 0)
  })
})
