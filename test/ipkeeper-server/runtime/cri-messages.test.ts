import { BinaryWriter } from '@bufbuild/protobuf/wire'
import t from 'tap'
import {
  readConditions,
  readSandboxAddresses,
  readSandboxList,
} from '../../../ipkeeper-server/runtime/cri-messages.ts'

type Value = string | boolean | bigint | readonly Field[]
type Field = readonly [field: number, value: Value]

/** A message of these fields, in their order. */
function encode(fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const [field, value] of fields) {
    if (typeof value === 'boolean') writer.uint32(field << 3).bool(value)
    else if (typeof value === 'bigint') writer.uint32(field << 3).int64(value)
    else if (typeof value === 'string') writer.uint32((field << 3) | 2).string(value)
    else writer.uint32((field << 3) | 2).bytes(encode(value))
  }
  return writer.finish()
}

const metadata: Value = [
  [1, 'web-0'],
  [2, 'u1'],
  [3, 'shop'],
  [4, 1n],
]

t.test('sandboxes', t => {
  const list = encode([
    [
      1,
      [
        [1, 'c1'],
        [2, metadata],
        [4, 1_700_000_000_000_000_000n],
        [9, 'not known'],
      ],
    ],
    [7, 'not known'],
    [
      1,
      [
        [1, 'c2'],
        [3, 1n],
      ],
    ],
  ])
  t.strictSame(readSandboxList(list), [
    { id: 'c1', namespace: 'shop', name: 'web-0', uid: 'u1', ready: true, createdAt: 1_700_000_000_000 },
    { id: 'c2', namespace: '', name: '', uid: '', ready: false, createdAt: 0 },
  ])
  t.strictSame(readSandboxList(new Uint8Array()), [])
  t.end()
})

t.test('addresses of a sandbox', t => {
  const network: Value = [
    [1, '10.22.0.5'],
    [2, [[1, 'fd00::5']]],
    [2, [[1, '']]],
  ]
  const status = encode([
    [2, 'not known'],
    [
      1,
      [
        [1, 'c1'],
        [5, network],
      ],
    ],
  ])
  t.strictSame(readSandboxAddresses(status), ['10.22.0.5', 'fd00::5'])
  t.strictSame(readSandboxAddresses(encode([[1, [[1, 'c1']]]])), [])
  t.end()
})

t.test('conditions of a runtime', t => {
  const conditions = encode([
    [
      1,
      [
        [
          1,
          [
            [1, 'RuntimeReady'],
            [2, true],
          ],
        ],
        [
          1,
          [
            [1, 'NetworkReady'],
            [3, 'NetworkPluginNotReady'],
            [4, 'no network config'],
          ],
        ],
      ],
    ],
  ])
  t.strictSame(readConditions(conditions), [
    { type: 'RuntimeReady', holds: true, reason: '', message: '' },
    { type: 'NetworkReady', holds: false, reason: 'NetworkPluginNotReady', message: 'no network config' },
  ])
  t.end()
})
