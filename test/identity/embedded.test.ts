/** A node gets another name, or its folder another machine: what becomes of its leases in the embedded store. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { logs } from '../rigs/logs.ts'
import { makeMachine, newMachineId, type Machine, type MachinePod } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'executables')

function machineWith(t: Test, reconcile: object): Machine {
  const folder = tempFolder(t)
  return makeMachine(t, { folder, config: { reconcile: { interval: '1s', ...reconcile } } })
}

interface Pods {
  readonly live: MachinePod
  readonly liveDynamic: MachinePod
  readonly dead: MachinePod
}

/** Fixed and not, of which two die without a DEL while no daemon runs; a fifth has left an address that is kept. */
async function addPods(machine: Machine): Promise<Pods> {
  const live = await machine.pod('live', '10.22.0.50')
  const dead = await machine.pod('dead', '10.22.0.51')
  const kept = await machine.pod('kept', '10.22.0.52', 'forever')
  const [liveDynamic, deadDynamic] = [await machine.pod('d1'), await machine.pod('d2')]
  for (const pod of [live, dead, kept, liveDynamic, deadDynamic]) await pod.add()
  await kept.del()
  await machine.stop('SIGKILL')
  await Promise.all([dead, deadDynamic].map(pod => pod.die()))
  return { live, liveDynamic, dead }
}

const fileOf = ({ stateDir }: Machine): string => join(stateDir, 'node.json')

interface Way {
  /** While no daemon runs. */
  readonly before?: (machine: Machine) => void
  readonly how?: 'by-hostname'
  /** Whether it keeps its ID; default: it does. */
  readonly sameId?: false
}

const ways: Readonly<Record<string, Way>> = {
  'another name in its configuration': {},
  'another hostname': { how: 'by-hostname' },
  // What a version did that knew nothing of identities.
  'another name, before it was upgraded': {
    before: machine => {
      machine.forgetIdentity()
    },
    sameId: false,
  },
  'another name, before it was upgraded, and started anew': {
    before: machine => {
      machine.forgetIdentity()
      machine.reboot()
    },
    sameId: false,
  },
  'another name, and was killed while it took it': {
    before: machine => {
      writeFileSync(fileOf(machine), JSON.stringify({ ...machine.identity(), alsoNames: ['n2'] }))
    },
  },
  'another name, and another machine ID': {
    before: machine => {
      machine.machineId(newMachineId())
    },
  },
  'another name, and has no machine ID any more': {
    before: machine => {
      machine.machineId('uninitialized\n')
    },
  },
}
for (const [what, { before, how, sameId = true }] of Object.entries(ways)) {
  t.test(`a node gets ${what}`, { skip, timeout: 120_000 }, async t => {
    // What another boot left is as old as this one, and the machine may have run for days.
    const machine = machineWith(t, { minAge: '365d' })
    await machine.start('n1', how)
    const { live, liveDynamic, dead } = await addPods(machine)
    const { id } = machine.identity()
    before?.(machine)
    await machine.start('n2', how)

    t.equal(machine.identity()['id'] === id, sameId, 'its ID')
    t.match(await machine.status(), { node: 'n2', identity: { formerNames: [{ name: 'n1' }] } })
    await logs(t, machine.daemon(), /this node was renamed from n1 to n2/)
    for (const said of Object.values(await machine.leases())) t.match(said, / n2$/, 'all records follow')
    const found = (await machine.audit()).findings
      .filter(({ action }) => action === 'end-attachment')
      .map(({ kind, pod }) => `${kind} ${pod ?? ''}`)
      .sort()
    const isSame = found[0]?.startsWith('dead-boot') !== true
    t.same(
      found,
      isSame
        ? ['lease-without-sandbox shop/d2', 'lease-without-sandbox shop/dead']
        : ['d1', 'd2', 'dead', 'live'].map(name => `dead-boot shop/${name}`),
      'what died meanwhile is found',
    )
    t.equal(await (await dead.again()).add(), '10.22.0.51', 'and may be taken over at once')
    t.match(
      JSON.parse((await machine.daemon().ask('GET', '/v1/history?address=10.22.0.50')).body),
      { history: [{ node: 'n2' }, { node: 'n1', ended: 'its node is now named n2' }] },
      'the history tells',
    )
    for (const pod of [live, liveDynamic]) t.strictSame([await pod.check(), await pod.del()], ['', ''])
  })
}

t.test('what is dead is swept, and the old name can be had again', { skip, timeout: 120_000 }, async t => {
  const machine = machineWith(t, { minAge: '1s' })
  await machine.start('n1')
  await addPods(machine)
  await machine.start('n2')
  await until('it is swept', async () => (await machine.daemon().boundLeases()).length === 2)
  t.match(await machine.leases(), {
    '10.22.0.50': 'bound n2',
    '10.22.0.51': 'cooling n2',
    '10.22.0.52': 'held n2',
  })
  await machine.stop()
  await machine.start('n1')
  for (const said of Object.values(await machine.leases())) t.match(said, / n1$/)
  t.match(machine.identity(), { name: 'n1', alsoNames: [], formerNames: [{ name: 'n2' }] })
})

t.test('the folder goes to another machine', { skip, timeout: 120_000 }, async t => {
  const machine = machineWith(t, { minAge: '1s' })
  await machine.start('n1')
  const { live } = await addPods(machine)
  const { id } = machine.identity()
  machine.machineId(newMachineId())
  machine.reboot()
  await machine.start('n2')
  t.match(machine.identity(), { copyOf: id, name: 'n2' }, 'it is a node of its own')
  await logs(t, machine.daemon(), /the state folder was another machine's/)
  await until('nothing of it is left', async () => (await machine.daemon().boundLeases()).length === 0)
  t.match(await machine.leases(), { '10.22.0.52': 'held n2' }, 'what is kept stays kept')
  t.equal(await (await live.again()).add(), '10.22.0.50')
})

t.test('an image that makes up a machine ID at each boot', { skip, timeout: 120_000 }, async t => {
  const machine = machineWith(t, { minAge: '365d' })
  await machine.start('n1')
  let { live } = await addPods(machine)
  for (let boot = 0; boot < 2; boot++) {
    machine.reboot()
    machine.machineId(newMachineId())
    await machine.start('n1')
    live = await live.again()
    t.equal(await live.add(), '10.22.0.50', 'its pods come back')
    t.match(await machine.leases(), { '10.22.0.52': 'held n1' })
    await machine.stop()
  }
})

t.test('a file that says nothing', { skip }, async t => {
  const machine = machineWith(t, {})
  await machine.start('n1')
  await machine.stop()
  writeFileSync(fileOf(machine), '')
  await t.rejects(
    machine.start('n1'),
    /node\.json cannot be read: .*\n?.*mv \S*node\.json \S*node\.json\.aside/,
  )
})
