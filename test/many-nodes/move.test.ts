/** An address is moved from one pod to another: by the packaged executables, on one node and on two that share an etcd. */
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { makeMachine, type Machine } from '../rigs/machine.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

interface Site {
  /** Where shop/a runs. */
  readonly here: Machine
  /** Where shop/b is to run; the same machine with the embedded store. */
  readonly there: Machine
  /** On the node of b: stdout and stderr, with its exit code. */
  readonly type: (line: string) => Promise<{ readonly exit: number | null; readonly text: string }>
  readonly restart: () => Promise<void>
  /** Writes a JSON file; its path. */
  readonly file: (name: string, content: object) => string
}

const config = { kubernetes: { mode: 'off' }, reconcile: { minAge: '365d' } }

async function openSite(t: Test, store: 'sqlite' | 'etcd'): Promise<Site> {
  const folder = tempFolder(t)
  const etcd = store === 'etcd' ? await startEtcdCluster(t) : undefined
  const machine = (): Machine =>
    makeMachine(t, { folder, config, ...(etcd && { store: `etcd:${etcd.urls.join(',')}` }) })
  const here = machine()
  const there = etcd ? machine() : here
  const start = async (): Promise<void> => {
    await here.start('n1')
    if (etcd) await there.start('n2')
  }
  await start()
  return {
    ...{ here, there },
    type: async line => {
      const { exit, stdout, stderr } = await there.daemon().control(...line.split(' '))
      return { exit, text: stdout + stderr }
    },
    file: (name, content) => {
      const path = folder.file(name)
      writeFileSync(path, JSON.stringify(content))
      return path
    },
    restart: async () => {
      await here.stop('SIGKILL')
      if (etcd) await there.stop('SIGKILL')
      await start()
    },
  }
}

const address = '10.22.0.50'
const network = {
  ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
  ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
}
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name: 'b' }, spec: {} }

for (const store of ['sqlite', 'etcd'] as const) {
  const options = {
    skip: missing('namespaces', 'executables', ...(store === 'etcd' ? ['etcd' as const] : [])),
  }

  t.test(`${store}: from a pod that lives, over a restart`, options, async t => {
    const { here, there, type, restart, file } = await openSite(t, store)
    const conflist = file('net.conf', { ...network, ipam: { ...network.ipam, stateDir: there.stateDir } })
    const manifest = file('pod.json', pod)
    const a = await here.pod('a', address, 'forever')
    t.equal(await a.add(), address)
    const refused = await type(`reserve ${address} shop/b`)
    t.match(refused, {
      exit: 1,
      text: /held by shop\/a on node n1[^]*or: ipkeeperctl move(?: --socket \S+)? 10\.22\.0\.50 shop\/b\n/,
    })
    const plan =
      /\nmove +10\.22\.0\.50 +to shop\/b: in use by shop\/a on node n1 until that pod is gone; its next pod will not get it; delete shop\/a.*undo: ipkeeperctl unreserve(?: --socket \S+)? 10\.22\.0\.50\n/
    const shown = await type(`move ${address} shop/b --dry-run`)
    t.match(shown, { exit: 0, text: plan })
    t.match(shown.text, /\nwould move 1 address; nothing was changed\n$/)
    t.match(await type(`move ${address} shop/b`), {
      exit: 1,
      text: /nothing was changed: to move 1 address, add --yes\n$/,
    })
    t.match(await type('reservations -o name'), { text: '' }, 'nothing so far')
    const moved = await type(`move ${address} shop/b --yes --note rack-7`)
    t.match(moved, { exit: 0, text: plan })
    t.match(moved.text, /\n1 address moved\n$/)
    t.match(await type(`move ${address} shop/b --yes`), {
      exit: 0,
      text: /unchanged .*already[^]*nothing to move\n$/,
    })
    await restart()

    t.equal(await a.check(), '', 'whoever has it keeps it')
    t.match(await type(`who ${address}`), {
      text: /bound to shop\/a .*reserved for shop\/b \(rack-7\), which gets it when shop\/a is gone\n/,
    })
    const b = await there.pod('b', address)
    t.match(await b.add(), /held by shop\/a on node n1/, 'b comes too early')
    t.equal(await a.del(), '')
    t.match(await type(`who ${address}`), {
      text: /kept for shop\/a .*reserved for shop\/b \(rack-7\), which gets it in place of shop\/a\n/,
    })
    await restart()
    const next = await a.again()
    t.match(
      await next.add(),
      /which is reserved for shop\/b \(rack-7\)/,
      'the next pod of that name does not get it',
    )
    t.match(await type(`explain --manifest ${manifest} --conflist ${conflist}`), {
      exit: 0,
      text: /reserved for this pod; moved to shop\/b from shop\/a/,
    })
    t.equal(await b.add(), address, 'b has it at once, without a cool-down')
    t.match(await type(`who ${address}`), { text: /bound to shop\/b/ })
    t.match(await type(`history ${address}`), {
      // Each node has the history of what it did.
      text:
        store === 'etcd'
          ? /now +bound +shop\/b /
          : /now +bound +shop\/b [^]*held +shop\/a [^]*bound +shop\/a /,
    })
    t.strictSame((await there.leases())[address], store === 'etcd' ? 'bound n2' : 'bound n1')
    // Here nothing wires what the plugin gives.
    const findings = (await there.audit()).findings.filter(({ kind }) => kind !== 'ip-differs')
    t.strictSame(findings, [])
  })

  t.test(`${store}: to a pod that has another one and keeps it`, options, async t => {
    const { here, there, type } = await openSite(t, store)
    const a = await here.pod('a', address)
    const b = await there.pod('b', undefined, 'forever')
    t.equal(await a.add(), address)
    const kept = await b.add()
    t.match(kept, /^10\.22\.0\./)
    t.match(await type(`move ${address} shop/b --yes`), { exit: 0 })
    const early = await b.again()
    t.equal(await b.del(), '')
    t.equal(await early.add(), kept, 'nobody waits for what he did not ask for')
    t.equal(await a.del(), '')
    for (let pod = 0; pod < 3; pod++)
      t.not(await (await there.pod(`other-${pod}`)).add(), address, 'and nobody else gets it')
    t.equal(await early.del(), '')
    const late = await early.again()
    t.equal(await late.add(), address, 'it comes before what it kept')
    t.match(await type('who shop/b'), { text: /^10\.22\.0\.50 is bound to shop\/b/ })
  })

  t.test(`${store}: undone, before and after the end of whoever had it`, options, async t => {
    const { here, there, type } = await openSite(t, store)
    const a = await here.pod('a', address, 'forever')
    t.equal(await a.add(), address)
    for (const undoneLate of [false, true]) {
      t.match(await type(`move ${address} shop/b --yes`), { exit: 0 })
      const undo = async (): Promise<void> => {
        t.match(await type(`unreserve ${address}`), { exit: 0, text: `${address} is no longer reserved\n` })
      }
      if (!undoneLate) await undo()
      const last = undoneLate ? await a.again() : a
      if (undoneLate) t.match(await last.add(), /reserved for shop\/b/)
      else t.equal(await a.del(), '')
      if (undoneLate) await undo()
      const next = await a.again()
      t.equal(await next.add(), address)
      t.equal(await next.del(), '')
    }
    const b = await there.pod('b', address)
    t.match(await b.add(), /held by shop\/a/)
  })

  t.test(`${store}: two at once, and one after the other`, options, async t => {
    const { here, type } = await openSite(t, store)
    t.equal(await (await here.pod('a', address)).add(), address)
    const both = await Promise.all(['b', 'c'].map(pod => type(`move ${address} shop/${pod} --yes`)))
    t.strictSame(both.map(({ exit }) => exit).sort(), [0, 1], 'one of them')
    const winner = both[0]?.exit === 0 ? 'b' : 'c'
    t.match(both.find(({ exit }) => exit === 1)?.text, new RegExp(`is reserved for shop/${winner}`))
    t.match(await type(`move ${address} shop/d --yes`), {
      exit: 1,
      text: new RegExp(
        `is reserved for shop/${winner}; .*ipkeeperctl unreserve(?: --socket \\S+)? ${address}`,
      ),
    })
  })
}

t.test(
  'sqlite: from a sandbox that is gone without a DEL',
  { skip: missing('namespaces', 'executables') },
  async t => {
    const { here, type } = await openSite(t, 'sqlite')
    const a = await here.pod('a', address, 'forever')
    t.equal(await a.add(), address)
    await a.die()
    t.match(await type(`move ${address} shop/b --yes`), {
      exit: 0,
      text: /the sandbox of shop\/a on node n1 is gone/,
    })
    t.match(await type(`who ${address}`), {
      text: /which gets it when shop\/a is gone; its sandbox is gone\n/,
    })
    t.match(await (await a.again()).add(), /reserved for shop\/b/)
    t.equal(await (await here.pod('b')).add(), address, 'also of a pod that asks for nothing')
    t.equal(await a.del(), '', 'a DEL that comes late takes nothing away')
    t.match(await type(`who ${address}`), { text: /bound to shop\/b/ })
  },
)

t.test('etcd: from a pod of a dead node', { skip: missing('namespaces', 'executables', 'etcd') }, async t => {
  const { here, there, type } = await openSite(t, 'etcd')
  const a = await here.pod('a', address)
  t.equal(await a.add(), address)
  await here.stop('SIGKILL')
  const moved = await type(`move ${address} shop/b --yes`)
  t.match(moved, {
    exit: 0,
    text: /delete shop\/a; if node n1 is gone for good: ipkeeperctl forget-node(?: --socket \S+)? n1;/,
  })
  const b = await there.pod('b', address)
  t.match(await b.add(), /held by shop\/a on node n1/)
  t.match(await type('forget-node n1'), { exit: 0 })
  t.equal(await b.add(), address)
  await here.start('n1')
  t.equal(await a.del(), '', 'the node is back, and its pod has nothing')
  t.equal((await there.leases())[address], 'bound n2')
})
