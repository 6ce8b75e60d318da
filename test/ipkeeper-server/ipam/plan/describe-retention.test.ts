import t from 'tap'
import { describeRetention } from '../../../../ipkeeper-server/ipam/plan/describe-retention.ts'
import { noRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { parseRetention, type Retention } from '../../../../ipkeeper-server/ipam/records/retention.ts'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { poolFrom, TestService, type PodWords } from '../../leases/test-service.ts'

function read(text: string): Retention {
  const retention = parseRetention(text)
  if (retention === undefined) throw new Error(text)
  return retention
}

interface Row {
  readonly pod?: PodWords['retain'] & string
  readonly source?: string
  readonly pool?: string
  readonly standard?: string
  readonly words?: Partial<PodWords>
  readonly says: string
}

const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: '' }
const source = 'annotation ipkeeper.io/retain of namespace shop'

const rows: readonly Row[] = [
  {
    says: "release, by the daemon's default: after DEL it rests for 1m, and until then only a pod that asks for it by name gets it",
  },
  {
    words: { ip: '10.22.0.9' },
    says: "release, by the daemon's default: after DEL it rests for 10m, and until then only a pod that asks for it by name gets it",
  },
  { standard: '7d', says: "7d, by the daemon's default: after DEL it is kept for shop/web-0 for 7d" },
  {
    standard: '7d',
    pool: '7d',
    says: "7d, by the daemon's default: after DEL it is kept for shop/web-0 for 7d",
  },
  { pool: '30m', says: '30m, by pool net: after DEL it is kept for shop/web-0 for 30m' },
  {
    pool: '30m',
    pod: 'forever',
    source,
    says: `forever, by ${source}: after DEL it is kept for shop/web-0 without an end`,
  },
  {
    pod: 'while-owner-exists',
    source,
    words: { owner: statefulSet },
    says: `while-owner-exists, by ${source}: after DEL it is kept for shop/web-0 while StatefulSet shop/web exists`,
  },
  {
    pod: 'while-owner-exists',
    says: 'while-owner-exists, by the pod: after DEL it is kept for shop/web-0 without an end, since its owner is not known',
  },
]

for (const { pod, source, pool, standard = 'release', words, says } of rows) {
  t.test(says, async t => {
    const story = await TestService.open(undefined, read(standard))
    const settings = {
      pool: poolFrom('net', ['10.22.0.0/24']),
      rules: {},
      network: {},
      policy: { ...story.book.standard, retention: read(pool ?? standard) },
    }
    if (pool !== undefined) story.book = { ...story.book, pools: [settings] }
    await story.add({ pod: 'web-0', container: 'c1', ...(pod !== undefined && { retain: pod }), ...words })
    const [lease] = [...story.service.ledger.leases()] as [LeaseRecord]
    const request = {
      ...noRequest,
      ...(pod !== undefined && { retain: read(pod) }),
      ...(source !== undefined && { retainSource: source }),
    }
    t.equal(describeRetention(lease, request, story.book, story.now), says)
  })
}
