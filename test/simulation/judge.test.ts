import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { invariants, Judge, leftAloneFor, type Given, type Invariant } from './judge.ts'

const web: Given = {
  ...{ container: 'c1', machine: 0, address: '10.22.0.5' },
  wish: { pod: 'web-0', ip: '10.22.0.5' },
}
const kept: Given = { container: 'c2', machine: 0, address: '10.22.0.7', wish: { pod: 'db-0', keep: 1000 } }
const other = (patch: Partial<Given> = {}): Given => ({
  ...{ container: 'c9', machine: 1, address: '10.22.0.9', wish: { pod: 'other' } },
  ...patch,
})

/** As an operator is told that it is done. */
function move(judge: Judge, address: string, pod: string): void {
  judge.mayBeReserved(address, pod)
  judge.reserved(address, pod, { moves: true })
}

/** What is played, and what of it has to be refused. */
const histories: Readonly<
  Record<string, readonly [(judge: Judge, pass: (ms: number) => void) => void, ...Invariant[]]>
> = {
  nothing: [() => undefined],
  'two pods, one after the other': [
    judge => {
      judge.answered(web)
      judge.ended('c1')
      judge.answered(other({ address: web.address }))
    },
  ],
  'two pods at once': [
    judge => {
      judge.answered(web)
      judge.answered(other({ address: web.address }))
    },
    'one owner',
  ],
  'two pods at once, of which one was said to be gone': [
    judge => {
      judge.answered(web)
      judge.ended('c1')
      judge.answered(other({ address: web.address }))
      judge.returned(web)
    },
    'one owner',
  ],
  'a pod that was said to be gone, and is not': [
    judge => {
      judge.answered(web)
      judge.ended('c1')
      judge.returned(web)
      judge.atEnd(new Map([['n0', [{ address: '10.22.0.5', container: 'c1' }]]]))
    },
  ],
  'another address than it asked for': [
    judge => {
      judge.answered({ ...web, address: '10.22.0.6' })
    },
    'what it asked for',
  ],
  'a second address of a fixed pod': [
    judge => {
      judge.answered(kept)
      judge.answered({ ...kept, container: 'c3', address: '10.22.0.8' })
    },
    'one address a pod',
  ],
  'a second address of any pod': [
    judge => {
      judge.answered(other())
      judge.answered(other({ container: 'c10', address: '10.22.0.10' }))
    },
  ],
  'a kept address in its time': [
    (judge, pass) => {
      judge.answered(kept)
      judge.ended('c2')
      judge.deleted(kept, true)
      pass(999)
      judge.answered(other({ address: kept.address }))
    },
    'kept for its pod',
  ],
  'an address that is let go by an older sandbox of a pod that has another one by now': [
    judge => {
      judge.answered(kept)
      judge.ended('c2')
      judge.answered({ ...kept, container: 'c3', address: '10.22.0.9' })
      judge.deleted(kept, true)
      judge.answered(other({ address: kept.address }))
    },
  ],
  'an address that is let go by an older sandbox than the one that had it': [
    (judge, pass) => {
      judge.answered(kept)
      judge.ended('c2')
      judge.answered({ ...kept, container: 'c3' })
      judge.ended('c3')
      judge.deleted({ ...kept, container: 'c3' }, true)
      pass(999)
      judge.deleted(kept, true)
      pass(1)
      judge.answered(other({ address: kept.address }))
    },
  ],
  'a kept address after its time, or given back, or by clocks that differ': [
    (judge, pass) => {
      judge.deleted(kept, true)
      pass(1000)
      judge.answered(other({ address: kept.address }))
      judge.deleted(web, true)
      judge.deleted({ ...kept, address: '10.22.0.11' }, true)
      judge.keptNoMore('10.22.0.11')
      judge.answered(other({ container: 'c11', address: '10.22.0.11' }))
      judge.deleted({ ...kept, address: '10.22.0.12' }, false)
      judge.answered(other({ container: 'c12', address: '10.22.0.12' }))
    },
  ],
  'an address that was named of late': [
    (judge, pass) => {
      judge.answered(web)
      judge.ended('c1')
      judge.deleted(web, true)
      pass(leftAloneFor - 1)
      judge.answered(other({ address: web.address }))
    },
    'left to who named it',
  ],
  'an address that was named, by its name, later, or given back': [
    (judge, pass) => {
      judge.deleted(web, true)
      judge.answered({ ...web, container: 'c4', wish: { pod: 'envy', ip: web.address } })
      judge.ended('c4')
      judge.deleted(web, true)
      pass(leftAloneFor)
      judge.answered(other({ address: web.address }))
      judge.ended('c9')
      judge.deleted(web, true)
      judge.keptNoMore(web.address)
      judge.answered(other({ address: web.address }))
    },
  ],
  'a reserved address': [
    judge => {
      judge.reserved('10.22.0.5', 'web-0')
      judge.answered(web)
      judge.ended('c1')
      judge.answered(other({ address: '10.22.0.5' }))
    },
    'reserved for its owner',
  ],
  'an address that was moved while a pod had it': [
    judge => {
      judge.answered(web)
      move(judge, web.address, 'other')
      judge.ended('c1')
      judge.deleted(web, true)
      judge.answered(other({ address: web.address }))
    },
  ],
  'an address that was moved, before who has it has ended': [
    judge => {
      judge.answered(web)
      move(judge, web.address, 'other')
      judge.answered(other({ address: web.address }))
    },
    'one owner',
  ],
  'an address that was moved, once more for the pod that had it': [
    (judge, pass) => {
      judge.answered(kept)
      move(judge, kept.address, 'other')
      judge.ended('c2')
      judge.deleted(kept, true)
      pass(1)
      judge.answered({ ...kept, container: 'c3' })
    },
    'reserved for its owner',
  ],
  'the same on a machine that does not reach the store': [
    (judge, pass) => {
      judge.answered(kept)
      move(judge, kept.address, 'other')
      judge.ended('c2')
      judge.deleted(kept, true)
      pass(1)
      judge.answered({ ...kept, container: 'c3' }, undefined, true)
    },
  ],
  'what a pod kept whose ADD was interrupted, after another address was moved to it': [
    judge => {
      judge.answered(kept)
      judge.ended('c2')
      judge.deleted(kept, true)
      judge.mayBeReserved(web.address, kept.wish.pod)
      judge.mayHaveGot(kept.wish.pod)
      judge.answered(other({ address: kept.address }))
    },
  ],
  'what a pod kept whose ADD was interrupted': [
    judge => {
      judge.answered(kept)
      judge.ended('c2')
      judge.deleted(kept, true)
      judge.mayHaveGot(kept.wish.pod)
      judge.answered(other({ address: kept.address }))
    },
    'kept for its pod',
  ],
  'an address that was reserved, on a machine that does not reach the store': [
    judge => {
      judge.mayBeReserved(web.address, 'other')
      judge.reserved(web.address, 'other')
      judge.answered(web, undefined, true)
    },
    'reserved for its owner',
  ],
  'an address that was moved to another pod than gets it on such a machine': [
    (judge, pass) => {
      judge.answered(kept)
      move(judge, kept.address, 'other')
      judge.ended('c2')
      pass(1)
      judge.answered({ ...web, address: kept.address, wish: { pod: 'third' } }, undefined, true)
    },
    'reserved for its owner',
  ],
  'an address that was moved while an ADD was under way': [
    (judge, pass) => {
      pass(1)
      move(judge, web.address, 'other')
      judge.answered(web, 0)
    },
  ],
  'an address that was moved before an ADD began': [
    (judge, pass) => {
      move(judge, web.address, 'other')
      pass(1)
      judge.answered(web)
    },
    'reserved for its owner',
  ],
  'a kept address that was moved': [
    judge => {
      judge.deleted(kept, true)
      move(judge, kept.address, 'other')
      judge.answered(other({ address: kept.address }))
    },
  ],
  'a kept address that was moved to another pod than got it': [
    judge => {
      judge.deleted(kept, true)
      move(judge, kept.address, 'web-0')
      judge.answered(other({ address: kept.address }))
    },
    'kept for its pod',
    'reserved for its owner',
  ],
  'a kept address after its move was taken back': [
    judge => {
      judge.deleted(kept, true)
      move(judge, kept.address, 'other')
      judge.neverReserved(kept.address)
      judge.answered(other({ address: kept.address }))
    },
    'kept for its pod',
  ],
  'a kept address that was moved from a pod that has another one by now': [
    judge => {
      judge.answered(kept)
      judge.ended('c2')
      judge.deleted(kept, true)
      move(judge, kept.address, 'other')
      judge.answered({ ...kept, container: 'c3', address: '10.22.0.8' })
      judge.neverReserved(kept.address)
      judge.answered(other({ address: kept.address }))
    },
  ],
  'what a pod kept before it got what was moved to it': [
    judge => {
      judge.deleted(kept, true)
      move(judge, '10.22.0.9', kept.wish.pod)
      judge.answered({ ...kept, container: 'c3', address: '10.22.0.9' })
      judge.answered(other({ address: kept.address }))
    },
  ],
  'what a pod kept before it got another address that nobody may rely on': [
    judge => {
      judge.deleted(kept, true)
      judge.disowned({ ...kept, container: 'c3', address: '10.22.0.9' })
      judge.answered(other({ address: kept.address }))
    },
  ],
  'what a pod keeps where the pool leaves out another address': [
    judge => {
      judge.deleted(kept, true)
      judge.leftOut(kept, { no: ['10.22.0.99'] })
      judge.answered(other({ address: kept.address }))
    },
    'kept for its pod',
  ],
  'what a pod kept that the pool leaves out by which it got another one': [
    judge => {
      judge.deleted(kept, true)
      judge.leftOut(kept, { no: [kept.address] })
      judge.answered(other({ address: kept.address }))
    },
  ],
  'what a pod keeps besides another address that was not promised to it': [
    judge => {
      judge.deleted(kept, true)
      judge.answered({ ...kept, container: 'c3', address: '10.22.0.9' })
      judge.answered(other({ address: kept.address }))
    },
    'kept for its pod',
  ],
  'a moved address that its pod gets when all has come to rest, and another one than that': [
    judge => {
      move(judge, web.address, 'other')
      const waits = judge.reservedFor('other')
      judge.givenAtRest(other({ address: web.address }), waits)
      judge.givenAtRest(other(), waits)
    },
    'reserved for its owner',
  ],
  'another one at rest that was moved to the pod as well, and then asked for by one that was refused': [
    judge => {
      move(judge, '10.22.0.9', 'other')
      move(judge, web.address, 'other')
      judge.mayBeReserved('10.22.0.9', 'a')
      judge.unreserved('10.22.0.9')
      judge.givenAtRest(other({ address: '10.22.0.9' }), judge.reservedFor('other'))
    },
  ],
  'a moved address that nobody may count on, since an engine has gone back': [
    (judge, pass) => {
      move(judge, web.address, 'other')
      judge.unreservedAll()
      pass(1)
      judge.answered(web)
      judge.ended('c1')
      judge.answered(other({ address: web.address }))
    },
  ],
  'who asks for nothing served by the fallback, and who has something promised by the daemon': [
    judge => {
      judge.servedBy(other({ byFallback: true }))
      judge.mayBeReserved('10.22.0.9', 'other')
      judge.servedBy(other())
    },
  ],
  'who asks for nothing served by the daemon': [
    judge => {
      judge.servedBy(other())
    },
    'left to the fallback',
  ],
  'who asks for an address served by the fallback': [
    judge => {
      judge.servedBy({ ...web, byFallback: true })
    },
    'left to the fallback',
  ],
  'what the fallback has given, in no book of the daemon': [
    judge => {
      judge.answered(other({ byFallback: true }))
      judge.atEnd(new Map([['n1', []]]))
    },
  ],
  'what nobody is given by the pool in force': [
    judge => {
      judge.got(web)
      judge.fromPool(web, { no: [web.address], noNew: [] })
    },
    'from the pool in force',
  ],
  'something new of what drains': [
    judge => {
      judge.fromPool(web, { no: [], noNew: [web.address] })
    },
    'from the pool in force',
  ],
  'what drains and the pod had before': [
    judge => {
      judge.fromPool(web, { no: [], noNew: [] })
      judge.got(web)
      judge.fromPool({ ...web, container: 'c3' }, { no: [], noNew: [web.address] })
    },
  ],
  'what drains and another pod had before': [
    judge => {
      judge.got(web)
      judge.fromPool({ ...web, wish: { pod: 'other' } }, { no: [], noNew: [web.address] })
    },
    'from the pool in force',
  ],
  'what drains and is reserved for the pod, or it may have got unheard': [
    judge => {
      judge.mayBeReserved(web.address, web.wish.pod)
      judge.fromPool(web, { no: [], noNew: [web.address] })
      judge.mayHaveGot('other')
      judge.fromPool(other({ address: web.address }), { no: [], noNew: [web.address] })
    },
  ],
  'a loss that never was': [
    judge => {
      judge.refusedAdd('c3', 'IPK_STORE_INCOMPLETE', false)
    },
    'refused for what happened',
  ],
  'a loss, and a store that is away': [
    judge => {
      judge.refusedAdd('c3', 'IPK_STORE_INCOMPLETE', true)
      judge.refusedAdd('c3', 'IPK_STORE_AWAY', false)
    },
  ],
  'one MAC twice': [
    judge => {
      judge.answered(other({ wish: { pod: 'a', mac: 'm' } }))
      judge.answered(other({ container: 'c10', address: '10.22.0.10', wish: { pod: 'b', mac: 'm' } }))
    },
    'a MAC of its own',
  ],
  'a node that does not know of who runs': [
    judge => {
      judge.answered(web)
      judge.atEnd(new Map([['n0', []]]))
    },
    'a node has what it answered',
  ],
  'a node that knows of who does not run': [
    judge => {
      judge.atEnd(new Map([['n0', [{ address: '10.22.0.5', container: 'c1' }]]]))
    },
    'nothing is left over',
  ],
  'two pods at once, while nobody could know': [
    judge => {
      judge.answered(web)
      judge.doubt(1000)
      judge.answered(other({ address: web.address }))
    },
  ],
  'two pods at once, when that is over': [
    (judge, pass) => {
      judge.answered(web)
      judge.doubt(1000)
      pass(1000)
      judge.answered(other({ address: web.address }))
    },
    'one owner',
  ],
  'what nobody could know is no excuse for what is kept, reserved, asked for by name, or has its MAC': [
    judge => {
      judge.answered(other({ container: 'c5', wish: { pod: 'a', mac: 'm' } }))
      judge.deleted(kept, true)
      judge.reserved('10.22.0.5', 'web-0')
      judge.doubt(1000)
      judge.answered(other({ container: 'c6', address: kept.address }))
      judge.answered(other({ container: 'c7', address: '10.22.0.5' }))
      judge.answered({ ...web, container: 'c8', address: '10.22.0.6', wish: { pod: 'b', ip: '10.22.0.4' } })
      judge.answered(other({ container: 'c10', address: '10.22.0.10', wish: { pod: 'c', mac: 'm' } }))
    },
    'kept for its pod',
    'reserved for its owner',
    'what it asked for',
    'a MAC of its own',
  ],
  'what a machine had that is gone': [
    judge => {
      judge.mayStay(['c1'])
      judge.atEnd(new Map([['n0', [{ address: '10.22.0.5', container: 'c1' }]]]))
    },
  ],
  'what another one had than that machine': [
    judge => {
      judge.mayStay(['c1'])
      judge.atEnd(new Map([['n0', [{ address: '10.22.0.5', container: 'c3' }]]]))
    },
    'nothing is left over',
  ],
  'what a machine had that is back': [
    judge => {
      judge.mayStay(['c1', 'c2'])
      judge.mustGo(['c1'])
      judge.atEnd(new Map([['n0', [{ address: '10.22.0.5', container: 'c1' }]]]))
    },
    'nothing is left over',
  ],
  'a second pod with what nobody proves to have ended': [
    judge => {
      judge.answered(web)
      judge.mayStay(['c1'])
      judge.answered(other({ address: web.address }))
    },
    'one owner',
  ],
  'a node that does not know of who runs, though that may stay': [
    judge => {
      judge.answered(web)
      judge.mayStay(['c1'])
      judge.atEnd(new Map([['n0', []]]))
    },
    'a node has what it answered',
  ],
  'an address that was given back before its DEL, and while that was under way': [
    (judge, pass) => {
      judge.keptNoMore(kept.address)
      pass(1)
      judge.deleted(kept, true)
      judge.answered(other({ address: kept.address }))
      judge.keptNoMore(web.address)
      judge.deleted(web, true, 0)
      judge.answered(other({ container: 'c10', address: web.address }))
    },
    'kept for its pod',
  ],
  'nodes that know who runs': [
    judge => {
      judge.answered(web)
      judge.atEnd(new Map([['n0', [{ address: '10.22.0.5', container: 'c1' }]]]))
    },
  ],
}

for (const [name, [play, ...refused]] of Object.entries(histories))
  t.test(name, async t => {
    let now = 0
    const judge = new Judge(() => now)
    play(judge, milliseconds => {
      now += milliseconds
    })
    t.strictSame(
      judge.violations.map(({ invariant }) => invariant),
      refused,
    )
    return Promise.resolve()
  })

t.test('a pod need not be started while what it keeps or asks for is promised to another one', t => {
  for (const [says, play, wish, expected] of [
    ['free', () => undefined, web.wish, false],
    [
      'moved to another one',
      judge => {
        move(judge, web.address, 'other')
      },
      web.wish,
      true,
    ],
    [
      'moved to it',
      judge => {
        move(judge, web.address, 'web-0')
      },
      web.wish,
      false,
    ],
    [
      'moved to another one, and taken back',
      judge => {
        move(judge, web.address, 'other')
        judge.neverReserved(web.address)
      },
      web.wish,
      false,
    ],
    [
      'kept, and moved to another one',
      judge => {
        judge.deleted(kept, true)
        move(judge, kept.address, 'other')
      },
      kept.wish,
      true,
    ],
    [
      'kept',
      judge => {
        judge.deleted(kept, true)
      },
      kept.wish,
      false,
    ],
  ] satisfies (readonly [string, (judge: Judge) => void, Given['wish'], boolean])[]) {
    const judge = new Judge(() => 0)
    play(judge)
    t.equal(judge.isSpokenFor(wish), expected, says)
  }
  t.end()
})

t.test('each invariant stands for promises that DESIGN has', t => {
  const design = readFileSync(join(import.meta.dirname, '..', '..', 'DESIGN.md'), 'utf8')
  for (const number of Object.values(invariants).flat()) t.match(design, `\n| ${number} | `, `${number}`)
  t.end()
})
