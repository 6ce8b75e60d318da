import t from 'tap'
import { parseStoreSpec } from '../../../ipkeeper-server/store/store-spec.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const good = [
  ['sqlite:/var/lib/x.db', { kind: 'sqlite', path: '/var/lib/x.db' }],
  ['sqlite:a:b', { kind: 'sqlite', path: 'a:b' }],
  ['memory:', { kind: 'memory' }],
  ['kubernetes:', { kind: 'kubernetes' }],
  ['etcd:10.0.0.1', { kind: 'etcd', endpoints: ['http://10.0.0.1:2379'] }],
  ['etcd:10.0.0.1:12379', { kind: 'etcd', endpoints: ['http://10.0.0.1:12379'] }],
  ['etcd:https://e1:2379/', { kind: 'etcd', endpoints: ['https://e1:2379'] }],
  ['etcd:http://[fd00::1]:2379', { kind: 'etcd', endpoints: ['http://[fd00::1]:2379'] }],
  ['etcd:e1,e2,,e1', { kind: 'etcd', endpoints: ['http://e1:2379', 'http://e2:2379'] }],
] as const

for (const [spec, read] of good) {
  t.test(spec, async t => {
    t.strictSame(parseStoreSpec(spec), read)
    return Promise.resolve()
  })
}

const bad = [
  ['', /no such store/],
  ['sqlite', /no such store/],
  ['postgres:x', /no such store/],
  ['sqlite:', /which file/],
  ['memory:x', /means nothing/],
  ['kubernetes:prod', /means nothing/],
  ['etcd:', /which endpoints/],
  ['etcd:,', /which endpoints/],
  ['etcd:http://', /no URL/],
  ['etcd:http://user:secret@e1', /--store \.\.\.@e1: .* configuration/],
  ['etcd:http://user:/secret@e1', /an endpoint has more than/],
  ['etcd:http://user:1,secret@e1', /configuration|no URL/],
  ['etcd:http://user:secret@[fd00::1', /an endpoint is no URL/],
  ['user:secret@e1', /no such store/],
  ['memory:user:secret@e1', /means nothing/],
  ['etcd:http://e1/v3', /scheme, host and port/],
  ['etcd:e1:port', /no URL/],
] as const

for (const [spec, message] of bad) {
  t.test(`refused: ${spec}`, async t => {
    const problem = await thrownProblem(() => parseStoreSpec(spec))
    t.match(problem, { code: 'IPK_USAGE', message })
    t.notMatch(problem.message, 'secret')
  })
}
