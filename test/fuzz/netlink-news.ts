/** The daemon's reader of what the kernel tells of links and addresses, fed with anything. */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { readNews } from '../../ipkeeper-server/network/netlink/link-news.ts'
import { MalformedAnswer } from '../../ipkeeper-server/network/netlink/route-message.ts'
import { canonicalCidr, type KernelNews } from '../../ipkeeper-server/network/plan/node-links.ts'
import { parseAddress } from '../../shared/net/address.ts'
import { attribute, damaged, message } from './arbitraries/netlink.ts'
import { property } from './property.ts'

/** A message, and what it says; nothing where nobody wants to know it. */
interface Part {
  readonly bytes: Buffer
  readonly says: readonly KernelNews[]
}

const index = fc.integer({ min: 1, max: 2 ** 31 - 1 })
const unit = fc.constantFrom('a', '0', '@', '.', ':', '-', 'é')

function bytesOf32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}

const link = fc
  .record({
    ...{ index, gone: fc.boolean(), master: fc.option(index) },
    name: fc.string({ unit, minLength: 1, maxLength: 7 }),
    mac: fc.option(fc.uint8Array({ minLength: 6, maxLength: 6 })),
    family: fc.constantFrom(0, 0, 0, 7),
    isRadio: fc.nat(9).map(die => die === 0),
  })
  .map(({ index: own, gone, master, name, mac, family, isRadio }): Part => {
    const body = Buffer.alloc(16)
    body.writeUInt8(family, 0)
    body.writeInt32LE(own, 4)
    const attributes = [
      attribute(3, Buffer.from(`${name}\0`)),
      attribute(4, bytesOf32(1500)),
      ...(mac ? [attribute(1, Buffer.from(mac))] : []),
      ...(master === null ? [] : [attribute(10, bytesOf32(master))]),
      ...(isRadio ? [attribute(11, Buffer.alloc(3))] : []),
    ]
    const text = mac ? Buffer.from(mac).toString('hex').match(/../g)?.join(':') : undefined
    const news: KernelNews = {
      ...{ kind: 'link', key: String(own), name, gone },
      ...{ mac: text ?? '', master: master ?? undefined },
    }
    return {
      bytes: message(gone ? 17 : 16, 0, 0, Buffer.concat([body, ...attributes])),
      says: family === 0 && !isRadio ? [news] : [],
    }
  })

const value = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length })

const address = fc
  .oneof(fc.constant(4 as const), fc.constant(16 as const))
  .chain(length =>
    fc.record({
      ...{ index, gone: fc.boolean(), near: value(length), far: fc.option(value(length)) },
      prefix: fc.nat(length * 8),
      isTold: fc.boolean(),
    }),
  )
  .map(({ index: own, gone, near, far, prefix, isTold }): Part => {
    const body = Buffer.alloc(8)
    body.writeUInt8(near.length === 4 ? 2 : 10, 0)
    body.writeUInt8(prefix, 1)
    body.writeInt32LE(own, 4)
    const attributes = [
      attribute(1, Buffer.from(far ?? near)),
      ...(far || isTold ? [attribute(2, Buffer.from(near))] : []),
    ]
    const text = (bytes: Uint8Array): string =>
      bytes.length === 4
        ? bytes.join('.')
        : (Buffer.from(bytes).toString('hex').match(/..../g)?.join(':') ?? '')
    const isPeer = far !== null && text(far) !== text(near)
    const cidr = canonicalCidr(isPeer ? text(near) : `${text(near)}/${prefix}`)
    const peer = isPeer ? canonicalCidr(`${text(far)}/${prefix}`) : ''
    const isLinkLocal = near.length === 16 && near[0] === 0xfe && ((near[1] ?? 0) & 0xc0) === 0x80
    return {
      bytes: message(gone ? 21 : 20, 0, 0, Buffer.concat([body, ...attributes])),
      says: isLinkLocal ? [] : [{ kind: 'address', key: `${own} ${cidr} ${peer}`, cidr, link: own, gone }],
    }
  })

/** A route: nobody asked for it. */
const other = fc.uint8Array({ maxLength: 40 }).map((body): Part => ({
  bytes: message(24, 0, 0, Buffer.from(body)),
  says: [],
}))

const parts = fc.array(fc.oneof(link, address, other), { maxLength: 4 })
const datagram = parts.map(list => Buffer.concat(list.map(({ bytes }) => bytes)))

/** What is not within its limits would be believed by who asks. */
function judge(news: KernelNews): void {
  const indexes = [news.key.split(' ')[0], news.kind === 'link' ? news.master : news.link]
  for (const one of indexes)
    if (one !== undefined && !(Number.isInteger(Number(one)) && Number(one) > 0))
      throw new Error(`link ${one}`)
  if (news.kind === 'address' && !parseAddress(news.cidr.split('/')[0] ?? ''))
    throw new Error(`address ${news.cidr}`)
}

export const wholeNews = property({
  name: 'news of the kernel',
  runs: 400,
  cases: parts,
  check: list => {
    const news = readNews(Buffer.concat(list.map(({ bytes }) => bytes)))
    deepStrictEqual(
      news,
      list.flatMap(({ says }) => says),
    )
    return news[0]?.kind ?? 'nothing'
  },
  shares: { link: 15, address: 15, nothing: 15 },
})

export const damagedNews = property({
  name: 'damaged news of the kernel',
  runs: 800,
  cases: damaged(datagram),
  check: bytes => {
    try {
      for (const news of readNews(bytes)) judge(news)
      return 'read'
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error
      return 'refused'
    }
  },
  shares: { read: 25, refused: 20 },
})
