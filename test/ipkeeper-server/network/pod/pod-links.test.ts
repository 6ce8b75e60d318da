import t, { type Test } from 'tap'
import { removeMacvlan } from '../../../../ipkeeper-server/network/pod/pod-links.ts'
import { missing } from '../../../rigs/requirements.ts'
import { makeSpot, type Spot } from '../../../rigs/spot.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'

/** Who may rename the links of a pod cannot keep its macvlan from being removed. */

const names = { alias: 'ipkeeper net c1 eth0', hostLink: 'ipk0123456789ab' }

interface PodSite {
  readonly pod: Spot
  readonly remove: () => Promise<void>
  /** Indices of the macvlans of the pod. */
  readonly macvlans: () => Promise<readonly number[]>
}

/** A pod with a macvlan of ours and one of somebody else. */
async function makePod(t: Test): Promise<PodSite> {
  const pod = await makeSpot(t)
  await pod.ip(
    'link add up0 type veth peer name up1',
    'link add eth0 index 50 link up0 type macvlan',
    `link set dev eth0 alias "${names.alias}"`,
    'link add eth1 index 51 link up0 type macvlan',
    'link set dev eth1 alias "ipkeeper net c2 eth1"',
  )
  return {
    pod,
    remove: () => removeMacvlan(pod.run, { fd: pod.fd, inode: '', close: () => undefined }, names),
    macvlans: async () => {
      const shown = await pod.must('ip', ['-oneline', 'link', 'show', 'type', 'macvlan'])
      return [...shown.matchAll(/^(\d+): /gm)].map(([, index]) => Number(index))
    },
  }
}

const otherNames: readonly (readonly [what: string, name: string])[] = [
  ['a plain name', 'net7'],
  ['a control character', 'a\u0001b'],
  ['what no batch can hold', 'a$b'],
  ['a quotation mark', 'a"b'],
  ['a backslash', 'a\\'],
  ['a comment', '#a'],
  ['an option', '-a'],
  ['a keyword', 'type'],
  ['an index of another link', 'if51'],
  ['letters of elsewhere', 'größe'],
]

t.test('whatever it is called', { skip: missing('namespaces', 'macvlan') }, async t => {
  for (const [what, name] of otherNames) {
    const { pod, remove, macvlans } = await makePod(t)
    await pod.must('ip', ['link', 'set', 'dev', 'eth0', 'name', name])
    t.same(await macvlans(), [50, 51])
    await remove()
    t.same(await macvlans(), [51], what)
    await remove()
    t.same(await macvlans(), [51], `${what}, once more`)
  }
})

t.test(
  'whatever others are called, and whatever their aliases',
  {
    skip: missing('namespaces', 'macvlan'),
  },
  async t => {
    const { pod, remove, macvlans } = await makePod(t)
    await pod.must('ip', ['link', 'set', 'dev', 'eth1', 'name', '\u0001"$\\', 'alias', '\u0002"\\\n'])
    await remove()
    t.same(await macvlans(), [51])
  },
)

t.test('what is not understood is not ours', async t => {
  const { run, runs } = toolDouble(() => ({ stdout: '[{"ifname":"eth0",' }))
  let closed = 0
  await removeMacvlan(run, { fd: 7, inode: '', close: () => closed++ }, names)
  t.equal(runs.length, 1, 'nothing is removed')
  t.equal(closed, 1)
})

t.test('a look that failed is no answer', async t => {
  const { run } = toolDouble(() => ({ exit: 1, stderr: 'RTNETLINK answers: Operation not permitted\n' }))
  await t.rejects(removeMacvlan(run, { fd: 7, inode: '', close: () => undefined }, names), {
    code: 'IPK_WIRING_FAILED',
  })
})
