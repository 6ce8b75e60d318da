import t from 'tap'
import { JsonLines } from '../../../ipkeeper-server/kubernetes/watch-stream.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

t.test('lines, wherever the chunks begin and end', t => {
  const text = '{"a":"ä€😀"}\n\n{"b":2}\r\n{"c":'
  const expected = ['{"a":"ä€😀"}', '{"b":2}\r']
  const whole = bytes(text)
  for (let size = 1; size <= whole.length; size++) {
    const lines = new JsonLines()
    const got: string[] = []
    for (let at = 0; at < whole.length; at += size) got.push(...lines.push(whole.subarray(at, at + size)))
    t.strictSame(got, expected, `chunks of ${size}`)
    t.strictSame(lines.push(bytes('3}\n')), ['{"c":3}'], 'what was cut off comes later')
  }
  t.end()
})

t.test('a line without end does not fill the memory', t => {
  const lines = new JsonLines(10)
  t.strictSame(lines.push(bytes('0123456789\n012345')), ['0123456789'])
  t.throws(() => lines.push(bytes('67890')), { name: 'RangeError', message: 'a line of more than 10 bytes' })
  t.end()
})
