import t from 'tap'
import {
  missingLedger,
  showsUse,
  type LeftFile,
  type EarlierAttachment,
} from '../../../ipkeeper-server/open-ledger/earlier-use.ts'

const path = '/srv/state/leases.db'
const marker = '/srv/state/begin-anew'

const result: EarlierAttachment = {
  ...{ containerId: 'c1', network: 'net', ifname: 'eth0', addresses: ['10.22.0.5', 'fd00::5'] },
  ...{ pod: { namespace: 'shop', name: 'a' }, by: 'result', beforeBoot: false },
}
const link: EarlierAttachment = { ...result, addresses: [], pod: null, by: 'link' }
const left = (name: string, isLedger = false): LeftFile => ({
  path: `/srv/state/${name}`,
  says: '',
  isLedger,
})

t.test('what it says', t => {
  const say = (attachments: readonly EarlierAttachment[], files: readonly LeftFile[]) => {
    const { message, details, hint } = missingLedger(path, 'missing', { attachments, files }, marker)
    return { message, details, hint }
  }
  t.match(say([result], []), {
    message: `store ${path} is missing, and there was one: a result of an ADD`,
    details: /^10\.22\.0\.5 fd00::5 shop\/a \(container c1, eth0 of net\)$/,
    hint: /^put the files back, or restore a backup: ipkeeperctl restore FILE; .* touch \/srv\/state\/begin-anew; /,
  })
  t.match(say([link, link], []), {
    message: /: links of 2 pods$/,
    details: /^\(container c1, eth0 of net; its link is there\)\n/,
  })
  t.match(say([{ ...result, beforeBoot: true }], []).details, /from before this boot/)
  t.match(
    say([], [left('leases.db.saved-1', true)]).hint,
    /: mv \/srv\/state\/leases\.db\.saved-1 \/srv\/state\/leases\.db,/,
  )
  t.match(say([], [left('leases.db-wal')]).hint, /backup: mv \S+-wal \S+-wal\.aside; ipkeeperctl restore/)
  const five = Array.from({ length: 5 }, (_, index) => left(`leases.db.saved-${index}`, true))
  t.match(say([], five), {
    message: /saved-0, \S+saved-1, \S+saved-2, 2 more files$/,
    hint: /: mv \S+saved-4 /,
  })
  t.match(missingLedger(path, 'empty', { attachments: [], files: [] }, marker), {
    message: /is empty \(0 bytes\), and there was one: ipkeeper never makes an empty file$/,
    hint: /backup: mv \/srv\/state\/leases\.db \/srv\/state\/leases\.db\.aside; ipkeeperctl/,
  })
  t.end()
})

t.test('a name that is none, and very many', t => {
  const odd = { ...result, pod: { namespace: 'x', name: 'a\n\u001b[31m' } }
  t.match(missingLedger(path, 'missing', { attachments: [odd], files: [] }, marker).details, 'x/a???31m')
  const many = Array.from({ length: 300 }, () => result)
  const { message, details } = missingLedger(path, 'missing', { attachments: many, files: [] }, marker)
  t.match(message, /results of 300 ADDs$/)
  t.equal(details.split('\n').length, 41)
  t.match(details, /\nand 260 more$/)
  t.end()
})

t.test('whether anything shows', t => {
  t.equal(showsUse({ attachments: [], files: [] }), false)
  t.equal(showsUse({ attachments: [link], files: [] }), true)
  t.equal(showsUse({ attachments: [], files: [left('x')] }), true)
  t.end()
})
