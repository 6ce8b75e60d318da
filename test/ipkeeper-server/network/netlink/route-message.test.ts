import t from 'tap'
import {
  encodeMessage,
  MalformedAnswer,
  readAnswer,
} from '../../../../ipkeeper-server/network/netlink/route-message.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytes = (...parts: readonly string[]): Uint8Array =>
  Uint8Array.from(Buffer.from(parts.join('').replaceAll(' ', ''), 'hex'))

t.test('a message, with its attributes on boundaries of four bytes', t => {
  const message = {
    type: 16,
    flags: 0x600,
    header: Uint8Array.of(1, 2, 3, 4),
    attributes: [
      [3, Uint8Array.of(0x61, 0)],
      [18, { attributes: [[1, { header: Uint8Array.of(9, 9, 9, 9), attributes: [[4, Uint8Array.of(7)]] }]] }],
    ],
  } as const
  t.equal(
    hex(encodeMessage(message, 0x01020304)),
    [
      ...['30000000', '1000', '0506', '04030201', '00000000', '01020304'],
      ...['0600', '0300', '61000000'],
      ...['1400', '1200', '1000', '0100', '09090909', '0500', '0400', '07000000'],
    ].join(''),
  )
  t.end()
})

/** An acknowledgement of message 7: length, type 2, flags, sequence, port. */
const ack = (length: string, flags: string, errno: string, more = ''): Uint8Array =>
  bytes(length, '0200', flags, '07000000 00000000', errno, '10000000 1000 0500 07000000 00000000', more)

const nothing = { acknowledgement: undefined, linkIndex: undefined }

t.test('answers', t => {
  const exists = 'efffffff'
  for (const [what, given, expected] of [
    ['no bytes', bytes(), nothing],
    [
      'done',
      ack('24000000', '0001', '00000000'),
      { ...nothing, acknowledgement: { errno: 0, text: undefined } },
    ],
    [
      'refused',
      ack('24000000', '0001', exists),
      { ...nothing, acknowledgement: { errno: 17, text: undefined } },
    ],
    [
      'refused with words',
      ack('2c000000', '0003', exists, '0700 0100 6e6f0000'),
      { ...nothing, acknowledgement: { errno: 17, text: 'no' } },
    ],
    [
      'refused with words, behind what was asked',
      ack('2c000000', '0002', exists, '0700 0100 6e6f0000'),
      { ...nothing, acknowledgement: { errno: 17, text: 'no' } },
    ],
    [
      'other attributes are passed over',
      ack('2c000000', '0003', exists, '0800 0200 10000000'),
      { ...nothing, acknowledgement: { errno: 17, text: undefined } },
    ],
    [
      'a link',
      bytes('20000000 1000 0000 07000000 00000000', '00000100 05000000 00000000 00000000'),
      { ...nothing, linkIndex: 5 },
    ],
    [
      'of another message',
      bytes('20000000 1000 0000 08000000 00000000', '00000100 05000000 00000000 00000000'),
      nothing,
    ],
  ] as const)
    t.strictSame(readAnswer(given, 7), expected, what)
  t.end()
})

t.test('what is no answer is not believed', t => {
  for (const [message, given] of [
    ['the header of a message is cut off', bytes('24000000 0200')],
    ['a message cannot have 15 bytes', bytes('0f000000 0200 0000 07000000 00000000')],
    ['a message cannot have 36 bytes', bytes('24000000 0200 0000 07000000 00000000')],
    ['an acknowledgement is cut off', bytes('14000000 0200 0000 07000000 00000000 00000000')],
    ['no error is -1', ack('24000000', '0001', '01000000')],
    ['an attribute is cut off', ack('26000000', '0003', 'efffffff', '0700')],
    ['an attribute cannot have 3 bytes', ack('28000000', '0003', 'efffffff', '0300 0100')],
    ['an attribute cannot have 9 bytes', ack('28000000', '0003', 'efffffff', '0900 0100')],
    ['a text has no end', ack('2a000000', '0003', 'efffffff', '0600 0100 6e6f')],
    ['a link is cut off', bytes('14000000 1000 0000 07000000 00000000 00000000')],
    [
      'a link cannot have index 0',
      bytes('20000000 1000 0000 07000000 00000000', '00000100 00000000 00000000 00000000'),
    ],
  ] as const) {
    t.throws(() => readAnswer(given, 7), { message }, message)
    t.throws(() => readAnswer(given, 7), new MalformedAnswer(message))
  }
  t.end()
})
