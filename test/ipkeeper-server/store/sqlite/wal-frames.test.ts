import { rmSync } from 'node:fs'
import t from 'tap'
import { lastChangePath } from '../../../../ipkeeper-server/store/sqlite/last-change.ts'
import { judgeWal, walFrames } from '../../../../ipkeeper-server/store/sqlite/wal-frames.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { makeKilledLedger, type KilledLedger } from '../../../rigs/killed-ledger.ts'
import { SeededRandom } from '../../../rigs/seeded-random.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

const leases = 60
const headerSize = 32
const frameSize = 24 + 4096
const sector = 512

const folder = tempFolder(t)
const ledger = await makeKilledLedger(folder.file('leases.db'), leases)
const commits = [...walFrames(ledger.log)].filter(frame => frame.commits > 0)
/** Where the last transaction begins, and the one before it. */
const [lastBegin, lastButOneBegin] = [2, 3].map(back => (commits.at(-back)?.offset ?? 0) + frameSize) as [
  number,
  number,
]

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ (1 << bit)
  return copy
}

/** "all", how many, or why it was refused. */
async function outcome(killed: KilledLedger): Promise<string> {
  try {
    const { size } = await killed.read()
    return size === leases ? 'all' : `${size} leases`
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

t.test('a log as a killed daemon leaves it', t => {
  t.match(judgeWal(ledger.log), { state: 'whole', commits: leases })
  t.strictSame(judgeWal(Buffer.alloc(0)), { state: 'empty' })
  t.strictSame(judgeWal(ledger.log.subarray(0, 31)), { state: 'empty' }, 'made, and nothing was synced')
  t.strictSame(judgeWal(Buffer.alloc(headerSize + frameSize)), { state: 'empty' })
  t.end()
})

t.test('one flipped bit', t => {
  const wrong: string[] = []
  let [looked, last] = [0, 0]
  // Every byte of the header, every byte of many frames' headers, and a sample of pages; all bits come in turn.
  const positions = Array.from({ length: ledger.log.length }, (_, at) => at).filter(at => {
    const within = (at - headerSize) % frameSize
    return at < headerSize || (within < 24 && at % 3 === 0) || within % 1021 === 0
  })
  for (const at of positions) {
    const { state } = judgeWal(flipped(ledger.log, at, at % 8))
    looked++
    if (at >= lastBegin) last++
    // In the last transaction it looks like one that a power cut interrupted; last-change.ts knows better.
    if (state !== 'damaged' && !(state === 'torn' && at >= lastBegin)) wrong.push(`${at}: ${state}`)
  }
  t.strictSame(wrong, [])
  t.ok(looked > 2000 && last > 20, `${looked} positions, ${last} of them in the last transaction`)
  t.end()
})

t.test('what a power cut leaves of the last transaction', t => {
  const random = new SeededRandom(16)
  const wrong: string[] = []
  const end = ledger.log.length
  const look = (what: string, log: Buffer): void => {
    const { state } = judgeWal(log)
    if (state === 'damaged') wrong.push(`${what}: ${state}`)
  }
  for (let length = lastBegin; length <= end; length += 97)
    look(`cut at ${length}`, ledger.log.subarray(0, length))
  for (let round = 0; round < 400; round++) {
    const log = Buffer.from(ledger.log)
    const arrived = random.next()
    for (let at = lastBegin - (lastBegin % sector); at < end; at += sector)
      if (random.next() > arrived) log.fill(0, Math.max(at, lastBegin), Math.min(at + sector, end))
    look(`round ${round}`, log)
  }
  t.strictSame(wrong, [])
  t.end()
})

t.test('the same where frames of an earlier generation stand behind', t => {
  const random = new SeededRandom(61)
  const wrong: string[] = []
  // An earlier generation: the same frames under other salts, longer than the present one.
  const earlier = Buffer.concat([ledger.log, ledger.log.subarray(headerSize)])
  for (let at = headerSize; at + frameSize <= earlier.length; at += frameSize) {
    earlier.writeUInt32BE((ledger.log.readUInt32BE(16) - 1) >>> 0, at + 8)
    earlier.writeUInt32BE(0x1234_5678, at + 12)
  }
  const whole = Buffer.from(earlier)
  ledger.log.copy(whole)
  t.equal(judgeWal(whole).state, 'whole', 'what is left over is no part of it')
  for (let round = 0; round < 400; round++) {
    const log = Buffer.from(earlier)
    ledger.log.copy(log, 0, 0, lastBegin)
    const arrived = random.next()
    for (let at = lastBegin - (lastBegin % sector); at < ledger.log.length; at += sector) {
      const [from, to] = [Math.max(at, lastBegin), Math.min(at + sector, ledger.log.length)]
      if (random.next() <= arrived) ledger.log.copy(log, from, from, to)
    }
    const { state } = judgeWal(log)
    if (state === 'damaged') wrong.push(`round ${round}`)
  }
  t.strictSame(wrong, [])
  t.end()
})

t.test('through the store: no lease is lost without a word', async t => {
  const outcomes = new Map<string, number>()
  const positions = [
    ...Array.from({ length: headerSize }, (_, at) => at),
    ...Array.from({ length: 60 }, (_, index) => headerSize + index * 12_345),
    // All over the last transaction: the last change is made once more.
    ...Array.from({ length: 30 }, (_, index) => lastBegin + index * 271),
  ].filter(at => at < ledger.log.length)
  for (const at of positions) {
    ledger.lay({ log: flipped(ledger.log, at, at % 8) })
    const what = await outcome(ledger)
    if (what !== 'all' && what !== 'IPK_STORE_DAMAGED') t.fail(`byte ${at}: ${what}`)
    outcomes.set(what, (outcomes.get(what) ?? 0) + 1)
  }
  t.ok((outcomes.get('all') ?? 0) >= 30 && (outcomes.get('IPK_STORE_DAMAGED') ?? 0) >= 80)
})

t.test('through the store: a log that is cut', async t => {
  const cases: readonly (readonly [what: string, log: Buffer, outcome: string])[] = [
    ['in the last transaction', ledger.log.subarray(0, lastBegin + 5000), 'all'],
    ['before the last transaction', ledger.log.subarray(0, lastBegin), 'all'],
    ['in the one before', ledger.log.subarray(0, lastButOneBegin + 100), 'IPK_STORE_DAMAGED'],
    ['to nothing', Buffer.alloc(0), 'IPK_STORE_DAMAGED'],
  ]
  for (const [what, log, wanted] of cases) {
    ledger.lay({ log })
    t.equal(await outcome(ledger), wanted, what)
  }
  ledger.lay({ log: Buffer.alloc(0) })
  const refused = await ledger.read().catch((error: unknown) => error)
  t.match(refused, {
    message: /60 acknowledged changes are missing: .*its log was removed, cut or damaged at its end$/,
    hint: /put the files back, or restore a backup; if this older ledger is meant: rm \S+last-change\.leases\.db;/,
  })
})

t.test('through the store: every torn tail starts', async t => {
  const path = lastChangePath(ledger.path)
  // As after a power cut, where nothing is known of what came last.
  rmSync(path)
  for (let length = lastBegin; length < ledger.log.length; length += 733) {
    ledger.lay({ log: ledger.log.subarray(0, length) })
    t.equal(await outcome(ledger), `${leases - 1} leases`)
    rmSync(path, { force: true })
  }
})
