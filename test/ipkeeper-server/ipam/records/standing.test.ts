/** Whatever tells of an address whose sandbox may be gone tells the same, and its commands are those that help. */
import t, { type Test } from 'tap'
import {
  describeLostNode,
  describeWaiting,
  type LostNode,
} from '../../../../ipkeeper-server/ipam/records/standing.ts'
import { describeAddress } from '../../../../ipkeeper-server/leases/queries/describe-address.ts'
import { release } from '../../../../ipkeeper-server/leases/verbs/release.ts'
import { planReconcile } from '../../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import { LostNodes } from '../../../../ipkeeper-server/reconcile/lost-nodes.ts'
import { EngineDouble } from '../../../rigs/engine-double.ts'
import { openSharedLeases } from '../../../rigs/shared-store.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { snapshot, usualTerms } from '../../reconcile/snapshot-words.ts'
import type { TestService, PodWords } from '../../leases/test-service.ts'

const older: PodWords = { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', ip: '10.22.0.50' }
const younger: PodWords = { pod: 'api-6d4cf56db6-b4d5f', container: 'c2', ip: '10.22.0.50' }
const listed: PodWords = { pod: 'api-6d4cf56db6-g6h7j', container: 'c3', ips: '10.22.0.50' }
const stranger: PodWords = { pod: 'other', container: 'c4', ip: '10.22.0.50' }

interface Case {
  readonly node: string
  readonly dead: boolean
  readonly lost: LostNode | undefined | null
  /** An operator has said that the node is gone for good. */
  readonly forgotten?: true
  /** What everybody says. */
  readonly says: RegExp
  /** The command, or what to do, that everybody names who knows nothing better. */
  readonly remedy: RegExp
  /** undefined: the next pod of the workload has the address. */
  readonly waits: RegExp | undefined
}

const cases: Readonly<Record<string, Case>> = {
  'of this node, in use': {
    ...{ node: 'n1', dead: false, lost: undefined },
    says: /it comes free when that pod is deleted/,
    remedy: /delete shop\/api-6d4cf56db6-x2x5z/,
    waits: /wait until older pods of Deployment shop\/api are gone: set maxSurge 0/,
  },
  'of another node, which is there': {
    ...{ node: 'n9', dead: false, lost: undefined },
    says: /it comes free when that pod is deleted/,
    remedy:
      /delete shop\/api-6d4cf56db6-x2x5z; if node n9 is lost, .*kubectl taint node n9 node\.kubernetes\.io\/out-of-service=nodeshutdown:NoExecute/,
    waits:
      /waits until node n9 attests that the sandbox is gone, or the API says .*wait until older pods .*; if node n9 is lost, .*kubectl taint node n9 /,
  },
  'of another node, and no API to ask': {
    ...{ node: 'n9', dead: false, lost: null },
    says: /it comes free when that pod is deleted/,
    remedy: /delete shop\/api-6d4cf56db6-x2x5z; if node n9 is gone for good: ipkeeperctl forget-node n9/,
    waits:
      /waits until node n9 attests that the sandbox is gone, or the node is declared gone .*wait until older pods .*; if node n9 is gone for good: ipkeeperctl forget-node n9/,
  },
  'of a node that was declared gone': {
    ...{ node: 'n9', dead: true, lost: undefined, forgotten: true },
    says: /node n9 was declared gone for good: the next pod of Deployment shop\/api gets it, others when it is back and has ended that sandbox, or when its Node object is deleted/,
    remedy: /if it does not come back: kubectl delete node n9/,
    waits: undefined,
  },
  'of a node that was declared gone, and no API to ask': {
    ...{ node: 'n9', dead: true, lost: null, forgotten: true },
    says: /node n9 was declared gone for good: the next pod of Deployment shop\/api gets it, others when it is released by force(?!:)/,
    remedy: /to release it for others: ipkeeperctl release --force 10\.22\.0\.50/,
    waits: undefined,
  },
  'proved gone on this node': {
    ...{ node: 'n1', dead: true, lost: undefined },
    says: /its sandbox is gone: the next pod of Deployment shop\/api gets it, others when the daemon of node n1 has ended it/,
    remedy: /wait: its sandbox is gone without a DEL: the daemon ends it, see ipkeeperctl audit/,
    waits: undefined,
  },
  'of a node that is out of service': {
    ...{ node: 'n9', dead: true, lost: 'out-of-service' },
    says: /node n9 is out of service: the next pod of Deployment shop\/api gets it, others when it is back and has ended that sandbox, or when its Node object is deleted/,
    remedy: /if it does not come back: kubectl delete node n9/,
    waits: undefined,
  },
  'of a node that the API does not have': {
    ...{ node: 'n9', dead: true, lost: 'gone' },
    says: /the Kubernetes API has no node n9: the next pod of Deployment shop\/api gets it, others when the elected daemon has ended what it left/,
    remedy: /wait: the elected daemon ends it, see ipkeeperctl audit/,
    waits: undefined,
  },
}

/** Node n1; what n9 has done, it has done before in the same ledger. */
async function open(t: Test, { node, dead, lost, forgotten }: Case): Promise<TestService> {
  const story = await openSharedLeases(t, new EngineDouble().connect(), `${t.testdir({})}/journal.db`)
  await story.add({ ...older, node })
  if (dead) story.dead.add('c1')
  const service = {
    ...story.service,
    lostNode: lost === null ? null : () => lost,
    isForgotten: (name: string) => forgotten === true && name === node,
  }
  return Object.assign(story, { service })
}

const whole = ({ message, details, hint }: { message: string; details: string; hint: string }): string =>
  [message, details, hint].join(' | ')

for (const [name, one] of Object.entries(cases)) {
  t.test(name, async t => {
    const story = await open(t, one)
    const { says, remedy, waits } = one
    const { sentence } = await describeAddress(story.service, 'default', '10.22.0.50')
    const released = whole(await thrownProblem(() => release(story.service, 'default', '10.22.0.50')))
    const refused = whole(await story.problem(stranger))
    t.match(refused, says)
    t.match(refused, remedy)
    t.match(released, remedy)
    if (!waits) {
      t.match(sentence, says)
      t.match(released, says)
    }
    const { lost } = one
    if (one.dead && one.node !== 'n1' && lost !== null) {
      t.match(sentence, remedy)
      const nodes = new LostNodes({
        service: story.service,
        election: { isElected: () => false },
        cluster: {
          node: node => (node === 'n9' && lost && lost !== 'forgotten' ? lost : 'present'),
          ownerExists: () => Promise.resolve('gone'),
        },
        ...{ askAfter: () => 0, monotonic: () => 0 },
      })
      const { planned } = planReconcile(snapshot({ lostNodes: nodes.told(true) }), new Map(), usualTerms, 0)
      t.match(planned, [{ finding: { kind: 'lease-of-lost-node', state: 'reported', why: says, remedy } }])
      t.match(
        planned[0]?.finding.says,
        /1 address is bound there: 10\.22\.0\.50 \(shop\/api-6d4cf56db6-x2x5z\)/,
      )
    }
    for (const words of [younger, listed]) {
      if (waits) t.match(whole(await story.problem(words)), waits)
      else {
        t.equal(await story.add(words), '10.22.0.50')
        break
      }
    }
  })
}

t.test('a node that is lost, and nobody says how', t => {
  t.equal(describeLostNode({ node: 'n2', lost: undefined }), 'node n2 is out of service or gone')
  t.end()
})

t.test('for what a pod waits, with and without a takeover by time', t => {
  const standing = { kind: 'elsewhere', node: 'n2', lost: undefined, hasApi: true } as const
  t.match(describeWaiting(standing, undefined), /^waits until node n2 attests [^;]*$/)
  t.match(describeWaiting(standing, 'takeover by time in 3 min'), /; takeover by time in 3 min$/)
  t.match(describeWaiting({ ...standing, hasApi: false }, undefined), /the node is declared gone for good$/)
  t.end()
})
