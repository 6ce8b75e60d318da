import t from 'tap'
import {
  readConditions,
  readSandboxAddresses,
  readSandboxList,
  sandboxStatusRequest,
} from '../../../ipkeeper-server/runtime/cri-messages.ts'
import { encodeReply } from '../../rigs/cri-double.ts'

const item = (id: string, more: object = {}): object => ({
  id,
  metadata: { name: `pod-${id}`, uid: `uid-${id}`, namespace: 'shop', attempt: 3 },
  state: 'SANDBOX_READY',
  created_at: '1795213200123456789',
  ...more,
})

t.test('a list of sandboxes', t => {
  t.same(readSandboxList(encodeReply('ListPodSandbox', {})), [])
  const items = [
    item('a'),
    item('b', { state: 'SANDBOX_NOTREADY', labels: { app: 'web', tier: '' } }),
    { id: 'c' },
  ]
  t.same(readSandboxList(encodeReply('ListPodSandbox', { items })), [
    { id: 'a', namespace: 'shop', name: 'pod-a', uid: 'uid-a', ready: true, createdAt: 1_795_213_200_123 },
    { id: 'b', namespace: 'shop', name: 'pod-b', uid: 'uid-b', ready: false, createdAt: 1_795_213_200_123 },
    { id: 'c', namespace: '', name: '', uid: '', ready: true, createdAt: 0 },
  ])
  t.end()
})

t.test('thousands of them', t => {
  const items = Array.from({ length: 5_000 }, (_, index) => item(`${index}`.padEnd(64, 'f')))
  const found = readSandboxList(encodeReply('ListPodSandbox', { items }))
  t.equal(found.length, 5_000)
  t.equal(found[4_999]?.id, '4999'.padEnd(64, 'f'))
  t.end()
})

t.test('fields that nobody knows are skipped, wherever they stand', t => {
  // Field 1000 as a number, eight bytes, a text and four bytes.
  const unknown = [
    [0xc0, 0x3e, 0x96, 0x01],
    [0xc1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8],
    [0xc2, 0x3e, 2, 0x68, 0x69],
    [0xc5, 0x3e, 1, 2, 3, 4],
  ].map(bytes => Buffer.from(bytes))
  const known = encodeReply('ListPodSandbox', { items: [item('a')] })
  t.match(readSandboxList(Buffer.concat([...unknown, known, ...unknown, known])), [{ id: 'a' }, { id: 'a' }])
  // The same within the message of a sandbox: field 1, so many bytes.
  const inner = Buffer.concat([...unknown, Buffer.from([0x0a, 1, 0x78])])
  const outer = Buffer.concat([Buffer.from([0x0a, inner.length]), inner])
  t.match(readSandboxList(outer), [{ id: 'x', ready: true }])
  t.end()
})

t.test('what is cut off anywhere is no list, or a list of fewer whole ones', t => {
  const whole = encodeReply('ListPodSandbox', { items: [item('a'), item('b')] })
  const half = encodeReply('ListPodSandbox', { items: [item('a')] })
  for (let length = 0; length < whole.length; length++) {
    try {
      const ids = readSandboxList(whole.subarray(0, length)).map(({ id }) => id)
      t.ok(
        (ids.length === 0 && length === 0) || (ids.join() === 'a' && length === half.length),
        String(length),
      )
    } catch (error) {
      t.type(error, Error)
    }
  }
  t.end()
})

t.test('addresses of a sandbox', t => {
  const of = (network: object | null): readonly string[] =>
    readSandboxAddresses(encodeReply('PodSandboxStatus', { status: { id: 'a', network }, info: { a: 'b' } }))
  t.same(of({ ip: '10.22.0.5', additional_ips: [{ ip: 'fd00:22::5' }, { ip: '10.23.0.5' }] }), [
    '10.22.0.5',
    'fd00:22::5',
    '10.23.0.5',
  ])
  t.same(of({ ip: '', additional_ips: [] }), [], 'a pod of the host')
  t.same(of(null), [])
  t.same(readSandboxAddresses(Buffer.alloc(0)), [])
  t.end()
})

t.test('conditions', t => {
  const conditions = [
    { type: 'RuntimeReady', status: true, reason: '', message: '' },
    { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'no conflist' },
  ]
  t.same(readConditions(encodeReply('Status', { status: { conditions } })), [
    { type: 'RuntimeReady', holds: true, reason: '', message: '' },
    { type: 'NetworkReady', holds: false, reason: 'NetworkPluginNotReady', message: 'no conflist' },
  ])
  t.same(readConditions(Buffer.alloc(0)), [])
  t.end()
})

t.test('a request for one sandbox', t => {
  t.same([...sandboxStatusRequest('abc')], [0x0a, 3, 0x61, 0x62, 0x63])
  t.end()
})
